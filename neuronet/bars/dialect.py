"""Find out how a bar file is written: separator, header, columns, number and time format, from a sample."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from neuronet.bars.bars import PRICES
from neuronet.bars.names import role_of
from neuronet.bars.numbers import NumberFormat, find_number_format, is_missing, is_number
from neuronet.bars.text import Text, read_text
from neuronet.bars.times import TimeFormat, find_time_format, shape_of
from neuronet.errors import DataError

HEAD, SPREAD = 100, 400  # lines of the sample: the first ones, and others evenly from the whole file
Rows = list[list[str]]


@dataclass(frozen=True)
class Dialect:
    """How a file is written. Column numbers count from 0.

    first_line   row of the first line of data in the text, from 0
    width        fields of a line
    names        the header's names, '' where there is none
    time         one column of whole times, or two: date and clock
    columns      open, high, low, close, and if there is one: symbol
    volumes      columns of volume, the preferred one first
    evidence     one sentence for each decision
    """

    encoding: str
    separator: str
    first_line: int
    width: int
    names: tuple[str, ...]
    time: tuple[int, ...]
    columns: dict[str, int]
    volumes: tuple[int, ...]
    time_format: TimeFormat
    number_format: NumberFormat
    evidence: tuple[str, ...]

    def name_of(self, column: int) -> str:
        """Return a column's name for messages: "'Close' (column 5)"."""
        name = self.names[column] if column < len(self.names) else ""
        return f"'{name}' (column {column + 1})" if name else f"column {column + 1}"

    def to_dict(self) -> dict[str, Any]:
        """Return the decisions, JSON-able."""
        columns = {"time": " + ".join(self.name_of(i) for i in self.time)}
        columns |= {role: self.name_of(i) for role, i in self.columns.items()}
        if self.volumes:
            columns["volume"] = self.name_of(self.volumes[0])
        return {
            "encoding": self.encoding,
            "separator": {"\t": "tab", ",": "comma", ";": "semicolon"}.get(self.separator, self.separator),
            "header": bool(self.names),
            "first_line": self.first_line + 1,
            "columns": columns,
            "time_format": self.time_format.describe(),
            "decimal": self.number_format.decimal,
            "thousands": self.number_format.thousands,
            "evidence": list(self.evidence),
        }


def sniff(
    path: str | Path,
    *,
    columns: Mapping[str, str | int] | None = None,
    date_format: str | None = None,
    decimal: str | None = None,
) -> Dialect:
    """Find the dialect of a file; the options are read_bars'. Raises DataError with why it is not bars."""
    return sniff_text(read_text(path), columns=columns, date_format=date_format, decimal=decimal)


def sniff_text(
    text: Text,
    *,
    columns: Mapping[str, str | int] | None = None,
    date_format: str | None = None,
    decimal: str | None = None,
) -> Dialect:
    """Find the dialect of a text that is already in memory."""
    where = text.name
    numbers, lines = _sample(text)
    if not lines:
        raise DataError(f"no bars in {where}: only comments", where=where, fix="export the bars again")
    separator = _find_separator(lines)
    rows = [next(csv.reader([line], delimiter=separator)) for line in lines]
    first = next((i for i, row in enumerate(rows) if _is_data(row)), None)
    if first is None:
        raise DataError(
            f"no bars in {where}: no line has prices; the first is {shorten(lines[0])}",
            where=where,
            fix="export the bars again, with a time and four prices a line",
        )
    width = Counter(len(row) for row in rows[first:]).most_common(1)[0][0]
    data = [row for row in rows[first:] if len(row) == width]
    names, evidence = _find_header(
        [*_header_comments(text, numbers[first], separator), *rows[:first]], data, width, where
    )
    time, roles, volumes = _find_columns(names, data, columns or {}, where)

    cells = [" ".join(row[i].strip() for i in time) for row in data]
    time_format = find_time_format(cells, where=where, date_format=date_format)
    if time_format is None:
        raise _not_bars(where, names, data, "no column holds times")
    others = [i for i in range(width) if i not in time and i != roles.get("symbol")]
    others = [i for i in others if "%d" not in _column_shape([row[i] for row in data])]
    values = [row[i] for row in data for i in others]
    number_format = find_number_format(values, where=where, decimal=decimal)
    evidence += [f"times are {time_format.describe()}, {time_format.evidence}"]
    evidence += [f"decimal sign {number_format.decimal!r}, {number_format.evidence}"]
    return Dialect(
        encoding=text.encoding,
        separator=separator,
        first_line=numbers[first],
        width=width,
        names=names,
        time=time,
        columns=roles,
        volumes=volumes,
        time_format=time_format,
        number_format=number_format,
        evidence=tuple(evidence),
    )


