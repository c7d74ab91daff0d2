"""Twins of kernels/sum_norm.cl: a branch and its shortcut, added and normalised, and the gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

A = NDArray[Any]


def SumNormalize(*, a: A, b: A, gamma: A, beta: A, sum: A, mean: A, scale: A, y: A, eps: float) -> None:
    sum[...] = a + b
    mean[...] = sum.mean(1)
    scale[...] = 1 / np.sqrt(sum.var(1) + eps)
    y[...] = gamma * (sum - mean[:, None]) * scale[:, None] + beta


def SumNormalizeGradient(*, sum: A, dy: A, mean: A, scale: A, gamma: A, dshortcut: A, dsum: A) -> None:
    g, nx = gamma * dy, (sum - mean[:, None]) * scale[:, None]
    across = g.mean(1, keepdims=True) + nx * (g * nx).mean(1, keepdims=True)
    dsum[...] = scale[:, None] * (g - across) + dshortcut
