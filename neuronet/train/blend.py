"""Blend: how much of a net's forecast to believe, found on the validation part.

A net that has fitted noise forecasts moves that never come. So what it says is mixed with the simplest
baseline: forecast = blend * net + (1 - blend) * baseline, with the one share from 0 to 1 that is best on the
validation part. 0 means that nothing was learned, and is said; a random walk ends there or near it.
Combination of forecasts: Bates & Granger 1969.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def of_returns(f: NDArray[Any], y: NDArray[Any]) -> float:
    """The share for returns, whose baseline is 0 (the last value): least squares of y on f."""
    size = float(np.sum(f.astype(np.float64) ** 2))
    return float(np.clip(np.sum(f * y, dtype=np.float64) / size, 0.0, 1.0)) if size > 0.0 else 0.0


def of_probabilities(p: NDArray[Any], base: NDArray[Any], y: NDArray[Any]) -> float:
    """The share for probabilities p [windows, classes], whose baseline is ``base`` [classes]: least log loss.

    The log loss is convex in the share, so its slope is bisected.
    """
    rows = np.arange(len(y))
    net, rest = p[rows, y], np.maximum(base[y], 1e-12)

    def gain(share: float) -> float:
        return float(np.mean((net - rest) / (share * net + (1.0 - share) * rest)))

    low, high = 0.0, 1.0
    if gain(low) <= 0.0:
        return 0.0
    if float(net.min()) > 0.0 and gain(high) >= 0.0:
        return 1.0
    for _ in range(40):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if gain(middle) > 0.0 else (low, middle)
    return low
