"""From a table as it stands in a file to sound bars: UTC, sorted, no time twice, no missing price.

What cannot be a bar is dropped with a warning that has line numbers; what may be an honest bar is kept and
counted; what makes the whole file doubtful is refused. Nothing is changed silently.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from neuronet.bars.bars import PRICES, Bars, Floats, Times, span, stamp
from neuronet.bars.candles import TOO_MANY, drop_flat, flat_bars, settle_bad, settle_missing
from neuronet.bars.clock import DAY, autumn_night, to_utc
from neuronet.bars.findings import Data, Findings, rows_of, take
from neuronet.bars.lines import at_lines
from neuronet.bars.options import ReadOptions
from neuronet.bars.table import Table
from neuronet.bars.times import NO_TIME
from neuronet.errors import DataError

WEEKEND = 4 * DAY  # the longest gap over a Saturday that still counts as a weekend


def clean(
    table: Table,
    where: str,
    options: ReadOptions,
    *,
    has_zone: bool = False,
    tz: str | None = None,
    symbol: str = "",
) -> tuple[Bars, Findings]:
    """Turn a table into bars.

    has_zone  the times are UTC already
    tz        a zone that the file names; options.tz replaces it
    symbol    what the header names: then the option has chosen it
    """
    findings = Findings(where)
    for note in table.notes:
        findings.warn(note)
    data: Data = {**table.prices, "time": table.time, "line": table.line}
    if table.volume is not None:
        data["volume"] = table.volume
    findings.counts["rows"] = len(table.time)
    name, own = _one_symbol(table, options.symbol, where)
    if own is not None:
        data = take(data, own)
    data = _drop_without_time(data, findings)
    if options.tz is None and options.utc_offset is None and tz is not None:
        data["time"] = to_utc(data["time"], tz, None, False, findings)
        has_zone = True
    else:
        data["time"] = to_utc(data["time"], options.tz, options.utc_offset, has_zone, findings)
    data = _sort(data, findings)
    data = settle_missing(data, findings, options.nan)
    data = _drop_duplicates(data, findings, local=not (options.tz or has_zone))
    volume = _fill_volume(data, findings)
    if options.drop_flat:
        keep = drop_flat(data, volume, findings)
        data, volume = take(data, keep), volume[keep]
    data["volume"] = volume
    data = settle_bad(data, findings, options.bad_bars)
    opened, high, low, close = (data[price] for price in PRICES)
    if not len(close):
        raise DataError("no bars: every bar is bad", where=where, fix="choose --bad-bars keep")
    bars = Bars(data["time"], opened, high, low, close, data["volume"], name or symbol)
    _check_gaps(bars, findings)
    _check_weekends(bars, findings)
    return bars, findings


def gap_kinds(bars: Bars) -> dict[str, NDArray[np.int64]]:
    """Sort the gaps (bars before which more than one step is missing) into weekend, session and other.

    weekend  holds noon of a Saturday or Sunday and is at most 4 days long
    session  shorter than a day, and begins at a clock time at which at least a fifth of all days have a gap
    """
    gaps = np.flatnonzero(np.diff(bars.time) > bars.step) + 1
    begin, end = bars.time[gaps - 1] + bars.step, bars.time[gaps]
    saturday, sunday = (_week_of(begin - 1, noon) != _week_of(end - 1, noon) for noon in (5.5, 6.5))
    weekend = (saturday | sunday) & (end - begin <= WEEKEND)
    clock, days = begin % DAY, max(len(np.unique(bars.time // DAY)), 1)
    daily = ~weekend & (end - begin < DAY)
    values, counts = np.unique(clock[daily], return_counts=True)
    session = daily & np.isin(clock, values[counts >= max(0.2 * days, 2)])
    return {"weekend": gaps[weekend], "session": gaps[session], "other": gaps[~weekend & ~session]}


def _week_of(time: Times, day: float) -> NDArray[np.int64]:
    """Number the weeks that begin ``day`` days after Monday 00:00."""
    return (time + 3 * DAY - int(day * DAY)) // (7 * DAY)


def _one_symbol(table: Table, symbol: str | None, where: str) -> tuple[str, NDArray[np.bool_] | None]:
    """Return the symbol and which rows are its own; None where all are."""
    if table.symbol is None:
        return symbol or "", None
    names = sorted({str(name) for name in table.symbol if isinstance(name, str)})
    if len(names) < 2 and symbol in (None, *names):
        return "".join(names), None
    if symbol in names:
        return symbol, table.symbol == symbol
    raise DataError(
        f"{len(names)} symbol{'s' if len(names) > 1 else ''} in one file: {', '.join(names[:5])}"
        + (f", not {symbol}" if symbol else ""),
        where=where,
        fix=f"choose one with --symbol {names[0] if names else 'NAME'}",
    )


def _drop_without_time(data: Data, findings: Findings) -> Data:
    bad = data["time"] == NO_TIME
    if not findings.count("no_time", bad):
        return data
    if (bad.mean() > TOO_MANY and bad.sum() > 2) or bad.all():
        raise DataError(
            f"{bad.sum()} of {len(bad)} rows have no readable time, {at_lines(data['line'][bad])}",
            where=findings.where,
            fix="give the format with --date-format, for instance --date-format '%d/%m/%Y %H:%M'",
        )
    findings.warn(f"{rows_of(bad)} without a readable time dropped: {at_lines(data['line'][bad])}")
    return take(data, ~bad)


def _sort(data: Data, findings: Findings) -> Data:
    """Sort by time. Newest first is a layout and merely turned round; anything else is a finding."""
    time = data["time"]
    steps = np.diff(time)
    if np.all(steps >= 0):
        return data
    rows = np.argsort(time, kind="stable")
    if not np.all(steps <= 0):
        file_order = np.arange(len(rows))
        if np.sum(steps < 0) > np.sum(steps > 0):
            file_order = file_order[::-1]
        moved = time[rows] != time[file_order]
        findings.count("moved", moved)
        lines = at_lines(data["line"][file_order][moved])
        findings.warn(f"{rows_of(moved)} not in order of time, sorted: {lines}")
    return take(data, rows)


def _drop_duplicates(data: Data, findings: Findings, *, local: bool) -> Data:
    """Of rows with one time keep the last read; of equal rows any."""
    time, line = data["time"], data["line"]
    double = np.append(time[1:] == time[:-1], False)
    if not double.any():
        return data
    same_prices = np.logical_and.reduce([_as_next(data[name]) for name in PRICES])
    same = same_prices & _as_next(data["volume"]) if "volume" in data else same_prices
    exact, conflict = double & same, double & ~same
    if findings.count("exact_duplicates", exact):
        findings.warn(f"{rows_of(exact)} repeated by an equal row, dropped: {at_lines(line[exact])}")
    if findings.count("conflicting_duplicates", conflict):
        contradicting = int((double & ~same_prices).sum())
        if contradicting > max(TOO_MANY * len(time), 2):
            raise DataError(
                f"{contradicting} of {len(time)} rows have the time of another row but other prices, "
                f"{at_lines(line[double & ~same_prices])}",
                where=findings.where,
                fix="look for several symbols in one file, or for times that lost digits, as 1.70407E+12 has",
            )
        hint = "; this looks like a clock change: give --tz" if local and autumn_night(time[conflict]) else ""
        findings.warn(
            f"{rows_of(conflict)} with the time of a later row but other values, the later kept: "
            f"{at_lines(line[conflict])}{hint}"
        )
    return take(data, ~double)


def _as_next(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Mark rows that have the value of the next row, or both none."""
    now, after = values[:-1], values[1:]
    return np.append((now == after) | (np.isnan(now) & np.isnan(after)), False)


