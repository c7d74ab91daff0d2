"""Twins of kernels/channel_correlation.cl."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

A = NDArray[Any]


def _sums(cosines: A, mask: A, tau: float) -> tuple[A, A, A, A]:
    """The mask with its diagonal of ones, E over its largest, and P and S of that, [rows, units, ...]."""
    m = np.where(np.eye(mask.shape[-1], dtype=bool), mask.dtype.type(1), mask)
    e = np.exp((cosines - cosines.max(-1, keepdims=True)) / tau)
    return m, e, (e * m).sum(-1, keepdims=True), e.sum(-1, keepdims=True)


def ChannelCorrelation(*, cosines: A, mask: A, value: A, tau: float, regular: float, weight: float) -> None:
    units = mask.shape[-1]
    _, _, p, s = _sums(cosines, mask, tau)
    opened = np.abs(mask * (1 - np.eye(units))).sum((1, 2)) / max(1, units * (units - 1))
    value[...] = weight * (regular * opened - np.log(p / s)[..., 0].mean(1))


def ChannelCorrelationGradients(
    *, cosines: A, mask: A, dcosines: A, dmask: A, tau: float, regular: float, weight: float
) -> None:
    units = mask.shape[-1]
    m, e, p, s = _sums(cosines, mask, tau)
    dcosines[...] = weight / (units * tau) * e * (1 / s - m / p)
    added = weight * (regular * np.sign(m) / max(1, units * (units - 1)) - e / p / units)
    dmask[...] = added * (1 - np.eye(units))
