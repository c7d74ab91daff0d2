"""Parse the columns of a text whose dialect is known, with pandas' C parser, into arrays."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from neuronet.bars.bars import PRICES, Floats, Times
from neuronet.bars.dialect import Dialect
from neuronet.bars.lines import data_lines
from neuronet.bars.numbers import parse_numbers
from neuronet.bars.options import ReadOptions
from neuronet.bars.text import Text
from neuronet.bars.times import parse_times
from neuronet.errors import DataError

if TYPE_CHECKING:
    import pandas as pd

CHUNK = 200_000
NA = ["-", "--", "inf", "-inf", "+inf", "Infinity", "-Infinity"]
OnProgress = Callable[[int, int], None]  # rows read, rows in all


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


def parse_table(
    text: Text, dialect: Dialect, options: ReadOptions, on_progress: OnProgress | None = None
) -> Table:
    """Parse the lines of data. Raises DataError with file:line for a line with a wrong number of fields."""
    if options.adjusted and "adj_close" not in dialect.columns:
        raise no_adjusted(dialect.names, text.name)
    keep, notes = data_lines(text, dialect, skip_bad_rows=options.skip_bad_rows)
    parser = _Parser(text, dialect, keep, options)
    data = parser.parse(on_progress)
    if len(parser.units) > 1:
        counts = ", ".join(f"{rows} rows in {unit}" for unit, rows in parser.units.items())
        notes.append(f"the unit of time changes within the file: {counts}")
    prices = {name: data[name] for name in PRICES}
    if options.adjusted:
        prices = adjusted(prices, data["adj_close"])
    return Table(
        data["time"],
        prices,
        _volume([data[f"volume{i}"] for i in range(len(dialect.volumes))]),
        data.get("symbol"),
        np.flatnonzero(keep) + 1,
        (*text.notes, *notes),
    )


def adjusted(prices: dict[str, Floats], close: Floats) -> dict[str, Floats]:
    """Scale all four prices by adjusted close / close; without one the row has no price."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = close / prices["close"]
        return {name: values * ratio for name, values in prices.items()} | {"close": close}


def no_adjusted(names: Sequence[str], where: str) -> DataError:
    """Return the error for --adjusted without such a column."""
    return DataError(
        f"--adjusted needs a column of adjusted closes; the columns are {', '.join(names)}",
        where=where,
        fix="leave out --adjusted",
    )


def _volume(volumes: list[Floats]) -> Floats | None:
    """Take the first column that is not zero nearly everywhere where another has volume."""
    filled = [int(np.count_nonzero(np.nan_to_num(values))) for values in volumes]
    return next((v for v, n in zip(volumes, filled, strict=True) if 10 * n >= max(filled)), None)


class _Parser:
    """Reads a text a chunk of lines at a time; ``units`` counts the rows of each unit of epochs."""

    def __init__(self, text: Text, dialect: Dialect, keep: NDArray[np.bool_], options: ReadOptions) -> None:
        self.text, self.dialect, self.keep = text, dialect, keep
        self.units: Counter[str] = Counter()
        prices = (*PRICES, "adj_close") if options.adjusted else PRICES
        self.numeric = {name: dialect.columns[name] for name in prices}
        self.numeric |= {f"volume{i}": column for i, column in enumerate(dialect.volumes)}

    def parse(self, on_progress: OnProgress | None) -> dict[str, NDArray[Any]]:
        """Return arrays [rows] by name."""
        rows, end = int(self.keep.sum()), 0
        data: dict[str, NDArray[Any]] = {}
        for first in range(0, self.text.lines, CHUNK):
            keep = self.keep[first : first + CHUNK]
            begin, end = end, end + int(keep.sum())
            if begin == end:
                continue
            for name, values in self._lines(first, keep, end - begin).items():
                data.setdefault(name, np.empty(rows, values.dtype))[begin:end] = values
            if on_progress:
                on_progress(end, rows)
        return data

    def _lines(self, first: int, keep: NDArray[np.bool_], rows: int) -> dict[str, NDArray[Any]]:
        """Parse the marked lines from ``first`` on: as numbers, or, if one is none, cell by cell."""
        starts = self.text.starts
        part = self.text.data[int(starts[first]) : int(starts[first + len(keep)])]
        skip = np.flatnonzero(~keep).tolist()
        # The C parser ignores whether groups of thousands have three digits.
        cells = bool(self.dialect.number_format.thousands)
        try:
            try:
                frame = self._frame(part, skip, cells)
            except ValueError:
                cells = True
                frame = self._frame(part, skip, cells)
        except ValueError as error:
            raise _unbalanced(self.text, f"cannot be parsed: {error}") from None
        if len(frame) != rows:
            raise _unbalanced(self.text, f"{rows} lines give {len(frame)} rows")
        return self._chunk(frame, cells)

    def _frame(self, part: bytes, skip: list[int], cells: bool) -> pd.DataFrame:
        import pandas as pd

        dialect = self.dialect
        numbers = set(self.numeric.values())
        texts = {*dialect.time, *({dialect.columns["symbol"]} if "symbol" in dialect.columns else ())}
        columns = sorted(numbers | texts)
        return pd.read_csv(
            io.BytesIO(part),
            sep=dialect.separator,
            header=None,
            names=list(range(dialect.width)),
            usecols=columns,
            dtype={i: "str" if cells or i not in numbers else "float64" for i in columns},
            skiprows=skip,
            na_values=NA,
            decimal=dialect.number_format.decimal,
            skip_blank_lines=False,
            skipinitialspace=True,
            encoding="utf-8",
            engine="c",
            low_memory=False,
            # Correctly rounded numbers: the default from pandas 3.1 on.
            float_precision="round_trip" if tuple(map(int, pd.__version__.split(".")[:2])) < (3, 1) else None,
        )

    def _chunk(self, frame: pd.DataFrame, cells: bool) -> dict[str, NDArray[Any]]:
        dialect, form = self.dialect, self.dialect.number_format
        stamps = frame[dialect.time[0]]
        for column in dialect.time[1:]:
            stamps = stamps + " " + frame[column]
        time, units = parse_times(stamps, dialect.time_format)
        self.units += units
        chunk: dict[str, NDArray[Any]] = {"time": time}
        for name, column in self.numeric.items():
            chunk[name] = (
                parse_numbers(frame[column], form, endings=name.startswith("volume"))
                if cells
                else frame[column].to_numpy()
            )
        if "symbol" in dialect.columns:
            chunk["symbol"] = frame[dialect.columns["symbol"]].astype(object).to_numpy()
        return chunk


def _unbalanced(text: Text, what: str) -> DataError:
    return DataError(what, where=text.name, fix="look for quotation marks without a partner")
