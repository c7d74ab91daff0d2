"""Tables of numbers without times: rows are positions."""

from __future__ import annotations

import csv
from collections import Counter
from contextlib import suppress

import numpy as np
from numpy.typing import NDArray

from neuronet.bars.columns import shorten
from neuronet.bars.dialect import Dialect
from neuronet.bars.dialect import _find_separator as find_separator
from neuronet.bars.dialect import _sample as sample
from neuronet.bars.lines import data_lines
from neuronet.bars.numbers import find_number_format
from neuronet.bars.options import ReadOptions
from neuronet.bars.text import Text
from neuronet.bars.times import TimeFormat
from neuronet.errors import DataError, NoColumnError
from neuronet.series.layout import Layout
from neuronet.series.layout import _find_times as find_times
from neuronet.series.layout import _find_values as find_values
from neuronet.series.layout import _is_data as is_data
from neuronet.series.table import _frame as parse_frame
from neuronet.series.table import _numbers as numbers_of

Floats = NDArray[np.float64]


def find_untimed(text: Text, options: ReadOptions) -> Layout | None:
    """Return the layout of a table without a column of times; None when there is one, or a format of times.

    Raises DataError when no column holds numbers either.
    """
    if options.date_format:
        return None
    numbers, lines = sample(text)
    if not lines:
        raise DataError("no values: only comments", where=text.name, fix="export the file again")
    separator, share = find_separator(lines)
    rows = [next(csv.reader([line], delimiter=separator)) for line in lines]
    width = Counter(len(row) for row in rows).most_common(1)[0][0]
    full = [i for i, row in enumerate(rows) if len(row) == width]
    names = () if is_data(rows[full[0]]) else tuple(name.strip() for name in rows[full[0]])
    body = [rows[i] for i in full]
    full = full[1:] if names else full
    data = body[1:] if names else body
    with suppress(DataError):
        find_times(names, data or body, text.name, options)
        return None
    values, notes = find_values(names, data, ()) if data else ([], [])
    if not values:
        raise NoColumnError(
            f"no column holds times or numbers: {shorten(lines[-1])}",
            where=text.name,
            fix="give a table with a column of numbers for each channel",
        )
    cells = [row[i] for row in data for i in values]
    dialect = Dialect(
        encoding=text.encoding,
        separator=separator,
        first_line=numbers[full[0]],
        width=width,
        names=names,
        time=(),
        columns={},
        volumes=(),
        time_format=TimeFormat("text", evidence="there are no times"),
        number_format=find_number_format(cells, where=text.name, decimal=options.decimal),
        symbol="",
        evidence={"separator": f"{share:.0%} of the lines looked at have {width} fields"},
    )
    return Layout(dialect, {i: names[i] if names else "" for i in values}, "", tuple(notes))


def read_untimed(text: Text, layout: Layout) -> tuple[dict[str, Floats], list[str]]:
    """Return name -> values [rows], in the file's order, NaN where missing; and notes.

    A first column that counts the rows is none of values. Raises DataError with file:line for a cell that is
    no number, or a line with another number of fields.
    """
    keep, notes = data_lines(text, layout.dialect)
    notes = [*text.notes, *layout.notes, *notes, "no column of times: rows are numbered from 0"]
    lines = np.flatnonzero(keep) + 1
    frame, numeric = parse_frame(text, layout, keep)
    found: dict[str, Floats] = {}
    for number, name in layout.values.items():
        values = numbers_of(frame[number], layout, text, lines, numeric)
        title = name or f"column {number + 1}"
        counts = len(values) > 1 and np.array_equal(values, values[0] + np.arange(len(values)))
        if number == 0 and counts and len(layout.values) > 1:
            notes.append(f"{title} counts the rows and was left out")
            continue
        if title in found:
            raise DataError(
                f"{title!r} names more than one column", where=text.name, fix="give each its own name"
            )
        found[title] = values
    return found, notes