def _sample(text: Text) -> tuple[list[int], list[str]]:
    """Return row numbers and content of lines that are not blank: the first, then some of the whole file."""
    wanted = np.unique(
        np.concatenate([np.arange(min(HEAD, text.lines)), np.linspace(0, text.lines - 1, SPREAD)]).astype(int)
    )
    numbers = [int(row) for row in wanted if not text.is_blank(int(row))]
    return numbers, [text.line(row) for row in numbers]


def _header_comments(text: Text, first: int, separator: str) -> Rows:
    """Return comment lines above the data that are a header: '# time,open,high,low,close'."""
    lines = (text.line(row) for row in range(min(first, HEAD)))
    rows = [line.lstrip("# ").split(separator) for line in lines if line.startswith("#")]
    return [row for row in rows if sum(role_of(name) is not None for name in row) > 3]


def _find_separator(lines: Sequence[str]) -> str:
    """Take the first of tab, semicolon, bar, comma that splits most lines into one number of fields."""
    for separator in "\t;|,":
        counts = Counter(len(next(csv.reader([line], delimiter=separator))) for line in lines)
        fields, count = counts.most_common(1)[0]
        if fields > 1 and count >= 0.7 * len(lines):
            return separator
    return ","


def _is_data(row: Sequence[str]) -> bool:
    """Whether a line is data, not a header: at least two cells, and half of the filled ones, are numbers."""
    filled = [cell for cell in row if not is_missing(cell)]
    values = sum(is_number(cell) or bool(shape_of(cell)) for cell in filled)
    return values >= 2 and 2 * values >= len(filled)


def _find_header(head: Rows, data: Rows, width: int, where: str) -> tuple[tuple[str, ...], list[str]]:
    """Take the line with the most known names; the lines around it are notes, tickers, units."""
    if not head:
        return (), ["no header"]
    known = [sum(role_of(name) is not None for name in row) for row in head]
    best = len(head) - 1 - int(np.argmax(known[::-1]))
    if not known[best]:
        best = max((i for i, row in enumerate(head) if len(row) == width), default=len(head) - 1)
    names = [name.strip() for name in head[best]]
    for row in head[best + 1 :]:
        tickers = {cell for cell in row[1:] if cell}
        if row[0].strip().lower() == "ticker" and len(tickers) > 1:
            raise DataError(
                f"several symbols in one file: {', '.join(sorted(tickers)[:5])}",
                where=where,
                fix="export one symbol a file",
            )
    evidence = [f"the header is {', '.join(names)}"]
    if len(names) == width - 1 and _is_clock(_column_shape([row[1] for row in data])):
        names.insert(1, "time")
        evidence.append("the header has one name for date and clock")
    elif len(names) == width - 1 and "%d" in _column_shape([row[1] for row in data]):
        names.insert(0, "")
        evidence.append("the header has no name for the row numbers")
    return tuple((names + [""] * width)[:width]), evidence


