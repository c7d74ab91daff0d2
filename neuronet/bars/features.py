"""Feature sets: what a net sees of each bar. Register one with @feature_set and it can be asked for by name.

Every feature of row t uses bars 0..t only, and the price and the indicators of the same finished bar, so
cutting the file later never changes earlier rows. Indicators follow MetaTrader 5's own programs (RSI.mq5,
CCI.mq5, ATR.mq5, MACD.mq5).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from neuronet.bars.bars import PRICES, Bars, Floats, stamp
from neuronet.bars.positive import require_positive, without_bad_prints
from neuronet.errors import DataError

DAY = 86_400 * 10**9


@dataclass(frozen=True, eq=False)
class Features:
    """names [features]; values [bars, features] float64; the first ``warmup`` rows are not defined."""

    names: tuple[str, ...]
    values: Floats
    warmup: int


@dataclass(frozen=True)
class FeatureSet:
    """A named group of columns: ``columns(bars)`` gives name -> [bars], defined from row ``warmup`` on."""

    name: str
    warmup: int
    columns: Callable[[Bars], dict[str, Floats]]


FEATURE_SETS: dict[str, FeatureSet] = {}


def feature_set(
    name: str, *, warmup: int
) -> Callable[[Callable[[Bars], dict[str, Floats]]], Callable[[Bars], dict[str, Floats]]]:
    """Register a function from bars to columns under a name."""

    def register(columns: Callable[[Bars], dict[str, Floats]]) -> Callable[[Bars], dict[str, Floats]]:
        FEATURE_SETS[name] = FeatureSet(name, warmup, columns)
        return columns

    return register


def make_features(bars: Bars, sets: Sequence[str]) -> Features:
    """Compute the columns of the named feature sets side by side.

    sets     names from FEATURE_SETS
    returns  values [bars, features]; rows before ``warmup`` (the longest of the sets) may be NaN

    Raises DataError for an unknown set, for fewer bars than the warm-up, and for a feature without a value.
    """
    unknown = [name for name in sets if name not in FEATURE_SETS]
    if unknown or not sets:
        raise DataError(
            f"unknown feature set {unknown[0]!r}" if unknown else "no feature set is named",
            where="make_features",
            fix=f"choose from {', '.join(sorted(FEATURE_SETS))}",
        )
    chosen = [FEATURE_SETS[name] for name in sets]
    warmup = max(one.warmup for one in chosen)
    if len(bars) <= warmup:
        few, first = "bar is" if len(bars) == 1 else "bars are", "bar" if warmup == 1 else "bars"
        raise DataError(
            f"{len(bars)} {few} too few: {', '.join(sets)} have their first value after {warmup} {first}",
            where="make_features",
            fix=f"give at least {warmup + 1} bars",
        )
    columns = {name: values for one in chosen for name, values in one.columns(bars).items()}
    for name, values in columns.items():
        broken = ~np.isfinite(values[warmup:])
        if broken.any():
            at = warmup + int(np.argmax(broken))
            raise DataError(
                f"feature {name} has no value in {int(broken.sum())} of {len(bars) - warmup} rows, "
                f"first at {stamp(bars.time[at])}",
                where="make_features",
                fix="look at the bars there, or leave out the feature set",
            )
    return Features(tuple(columns), np.stack(list(columns.values()), axis=1), warmup)


@feature_set("neuronet9", warmup=33)
def neuronet9(bars: Bars) -> dict[str, Floats]:
    """NeuroNet's nine inputs of a bar. Warm-up: 26 bars of the slow average, then 9 of the signal."""
    main = _ema(bars.close, 12) - _ema(bars.close, 26)
    return {
        "close_open": bars.close - bars.open,
        "high_open": bars.high - bars.open,
        "low_open": bars.low - bars.open,
        "volume_k": bars.volume / 1000.0,
        "rsi14": rsi(bars.close, 14),
        "cci14": cci((bars.high + bars.low + bars.close) / 3.0, 14),
        "atr14": atr(bars, 14),
        "macd": main,
        "macd_signal": _moving_mean(main, 9),
    }


@feature_set("returns", warmup=1)
def returns(bars: Bars) -> dict[str, Floats]:
    """Log returns of the four prices against the previous close, and the log change of volume + 1."""
    what = "the feature set 'returns'"
    bars = without_bad_prints(bars, what)
    require_positive(bars, what)
    base = np.log(bars.close[:-1])
    columns = {f"{name}_return": _after_nan(np.log(getattr(bars, name)[1:]) - base) for name in PRICES}
    return columns | {"volume_change": _volume_change(bars)}


