"""From a table as it stands in a file to sound bars: UTC, sorted, no time twice, no missing price.

What cannot be a bar is dropped with a warning that has line numbers; what may be an honest bar is kept and
counted; what makes the whole file doubtful is refused. Nothing is changed silently.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from neuronet.bars.bars import PRICES, Bars, Floats, Times, span, stamp
from neuronet.bars.table import Table
from neuronet.bars.times import NO_TIME
from neuronet.errors import DataError

if TYPE_CHECKING:
    import pandas as pd

log = logging.getLogger(__name__)

DAY = 86_400 * 10**9
WEEKEND = 4 * DAY  # the longest gap over a Saturday that still counts as a weekend
SHOWN = 100  # line numbers that a report lists
TOO_MANY = 0.05  # share of faulty rows from which on a file is refused
Lines = NDArray[np.int64]
Data = dict[str, NDArray[Any]]  # column name -> [rows]


@dataclass
class Findings:
    """What was wrong: sentences, counts, and line numbers of impossible bars that are kept."""

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
    data: Data = {**table.prices, "time": table.time, "line": table.line}
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
    opened, high, low, close = (data[price] for price in PRICES)
    bars = Bars(data["time"], opened, high, low, close, volume, name or symbol or "")
    _check_gaps(bars, findings)
    return bars, findings


def at_lines(lines: Lines) -> str:
    """Return 'line 7', or 'lines 7, 9, 12 and 20 more'."""
    shown = ", ".join(str(line) for line in np.sort(lines)[:3])
    more = f" and {len(lines) - 3} more" if len(lines) > 3 else ""
    return f"line{'s' if len(lines) > 1 else ''} {shown}{more}"


def rows_of(marked: NDArray[np.bool_]) -> str:
    """Return '1 row' or '7 rows'."""
    return f"{int(marked.sum())} row{'s' if marked.sum() != 1 else ''}"


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


def impossible(prices: dict[str, Floats]) -> NDArray[np.bool_]:
    """Mark bars whose high or low is not the highest or lowest of the four prices."""
    top, bottom = np.maximum(prices["open"], prices["close"]), np.minimum(prices["open"], prices["close"])
    return (prices["high"] < top) | (prices["low"] > bottom) | (prices["high"] < prices["low"])


def _take(data: Data, rows: NDArray[Any]) -> Data:
    return {name: values[rows] for name, values in data.items()}


def _one_symbol(table: Table, symbol: str | None, where: str) -> str | None:
    if table.symbol is None:
        return None
    names = sorted({str(name) for name in table.symbol if isinstance(name, str)})
    if symbol in names or (len(names) == 1 and symbol is None):
        return symbol or names[0]
    raise DataError(
        f"{len(names)} symbols in one file: {', '.join(names[:5])}" + (f", not {symbol}" if symbol else ""),
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
    return _take(data, ~bad)


def _drop_without_price(data: Data, findings: Findings) -> Data:
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
    findings.warn(f"{rows_of(bad)} without {columns} dropped: {at_lines(data['line'][bad])}")
    return _take(data, ~bad)


def _to_utc(
    time: Times, tz: str | None, utc_offset: float | None, has_zone: bool, findings: Findings
) -> Times:
    if tz is None and utc_offset is None:
        return time
    if has_zone or (tz is not None and utc_offset is not None):
        raise DataError(
            "the times carry their own offset" if has_zone else "both a time zone and an offset are given",
            where=findings.where,
            fix="leave out --tz and --utc-offset" if has_zone else "give --tz or --utc-offset, not both",
        )
    if utc_offset is not None:
        return time - round(utc_offset * 3_600) * 10**9
    return _from_zone(time, str(tz), findings)


def _from_zone(time: Times, tz: str, findings: Findings) -> Times:
    """Turn the local times of a zone into UTC; the first pass of an hour that occurs twice is summer time."""
    import pandas as pd

    local = pd.DatetimeIndex(time.view("datetime64[ns]"))
    try:
        early = local.tz_localize(tz, ambiguous=np.full(len(time), True), nonexistent="shift_forward")
        late = local.tz_localize(tz, ambiguous=np.full(len(time), False), nonexistent="shift_forward")
    except (KeyError, ValueError, OSError):
        raise DataError(
            f"unknown time zone {tz!r}", where=findings.where, fix="name it as in --tz America/New_York"
        ) from None
    gone = np.asarray(early.tz_localize(None) != local)
    if findings.count("not_in_time_zone", gone):
        findings.warn(f"{rows_of(gone)} with a time that the clock change in {tz} skips were moved on")
    again = pd.Series(time).duplicated(keep="first" if time[-1] >= time[0] else "last").to_numpy()
    return np.where(again, _utc(late), _utc(early))


def _utc(local: pd.DatetimeIndex) -> Times:
    return np.asarray(local.tz_convert("UTC").tz_localize(None), "datetime64[ns]").astype(np.int64)


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
    return _take(data, rows)


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
        hint = (
            "; this looks like a clock change: give --tz" if local and _autumn_night(time[conflict]) else ""
        )
        findings.warn(
            f"{rows_of(conflict)} with the time of a later row but other values, the later kept: "
            f"{at_lines(line[conflict])}{hint}"
        )
    return _take(data, ~double)


def _as_next(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Mark rows that have the value of the next row, or both none."""
    now, after = values[:-1], values[1:]
    return np.append((now == after) | (np.isnan(now) & np.isnan(after)), False)


def _autumn_night(time: Times) -> bool:
    """Whether all times lie in the small hours of a Sunday, when clocks are set back."""
    return bool(np.all((time // DAY + 3) % 7 == 6) and np.all(time % DAY < 4 * 3_600 * 10**9))


def _fill_volume(data: Data, findings: Findings) -> Floats:
    if "volume" not in data:
        findings.counts["no_volume"] = len(data["time"])
        return np.zeros(len(data["time"]))
    missing = ~np.isfinite(data["volume"])
    if findings.count("no_volume", missing):
        findings.warn(f"{rows_of(missing)} without volume, taken as 0: {at_lines(data['line'][missing])}")
    return np.where(missing, 0.0, data["volume"])


def _check_candles(data: Data, findings: Findings) -> None:
    """Refuse a file with many impossible candles; count and keep a few, and lone zero prices."""
    bad = impossible(data)
    lowest = np.minimum.reduce([data[name] for name in PRICES])
    zero = (lowest == 0.0) & (data["high"] > 0.0) & (lowest.min() >= 0.0)
    line = data["line"]
    if bad.mean() > TOO_MANY and (bad.sum() > 2 or bad.mean() > 0.5):
        raise DataError(
            f"{bad.sum()} of {len(bad)} candles are impossible (high or low inside the body), "
            f"{at_lines(line[bad])}: are the columns in the order you think?",
            where=findings.where,
            fix="name the columns with --columns",
        )
    findings.count("nonpositive", lowest <= 0.0)
    if findings.count("impossible", bad):
        findings.warn(f"{rows_of(bad)} with high or low inside the body, kept: {at_lines(line[bad])}")
    if findings.count("zero_prices", zero):
        findings.warn(f"{rows_of(zero)} with a lone price of 0, kept: {at_lines(line[zero])}")
    findings.bad_lines = np.sort(line[bad | zero])[:SHOWN].tolist()


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