def _fill_volume(data: Data, findings: Findings) -> Floats:
    if "volume" not in data:
        findings.counts["no_volume"] = len(data["time"])
        return np.zeros(len(data["time"]))
    missing = ~np.isfinite(data["volume"])
    if findings.count("no_volume", missing):
        findings.warn(f"{rows_of(missing)} without volume, taken as 0: {at_lines(data['line'][missing])}")
    return np.where(missing, 0.0, data["volume"])


def _check_gaps(bars: Bars, findings: Findings) -> None:
    """Warn of gaps that neither a weekend nor the daily session explains."""
    gaps = gap_kinds(bars)["other"]
    if len(gaps):
        sizes = bars.time[gaps] - bars.time[gaps - 1]
        largest = int(np.argmax(sizes))
        findings.warn(
            f"{len(gaps)} gap{'s' if len(gaps) > 1 else ''} besides weekends and sessions, the largest "
            f"{span(int(sizes[largest]))} before {stamp(bars.time[gaps[largest]])}"
        )


def _check_weekends(bars: Bars, findings: Findings) -> None:
    """Warn when a source fills the weekends with bars in which nothing happens."""
    flat = flat_bars({name: getattr(bars, name) for name in PRICES}, bars.volume)
    closed = flat & ((bars.time // DAY + 3) % 7 >= 5)
    if bars.volume.any() and closed.mean() > TOO_MANY and 2 * closed.sum() > flat.sum():
        findings.warn(
            f"{rows_of(closed)} on weekends without volume and without a move: "
            "--drop-flat leaves such bars out"
        )
