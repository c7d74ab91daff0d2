"""backtest: what positions decided at the close of each bar would have earned, entered at the next open.

The rules, in one place:

    when      the position decided at the close of bar t is taken at the open of bar t+1; NaN is flat
    how much  a position p holds p x (start capital) / (open at which it was taken) units: stakes neither grow
              nor shrink with the equity, nothing is compounded. While p stays the same nothing is traded
    costs     each fill of u units at the price q costs u x (spread/2 + slippage + commission x q). Quotes
              count as the middle between bid and ask. MetaTrader's bars are bids: there a buy pays the
              whole spread and a sale none; from entry to exit that is the same amount
    marking   equity [bars] is at the closes, without the costs of closing what is still held
    gaps      bars further apart than max_gap: what is held is closed at the last close before it, and
              the decision at that close lapses; with carry_gaps neither happens
    end       what is held at the last close is closed there, with its costs
    ruin      when the equity at a close is 0 or less, all is closed at the next open, and nothing follows
    volume    is not looked at: a bar of volume 0 has quotes, and they count

This is the simulator's case of one agent without stops, lots or margin, as sums over whole arrays: it takes
fractions of units and decimals of any length, which whole points and lot steps cannot. A test holds the two
together.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from neuronet.bars.bars import Bars, Floats, counted, stamp
from neuronet.errors import DataError, ShapeError, SpecError
from neuronet.market.quotes import check_prices
from neuronet.market.trades import Trades, find_trades

log = logging.getLogger(__name__)

DAY = 86_400 * 10**9  # ns
RICHEST = 1e100  # sums of more would leave float64
LARGE = 0.1  # costs of a fill that are a larger share of the price are a slip, such as points for price


@dataclass(frozen=True, eq=False)
class Backtest:
    """What happened, bar by bar and trade by trade; money is in the currency of the quotes.

    equity  [bars] at the close of each bar, after all costs so far
    units   [bars] held from open to close; negative is short
    costs   [bars] paid in each bar
    traded  [bars] value of the fills of each bar, both sides
    trades  in order of entry; equity[-1] - cash is the sum of their net
    ruined  bar at whose close the capital was gone, else None
    idle    why nothing was traded, in words; '' where something was
    """

    bars: Bars
    cash: float
    equity: Floats
    units: Floats
    costs: Floats
    traded: Floats
    trades: Trades
    ruined: int | None = None
    idle: str = ""


def backtest(
    bars: Bars,
    positions: ArrayLike,
    *,
    spread: float,
    commission: float,
    slippage: float,
    max_gap: int | None,
    carry_gaps: bool = False,
    cash: float = 10_000.0,
    warn: bool = True,
) -> Backtest:
    """Trade positions on bars by the rules at the top of this file.

    positions   [bars] in [-1, 1]: the share of the start capital, decided at the close of each bar; NaN: flat
    spread      between bid and ask, in units of price: 0.0001 is one pip of EURUSD
    commission  of each fill, as a share of its value: 0.0001 is one basis point
    slippage    of each fill against you, in units of price
    max_gap     ns between neighbours' times over which nothing is held; None: any
    carry_gaps  hold and decide over gaps as over any other bar
    cash        start capital, in the currency of the quotes
    warn        say when the capital is gone

    A pass over the arrays, in float64: the same input gives the same bits, and cutting the bars never changes
    the equity of the bars before the last one left.

    Raises DataError for a price that is not positive and finite, and for positions outside [-1, 1];
    ShapeError for another number of them; SpecError for costs or a capital that cannot be.
    """
    held = _checked_positions(bars, positions)
    check_prices(
        bars,
        ("open", "close"),
        who="backtest",
        why="no number of units is worth a share of the capital",
        fix="correct the bars, read them with --bad-bars fix or drop, or add an amount to all prices",
    )
    _check_costs(bars, spread, commission, slippage, cash)
    n, per_unit = len(bars), 0.5 * spread + slippage
    wanted = held != 0.0
    held = np.concatenate([[0.0], held[:-1]])  # now of the bar in which it is held
    closing = np.arange(n) == n - 1
    if max_gap is not None and not carry_gaps:
        gap = np.diff(bars.time) > max_gap
        closing[:-1] |= gap
        held[1:][gap] = 0.0

    def run() -> tuple[Floats, ...]:
        """Units before the open, from open to close and after the close; fills' value, costs, equity."""
        new = np.diff(held, prepend=0.0) != 0.0
        taken = np.maximum.accumulate(np.where(new, np.arange(n), 0))
        units = held * (cash / bars.open[taken])
        after = np.where(closing, 0.0, units)
        carried = np.concatenate([[0.0], after[:-1]])
        at_open, at_close = np.abs(units - carried), np.abs(after - units)
        traded = at_open * bars.open + at_close * bars.close
        costs = (at_open + at_close) * per_unit + commission * traded
        before = np.concatenate([bars.open[:1], bars.close[:-1]])
        gross = carried * (bars.open - before) + units * (bars.close - bars.open)
        return carried, units, after, traded, costs, cash + np.cumsum(gross - costs)

    carried, units, after, traded, costs, equity = run()
    ruined: int | None = None
    if np.any(equity <= 0.0):
        ruined = int(np.argmax(equity <= 0.0))
        if warn:
            log.warning(
                "the capital was gone at the close of %s: all is closed at the next open, and nothing "
                "follows",
                stamp(bars.time[ruined]),
            )
        held[ruined + 1 :] = 0.0
        carried, units, after, traded, costs, equity = run()
    trades = find_trades(bars, carried, units, after, per_unit=per_unit, commission=commission, ruined=ruined)
    lapse = "before a gap one lapses, and no open follows the last bar"
    idle = "" if len(trades) else why_idle(wanted, lapse)
    return Backtest(bars, float(cash), equity, units, costs, traded, trades, ruined, idle)


