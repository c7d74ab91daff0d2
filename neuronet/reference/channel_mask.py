"""Twins of kernels/channel_mask.cl."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from neuronet.reference.dropout import random_bits

A = NDArray[Any]
MOST_LOGIT = 15.0


def logistic(n: int, key: int, step: int) -> A:
    """float64 [n]: the noise of each element, a difference of two standard Gumbel variables."""
    uniform = ((random_bits(n, key, step) >> np.uint32(9)) + 0.5) * 2.0**-23
    noise: A = np.log(uniform) - np.log1p(-uniform)
    return noise


def ChannelMask(
    *, z: A, key: A, step: A, y: A, mask: A, units: int, rate: float, noisy: float, soft: int
) -> None:
    noise = logistic(z.size, int(key[0]), int(step[0])).astype(z.dtype)
    u = rate * (2 * np.clip(z, -MOST_LOGIT, MOST_LOGIT) + noisy * noise)
    e = np.exp(-np.abs(u))
    y[...] = np.where(u >= 0, 1, e) / (1 + e)
    mask[...] = y if soft else np.where(np.isnan(u), u, u >= 0)
    mask.reshape(-1, units * units)[:, :: units + 1] = 1


def ChannelMaskGradient(*, y: A, dmask: A, dz: A, units: int, rate: float) -> None:
    dz[...] = dmask * (2 * rate * y * (1 - y))
    dz.reshape(-1, units * units)[:, :: units + 1] = 0
