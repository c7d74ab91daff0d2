"""Twins of kernels/multi_windows_conv.cl: convolutions of several windows over the same sequences."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neuronet.reference.activation import activate

A = NDArray[Any]


def each_tap(
    windows_in: A, starts: A, *, units: int, inputs: int, step: int
) -> Iterator[tuple[int, int, A, A]]:
    """(window q, tap k over all windows, units that see an input there, those inputs' positions)."""
    k = 0
    for q, (window, start) in enumerate(zip(windows_in.tolist(), starts.tolist(), strict=True)):
        for first in range(start, start + window):
            position = np.arange(units) * step + first
            seen = np.flatnonzero((position >= 0) & (position < inputs))
            yield q, k, seen, position[seen]
            k += 1


def FeedForwardMultWinConvWPad(
    *, x: A, w: A, b: A, windows_in: A, starts: A, y: A, step: int, activation: int
) -> None:
    inputs, dimension = x.shape[1:]
    taps = w.reshape(-1, dimension, w.shape[1])
    z = np.zeros_like(y) + b
    for q, k, seen, position in each_tap(windows_in, starts, units=y.shape[1], inputs=inputs, step=step):
        z[:, seen, q] += x[:, position] @ taps[k]
    y[...] = activate(z, activation)


def CalcHiddenGradientMultWinConvWPad(*, dz: A, w: A, windows_in: A, starts: A, dx: A, step: int) -> None:
    inputs, dimension = dx.shape[1:]
    taps = w.reshape(-1, dimension, w.shape[1])
    dx[...] = 0
    for q, k, seen, position in each_tap(windows_in, starts, units=dz.shape[1], inputs=inputs, step=step):
        dx[:, position] += dz[:, seen, q] @ taps[k].T  # a tap meets a position once at most