def why_idle(wanted: NDArray[np.bool_], otherwise: str) -> str:
    """Why nothing was traded, from where another position than flat was decided, [bars].

    otherwise  what else than the end of the bars keeps decisions from being taken
    """
    if not wanted.any():
        return "every decision was flat, as of a model that says 'no change'"
    count = int(wanted.sum())
    if wanted[-1] and count == 1:
        return "the only decision that was not flat is the last bar's, which no open follows"
    return f"{counted(count, 'decision was', 'decisions were')} not flat, but {otherwise}"


def buy_and_hold(
    bars: Bars, *, spread: float, commission: float, slippage: float, cash: float = 10_000.0
) -> Backtest:
    """Buy for the whole start capital at the second bar's open and hold, over gaps too, to the last close."""
    every = np.ones(len(bars))
    return backtest(
        bars, every, spread=spread, commission=commission, slippage=slippage, max_gap=None, cash=cash
    )


def default_max_gap(bars: Bars) -> int:
    """Four days, so that weekends with a holiday are no gap; two steps where bars are longer. In ns."""
    return max(4 * DAY, 2 * bars.step)


def _checked_positions(bars: Bars, positions: ArrayLike) -> NDArray[np.float64]:
    """A float64 copy with 0 for NaN."""
    found = np.array(positions, np.float64)
    if found.shape != (len(bars),):
        raise ShapeError(
            f"positions have shape {found.shape}, there are {len(bars)} bars",
            where="backtest",
            fix="give one position a bar, NaN where there is none",
        )
    wrong = np.abs(found) > 1.0  # NaN is not
    if wrong.any():
        at = int(np.argmax(wrong))
        raise DataError(
            f"position {found[at]:g} at {stamp(bars.time[at])} is outside [-1, 1]",
            where="backtest",
            fix="give shares of the start capital: 1 all of it long, -1 short, 0 flat",
        )
    return np.where(np.isnan(found), 0.0, found)


def _check_costs(bars: Bars, spread: float, commission: float, slippage: float, cash: float) -> None:
    for name, value in (("spread", spread), ("commission", commission), ("slippage", slippage)):
        if not 0.0 <= value < np.inf:
            raise SpecError(f"{name} cannot be {value:g}", where=f"--{name}", fix="choose 0 or more")
    if not 0.0 < cash <= RICHEST:
        fix = f"choose more than 0 and at most {RICHEST:g}"
        raise SpecError(f"the start capital cannot be {cash:g}", where="--cash", fix=fix)
    price = float(np.median(bars.close))
    for name, value, unit in (
        ("spread", spread / price, "in units of price: 20 points of 0.00001 are 0.0002"),
        ("slippage", slippage / price, "in units of price: 2 points of 0.00001 are 0.00002"),
        ("commission", commission, "as a share of the value: 0.01 % is 0.0001"),
    ):
        if value > LARGE:
            raise SpecError(
                f"the {name} would be {value:.0%} of a price of {price:g}",
                where=f"--{name}",
                fix=f"give it {unit}",
            )