def _find_columns(
    names: Sequence[str], data: Rows, asked: Mapping[str, str | int], where: str
) -> tuple[tuple[int, ...], dict[str, int], tuple[int, ...]]:
    """Return the time columns, role -> column for prices and symbol, and the volume columns, best first."""
    chosen = _asked_columns(names, len(data[0]), asked, where)
    found: dict[str, list[tuple[int, int]]] = {}
    for column, name in enumerate(names):
        hit = role_of(name)
        if hit and not (hit[0] == "symbol" and hit[1] > 1):
            found.setdefault(hit[0], []).append((hit[1], column))
    candidates = [column for _, column in found.get("time", [])]
    time = _find_time(names, data, [chosen["time"]] if "time" in chosen else candidates)
    if "date" in chosen or ("time" in chosen and not time):
        time = tuple(chosen[role] for role in ("date", "time") if role in chosen)
    if not time:
        raise _not_bars(where, names, data, "no column holds times")

    roles: dict[str, int] = {}
    missing = []
    for role in PRICES:
        columns = [pair for pair in found.get(role, []) if pair[1] not in time]
        if role in chosen:
            roles[role] = chosen[role]
        elif columns:
            roles[role] = min(columns)[1]
        elif not names:
            roles[role] = max(time) + 1 + PRICES.index(role)
        else:
            missing.append(role)
    if missing:
        raise _not_bars(where, names, data, f"no column for {', '.join(missing)}")
    for role, column in roles.items():
        cells = [row[column] for row in data if column < len(row) and not is_missing(row[column])]
        if sum(map(is_number, cells)) < 0.9 * max(len(cells), 1) or (not cells and column >= len(data[0])):
            seen = next((cell for cell in cells if not is_number(cell)), "nothing")
            raise _not_bars(where, names, data, f"{seen!r} in column {column + 1} is no {role} price")
    if "symbol" in found:
        roles["symbol"] = min(found["symbol"])[1]
    if "volume" in chosen:
        volumes = [chosen["volume"]]
    elif names:
        ticks, real = (sorted(found.get(role, [])) for role in ("tick_volume", "real_volume"))
        volumes = [column for _, column in (*ticks, *real) if column not in time]
    else:
        after = (roles["close"] + 1, roles["close"] + 2)
        volumes = [column for column in after if column < len(data[0]) and is_number(data[0][column])]
    return time, roles, tuple(volumes)


def _find_time(names: Sequence[str], data: Rows, named: Sequence[int]) -> tuple[int, ...]:
    """Return the column of whole times, or those of dates and clocks: named as time, else looking like it."""
    shapes = [_column_shape([row[i] for row in data]) for i in range(len(data[0]))]
    looks = [i for i, shape in enumerate(shapes) if "%d" in shape]
    if not looks and not names and shapes[0] == "epoch":
        looks = [0]
    for columns in (named, looks):
        days = [i for i in columns if shapes[i] and not shapes[i].startswith(" ")]
        whole = [i for i in days if "%d" not in shapes[i] or "%H" in shapes[i] or "%I" in shapes[i]]
        if whole:
            return (whole[0],)
        if days:
            clocks = [i for i in named if shapes[i].startswith(" ")]
            following = days[0] + 1
            if not names and following < len(shapes) and _is_clock(shapes[following]):
                clocks = [following]
            return (days[0], *clocks[:1])
    return ()


def _is_clock(shape: str) -> bool:
    """Whether cells without a name are clock times for sure; '1234' may as well be a price."""
    return shape.startswith(" ") and (":" in shape or "%p" in shape or "%S" in shape)


def _column_shape(cells: Sequence[str]) -> str:
    shape, count = Counter(shape_of(cell) for cell in cells).most_common(1)[0]
    return shape if count >= 0.5 * len(cells) else ""


def _asked_columns(
    names: Sequence[str], width: int, asked: Mapping[str, str | int], where: str
) -> dict[str, int]:
    """Turn the option ``columns`` (role -> name, or number from 0) into numbers."""
    known = ("date", "time", *PRICES, "volume")
    chosen = {}
    for role, name in asked.items():
        if isinstance(name, str):
            column = names.index(name) if name in names else int(name) if name.isdigit() else -1
        else:
            column = name
        if role not in known or not 0 <= column < width:
            raise DataError(
                f"columns: {role}={name} fits none of {', '.join(names) or f'{width} columns without names'}",
                where=where,
                fix=f"give names or numbers from 0 for {', '.join(known)}",
            )
        chosen[role] = column
    return chosen


def _not_bars(where: str, names: Sequence[str], data: Rows, why: str) -> DataError:
    seen = f"the columns are {', '.join(names)}" if names else f"a line is {shorten(','.join(data[0]))}"
    return DataError(
        f"these are not bars: {why}; {seen}",
        where=where,
        fix="give time, open, high, low, close; if they are there, say where: --columns, --date-format",
    )


def shorten(line: str) -> str:
    """Return a line in quotes, at most 80 characters of it."""
    return repr(line if len(line) <= 80 else line[:77] + "...")
