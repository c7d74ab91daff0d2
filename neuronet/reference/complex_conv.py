"""Twins of kernels/complex_conv.cl: complex filters as real ones."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

A = NDArray[Any]


def ComplexWeights(*, w: A, wide: A) -> None:
    wide[:, 0, :, 0] = wide[:, 1, :, 1] = w[..., 0]
    wide[:, 1, :, 0] = w[..., 1]
    wide[:, 0, :, 1] = -w[..., 1]


def ComplexWeightGradient(*, dwide: A, dw: A) -> None:
    dw[..., 0] += dwide[:, 0, :, 0] + dwide[:, 1, :, 1]
    dw[..., 1] += dwide[:, 1, :, 0] - dwide[:, 0, :, 1]
    dwide[...] = 0