@feature_set("diff", warmup=1)
def differences(bars: Bars) -> dict[str, Floats]:
    """Differences of the four prices from the previous close, in units of price, and the volume's log change.

    Needs no logarithm of a price, so prices may be zero or negative; the targets are then differences too.
    """
    columns = {f"{name}_diff": _after_nan(getattr(bars, name)[1:] - bars.close[:-1]) for name in PRICES}
    return columns | {"volume_change": _volume_change(bars)}


@feature_set("time", warmup=0)
def time_harmonics(bars: Bars) -> dict[str, Floats]:
    """Sine and cosine of the place in day, week (from Monday), month and year, by the clock of ``bars.time``.

    The place is a fraction found from int64 times: a float32 time stamp is 128 s coarse.
    """
    stamps = bars.time.view("datetime64[ns]")
    places = {"day": bars.time % DAY / DAY, "week": (bars.time + 3 * DAY) % (7 * DAY) / (7 * DAY)}
    for name, unit in (("month", "M"), ("year", "Y")):
        period = stamps.astype(f"datetime64[{unit}]")
        start = period.astype("datetime64[ns]").astype(np.int64)
        end = (period + np.array(1, f"timedelta64[{unit}]")).astype("datetime64[ns]").astype(np.int64)
        places[name] = (bars.time - start) / (end - start)
    columns: dict[str, Floats] = {}
    for name, place in places.items():
        columns[f"{name}_sin"] = np.sin(2.0 * np.pi * place)
        columns[f"{name}_cos"] = np.cos(2.0 * np.pi * place)
    return columns


def _volume_change(bars: Bars) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):  # a volume <= -1 is reported by make_features
        return _after_nan(np.diff(np.log1p(bars.volume)))


def rsi(close: Floats, period: int) -> Floats:
    """Relative strength index [bars], 0..100; Wilder's smoothing, seeded with the mean of the first moves.

    Bar ``period`` is the first with a value. Without falls it is 100, without any move 50.
    """
    moves = np.diff(close)
    rise, fall = (_wilder(np.maximum(sign * moves, 0.0), period) for sign in (1.0, -1.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        value = 100.0 - 100.0 / (1.0 + rise / fall)
    value[fall == 0.0] = np.where(rise[fall == 0.0] > 0.0, 100.0, 50.0)
    return _after_nan(value)


def cci(typical: Floats, period: int) -> Floats:
    """Commodity channel index [bars]: distance from the mean / 0.015 mean distances; 0 in a flat window."""
    mean = _moving_mean(typical, period)
    deviation = np.zeros(len(typical) - period + 1)
    for lag in range(period):
        deviation += np.abs(typical[lag : len(typical) - period + 1 + lag] - mean[period - 1 :])
    distance, scale = typical[period - 1 :] - mean[period - 1 :], 0.015 * deviation / period
    value = np.divide(distance, scale, out=np.zeros_like(scale), where=scale > 0.0)
    return _after_nan(value, period - 1)


def atr(bars: Bars, period: int) -> Floats:
    """Average true range [bars] in price units: the simple mean of the last ``period`` true ranges."""
    top = np.maximum(bars.high[1:], bars.close[:-1])
    bottom = np.minimum(bars.low[1:], bars.close[:-1])
    return _after_nan(_moving_mean(top - bottom, period))


def _after_nan(values: Floats, count: int = 1) -> Floats:
    return np.concatenate([np.full(count, np.nan), values])


def _moving_mean(values: Floats, period: int) -> Floats:
    """Mean of the last ``period`` values, NaN before; summed in a fixed order, so a cut changes no bit."""
    size = len(values) - period + 1
    total = np.zeros(size)
    for lag in range(period):
        total += values[lag : lag + size]
    return _after_nan(total / period, period - 1)


def _ema(values: Floats, period: int) -> Floats:
    """Exponential mean with weight 2 / (period + 1), seeded with the first value."""
    import pandas as pd

    return np.asarray(pd.Series(values).ewm(span=period, adjust=False).mean(), np.float64)


def _wilder(values: Floats, period: int) -> Floats:
    """Exponential mean with weight 1 / period, seeded with the mean of the first ``period`` values."""
    import pandas as pd

    seed = values[:period].sum() / period
    smooth = pd.Series(np.concatenate([[seed], values[period:]])).ewm(alpha=1.0 / period, adjust=False).mean()
    return _after_nan(np.asarray(smooth, np.float64), period - 1)
