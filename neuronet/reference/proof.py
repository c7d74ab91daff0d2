"""Twins of kernels/proof.cl."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

A = NDArray[Any]


def FeedForwardProof(*, x: A, y: A, index: A, window: int, step: int) -> None:
    windows = np.lib.stride_tricks.sliding_window_view(x, window, axis=1)[:, ::step][:, : y.shape[1]]
    y[...] = windows.max(axis=-1)
    index[...] = windows.argmax(axis=-1)  # the first of equal maxima


def CalcInputGradientProof(*, dy: A, index: A, dx: A, window: int, step: int) -> None:
    units = dy.shape[1]
    dx[...] = 0
    for k in range(window):
        dx[:, k : k + units * step : step] += np.where(index == k, dy, 0)
