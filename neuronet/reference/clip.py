"""Twins of kernels/clip.cl."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

A = NDArray[Any]


def SquareSums(*, g: A, sums: A) -> None:
    size = -(-len(g) // len(sums))
    for p in range(len(sums)):
        sums[p] = np.sum(g[p * size : (p + 1) * size] ** 2)


def ClipGradient(*, g: A, sums: A, limit: float) -> None:
    norm = np.sqrt(np.sum(sums))
    if norm > limit:
        g *= g.dtype.type(limit) / norm
