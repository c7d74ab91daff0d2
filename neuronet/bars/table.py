"""Parse the columns of a text whose dialect is known, with pandas' C parser, into arrays."""

from __future__ import annotations

import io
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neuronet.bars.bars import PRICES, Floats, Times
from neuronet.bars.dialect import Dialect, shorten
from neuronet.bars.numbers import parse_numbers
from neuronet.bars.text import Text
from neuronet.bars.times import parse_times
from neuronet.errors import DataError

CHUNK = 500_000
NA = ["-", "--", "inf", "-inf", "+inf", "Infinity", "-Infinity"]


@dataclass(frozen=True, eq=False)
class Table:
    """Columns as they stand in the file, in its order.

    time    [rows] int64 ns, NO_TIME where the cell is no time
    prices  open, high, low, close: [rows] float64, NaN where there is no number
    volume  [rows] float64, None if the file has none
    symbol  [rows] text, None if the file has none
    line    [rows] line number in the file, from 1
    notes   warnings so far
    """

    time: Times
    prices: dict[str, Floats]
    volume: Floats | None
    symbol: NDArray[np.object_] | None
    line: NDArray[np.int64]
    notes: tuple[str, ...]


def parse_table(text: Text, dialect: Dialect) -> Table:
    """Parse the lines of data. Raises DataError with file:line for a line with a wrong number of fields."""
    keep, notes = _check_lines(text, dialect)
    try:
        data, units = _parse(text, dialect, keep, cells=False)
    except ValueError:  # a cell that is no number: slower, but it finds which
        try:
            data, units = _parse(text, dialect, keep, cells=True)
        except ValueError as error:
            raise _unbalanced(text, f"cannot be parsed: {error}") from None
    if len(units) > 1:
        counts = ", ".join(f"{rows} rows in {unit}" for unit, rows in units.items())
        notes.append(f"the unit of time changes within the file: {counts}")
    volumes = [data[f"volume{i}"] for i in range(len(dialect.volumes))]
    volume = next((v for v in volumes if np.any(np.nan_to_num(v) != 0.0)), volumes[0] if volumes else None)
    return Table(
        data["time"],
        {name: data[name] for name in PRICES},
        volume,
        data.get("symbol"),
        np.flatnonzero(keep) + 1,
        (*text.notes, *notes),
    )


def _check_lines(text: Text, dialect: Dialect) -> tuple[NDArray[np.bool_], list[str]]:
    """Return which lines are data; a cut last line is left out with a note, any other ragged line refused."""
    fields = text.fields(dialect.separator)
    keep = fields > 0
    keep[: dialect.first_line] = False
    ragged = np.flatnonzero(keep & (fields != dialect.width))
    notes = []
    last = int(np.flatnonzero(keep)[-1])
    if len(ragged) and ragged[-1] == last and fields[last] < dialect.width:
        notes.append(
            f"line {last + 1}, the last, has {fields[last]} of {dialect.width} fields and was dropped"
        )
        keep[last] = False
        ragged = ragged[:-1]
    if len(ragged):
        row = int(ragged[0])
        raise DataError(
            f"{fields[row]} fields instead of {dialect.width}: {shorten(text.line(row))}"
            + (f" ({len(ragged)} such lines)" if len(ragged) > 1 else ""),
            where=f"{text.name}:{row + 1}",
            fix="repair or delete the line",
        )
    if not keep.any():
        raise DataError(f"no bars in {text.name}", where=text.name, fix="export it again")
    return keep, notes


def _parse(
    text: Text, dialect: Dialect, keep: NDArray[np.bool_], *, cells: bool
) -> tuple[dict[str, NDArray[Any]], Counter[str]]:
    """Return arrays [rows] by name, and how many rows have which unit of time. A chunk of lines at a time.

    cells  read numbers cell by cell, NaN where there is none; else a cell that is no number raises ValueError
    """
    import pandas as pd

    form = dialect.number_format
    numeric = {name: dialect.columns[name] for name in PRICES}
    numeric |= {f"volume{i}": column for i, column in enumerate(dialect.volumes)}
    columns = sorted({*numeric.values(), *dialect.time, *dialect.columns.values()})
    reader = pd.read_csv(
        io.BytesIO(text.data),
        sep=dialect.separator,
        header=None,
        names=list(range(dialect.width)),
        usecols=columns,
        dtype={i: "str" if cells or i not in numeric.values() else "float64" for i in columns},
        skiprows=np.flatnonzero(~keep).tolist(),
        na_values=NA,
        decimal=form.decimal,
        thousands=form.thousands or None,
        skip_blank_lines=False,
        skipinitialspace=True,
        encoding="utf-8",
        engine="c",
        chunksize=CHUNK,
        # Correctly rounded numbers: the default from pandas 3.1 on.
        float_precision="round_trip" if tuple(map(int, pd.__version__.split(".")[:2])) < (3, 1) else None,
    )
    data: dict[str, NDArray[Any]] = {}
    units: Counter[str] = Counter()
    rows, end = int(keep.sum()), 0
    for frame in reader:
        begin, end = end, end + len(frame)
        if end > rows:
            break
        stamps = frame[dialect.time[0]]
        for column in dialect.time[1:]:
            stamps = stamps + " " + frame[column]
        time, chunk_units = parse_times(stamps, dialect.time_format)
        units += chunk_units
        chunk: dict[str, NDArray[Any]] = {"time": time}
        for name, column in numeric.items():
            chunk[name] = parse_numbers(frame[column], form) if cells else frame[column].to_numpy()
        if "symbol" in dialect.columns:
            chunk["symbol"] = frame[dialect.columns["symbol"]].astype(object).to_numpy()
        for name, values in chunk.items():
            data.setdefault(name, np.empty(rows, values.dtype))[begin:end] = values
    if end != rows:
        raise _unbalanced(text, f"{rows} lines give {end} rows")
    return data, units


def _unbalanced(text: Text, what: str) -> DataError:
    return DataError(what, where=text.name, fix="look for quotation marks without a partner")
