"""A market with a local pattern to be learned, and the oracle that knows it. For tests only."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from neuronet.bars.bars import Bars
from neuronet.bars.synthetic import HOUR
from neuronet.train.policy import policy_scores

SIGMA, DRIFT, COST = 0.001, 0.001, 0.0001  # of a bar's log return; DRIFT behind a pattern


def planted_market(n: int, seed: int, *, drift: float = DRIFT) -> tuple[Bars, NDArray[np.float64]]:
    """Bars, and [n] the expected log return of the bar after each, as known at its close.

    Two moves up and one down are followed by a bar of mean +drift, the mirror image by one of -drift; all
    other bars have mean 0. A bar opens where the last one closed.
    """
    rng = np.random.default_rng(seed)
    noise, returns, expected = SIGMA * rng.standard_normal(n), np.zeros(n), np.zeros(n)
    for t in range(n):
        returns[t] = noise[t] + (expected[t - 1] if t else 0.0)
        signs = tuple(np.sign(returns[max(0, t - 2) : t + 1]))
        expected[t] = drift * {(1.0, 1.0, -1.0): 1.0, (-1.0, -1.0, 1.0): -1.0}.get(signs, 0.0)
    close = 1.1 * np.exp(np.cumsum(returns))
    opened = np.concatenate([[1.1], close[:-1]])
    wick = 1.1 * 0.2 * SIGMA
    high, low = np.maximum(opened, close) + wick, np.minimum(opened, close) - wick
    time = 1_600_000_000 * 10**9 // HOUR * HOUR + HOUR * np.arange(n, dtype=np.int64)
    return Bars(time, opened, high, low, close, np.full(n, 100.0), "PLANTED", HOUR), expected


def oracle_net(expected: NDArray[np.float64], returns: NDArray[np.float64], cost: float) -> float:
    """Net return of the better of two rules that know ``expected``: go flat, or stay, where there is none."""
    flat = np.sign(expected)
    last = np.maximum.accumulate(np.where(flat != 0.0, np.arange(len(flat)), 0))
    after = np.arange(len(flat)) > 0
    return max(policy_scores(p, returns, cost, after)["net"] for p in (flat, flat[last]))
