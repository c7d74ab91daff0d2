"""From a table as it stands in a file to sound bars: UTC, sorted, no time twice, no missing price; every change is said.

The rules: what cannot be a bar is dropped with a warning that has line numbers; what may be an honest bar is kept and
counted; what makes the whole file doubtful is refused.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from neuronet.bars.bars import PRICES, Bars, Floats, Times, most_common_step, span, stamp
from neuronet.bars.table import Table
from neuronet.bars.times import NO_TIME
from neuronet.errors import DataError

log = logging.getLogger(__name__)

DAY = 86_400 * 10**9
WEEKEND = 4 * DAY  # the longest gap over a Saturday that still counts as a weekend
TOO_MANY = 0.05  # share of faulty rows from which on a file is refused
Lines = NDArray[np.int64]


@dataclass
class Findings:
    """What was wrong: sentences, counts, and line numbers of bars that are kept though they are impossible."""

    where: str
    warnings: list[str] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    bad_lines: list[int] = field(default_factory=list)

    def warn(self, message: str) -> None:
        """Log a warning, one line, and keep it."""
        log.warning("%s: %s", self.where, message)
        self.warnings.append(message)

    def count(self, what: str, rows: NDArray[np.bool_]) -> int:
        """Keep and return the number of rows that are marked."""
        self.counts[what] = int(rows.sum())
        return self.counts[what]


def clean(
    table: Table,
    where: str,
    *,
    tz: str | None = None,
    utc_offset: float | None = None,
    has_zone: bool = False,
    symbol: str | None = None,
) -> tuple[Bars, Findings]:
    """Turn a table into bars. The options are read_bars'; has_zone says that the times are UTC already."""
    findings = Findings(where)
    for note in table.notes:
        findings.warn(note)
    data = {**table.prices, "time": table.time, "line": table.line}
    if table.volume is not None:
        data["volume"] = table.volume
    findings.counts["rows"] = len(table.time)
    name = _one_symbol(table, symbol, where)
    if table.symbol is not None:
        data = _take(data, table.symbol == name)
    data = _drop_without_time(data, findings)
    data = _drop_without_price(data, findings)
    data["time"] = _to_utc(data["time"], tz, utc_offset, has_zone, findings)
    data = _sort(data, findings)
    data = _drop_duplicates(data, findings, local=not (tz or has_zone))
    volume = _fill_volume(data, findings)
    _check_candles(data, findings)
    bars = Bars(data["time"], *(data[price] for price in PRICES), volume, name or symbol or "")
    _check_gaps(bars, findings)
    return bars, findings


def at_lines(lines: Lines) -> str:
    """Return 'line 7', or 'lines 7, 9, 12 and 20 more'."""
    shown = ", ".join(str(line) for line in lines[:3])
    more = f" and {len(lines) - 3} more" if len(lines) > 3 else ""
    return f"line{'s' if len(lines) > 1 else ''} {shown}{more}"


