"""The task policy: what a position at each bar gains and costs, for training and for the table."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def positions(outputs: NDArray[Any]) -> Floats:
    """The net's outputs [windows, 1] as positions [windows] in [-1, 1], as the loss reads them."""
    found: Floats = np.tanh(outputs.astype(np.float64)).reshape(len(outputs))
    return found


def follows(starts: NDArray[Any]) -> NDArray[np.bool_]:
    """Which windows at ``starts`` come one bar after the window before them; False for the first."""
    return np.concatenate([[False], np.diff(starts) == 1])


def loss_rows(returns: Floats, cost: float, last: NDArray[np.int64], after: NDArray[np.bool_]) -> Floats:
    """The target rows [bars, 3] of losses.Policy from returns [bars, 1] and the cost in the same unit.

    last   rows of the windows' last known bars; after: whether each window follows the one before it
    """
    rows = np.zeros((len(returns), 3))
    rows[:, 0], rows[:, 1] = returns[:, 0], cost
    rows[last, 2] = after
    return rows


def policy_scores(p: Floats, returns: Floats, cost: float, after: NDArray[np.bool_]) -> dict[str, Any]:
    """What positions p [windows] make of log returns [windows], each from an open to the next.

    net       sum of returns times positions, less costs; gross without them
    costs     cost times turnover
    turnover  sum of the changes of the position, from flat before the first bar, back to flat behind the
              last, and at every gap between windows
    exposure  mean |p|
    t         mean of the net returns a bar / its standard error; None when they never vary
    """
    into = np.where(after, np.abs(np.diff(p, prepend=0.0)), np.abs(p))
    out = np.where(np.append(~after[1:], True), np.abs(p), 0.0)
    gains, paid = p * returns, cost * (into + out)
    net = gains - paid
    spread = float(net.std(ddof=1)) if len(net) > 1 else 0.0
    return {
        "net": float(net.sum()),
        "gross": float(gains.sum()),
        "costs": float(paid.sum()),
        "turnover": float((into + out).sum()),
        "exposure": float(np.abs(p).mean()),
        "t": float(net.mean()) / spread * math.sqrt(len(net)) if spread > 0.0 else None,
    }
