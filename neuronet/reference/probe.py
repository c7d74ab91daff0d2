"""Twin of kernels/probe.cl."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

A = NDArray[Any]


def MultiplyAddProbe(*, x: A, y: A, steps: int) -> None:
    values = x[:, None] + np.arange(64, dtype=x.dtype)
    for _ in range(steps):
        values = values * x.dtype.type(0.5) + x.dtype.type(0.25)
    y[...] = values.sum(axis=1)
