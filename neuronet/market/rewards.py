"""Rewards: three numbers a state, as in the articles, and their discounted sums.

Rewards of state t are what has become of the account since state t-1, so they answer the action of t-1.
"""

from __future__ import annotations

import numpy as np

from neuronet.bars.bars import Bars, Floats
from neuronet.bars.features import atr
from neuronet.market.records import Records
from neuronet.market.rules import CENTS
from neuronet.market.state import before

REWARDS = ("balance", "equity", "idle")
DISCOUNT = 0.99
PERIOD = 14


def idle_costs(bars: Bars) -> Floats:
    """ATR(14) [bars] in units of price, what a flat bar is blamed for; 0 before its first value."""
    if len(bars) <= PERIOD:
        return np.zeros(len(bars))
    return np.nan_to_num(atr(bars, PERIOD))


def rewards(records: Records, idle: Floats) -> Floats:
    """Rewards [..., bars, 3] of records [..., bars]; idle [bars] as of ``idle_costs``.

    balance  (balance - before) / before, where before is the balance one close earlier
    equity   equity / before - 1. The articles have 1 - equity / before, which rewards losses
    idle     -ATR / before without a position, else 0; of this bar alone, not summed up over flat bars
    """
    balance = before(records.balance, records.cash)
    flat = np.where(records.volume == 0, idle / (balance / CENTS), 0.0)  # idle is no cents but a price
    return np.stack([(records.balance - balance) / balance, records.equity / balance - 1.0, -flat], axis=-1)


def discounted(values: Floats, discount: float = DISCOUNT) -> Floats:
    """Sums [..., bars, k] of values from each bar on: values[t] + discount * the sum from t+1 on."""
    sums = np.array(values, np.float64)
    for t in range(values.shape[-2] - 2, -1, -1):
        sums[..., t, :] += discount * sums[..., t + 1, :]
    return sums
