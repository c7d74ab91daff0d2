"""States: what an agent knows of its account and of the time at each close, as numbers for a net.

The articles keep an account vector of twelve; it is here with the time as int64 until the very end, and with
sine AND cosine of each period, where the articles have one of the two and so confuse two phases.
"""

from __future__ import annotations

import numpy as np

from neuronet.bars.bars import Bars, Floats
from neuronet.bars.features import time_harmonics
from neuronet.market.records import Records
from neuronet.market.rules import Ints, Rules

ACCOUNT = (
    "balance_change",
    "equity_share",
    "equity_change",
    "buy_lots",
    "sell_lots",
    "buy_profit",
    "sell_profit",
    "aged_profit",
)
TIME = tuple(f"{period}_{part}" for period in ("day", "week", "month", "year") for part in ("sin", "cos"))
STATE = (*ACCOUNT, *TIME)
FADES = 36_000 * 10**9  # ns (ten hours) in which an open profit of 1 counts for 1 less


def before(values: Ints, cash: int) -> Ints:
    """[..., bars] one bar earlier, with ``cash`` before the first."""
    first = np.full((*values.shape[:-1], 1), cash, np.int64)
    return np.concatenate([first, values[..., :-1]], axis=-1)


def account_vectors(records: Records, bars: Bars, rules: Rules, first: int = 0) -> Floats:
    """The account part of the state, [..., bars, 8] in the order of ACCOUNT.

    records  [..., bars]; bars are those from bar ``first`` on of the ones that ``records.entry`` counts

    balance_change  (balance - before) / before, where before is the balance one close earlier
    equity_share    equity / balance before
    equity_change   (equity - before) / equity before
    buy_lots, sell_lots      volume by side, in lots
    buy_profit, sell_profit  profit of the open position by side / balance before
    aged_profit     (profit - age / 10 h * |profit|) / balance before; age from its first fill to this close

    Balance and equity before must be positive: trajectories end at ruin.
    """
    balance, equity = before(records.balance, records.cash), before(records.equity, records.cash)
    now, profit = records.equity, records.equity - records.balance
    share = profit / balance
    ends = bars.time + bars.step
    opened = bars.time[np.maximum(records.entry - first, 0)]
    age = np.where(records.entry >= 0, ends - opened, 0) / FADES
    lots = rules.lots(np.abs(records.volume))
    long, short = records.volume > 0, records.volume < 0
    columns = [
        (records.balance - balance) / balance,
        now / balance,
        (now - equity) / equity,
        np.where(long, lots, 0.0),
        np.where(short, lots, 0.0),
        np.where(long, share, 0.0),
        np.where(short, share, 0.0),
        share - age * np.abs(share),
    ]
    return np.stack(columns, axis=-1)


def time_vectors(bars: Bars) -> Floats:
    """The time part of the state, [bars, 8] in the order of TIME, of the bars' opening times.

    Months and years are those of the calendar, not of 30 and 365 days.
    """
    columns = time_harmonics(bars)
    return np.stack([columns[name] for name in TIME], axis=-1)
