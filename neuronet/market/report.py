"""Report: a backtest in numbers, each defined once here, and as a table beside buy and hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from neuronet.bars.bars import Floats, Times, counted, span, stamp
from neuronet.market.backtest import DAY, Backtest
from neuronet.market.trades import EXITS, RUIN, Trades

YEAR = 365.25 * DAY  # ns
SATURDAY, SUNDAY = 5, 6
STILL = 1e-12  # daily returns that spread less than this do not move


@dataclass(frozen=True)
class Report:
    """Numbers of a backtest; None where one is not defined. Shares are of 1, not percent.

    first, last        times of the first and the last bar; ``bars`` of them on ``days`` days
    cash, final        equity before the first bar and at the end
    profit             final - cash; ``total_return`` is that by cash
    sharpe             mean / standard deviation (n - 1) of the daily returns x sqrt(factor), no risk-free
                       rate; a day's return is its last equity by that of the day before (the start capital
                       for the first), and days without a trade count
    sortino            mean / sqrt(mean of the squared negative daily returns) x sqrt(factor)
    factor             observations a year, see ``days_a_year``
    max_drawdown       deepest fall of the equity below its highest so far, as a share of that
    drawdown_bars, _ns from that high to the first bar at which it is reached again, or to the last bar
    drawdown_from      time of that high, at the last bar before the fall; None without a drawdown
    recovered          whether it was reached again; None without a drawdown
    exposure           share of the bars in which something was held
    turnover           value of all fills, both sides, by cash
    trades             how many; ``exits`` how many for which reason, a broker's only where there are some
    winners            trades with net > 0; ``win_rate`` is their share
    profit_factor      sum of net of the winners by that of the losers, positive
    average_win, _loss mean net of the trades with net > 0, and < 0 (a negative number)
    costs              paid in all
    ruined             time of the close at which the capital was gone, or None
    idle               why nothing was traded, or None where something was
    """

    first: str
    last: str
    bars: int
    days: int
    cash: float
    final: float
    profit: float
    total_return: float
    sharpe: float | None
    sortino: float | None
    factor: int
    max_drawdown: float
    drawdown_bars: int
    drawdown_ns: int
    drawdown_from: str | None
    recovered: bool | None
    exposure: float
    turnover: float
    trades: int
    exits: dict[str, int]
    winners: int
    win_rate: float | None
    profit_factor: float | None
    average_win: float | None
    average_loss: float | None
    costs: float
    ruined: str | None
    idle: str | None

    @classmethod
    def of(cls, test: Backtest) -> Report:
        """Measure a backtest."""
        time, net, cash, final = test.bars.time, test.trades.net, test.cash, float(test.equity[-1])
        daily = daily_equity(time, test.equity)
        factor = days_a_year(time, test.bars.step)
        sharpe, sortino = _ratios(np.concatenate([[cash], daily]), factor)
        wins, losses = net[net > 0.0], net[net < 0.0]
        return cls(
            first=stamp(time[0]),
            last=stamp(time[-1]),
            bars=len(time),
            days=len(np.unique(time // DAY)),
            cash=cash,
            final=final,
            profit=final - cash,
            total_return=final / cash - 1.0,
            sharpe=sharpe,
            sortino=sortino,
            factor=factor,
            **_drawdown(time, test.equity),
            exposure=float(np.mean(test.units != 0.0)),
            turnover=float(test.traded.sum()) / cash,
            trades=len(net),
            exits=_exits(test.trades),
            winners=len(wins),
            win_rate=len(wins) / len(net) if len(net) else None,
            profit_factor=float(wins.sum() / -losses.sum()) if len(losses) else None,
            average_win=float(wins.mean()) if len(wins) else None,
            average_loss=float(losses.mean()) if len(losses) else None,
            costs=float(test.costs.sum()),
            ruined=None if test.ruined is None else stamp(time[test.ruined]),
            idle=None if len(net) else test.idle,
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON data."""
        return asdict(self)


def _exits(trades: Trades) -> dict[str, int]:
    counts = {name: int(np.sum(trades.exit == code)) for code, name in enumerate(EXITS)}
    return {name: count for i, (name, count) in enumerate(counts.items()) if count or i <= RUIN}


def daily_equity(time: Times, equity: Floats) -> Floats:
    """The last equity of each day that has a bar, [days]; days are those of the bars' clock."""
    day = time // DAY
    last: Floats = equity[np.append(day[1:] != day[:-1], True)]
    return last


