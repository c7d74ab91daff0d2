"""How a file writes time: which format, found from a sample; and whole columns of it -> int64 ns."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from neuronet.bars.bars import Times
from neuronet.errors import DataError

if TYPE_CHECKING:
    import pandas as pd

NO_TIME = np.iinfo(np.int64).min  # NaT
EITHER = "%d or %m first: "
_DATES = (
    (re.compile(r"\d{4}([-./])\d{1,2}\1\d{1,2}"), "%Y{0}%m{0}%d"),
    (re.compile(r"(?:1[89]|2[0-6])\d\d(?:0[1-9]|1[012])(?:0[1-9]|[12]\d|3[01])()"), "%Y%m%d"),
    (re.compile(r"\d{1,2}([-./])\d{1,2}\1\d{4}"), EITHER + "Y"),
    (re.compile(r"\d{1,2}([-./])\d{1,2}\1\d{2}(?!\d)"), EITHER + "y"),
    (re.compile(r"[A-Za-z]{3}() \d{1,2}, \d{4}"), "%b %d, %Y"),
    (re.compile(r"[A-Za-z]{4,9}() \d{1,2}, \d{4}"), "%B %d, %Y"),
    (re.compile(r"\d{1,2}([-/ .])[A-Za-z]{3}\1\d{4}"), "%d{0}%b{0}%Y"),
    (re.compile(r"\d{1,2}([-/ .])[A-Za-z]{3}\1\d{2}(?!\d)"), "%d{0}%b{0}%y"),
    (re.compile(r"\d{4}年( ?)\d{1,2}月\1\d{1,2}日"), "%Y年{0}%m月{0}%d日"),
    (re.compile(r"\d{4}년( ?)\d{1,2}월\1\d{1,2}일"), "%Y년{0}%m월{0}%d일"),
)
_CLOCKS = (
    (re.compile(r"\d{1,2}:\d{2}:\d{2}\.\d{1,9}"), "%H:%M:%S.%f"),
    (re.compile(r"\d{1,2}:\d{2}:\d{2}( ?)[AaPp][Mm]"), "%I:%M:%S{0}%p"),
    (re.compile(r"\d{1,2}:\d{2}( ?)[AaPp][Mm]"), "%I:%M{0}%p"),
    (re.compile(r"\d{1,2}( ?-? ?)[AaPp][Mm]"), "%I{0}%p"),
    (re.compile(r"\d{1,2}:\d{2}:\d{2}"), "%H:%M:%S"),
    (re.compile(r"\d{1,2}:\d{2}"), "%H:%M"),
    (re.compile(r"[0-2]\d[0-5]\d[0-5]\d(?!\d)"), "%H%M%S"),
    (re.compile(r"[0-2]\d[0-5]\d(?!\d)"), "%H%M"),
)
_HOUR = re.compile(r"(?<=[T ])[0-2]?\d(?![\d.,])"), "%H"  # behind a date only: alone it is any number
_ZONES = {
    r"": "",
    r"Z|[+-]\d{2}(?::?\d{2})?": "%z",
    r" [+-]\d{2}:?\d{2}": " %z",
    r" GMT[+-]\d{4}": " GMT%z",
    r" UTC": " UTC",
    r" GMT": " GMT",
}
_NAMED_ZONE = r" [A-Z][A-Za-z]+/[A-Za-z_/]+"  # 09:30:00 US/Eastern
# Seconds since 1970 have 9-11 digits for any time of interest, ms 3 more, and so on.
_UNITS = (("s", 10**9, 1e8), ("ms", 10**6, 1e11), ("µs", 10**3, 1e14), ("ns", 1, 1e17))
LATEST_EPOCH = 4.1025e18  # the year 2100, in ns
_JOINS = re.compile(r" {1,2}|T|, |,|")


@dataclass(frozen=True)
class TimeFormat:
    """kind 'text' (a strptime pattern), 'epoch' (unit by size) or 'excel' (days since 1899-12-30)."""

    kind: str
    pattern: str = ""
    buddhist: bool = False
    evidence: str = ""

    @property
    def has_zone(self) -> bool:
        """Whether the cells themselves say how far they are from UTC."""
        return "%z" in self.pattern or self.pattern.endswith((" UTC", " GMT"))

    @property
    def named_zone(self) -> str | None:
        """The zone that all cells name, as in '20240102 09:30:00 US/Eastern'."""
        match = re.search(_NAMED_ZONE, self.pattern)
        return match.group().strip() if match else None

    def describe(self) -> str:
        """Return the format in words, for reports."""
        text = {"text": self.pattern, "epoch": "epoch", "excel": "Excel days"}[self.kind]
        return text + (" in the Buddhist era" if self.buddhist else "")


@lru_cache(maxsize=10_000)
def shape_of(cell: str) -> str:
    """Return a cell's strptime pattern, or 'epoch', 'excel'; '' if it is no time; ' %H:%M' for a clock alone.

    Dates whose day and month cannot be told apart by their look have EITHER in the pattern.
    """
    cell = cell.strip()
    if re.fullmatch(r"\d{9,19}(\.\d+)?|\d\.\d+[eE]\+?\d\d?", cell) and not _date(cell):
        return "epoch"
    if re.fullmatch(r"[2-7]\d{4}(\.\d+)?", cell):
        return "excel"
    return _date(cell) or _clock(" " + cell, " ")


def _date(cell: str) -> str:
    for expression, pattern in _DATES:
        match = expression.match(cell)
        if match:
            date = pattern.format(match.group(1)) if EITHER not in pattern else f"{pattern}{match.group(1)}"
            rest = cell[match.end() :]
            if not rest:
                return date
            join = _JOINS.match(rest)
            clock = _clock(rest, join.group() if join else "", (*_CLOCKS, _HOUR))
            if clock:
                return date + clock
    return ""


def _clock(rest: str, join: str, clocks: Sequence[tuple[re.Pattern[str], str]] = _CLOCKS) -> str:
    for expression, pattern in clocks:
        match = expression.match(rest, len(join))
        if match:
            zone = rest[match.end() :]
            for look, code in (*_ZONES.items(), (_NAMED_ZONE, zone)):
                if re.fullmatch(look, zone):
                    return join + pattern.format(*match.groups()) + code
    return ""


def find_time_format(
    cells: Sequence[str], *, where: str, date_format: str | None = None
) -> TimeFormat | None:
    """Decide the format from a sample of cells in file order; None when they are no times.

    date_format  a strptime pattern, or 'dmy', 'mdy', 'ymd' where the cells leave it open

    Raises DataError naming --date-format when day and month cannot be told apart.
    """
    if date_format and "%" in date_format:
        return TimeFormat("text", date_format, evidence="as asked for")
    shapes = Counter(shape for shape in map(shape_of, cells) if shape and not shape.startswith(" "))
    if not shapes:
        return None
    pattern, count = shapes.most_common(1)[0]
    if count < 0.5 * len(cells):
        return None
    if pattern in ("epoch", "excel"):
        return TimeFormat(pattern, evidence=f"as in {cells[-1]}")
    alike = [cell.strip() for cell in cells if shape_of(cell) == pattern]
    if pattern.startswith(EITHER):
        return _day_or_month(alike, pattern.removeprefix(EITHER), where, date_format)
    buddhist = pattern.startswith("%Y") and sum(int(cell[:4]) > 2400 for cell in alike) > 0.9 * len(alike)
    return TimeFormat("text", pattern, buddhist, f"as in {alike[-1]!r}")


def _day_or_month(cells: list[str], rest: str, where: str, date_format: str | None) -> TimeFormat:
    """Decide the order of day, month and short year: by impossible dates, dots, order of bars, density."""
    year, sign, clock = rest[0], rest[1], rest[2:]
    orders = {"dmy": f"%d{sign}%m{sign}%{year}", "mdy": f"%m{sign}%d{sign}%{year}"}
    if year == "y":
        orders["ymd"] = f"%y{sign}%m{sign}%d"
    if date_format in orders:
        return TimeFormat("text", orders[date_format] + clock, evidence="as asked for")
    read = {order: _read_all(cells, pattern + clock) for order, pattern in orders.items()}
    faults = {order: _faults(time) for order, time in read.items()}
    least = min(faults.values())
    # One damaged cell makes up to three faults: it must not decide for the whole file.
    possible = [order for order in read if faults[order] < least + (3 if least else 1)]
    why = "only so the dates exist and follow each other"
    if len(possible) > 1 and sign == "." and year == "Y":
        possible, why = ["dmy"], "dates with dots have the day first"
    if len(possible) > 1:
        spans = {order: _extent(read[order]) for order in possible}
        best = min(possible, key=spans.__getitem__)
        # Daily bars of one month and monthly bars of one year look alike; with clock times nothing does.
        far = [o for o in possible if spans[o] > 5 * spans[best] > 0 and (clock or "ymd" in (o, best))]
        if len(far) == len(possible) - 1:
            possible, why = [best], "only so neighbouring bars follow each other"
    if len(possible) != 1:
        raise DataError(
            f"day and month cannot be told apart: {cells[0]!r} to {cells[-1]!r}",
            where=where,
            fix="say which comes first with --date-format dmy, mdy or ymd",
        )
    return TimeFormat("text", orders[possible[0]] + clock, evidence=why)


def _read_all(cells: list[str], pattern: str) -> Times:
    import pandas as pd

    return parse_times(pd.Series(cells), TimeFormat("text", pattern))[0]


def _faults(time: Times) -> int:
    """Count dates that do not exist, steps against the order of time, and steps far longer than most."""
    steps = np.diff(time[time != NO_TIME])
    missing = int(np.sum(time == NO_TIME))
    if not len(steps):
        return missing
    against = int(min(np.sum(steps < 0), np.sum(steps > 0)))
    return missing + against + int(np.sum(np.abs(steps) > 5 * np.median(np.abs(steps))))


def _extent(time: Times) -> int:
    """Add up the steps but the two largest, which one damaged cell may have made."""
    steps = np.abs(np.diff(time[time != NO_TIME]))
    return int(np.sum(np.sort(steps)[:-2]))


def parse_times(cells: pd.Series[str], form: TimeFormat) -> tuple[Times, Counter[str]]:
    """Return int64 ns (UTC where the cells carry an offset), NO_TIME where a cell is no time.

    The second result counts the rows of each unit of epochs.
    """
    import pandas as pd

    if form.kind != "text":
        values = pd.to_numeric(cells, errors="coerce")
        return _from_epoch(values) if form.kind == "epoch" else (_from_excel(values), Counter())
    if form.buddhist:
        years = pd.to_numeric(cells.str[:4], errors="coerce").fillna(0).astype(int) - 543
        cells = years.astype(str).str.zfill(4) + cells.str[4:]
    utc = "%z" in form.pattern
    time = pd.to_datetime(cells, format=form.pattern, errors="coerce", utc=utc)
    if time.isna().any():
        time = time.fillna(pd.to_datetime(cells.str.strip(), format=form.pattern, errors="coerce", utc=utc))
    stamps = np.asarray(time.dt.as_unit("us").dt.tz_localize(None), "datetime64[us]").astype(np.int64)
    fits = np.abs(stamps // 1000) < np.iinfo(np.int64).max // 10**6
    return np.where(fits, np.where(fits, stamps, 0) * 1000, NO_TIME), Counter()


def _from_epoch(values: pd.Series[float]) -> tuple[Times, Counter[str]]:
    """Take seconds, ms, µs or ns by the size of each value; years outside 1970-2100 are no time."""
    number = np.asarray(values)
    size = np.nan_to_num(number.astype(np.float64), nan=0.0)
    time, units = np.full(len(number), NO_TIME, np.int64), Counter[str]()
    for unit, factor, low in _UNITS:
        rows = (size >= low) & (size < 1000.0 * low) & (size * factor < LATEST_EPOCH)
        if rows.any():
            part = number[rows]
            whole = np.floor(part).astype(np.int64)
            time[rows] = whole * factor + np.round((part - whole) * factor).astype(np.int64)
            units[unit] = int(rows.sum())
    return time, units


def _from_excel(values: pd.Series[float]) -> Times:
    """Take days since 1899-12-30, to the ms."""
    days = np.asarray(values, np.float64)
    valid = (days > 20_000) & (days < 80_000)
    milliseconds = np.round((np.where(valid, days, 0.0) - 25_569) * 86_400_000).astype(np.int64)
    return np.where(valid, milliseconds * 10**6, NO_TIME)
