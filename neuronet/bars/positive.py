"""Prices of which logarithms are taken: none may be zero or negative."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from neuronet.bars.bars import PRICES, Bars, Floats, stamp
from neuronet.bars.candles import bad_prints
from neuronet.errors import DataError

log = logging.getLogger(__name__)


def require_positive(bars: Bars, what: str, prices: Sequence[str] = PRICES) -> None:
    """Raise DataError when one of ``prices`` is zero or negative, because logarithms of it do not exist."""
    lowest = np.minimum.reduce([getattr(bars, name) for name in prices])
    bad = lowest <= 0.0
    if not bad.any():
        return
    if (bad & ~bad_prints(_prices(bars))).any():
        fix = (
            "train with --features diff, which learns differences of prices instead of returns; or add one "
            f"amount, above {-lowest.min():.10g} and better twice that, to all prices"
        )
    else:
        fix = "choose --bad-bars fix, which takes the lowest other price of the bar, or --bad-bars drop"
    raise DataError(
        f"{what} needs logarithms of prices, and {int(bad.sum())} of {len(bars)} bars have a price <= 0, "
        f"the first at {stamp(bars.time[int(np.argmax(bad))])}",
        where=bars.symbol or "bars",
        fix=fix,
    )


def without_bad_prints(bars: Bars, what: str) -> Bars:
    """Take the lowest other price of its bar for a lone open or low of 0, with a warning.

    So bad_bars='keep', the default, keeps such a bar in the series, and still it has logarithms. A close of 0
    stays, for it is what a forecast is about; so does a price below 0, which may be an honest one.
    """
    prices = _prices(bars)
    lowest = np.minimum.reduce(list(prices.values()))
    marked = bad_prints(prices) & (lowest == 0.0) & (bars.close > 0.0)
    if not marked.any():
        return bars
    log.warning(
        "%s: %d bar%s with a lone price of 0, the first at %s: %s takes the lowest other price of the bar",
        bars.symbol or "bars",
        marked.sum(),
        "s" if marked.sum() > 1 else "",
        stamp(bars.time[int(np.argmax(marked))]),
        what,
    )
    stacked = np.stack(list(prices.values()))
    least = np.min(np.where(stacked > 0.0, stacked, np.inf), axis=0)
    changed: dict[str, Any] = {n: np.where(marked & (v <= 0.0), least, v) for n, v in prices.items()}
    return replace(bars, **changed)


def _prices(bars: Bars) -> dict[str, Floats]:
    return {name: getattr(bars, name) for name in PRICES}