def days_a_year(time: Times, step: int) -> int:
    """How many daily equities a year has, from the days seen.

    365 where the market is open on Saturdays and Sundays, 313 on six days a week (FX whose week begins on
    Sunday evening), else 252. A weekday is the market's when it occurs half as often as the commonest.
    Bars of more than a day: bars seen a year, such as 52 or 12.
    """
    day = np.unique(time // DAY)
    if step > DAY and len(day) > 1:
        return max(1, round((len(day) - 1) * YEAR / float(time[-1] - time[0])))
    counts = np.bincount((day + 3) % 7, minlength=7)  # 1970-01-01 was a Thursday
    market = counts * 2 >= counts.max()
    if market[SATURDAY] and market[SUNDAY]:
        return 365
    return 313 if market.sum() == 6 else 252


def _ratios(equity: Floats, factor: int) -> tuple[float | None, float | None]:
    """Sharpe and Sortino of daily equity [days + 1]; None for a single day, lost capital, or no move."""
    if np.any(equity <= 0.0) or len(equity) < 3:
        return None, None
    returns = equity[1:] / equity[:-1] - 1.0
    spread = float(np.std(returns, ddof=1))
    below = float(np.sqrt(np.mean(np.minimum(returns, 0.0) ** 2)))
    yearly = float(np.mean(returns)) * factor**0.5
    return yearly / spread if spread > STILL else None, yearly / below if below > STILL else None


def drawdown(equity: Floats) -> Floats:
    """Share by which the equity is below its highest so far, [bars]; nothing is held in the first bar."""
    fall: Floats = 1.0 - equity / np.maximum.accumulate(equity)
    return fall


def _drawdown(time: Times, equity: Floats) -> dict[str, Any]:
    fall = drawdown(equity)
    low = int(np.argmax(fall))
    if fall[low] <= 0.0:
        none: dict[str, Any] = {"drawdown_from": None, "recovered": None}
        return {"max_drawdown": 0.0, "drawdown_bars": 0, "drawdown_ns": 0, **none}
    level = equity[:low].max()
    high = int(np.flatnonzero(equity[:low] == level)[-1])
    again = np.flatnonzero(equity[low:] >= level)
    end = low + int(again[0]) if len(again) else len(equity) - 1
    return {
        "max_drawdown": float(fall[low]),
        "drawdown_bars": end - high,
        "drawdown_ns": int(time[end] - time[high]),
        "drawdown_from": stamp(time[high]),
        "recovered": bool(len(again)),
    }


def report(
    columns: Mapping[str, Report],
    *,
    symbol: str = "",
    step: int = 0,
    stakes: str = "trades are shares of it, nothing is compounded",
    notes: Sequence[str] = (),
) -> list[str]:
    """Lines for people: what was traded, a column for each report, the definitions, and further ``notes``.

    stakes  how large a trade is, in words
    """
    one = next(iter(columns.values()))
    spacing = f" {span(step)} apart" if step else ""
    table = [["", *columns], *([name, *map(cell, columns.values())] for name, cell in _ROWS)]
    lines = [
        f"{symbol or 'bars'}: {one.first} to {one.last}, {counted(one.bars, 'bar')}{spacing} on "
        f"{counted(one.days, 'day')}",
        "",
        *_aligned(table),
        "",
        *_notes(one, stakes),
        *notes,
    ]
    return lines


def _number(value: float | None, form: str) -> str:
    return "n/a" if value is None else format(value, form)


def _bars(one: Report) -> str:
    return f"{one.drawdown_bars:,}" + (", not over" if one.recovered is False else "")


_ROWS = [
    ("return", lambda r: f"{r.total_return:+.2%}"),
    ("profit", lambda r: f"{r.profit:+,.2f}"),
    ("costs paid", lambda r: f"{r.costs:,.2f}"),
    ("Sharpe", lambda r: _number(r.sharpe, ".2f")),
    ("Sortino", lambda r: _number(r.sortino, ".2f")),
    ("max drawdown", lambda r: f"{r.max_drawdown:.2%}"),
    ("its length", lambda r: "n/a" if r.recovered is None else span(r.drawdown_ns)),
    ("  in bars", lambda r: "n/a" if r.recovered is None else _bars(r)),
    ("exposure", lambda r: f"{r.exposure:.1%}"),
    ("turnover", lambda r: f"{r.turnover:,.1f} x"),
    ("trades", lambda r: f"{r.trades:,}"),
    ("winners", lambda r: f"{r.winners:,}"),
    ("win rate", lambda r: _number(r.win_rate, ".1%")),
    ("profit factor", lambda r: _number(r.profit_factor, ".2f")),
    ("average win", lambda r: _number(r.average_win, "+,.2f")),
    ("average loss", lambda r: _number(r.average_loss, "+,.2f")),
]


def _notes(one: Report, stakes: str) -> list[str]:
    forced = [f"{one.exits[name]:,} {words}" for name, words in _FORCED.items() if one.exits.get(name)]
    returns = counted(one.days, "daily return")
    lines = [
        f"return      of the start capital, {one.cash:,.2f}; {stakes}",
        f"Sharpe      mean / deviation of {returns} x sqrt({one.factor}), no risk-free rate",
        "Sortino     the same with the deviation of the losing days below 0",
        "drawdown    below the highest equity so far, at closes; its length: until that is reached again",
        "exposure    share of the bars with a position; turnover: value of all fills / start capital",
        "trades      from flat, or a flip, to flat or a flip; a win has earned more than its costs",
    ]
    if forced:
        lines.append(f"            closed without a decision: {', '.join(forced)}")
    if not one.trades:
        lines.append(f"            none here: {one.idle}")
    if one.ruined is not None:
        lines.append(
            f"ruin        the capital was gone at the close of {one.ruined}; nothing was traded after"
        )
    return lines


_FORCED = {
    "gap": "at the last close before a gap",
    "end": "at the last close of the data",
    "ruin": "by ruin",
    "take profit": "by take-profit",
    "stop loss": "by stop-loss",
    "stop out": "by the broker (stop-out)",
}


def _aligned(rows: list[list[str]]) -> list[str]:
    """Names to the left, numbers to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]).rstrip() for row in rows
    ]