def gap_kinds(bars: Bars) -> dict[str, NDArray[np.int64]]:
    """Sort the gaps (bars before which more than one step is missing) into weekend, session and other.

    weekend  holds noon of a Saturday or Sunday and is at most 4 days long
    session  shorter than a day, and begins at a clock time at which at least a fifth of all days have a gap
    """
    steps = np.diff(bars.time)
    gaps = np.flatnonzero(steps > bars.step) + 1
    begin, end = bars.time[gaps - 1] + bars.step, bars.time[gaps]
    noons = [
        (begin + shift * DAY - DAY // 2 - 1) // (7 * DAY) != (end + shift * DAY - DAY // 2 - 1) // (7 * DAY)
        for shift in (5, 4)
    ]
    weekend = (noons[0] | noons[1]) & (end - begin <= WEEKEND)
    clock, days = begin % DAY, max(len(np.unique(bars.time // DAY)), 1)
    daily = ~weekend & (end - begin < DAY)
    values, counts = np.unique(clock[daily], return_counts=True)
    session = daily & np.isin(clock, values[counts >= max(0.2 * days, 2)])
    return {"weekend": gaps[weekend], "session": gaps[session], "other": gaps[~weekend & ~session]}


def impossible(prices: dict[str, Floats]) -> NDArray[np.bool_]:
    """Mark bars whose high or low is not the highest or lowest of the four prices."""
    top, bottom = np.maximum(prices["open"], prices["close"]), np.minimum(prices["open"], prices["close"])
    return (prices["high"] < top) | (prices["low"] > bottom) | (prices["high"] < prices["low"])


def _take(data: dict[str, NDArray], rows: NDArray) -> dict[str, NDArray]:
    return {name: values[rows] for name, values in data.items()}


def _one_symbol(table: Table, symbol: str | None, where: str) -> str | None:
    if table.symbol is None:
        return None
    names = sorted({str(name) for name in table.symbol if isinstance(name, str)})
    if symbol in names or len(names) == 1 and symbol is None:
        return symbol or names[0]
    raise DataError(
        f"{len(names)} symbols in one file: {', '.join(names[:5])}" + (f", not {symbol}" if symbol else ""),
        where=where,
        fix=f"choose one with --symbol {names[0] if names else 'NAME'}",
    )


def _drop_without_time(data: dict[str, NDArray], findings: Findings) -> dict[str, NDArray]:
    bad = data["time"] == NO_TIME
    if not findings.count("no_time", bad):
        return data
    if bad.mean() > TOO_MANY and bad.sum() > 2 or bad.all():
        raise DataError(
            f"{bad.sum()} of {len(bad)} rows have no readable time, {at_lines(data['line'][bad])}",
            where=findings.where,
            fix="give the format with --date-format, for instance --date-format '%d/%m/%Y %H:%M'",
        )
    findings.warn(f"{bad.sum()} rows without a readable time were dropped: {at_lines(data['line'][bad])}")
    return _take(data, ~bad)


def _drop_without_price(data: dict[str, NDArray], findings: Findings) -> dict[str, NDArray]:
    missing = {name: ~np.isfinite(data[name]) for name in PRICES}
    bad = np.logical_or.reduce(list(missing.values()))
    if not findings.count("no_price", bad):
        return data
    columns = ", ".join(name for name, rows in missing.items() if rows.any())
    if bad.all():
        raise DataError(
            f"no bars in {findings.where}: no row has all of open, high, low, close; {columns} are missing",
            where=findings.where,
            fix="look at the file with 'neuronet inspect'",
        )
    findings.warn(f"{bad.sum()} rows without {columns} were dropped: {at_lines(data['line'][bad])}")
    return _take(data, ~bad)


def _to_utc(
    time: Times, tz: str | None, utc_offset: float | None, has_zone: bool, findings: Findings
) -> Times:
    """Shift local times to UTC; of an hour that a clock change repeats, the first pass is summer time."""
    if (tz is None and utc_offset is None) or (has_zone and utc_offset is None and tz is None):
        return time
    if has_zone or (tz is not None and utc_offset is not None):
        raise DataError(
            "the times carry their own offset" if has_zone else "both a time zone and an offset are given",
            where=findings.where,
            fix="leave out --tz and --utc-offset" if has_zone else "give --tz or --utc-offset, not both",
        )
    if utc_offset is not None:
        return time - round(utc_offset * 3_600) * 10**9
    import pandas as pd

    local = pd.DatetimeIndex(time.view("datetime64[ns]"))
    try:
        summer, winter = (
            np.asarray(
                local.tz_localize(tz, ambiguous=np.full(len(time), early), nonexistent="shift_forward")
                .tz_convert("UTC")
                .tz_localize(None)
            ).astype("datetime64[ns]").astype(np.int64)
            for early in (True, False)
        )  # fmt: skip
        gone = np.asarray(local.tz_localize(tz, ambiguous=np.full(len(time), True), nonexistent="NaT").isna())
    except (KeyError, ValueError, OSError) as error:
        raise DataError(
            f"unknown time zone {tz!r} ({error})",
            where=findings.where,
            fix="name it as in 'America/New_York'",
        ) from None
    if findings.count("not_in_time_zone", gone):
        findings.warn(f"{gone.sum()} times do not exist in {tz} (clock change) and were moved on")
    again = pd.Series(time).duplicated(keep="first" if time[-1] >= time[0] else "last").to_numpy()
    return np.where(again, winter, summer)


def _sort(data: dict[str, NDArray], findings: Findings) -> dict[str, NDArray]:
    """Sort by time. Newest first is a layout and merely turned round; anything else is a finding."""
    steps = np.diff(data["time"])
    findings.counts["moved"] = 0
    if np.all(steps >= 0):
        return data
    rows: NDArray[np.int64] = np.argsort(data["time"], kind="stable")
    if not np.all(steps <= 0):
        straight = (
            np.arange(len(rows)) if np.sum(steps >= 0) >= np.sum(steps <= 0) else np.arange(len(rows))[::-1]
        )
        moved = data["time"][rows] != data["time"][straight]
        findings.count("moved", moved)
        findings.warn(
            f"{moved.sum()} rows were not in order of time and were sorted: {at_lines(np.sort(data['line'][straight][moved]))}"
        )
    return _take(data, rows)


def _drop_duplicates(data: dict[str, NDArray], findings: Findings, *, local: bool) -> dict[str, NDArray]:
    """Of rows with one time keep the last read; the first of equal ones is as good."""
    time = data["time"]
    double = np.concatenate([time[1:] == time[:-1], [False]])
    values = [name for name in (*PRICES, "volume") if name in data]
    same = np.logical_and.reduce(
        [np.concatenate([(data[n][1:] == data[n][:-1]) | np.isnan(data[n][1:]), [False]]) for n in values]
    )
    price = np.logical_and.reduce([np.concatenate([data[n][1:] == data[n][:-1], [False]]) for n in PRICES])
    if exact := findings.count("exact_duplicates", double & same):
        findings.warn(
            f"{exact} rows are there twice and were dropped once: {at_lines(data['line'][double & same])}"
        )
    if other := findings.count("conflicting_duplicates", double & ~same):
        rows = double & ~same
        if (double & ~price).mean() > TOO_MANY and (double & ~price).sum() > 2:
            raise DataError(
                f"{other} of {len(time)} rows have the time of another row but other values, "
                f"{at_lines(data['line'][rows])}",
                where=findings.where,
                fix="look for several symbols in one file, or times that lost digits (1.70407E+12) in a table program",
            )
        hint = "; this looks like a clock change: give --tz" if local and _autumn_night(time[rows]) else ""
        findings.warn(
            f"{other} rows have the time of a later row but other values; the last was kept: "
            f"{at_lines(data['line'][rows])}{hint}"
        )
    return _take(data, ~double)


def _autumn_night(time: Times) -> bool:
    """Whether all times lie in the small hours of a Sunday, when clocks are set back."""
    return bool(np.all((time // DAY + 3) % 7 == 6) and np.all(time % DAY < 4 * 3_600 * 10**9))


def _fill_volume(data: dict[str, NDArray], findings: Findings) -> Floats:
    if "volume" not in data:
        findings.counts["no_volume"] = len(data["time"])
        return np.zeros(len(data["time"]))
    missing = ~np.isfinite(data["volume"])
    if findings.count("no_volume", missing):
        findings.warn(
            f"{missing.sum()} bars have no volume; it is taken as 0: {at_lines(data['line'][missing])}"
        )
    return np.where(missing, 0.0, data["volume"])


def _check_candles(data: dict[str, NDArray], findings: Findings) -> None:
    """Refuse a file with many impossible candles; count a few of them, and lone zero prices, and keep the bars."""
    bad = impossible(data)
    lowest = np.minimum.reduce([data[name] for name in PRICES])
    zero = (lowest == 0.0) & (data["high"] > 0.0) if not (lowest < 0.0).any() else np.zeros(len(bad), bool)
    if bad.mean() > TOO_MANY:
        raise DataError(
            f"{bad.sum()} of {len(bad)} candles are impossible (high or low inside the body), "
            f"{at_lines(data['line'][bad])}: are the columns in the order you think?",
            where=findings.where,
            fix="name the columns with --columns",
        )
    findings.counts["nonpositive"] = int((lowest <= 0.0).sum())
    if findings.count("impossible", bad):
        findings.warn(
            f"{bad.sum()} impossible candles (high or low inside the body) are kept: {at_lines(data['line'][bad])}"
        )
    if findings.count("zero_prices", zero):
        findings.warn(
            f"{zero.sum()} bars with a price of 0 beside positive ones are kept: {at_lines(data['line'][zero])}"
        )
    findings.bad_lines = [int(line) for line in data["line"][bad | zero]]


def _check_gaps(bars: Bars, findings: Findings) -> None:
    """Warn of gaps that neither a weekend nor the daily session explains."""
    gaps = gap_kinds(bars)["other"]
    if len(gaps):
        largest = int(gaps[np.argmax(bars.time[gaps] - bars.time[gaps - 1])])
        findings.warn(
            f"{len(gaps)} gaps besides weekends; the largest is {span(int(bars.time[largest] - bars.time[largest - 1]))} "
            f"before {stamp(bars.time[largest])}"
        )
