"""A broker for hand-computed cases: one lot is 100 units and one point 0.01, so a lot earns 1.00 a point."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from neuronet.bars.bars import Bars
from neuronet.market.actors import Fixed
from neuronet.market.rules import Rules
from neuronet.market.simulator import Simulation, simulate
from neuronet.market.trades import EXITS

HOUR = 3_600 * 10**9
Row = tuple[float, ...]
FLAT = (0.0,) * 6
KEEP = (float("nan"),) * 6


def buy(lots: float, tp: int = 0, sl: int = 0) -> Row:
    """Lots, and distances in points."""
    return (lots, tp / 1_000, sl / 1_000, 0.0, 0.0, 0.0)


def sell(lots: float, tp: int = 0, sl: int = 0) -> Row:
    return (0.0, 0.0, 0.0, lots, tp / 1_000, sl / 1_000)


def rules(**changes: Any) -> Rules:
    plain = {"point": 0.01, "contract": 100.0, "lot_step": 0.1, "min_lot": 0.1, "leverage": 100.0}
    return Rules(**{**plain, **changes})


def bars_of(rows: Sequence[Row], hours: Sequence[float] | None = None, start: str = "2024-01-01") -> Bars:
    """Rows are (open, high, low, close), or (open, close) with nothing beyond; 2024-01-01 was a Monday."""
    whole = [row if len(row) == 4 else (row[0], max(row), min(row), row[1]) for row in rows]
    o, h, low, c = np.array(whole, float).T
    hours = range(len(rows)) if hours is None else hours
    begin = int(np.datetime64(start, "ns").astype(np.int64))
    time = np.array([begin + round(hour * HOUR) for hour in hours])
    return Bars(time, o, h, low, c, np.zeros(len(rows)), "TEST", HOUR)


def trade(
    rows: Sequence[Row],
    actions: Sequence[Row],
    *,
    hours: Sequence[float] | None = None,
    start: str = "2024-01-01",
    cash: float = 10_000.0,
    close_at_end: bool = True,
    **changes: Any,
) -> Simulation:
    """One agent; actions after the last one given are KEEP."""
    given = [*actions, *[KEEP] * (len(rows) - len(actions))]
    bars = bars_of(rows, hours, start)
    return simulate(bars, rules(**changes), Fixed(given), cash=cash, close_at_end=close_at_end)


def exits(done: Simulation) -> list[str]:
    return [EXITS[i] for i in done.trades.reason]


def money(done: Simulation) -> float:
    """The balance at the end."""
    assert done.balance[0] == done.cash + done.trades.net.sum() or done.account.volume[0]
    return float(done.balance[0]) / 100


def equity(done: Simulation) -> list[float]:
    """Equity at each close."""
    assert done.records is not None
    return [float(value) / 100 for value in done.records.equity[0]]
