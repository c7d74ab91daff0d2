"""Find out how a bar file is written: separator, header, columns, number and time format, from a sample."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from neuronet.bars.columns import find_columns, not_bars, shorten
from neuronet.bars.header import Rows, find_header
from neuronet.bars.names import role_of
from neuronet.bars.numbers import NumberFormat, find_number_format
from neuronet.bars.options import ReadOptions
from neuronet.bars.shapes import column_shape, is_data
from neuronet.bars.text import Text, read_text
from neuronet.bars.times import TimeFormat, find_time_format
from neuronet.errors import DataError

HEAD, SPREAD = 100, 400  # lines of the sample: the first ones, and others evenly from the whole file
LONGEST = 10_000  # characters of a line that are looked at
SEPARATORS = {"\t": "tab", ";": "semicolon", "|": "bar", ",": "comma"}


@dataclass(frozen=True)
class Dialect:
    """How a file is written. Column numbers count from 0.

    first_line   row of the first line of data in the text, from 0
    width        fields of a line
    names        the header's names, '' where there is none
    time         one column of whole times, or two: date and clock
    columns      open, high, low, close, and if there is one: symbol, adj_close
    volumes      columns of volume, the preferred one first
    symbol       what the header names, '' if nothing
    evidence     decision -> why, in words
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
    symbol: str
    evidence: dict[str, str]

    def name_of(self, column: int) -> str:
        """Return a column's name for messages: "'Close' (column 5)"."""
        name = self.names[column] if column < len(self.names) else ""
        return f"'{name}' (column {column + 1})" if name else f"column {column + 1}"

    def to_dict(self) -> dict[str, Any]:
        """Return the decisions, JSON-able."""
        columns = {"time": " + ".join(self.name_of(i) for i in self.time)}
        columns |= {role: self.name_of(i) for role, i in self.columns.items()}
        columns["volume"] = self.name_of(self.volumes[0]) if self.volumes else "none"
        return {
            "encoding": self.encoding,
            "separator": SEPARATORS[self.separator],
            "header": bool(self.names),
            "first_line": self.first_line + 1,
            "columns": columns,
            "time_format": self.time_format.describe(),
            "decimal": self.number_format.decimal,
            "thousands": self.number_format.thousands,
            "evidence": self.evidence,
        }


def sniff(path: str | Path, options: ReadOptions | None = None) -> Dialect:
    """Find the dialect of a file. Raises DataError with why it is not bars, or which option must decide."""
    return sniff_text(read_text(path), options or ReadOptions())


def sniff_text(text: Text, options: ReadOptions) -> Dialect:
    """Find the dialect of a text that is already in memory."""
    where = text.name
    numbers, lines = _sample(text)
    if not lines:
        raise DataError("no bars: only comments", where=where, fix="export the bars again")
    separator, share = _find_separator(lines)
    rows = [next(csv.reader([line], delimiter=separator)) for line in lines]
    first = next((i for i, row in enumerate(rows) if is_data(row)), None)
    if first is None:
        raise DataError(
            f"no bars: no line has prices; the first is {shorten(lines[0])}",
            where=where,
            fix="export the bars again, with a time and four prices a line",
        )
    width = Counter(len(row) for row in rows[first:]).most_common(1)[0][0]
    data = [row for row in rows[first:] if len(row) == width]
    head = [*_header_comments(text, numbers[first], separator), *rows[:first]]
    asked = options.columns or {}
    header = find_header(head, data, where=where, symbol=options.symbol, asked=bool(asked))
    columns = find_columns(header.own, data, asked, where)

    cells = [" ".join(row[i].strip() for i in columns.time) for row in data]
    time_format = find_time_format(cells, where=where, date_format=options.date_format)
    if time_format is None:
        raise not_bars(where, header.names, data, "no column holds times")
    others = [i for i in range(width) if i not in columns.time and i != columns.roles.get("symbol")]
    others = [i for i in others if "%d" not in column_shape([row[i] for row in data])]
    values = [row[i] for row in data for i in others]
    number_format = find_number_format(values, where=where, decimal=options.decimal)
    return Dialect(
        encoding=text.encoding,
        separator=separator,
        first_line=numbers[first],
        width=width,
        names=header.names,
        time=columns.time,
        columns=columns.roles,
        volumes=columns.volumes,
        time_format=time_format,
        number_format=number_format,
        symbol=header.symbol,
        evidence={
            "encoding": text.why,
            "separator": f"{share:.0%} of the lines looked at have {width} fields",
            "header": header.evidence,
            "time_format": time_format.evidence,
            "decimal": number_format.evidence,
        },
    )


def _sample(text: Text) -> tuple[list[int], list[str]]:
    """Return row numbers and content of lines that are not blank: the first, then some of the whole file."""
    wanted = np.unique(
        np.concatenate([np.arange(min(HEAD, text.lines)), np.linspace(0, text.lines - 1, SPREAD)]).astype(int)
    )
    numbers = [int(row) for row in wanted if not text.is_blank(int(row))]
    return numbers, [text.line(row)[:LONGEST] for row in numbers]


def _header_comments(text: Text, first: int, separator: str) -> Rows:
    """Return comment lines above the data that are a header: '# time,open,high,low,close'."""
    lines = (text.line(row) for row in range(min(first, HEAD)))
    rows = [line.lstrip("# ").split(separator) for line in lines if line.startswith("#")]
    return [row for row in rows if sum(role_of(name) is not None for name in row) > 3]


def _find_separator(lines: Sequence[str]) -> tuple[str, float]:
    """Take the first separator that splits most lines into one number of fields; and the share of lines."""
    for separator in SEPARATORS:
        counts = Counter(len(next(csv.reader([line], delimiter=separator))) for line in lines)
        fields, count = counts.most_common(1)[0]
        if fields > 1 and count >= 0.7 * len(lines):
            return separator, count / len(lines)
    return ",", 0.0
