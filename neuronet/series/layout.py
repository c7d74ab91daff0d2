"""Where a table has its times and its values: the sniffing of bar files, without asking for four prices."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from neuronet.bars.columns import _find_time as find_time
from neuronet.bars.columns import shorten
from neuronet.bars.dialect import Dialect
from neuronet.bars.dialect import _find_separator as find_separator
from neuronet.bars.dialect import _sample as sample
from neuronet.bars.header import Rows, find_header
from neuronet.bars.names import role_of
from neuronet.bars.numbers import find_number_format, is_missing, is_number
from neuronet.bars.options import ReadOptions
from neuronet.bars.shapes import column_shape, is_numeric
from neuronet.bars.text import Text
from neuronet.bars.times import TimeFormat, find_time_format, shape_of
from neuronet.errors import DataError, NoColumnError

if TYPE_CHECKING:
    import pandas as pd

# Times without a day, which bars never have: what a cell looks like, and the day that is meant, its first.
PERIODS = {
    "year-month": (re.compile(r"((?:1[6-9]|2[0-2])\d\d)[-/.](0?[1-9]|1[012])"), r"\1-\2-01"),
    "year-quarter": (re.compile(r"((?:1[6-9]|2[0-2])\d\d)[- ]?Q([1-4])"), ""),
    "year": (re.compile(r"((?:1[6-9]|2[0-2])\d\d)"), r"\1-01-01"),
}
YEARS = ("year", "years", "yr", "jahr", "ano", "año", "annee", "année", "anno", "rok", "год")


@dataclass(frozen=True)
class Layout:
    """How a table is written.

    dialect  as for bars; its ``columns`` are empty
    values   column number from 0 -> name ('' where there is none), in the file's order
    period   key of PERIODS when the times have no day, else ''
    notes    columns that were left out
    """

    dialect: Dialect
    values: dict[int, str]
    period: str
    notes: tuple[str, ...]


def find_layout(text: Text, options: ReadOptions, column: str | int | None = None) -> Layout:
    """Find times and values from a sample of lines. Raises DataError with what was looked at.

    column  take only this column of values: a name, or a number from 0
    """
    where = text.name
    numbers, lines = sample(text)
    if not lines:
        raise DataError("no values: only comments", where=where, fix="export the file again")
    separator, share = find_separator(lines)
    rows = [next(csv.reader([line], delimiter=separator)) for line in lines]
    width = Counter(len(row) for row in rows).most_common(1)[0][0]
    if width < 2:
        raise DataError(
            f"one field a line: {shorten(lines[-1])}",
            where=where,
            fix="give a column of times and one of values or more, with commas, semicolons or tabs between",
        )
    body = [row for row in rows if len(row) == width]
    guess = () if _is_data(body[0]) else tuple(name.strip() for name in body[0])
    time, period = _find_times(guess, body[1:] or body, where, options)
    # Data begins with the first time: names may be numbers, so that nothing else tells the header.
    pattern = options.date_format if "%" in (options.date_format or "") else None
    timed = (i for i, row in enumerate(rows) if len(row) == width and _is_time(row, time, period, pattern))
    first = next(timed, -1)
    if first < 0:
        raise _no_times(guess, body, where)
    _check_head(rows[:first], numbers, time, width, where)
    data = [row for row in rows[first:] if len(row) == width]
    names = find_header(rows[:first], data, where=where, asked=True).names
    cells = [" ".join(row[i].strip() for i in time) for row in data]
    if period:
        form: TimeFormat | None = TimeFormat("text", "%Y-%m-%d", evidence=f"as in {cells[-1]!r}")
    else:
        form = find_time_format(cells, where=where, date_format=options.date_format)
    if form is None:
        raise _no_times(names, data, where)
    if column is None:
        values, notes = _find_values(names, data, time)
    else:
        values, notes = [_asked(column, names, time, width, where)], []
    if not values:
        raise NoColumnError(
            f"no column holds numbers; {_seen(names, data)}", where=where, fix="give a column of values"
        )
    found = [row[i] for row in data for i in values]
    dialect = Dialect(
        encoding=text.encoding,
        separator=separator,
        first_line=numbers[first],
        width=width,
        names=names,
        time=time,
        columns={},
        volumes=(),
        time_format=form,
        number_format=find_number_format(found, where=where, decimal=options.decimal),
        symbol="",
        evidence={"separator": f"{share:.0%} of the lines looked at have {width} fields"},
    )
    return Layout(dialect, {i: names[i] if names else "" for i in values}, period, tuple(notes))


def to_dates(cells: pd.Series[str], period: str) -> pd.Series[str]:
    """Return cells as dates, '1949-01' -> '1949-01-01', '1949Q2' -> '1949-04-01'; others as they are."""
    if not period:
        return cells
    look, day = PERIODS[period]
    if day:
        return cells.str.strip().str.replace(re.compile(f"^{look.pattern}$"), day, regex=True)
    return cells.str.strip().str.replace(
        re.compile(f"^{look.pattern}$"), lambda m: f"{m[1]}-{3 * int(m[2]) - 2:02d}-01", regex=True
    )


def _is_data(row: Sequence[str]) -> bool:
    """Whether the first line is none of names: a date is in it, or nothing but numbers."""
    cells = [cell.strip() for cell in row]
    return any("%d" in shape_of(cell) for cell in cells) or all(map(is_number, cells))


def _is_time(row: Sequence[str], time: tuple[int, ...], period: str, pattern: str | None) -> bool:
    cell = " ".join(row[i].strip() for i in time)
    if period:
        return PERIODS[period][0].fullmatch(cell) is not None
    if pattern is not None:
        with suppress(ValueError):
            return bool(datetime.strptime(cell, pattern))
        return False
    shape = shape_of(cell)
    return bool(shape) and not shape.startswith(" ")


def _check_head(head: Rows, numbers: Sequence[int], time: tuple[int, ...], width: int, where: str) -> None:
    """Refuse lines of data whose time is damaged: above the first good one they would pass for a header."""
    for row, line in list(zip(head, numbers, strict=False))[1:]:
        named = (hit := role_of(row[time[0]])) and hit[0] == "time" if len(row) == width else True
        if not named and any(is_number(cell) for i, cell in enumerate(row) if i not in time):
            raise DataError(
                f"{shorten(row[time[0]])} is no time",
                where=f"{where}:{line + 1}",
                fix="correct or delete the line",
            )


def _find_times(
    names: Sequence[str], data: Rows, where: str, options: ReadOptions
) -> tuple[tuple[int, ...], str]:
    """Return the columns of times, and the key of PERIODS when they have no day."""
    named = [i for i, name in enumerate(names) if (hit := role_of(name)) and hit[0] == "time"]
    columns = find_time(names, data, named)
    if columns:
        return columns, ""
    for i in dict.fromkeys([*named, *range(len(data[0]))]):
        cells = [row[i].strip() for row in data]
        for period, (look, _) in PERIODS.items():
            # Any whole number may look like a year.
            known = period != "year" or i in named or (names[i].lower() in YEARS if names else i == 0)
            if known and sum(look.fullmatch(cell) is not None for cell in cells) >= 0.9 * len(cells):
                return (i,), period
    if options.date_format and "%" in options.date_format:
        return (named[0] if named else 0,), ""
    raise _no_times(names, data, where)


def _find_values(names: Sequence[str], data: Rows, time: tuple[int, ...]) -> tuple[list[int], list[str]]:
    """Return the columns of numbers and notes on those that are left out."""
    values, notes = [], []
    for i in range(len(data[0])):
        cells = [row[i] for row in data if not says_missing(row[i])]
        name = names[i] if names else ""
        title = repr(name) if name else str(i + 1)
        if i in time or (not cells and not name):
            continue
        # From half of the cells on: the others are mistakes that are reported with their lines.
        if cells and (not is_numeric(cells, 0.5) or "%d" in column_shape(cells)):
            notes.append(f"column {title} holds no numbers and was left out: {shorten(cells[0])}")
        else:
            values.append(i)
    return values, notes


def _asked(column: str | int, names: Sequence[str], time: tuple[int, ...], width: int, where: str) -> int:
    """Return the number of a column that is given by name or number."""
    number = int(column) if str(column).isdecimal() else -1
    if isinstance(column, str) and column in names:
        number = names.index(column)
    if number in time:
        raise DataError(f"column {column!r} holds the times", where=where, fix="give a column of values")
    if not 0 <= number < width:
        there = f"the columns are {', '.join(names)}" if names else f"there are {width} columns without names"
        raise NoColumnError(
            f"no column {column!r}; {there}", where=where, fix="give a name, or a number from 0"
        )
    return number


def says_missing(cell: str) -> bool:
    """Whether a cell says that there is no value; infinity says something else."""
    cell = cell.strip().lower()
    return cell == "?" or (is_missing(cell) and not cell.endswith("inf"))


def _seen(names: Sequence[str], data: Rows) -> str:
    shown = f"the columns are {shorten(', '.join(names))}; " if any(names) else ""
    return f"{shown}a line is {shorten(','.join(data[0]))}"


def _no_times(names: Sequence[str], data: Rows, where: str) -> DataError:
    return NoColumnError(
        f"no column holds times; {_seen(names, data)}",
        where=where,
        fix="give a column of times such as 2024-01-31 13:00 in each line; for another notation give "
        "--date-format, as in '%d.%m.%Y'",
    )
