"""Trades of a backtest: found from the units held around each fill, one record from flat to flat."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from neuronet.bars.bars import Bars, Floats, Times, stamp

# why a trade ended; the last three by a broker, see simulator.py
EXITS = ("decision", "gap", "end", "ruin", "take profit", "stop loss", "stop out")
DECISION, GAP, END, RUIN, TAKE_PROFIT, STOP_LOSS, STOP_OUT = range(len(EXITS))

LINES_AT_ONCE = 100_000


@dataclass(frozen=True)
class Trade:
    """One trade: from the first unit held in a direction until none is.

    entry_time, exit_time    ns, the bar at which it was filled; exits by 'gap' and 'end' are at that bar's
                             close, all other fills at its open
    entry_price, exit_price  quotes without costs; means over the units when filled in several steps
    exit                     why it ended: 'decision' (flat or a flip), 'gap', 'end' of the data, 'ruin'; in
                             a simulation also 'take profit', 'stop loss', 'stop out'
    side                     1 long, -1 short
    size                     most units held at once
    bars                     bars in which units were held
    gross, costs, net        in the currency of the quotes; net = gross - costs
    """

    entry_time: int
    entry_price: float
    exit_time: int
    exit_price: float
    exit: str
    side: int
    size: float
    bars: int
    gross: float
    costs: float
    net: float


@dataclass(frozen=True, eq=False)
class Trades:
    """All trades in order of entry, as columns [trades]; iterating gives a ``Trade`` each.

    ``exit`` holds positions in EXITS; the rest is as in ``Trade``.
    """

    entry_time: Times
    entry_price: Floats
    exit_time: Times
    exit_price: Floats
    exit: NDArray[np.int64]
    side: NDArray[np.int64]
    size: Floats
    bars: NDArray[np.int64]
    gross: Floats
    costs: Floats

    @property
    def net(self) -> Floats:
        """What each trade earned after costs."""
        return self.gross - self.costs

    def __len__(self) -> int:
        return len(self.entry_time)

    def __getitem__(self, i: int) -> Trade:
        found = {f.name: getattr(self, f.name)[i].item() for f in fields(self)}
        return Trade(**{**found, "exit": EXITS[found["exit"]]}, net=found["gross"] - found["costs"])

    def __iter__(self) -> Iterator[Trade]:
        return (self[i] for i in range(len(self)))

    def csv(self) -> Iterator[str]:
        """A header and a line a trade, in blocks of lines; numbers have 10 digits."""
        names = [f.name for f in fields(Trade)]
        yield ",".join(names) + "\n"
        for begin in range(0, len(self), LINES_AT_ONCE):
            yield "".join(map(_line, (self[i] for i in range(begin, min(begin + LINES_AT_ONCE, len(self))))))


def _line(trade: Trade) -> str:
    numbers = (trade.size, trade.bars, trade.gross, trade.costs, trade.net)
    return (
        ",".join(
            [
                *(stamp(trade.entry_time), f"{trade.entry_price:.10g}"),
                *(stamp(trade.exit_time), f"{trade.exit_price:.10g}"),
                *(trade.exit, "long" if trade.side > 0 else "short"),
                *(f"{number:.10g}" for number in numbers),
            ]
        )
        + "\n"
    )


def find_trades(
    bars: Bars,
    carried: Floats,
    units: Floats,
    after: Floats,
    *,
    per_unit: float,
    commission: float,
    ruined: int | None,
) -> Trades:
    """Return the trades of units [bars] held before each open, from open to close, and after each close.

    per_unit    costs of a fill for each unit (half the spread and the slippage)
    commission  share of the value of each fill, on top
    ruined      bar at whose close the capital was gone: what is closed at the next open is 'ruin'
    """
    n = len(bars)
    row = np.repeat(np.arange(n), 2)  # two moments a bar: its open and its close
    at_close = np.tile([False, True], n)
    before, later = _pairs(carried, units), _pairs(units, after)
    fills = np.flatnonzero(before != later)
    row, at_close, before, later = row[fills], at_close[fills], before[fills], later[fills]
    price = _pairs(bars.open, bars.close)[fills]

    same = np.sign(before) == np.sign(later)
    change = np.abs(later) - np.abs(before)
    entered = np.where(same, np.maximum(change, 0.0), np.abs(later))
    left = np.where(same, np.maximum(-change, 0.0), np.abs(before))
    starts = ~same & (later != 0.0)
    ends = ~same & (before != 0.0)
    count = int(starts.sum())
    number = np.cumsum(starts) - 1  # of the trade after each fill
    earlier = np.maximum(number - starts, 0)  # and before it; nothing is left at the very first fill

    def total(trade: NDArray[np.int64], values: Floats) -> Floats:
        return np.bincount(trade, values, count).astype(np.float64)  # int64 where there is no fill

    unit_costs = per_unit + commission * price
    entry_value, exit_value = total(number, entered * price), total(earlier, left * price)
    first, last = row[starts], row[ends]
    side = np.sign(later[starts]).astype(np.int64)
    closing = at_close[ends]
    why = np.where(closing, np.where(last == n - 1, END, GAP), DECISION)
    if ruined is not None:
        why[~closing & (last == ruined + 1)] = RUIN
    return Trades(
        entry_time=bars.time[first],
        entry_price=entry_value / total(number, entered),
        exit_time=bars.time[last],
        exit_price=exit_value / total(earlier, left),
        exit=why,
        side=side,
        size=np.maximum.reduceat(np.abs(later), np.flatnonzero(starts)) if count else np.zeros(0),
        bars=last - first + closing,
        gross=side * (exit_value - entry_value),
        costs=total(number, entered * unit_costs) + total(earlier, left * unit_costs),
    )


def _pairs(first: Floats, second: Floats) -> Floats:
    """[bars], [bars] -> [2 bars], in turns."""
    return np.stack([first, second], axis=1).ravel()
