"""Rows that are no candle: a price missing, high or low inside the body, a lone price of 0 or far off."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from neuronet.bars.bars import PRICES, Floats
from neuronet.bars.findings import Data, Findings, rows_of, take
from neuronet.bars.lines import at_lines
from neuronet.errors import DataError

SHOWN = 100  # line numbers that a report lists
SPIKE = 10  # times the price before and after
DONE = {"keep": "kept", "fix": "fixed", "drop": "dropped", "error": "refused"}
TOO_MANY = 0.05  # share of faulty rows from which on a file is refused


def impossible(prices: dict[str, Floats]) -> NDArray[np.bool_]:
    """Mark bars whose high or low is not the highest or lowest of the four prices."""
    top, bottom = np.maximum(prices["open"], prices["close"]), np.minimum(prices["open"], prices["close"])
    return (prices["high"] < top) | (prices["low"] > bottom) | (prices["high"] < prices["low"])


def settle_missing(data: Data, findings: Findings, nan: str) -> Data:
    """Drop rows without a price, or fill them (nan 'ffill'), or refuse them (nan 'error'); sorted by time.

    A filled row is a bar that stays at the close before it, with volume 0.
    """
    missing = {name: ~np.isfinite(data[name]) for name in PRICES}
    bad = np.logical_or.reduce(list(missing.values()))
    if not findings.count("no_price", bad):
        return data
    columns, line = ", ".join(name for name, rows in missing.items() if rows.any()), data["line"]
    if bad.all():
        raise DataError(
            f"no bars: no row has all of open, high, low, close; {columns} are missing",
            where=findings.where,
            fix="look at the file with 'neuronet inspect'",
        )
    if nan == "error":
        raise DataError(
            f"{rows_of(bad)} without {columns}: {at_lines(line[bad])}",
            where=findings.where,
            fix="complete them, or choose --nan drop or --nan ffill",
        )
    if nan == "drop":
        findings.warn(f"{rows_of(bad)} without {columns} dropped: {at_lines(line[bad])}")
        return take(data, ~bad)
    begin = int(np.argmax(~bad))
    data, bad, line = take(data, np.arange(begin, len(bad))), bad[begin:], line[begin:]
    source = np.maximum.accumulate(np.where(bad, 0, np.arange(len(bad))))
    close = data["close"][source]
    for name in PRICES:
        data[name] = np.where(bad, close, data[name])
    if "volume" in data:
        data["volume"] = np.where(bad, 0.0, data["volume"])
    before = f"; {begin} at the start dropped" if begin else ""
    findings.warn(
        f"{rows_of(bad)} without {columns} filled with the close before: {at_lines(line[bad])}{before}"
    )
    return data


def settle_bad(data: Data, findings: Findings, bad_bars: str) -> Data:
    """Count impossible candles, lone prices <= 0 and spikes, and keep, fix, drop or refuse them.

    A fixed bar has high and low at its highest and lowest price; a lone price <= 0 becomes the lowest of the
    bar's others; a spike is dropped. Raises DataError when more than 5 % of the candles are
    impossible, whatever the choice.
    """
    line = data["line"]
    bad, print_, spike = impossible(data), bad_prints(data), _spikes(data)
    findings.count("nonpositive", np.minimum.reduce([data[name] for name in PRICES]) <= 0.0)
    if bad.mean() > TOO_MANY and (bad.sum() > 2 or bad.mean() > 0.5):
        raise DataError(
            f"{bad.sum()} of {len(bad)} candles are impossible (high or low inside the body), "
            f"{at_lines(line[bad])}: are the columns in the order you think?",
            where=findings.where,
            fix="name the columns with --columns",
        )
    least = min(float(data[name][print_].min(initial=0.0)) for name in PRICES)
    kinds = {
        "impossible": (bad, "high or low inside the body"),
        "zero_prices": (print_, "a lone price of 0" + (" or less" if least < 0.0 else "")),
        "spikes": (spike, f"a lone price {SPIKE} times those before and after"),
    }
    done = {name: DONE[bad_bars] for name in kinds} | {"spikes": DONE[bad_bars.replace("fix", "drop")]}
    said = [
        f"{rows_of(rows)} with {what}, {done[name]}: {at_lines(line[rows])}"
        for name, (rows, what) in kinds.items()
        if findings.count(name, rows)
    ]
    if said and bad_bars == "error":
        raise DataError(
            "; ".join(said), where=findings.where, fix="correct them, or choose --bad-bars keep, fix or drop"
        )
    for sentence in said:
        findings.warn(sentence)
    if bad_bars == "keep":
        findings.bad_lines = np.sort(line[bad | print_ | spike])[:SHOWN].tolist()
        return data
    if bad_bars == "drop":
        return take(data, ~(bad | print_ | spike))
    return take(_fixed(data, bad | print_, print_), ~spike)


def _spikes(data: Data) -> NDArray[np.bool_]:
    """Mark bars that reach ten times further than the bars before and after, which agree: no market does."""
    marked = np.zeros(len(data["close"]), bool)
    before, after = data["close"][:-2], data["close"][2:]
    top, bottom = np.maximum(before, after), np.minimum(before, after)
    high, low = data["high"][1:-1], data["low"][1:-1]
    far = (high > SPIKE * top) | ((low > 0.0) & (low < bottom / SPIKE))
    marked[1:-1] = far & (bottom > 0.0) & (top < 2.0 * bottom)
    return marked


def bad_prints(data: Data) -> NDArray[np.bool_]:
    """Mark bars with some prices <= 0 whose neighbours have none; the price of oil stayed below."""
    lowest = np.minimum.reduce([data[name] for name in PRICES])
    sound = np.concatenate([[True], lowest > 0.0, [True]])
    lone = (lowest <= 0.0) & (data["high"] > 0.0) & sound[:-2] & sound[2:]
    zero = (lowest == 0.0) & (data["high"] > 0.0) & (lowest.min() >= 0.0)
    prints: NDArray[np.bool_] = zero | (lone if len(lowest) > 1 else zero)
    return prints


def _fixed(data: Data, rows: NDArray[np.bool_], prints: NDArray[np.bool_]) -> Data:
    prices = np.stack([data[name][rows] for name in PRICES])
    lone = prints[rows] & (prices <= 0.0)
    least = np.min(np.where(prices > 0.0, prices, np.inf), axis=0)
    prices = np.where(lone, least, prices)
    fixed = {"open": prices[0], "high": prices.max(axis=0), "low": prices.min(axis=0), "close": prices[3]}
    result = dict(data)
    for name, values in fixed.items():
        result[name] = data[name].copy()
        result[name][rows] = values
    return result


def drop_flat(data: Data, volume: Floats, findings: Findings) -> NDArray[np.bool_]:
    """Mark bars to keep: all but those without volume and without a move. Counted, with a warning."""
    flat = flat_bars(data, volume)
    if findings.count("dropped_flat", flat):
        findings.warn(f"{rows_of(flat)} without volume and without a move dropped (--drop-flat)")
    if flat.all():
        every = "the only bar is" if len(flat) == 1 else f"all {len(flat)} bars are"
        raise DataError(
            f"{every} without volume and without a move",
            where=findings.where,
            fix="leave out --drop-flat",
        )
    return ~flat


def flat_bars(data: Data, volume: Floats) -> NDArray[np.bool_]:
    """Mark bars without volume and without a move."""
    same = (data["high"] == data["low"]) & (data["open"] == data["close"]) & (data["open"] == data["high"])
    flat: NDArray[np.bool_] = same & (volume == 0.0)
    return flat
