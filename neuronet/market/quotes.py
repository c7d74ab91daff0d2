"""Quotes: bars in whole points of a broker, and the nights between them."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from neuronet.bars.bars import PRICES, Bars, Times, stamp
from neuronet.errors import DataError, SpecError
from neuronet.market.rules import LIMIT, Ints, Rules

log = logging.getLogger(__name__)

DAY = 86_400 * 10**9  # ns
FIRST_MONDAY = 4  # 1970-01-05, in days since 1970-01-01
WIDEST = 1e-3  # of a point: what a decimal price in float64 may be off


def check_prices(bars: Bars, names: Sequence[str], *, who: str, why: str, fix: str) -> None:
    """DataError unless there are bars and the named prices are above 0; ``who`` needs them, and ``why``."""
    if not len(bars):
        raise DataError("no bars", where=bars.symbol or who, fix="give at least one")
    for name in names:
        price = getattr(bars, name)
        wrong = ~((price > 0.0) & np.isfinite(price))
        if wrong.any():
            at, count = int(np.argmax(wrong)), int(wrong.sum())
            raise DataError(
                f"the {name} of {stamp(bars.time[at])} is {price[at]:g} ({count} such bars): {why}",
                where=bars.symbol or "bars",
                fix=fix,
            )


@dataclass(frozen=True, eq=False)
class Quotes:
    """Bids of bars in points, int64 [bars]; the ask is the bid + the spread.

    high and low enclose open and close. ``nights`` [bars]: nights that are charged between the bar before
    and this one, see ``nights_between``.
    """

    open: Ints
    high: Ints
    low: Ints
    close: Ints
    nights: Ints

    @classmethod
    def of(cls, bars: Bars, rules: Rules) -> Quotes:
        """Convert bars. DataError for no bars and prices that are not positive; SpecError beyond int64.

        Prices between two points are rounded, with a warning.
        """
        fix = "correct the bars, or read them with --bad-bars fix or drop"
        check_prices(bars, PRICES, who="simulator", why="no margin can be asked for it", fix=fix)
        points, between = {}, 0
        for name in PRICES:
            price = getattr(bars, name)
            scaled = price / rules.point
            if scaled.max() * rules.max_steps >= LIMIT:
                _too_large(f"a price of {price.max():g} for {rules.max_lot:g} lots")
            points[name] = np.rint(scaled).astype(np.int64)
            between += int(np.sum(np.abs(scaled - points[name]) > WIDEST))
            if points[name].min() < 1:
                at = int(np.argmin(points[name]))
                raise SpecError(
                    f"a point of {rules.point:g} is larger than the price {price[at]:g}",
                    where="--point",
                    fix="give the smallest step of the price, such as 0.00001",
                )
        if between:
            log.warning(
                "%s: %d of %d prices lie between two points of %g and are rounded; give another --point",
                bars.symbol or "bars", between, 4 * len(bars), rules.point,
            )  # fmt: skip
        ends = np.stack([points["open"], points["close"]])
        high, low = np.maximum(points["high"], ends.max(0)), np.minimum(points["low"], ends.min(0))
        quotes = cls(points["open"], high, low, points["close"], nights_between(bars.time, rules.triple_day))
        _check_size(quotes, rules)
        return quotes


def nights_between(time: Times, triple_day: int = 2) -> Ints:
    """Nights charged between each bar and the one before, [bars]; 0 for the first.

    A night is a midnight on the clock of the bars after which a position is still held. Those that end
    Monday to Friday count once, that of ``triple_day`` three times, those of Saturday and Sunday not at all:
    with a triple Wednesday a week costs seven nights, and Friday to Monday costs one.
    """
    weight = np.array([1, 1, 1, 1, 1, 0, 0], np.int64)
    weight[triple_day] = 3 * max(1, weight[triple_day])
    day = time // DAY - FIRST_MONDAY
    passed = day // 7 * weight.sum() + np.concatenate([[0], np.cumsum(weight)])[day % 7]
    nights: Ints = np.diff(passed, prepend=passed[:1])
    return nights


def _check_size(quotes: Quotes, rules: Rules) -> None:
    """The largest sums that the simulator makes fit into int64."""
    most, value, bars = rules.max_steps, rules.step_point, len(quotes.open)
    gaps = np.abs(quotes.open[1:] - quotes.close[:-1])
    path = float(gaps.sum(dtype=np.float64) + (quotes.high - quotes.low).sum(dtype=np.float64))
    path += 2.0 * rules.spread * bars  # points that one step can win or lose in all bars together
    nights = int(quotes.nights.sum()) + 1
    largest = max(
        2 * (int(quotes.high.max()) + rules.spread) * most * value.numerator * 100,  # margin, in percent
        2 * path * most * value.numerator * max(1, 100 // value.denominator),  # balance, in percent
        2 * rules.step_commission.numerator * most * bars * 2,
        2 * most * max(abs(rules.swap(side).numerator) for side in (1, -1)) * nights,
    )
    if largest >= LIMIT:
        _too_large(f"{rules.max_lot:g} lots over {bars:,} bars")


def _too_large(what: str) -> None:
    raise SpecError(
        f"{what} may need more than int64 holds",
        where="--max-lot",
        fix="choose a smaller --max-lot, a coarser --lot-step or a larger --point",
    )
