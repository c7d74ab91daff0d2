"""Blend: how much of a net's forecast to believe, found on the validation part.

A net that has fitted noise forecasts moves that never come. So what it says is mixed with the simplest
baseline: forecast = blend * net + (1 - blend) * baseline. The share b that is best on the validation part
(Bates & Granger 1969) is itself uncertain, the more so as windows overlap; with its standard error s it is
shrunk to b * max(0, 1 - s^2 / b^2), the positive-part estimate of James & Stein 1961, and kept within 0 to 1.
0 means that the validation part shows nothing learned, and is said; a random walk ends there or near it.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neuronet.train.policy import policy_scores


def of_returns(f: NDArray[Any], y: NDArray[Any], overlap: int | None = None) -> float:
    """The share for returns f and y [windows, horizon], whose baseline is 0: least squares of y on f.

    overlap  bars ahead that a target reaches, so that windows / overlap are independent; None: the horizon
    """
    f, y = f.astype(np.float64), y.astype(np.float64)
    products, squares = np.sum(f * y, axis=1), np.sum(f * f, axis=1)
    size = float(squares.sum())
    if size == 0.0:
        return 0.0
    share = float(products.sum()) / size
    rest = products - share * squares
    return _shrunk(share, math.sqrt((overlap or f.shape[1]) * float(np.sum(rest**2))) / size)


def of_probabilities(p: NDArray[Any], base: NDArray[Any], y: NDArray[Any], horizon: int) -> float:
    """The share for probabilities p [windows, classes], whose baseline is ``base`` [classes]: least log loss.

    The log loss is convex in the share, so its slope is bisected; the error is that of maximum likelihood.
    """
    net, rest = p[np.arange(len(y)), y], np.maximum(base[y], 1e-12)

    def slopes(share: float) -> NDArray[np.float64]:
        mixed = np.maximum(share * net + (1.0 - share) * rest, 1e-12)
        result: NDArray[np.float64] = (net - rest) / mixed
        return result

    low, high = 0.0, 1.0
    for _ in range(40):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if float(slopes(middle).sum()) > 0.0 else (low, middle)
    information = float(np.sum(slopes(low) ** 2))
    return _shrunk(low, math.sqrt(horizon / information)) if information > 0.0 else 0.0


def _shrunk(share: float, error: float) -> float:
    if share <= error:
        return 0.0
    return min(1.0, share * (1.0 - (error / share) ** 2))


def of_positions(p: NDArray[Any], returns: NDArray[Any], cost: float, after: NDArray[np.bool_]) -> float:
    """1 when the positions' mean net return is more than one standard error above 0, else 0: stay flat.

    Gains and costs are linear in the share, so that nothing between the two could be best.
    """
    t = policy_scores(p.astype(np.float64), returns, cost, after)["t"]
    return 1.0 if t is not None and t > 1.0 else 0.0
