"""read_series: series from any text file with a column of times, from bar files and from .tsf files."""

from __future__ import annotations

import io
import logging
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from neuronet.bars.bars import Bars, stamp
from neuronet.bars.columns import shorten
from neuronet.bars.dialect import sniff_text
from neuronet.bars.lines import data_lines
from neuronet.bars.numbers import parse_numbers
from neuronet.bars.options import ReadOptions, option_of
from neuronet.bars.read import read_bars, symbol_of
from neuronet.bars.store import is_hdf5
from neuronet.bars.table import NA, parse_table
from neuronet.bars.text import Text, read_text
from neuronet.bars.times import NO_TIME, parse_times
from neuronet.errors import DataError, NeuronetError, NoColumnError
from neuronet.series.frequency import Frequency, NoFrequencyError, Times
from neuronet.series.layout import Layout, find_layout, says_missing, to_dates
from neuronet.series.series import Floats, Series
from neuronet.series.tsf import is_tsf, read_tsf

if TYPE_CHECKING:
    import pandas as pd

log = logging.getLogger(__name__)

_ORDERED = 0.9  # share of rows whose high and low enclose open and close: candles


def read_series(
    path: str | Path,
    column: str | int | None = None,
    *,
    frequency: Frequency | None = None,
    **options: Any,
) -> list[Series]:
    """Read all series of a file, oldest value first.

    path         a text file with a column of times and one or more of values, in any usual layout (also .gz,
                 .zip); a bar file, whose closes are taken; or a .tsf file
    column       only this one: a column's name, or its number from 0; in a .tsf file a series' name; in a bar
                 file another column than the close
    frequency    where it cannot be seen, or another is wanted; else Frequency.of the times
    options      fields of ReadOptions, where a file leaves it open: date_format ('dmy', 'mdy', 'ymd' or
                 a pattern) and decimal; for bar files all of them

    A cell that says that there is no value ('', ?, -, nan, null) is NaN. Irregular times stay as they are,
    with a warning that counts the gaps. Newest-first files are turned round. Columns without numbers are
    left out, with a warning.

    Raises DataError, with file:line, for a time or number that is none, a time that occurs twice or is out
    of order; and where there is no column of times or no such ``column``. NoFrequencyError where a
    ``frequency`` has to be given.
    """
    path = Path(path)
    chosen = ReadOptions(**options)
    if path.is_file() and path.stat().st_size == 0:
        raise DataError("the file is empty", where=path.name, fix="export it again")
    if is_tsf(path):
        return _checked(_chosen(read_tsf(path, frequency=frequency).series, column, path.name), path.name)
    if is_hdf5(path):
        return _checked(_closes(read_bars(path, **options), column, frequency, path), path.name)
    text = read_text(path)
    if column is None and _holds_bars(text, chosen):
        return _checked(_closes(read_bars(path, **options), column, frequency, path), path.name)
    if unused := set(chosen.chosen()) - {"date_format", "decimal"}:
        raise DataError(
            f"{', '.join(map(option_of, sorted(unused)))} can be chosen for bars only, and these are none",
            where=path.name,
            fix="leave it out",
        )
    return _checked(_read_table(text, path, column, frequency, chosen), path.name)


def _checked(series: list[Series], where: str) -> list[Series]:
    """Warn of a name that occurs twice and of irregular times: one warning for equal ones."""
    twice = [name for name, count in Counter(one.name for one in series).items() if count > 1]
    if twice:
        log.warning("%s: %r names more than one series", where, twice[0])
    said: set[tuple[int, int, Frequency]] = set()
    for one in series:
        key = (len(one), one.gaps, one.frequency)
        if one.gaps and key not in said:
            said.add(key)
            log.warning(
                "%s: %d of %d steps between times are not %s; the values stay as they are",
                where, one.gaps, len(one) - 1, one.frequency,
            )  # fmt: skip
    return series


def _chosen(series: list[Series], column: str | int | None, where: str) -> list[Series]:
    if column is None:
        return series
    found = [one for one in series if one.name == str(column)]
    if not found:
        names = ", ".join(one.name for one in series[:5])
        raise DataError(
            f"no series {str(column)!r}; there are {len(series)}: {names}{' ...' if len(series) > 5 else ''}",
            where=where,
            fix="give one of the names",
        )
    return found


def _closes(bars: Bars, column: str | int | None, frequency: Frequency | None, path: Path) -> list[Series]:
    """Return the closes, or another column of bars."""
    name = "close" if column is None else str(column)
    names = ("open", "high", "low", "close", "volume")
    if name not in names:
        raise NoColumnError(
            f"no column {name!r} in bars", where=path.name, fix=f"give one of {', '.join(names)}"
        )
    title = bars.symbol or symbol_of(path)
    title = title if column is None else f"{title} {name}"
    return [Series(title, getattr(bars, name), bars.time, _frequency(frequency, bars.time, path.name))]


def _holds_bars(text: Text, options: ReadOptions) -> bool:
    """Whether a text is bars: by the names of its columns; without names, by high and low."""
    try:
        dialect = sniff_text(text, options)
        if dialect.names:
            return True
        table = parse_table(text, dialect, options)
    except DataError:
        return False
    price = table.prices
    top = np.maximum(price["open"], price["close"])
    bottom = np.minimum(price["open"], price["close"])
    return bool(np.mean((price["high"] >= top) & (price["low"] <= bottom)) >= _ORDERED)


def _frequency(asked: Frequency | None, times: Times, where: str) -> Frequency:
    if asked is not None:
        return asked
    try:
        return Frequency.of(times)
    except NeuronetError as error:
        kind = NoFrequencyError if isinstance(error, NoFrequencyError) else DataError
        raise kind(error.what, where=where, fix=error.fix) from None


def _read_table(
    text: Text, path: Path, column: str | int | None, frequency: Frequency | None, options: ReadOptions
) -> list[Series]:
    layout = find_layout(text, options, column)
    keep, notes = data_lines(text, layout.dialect)
    for note in (*text.notes, *notes, *layout.notes):
        log.warning("%s: %s", text.name, note)
    lines = np.flatnonzero(keep) + 1
    frame, numeric = _frame(text, layout, keep)
    times = _times(frame, layout, text, lines)
    order = slice(None, None, -1) if len(times) > 1 and times[0] > times[-1] else slice(None)
    times = times[order]
    _check_order(times, lines[order], text)
    step = _frequency(frequency, times, text.name)
    series = []
    for number, name in layout.values.items():
        values = _numbers(frame[number], layout, text, lines, numeric)[order]
        title = name or (symbol_of(path) if len(layout.values) == 1 else f"column {number + 1}")
        if np.isnan(values).all():
            log.warning("%s: column %r holds no value and was left out", text.name, title)
        elif not name and np.array_equal(values, np.arange(len(values)) + values[0]) and number == 0:
            log.info("%s: the first column numbers the rows and was left out", text.name)
        else:
            series.append(Series(title, values, times, step))
    if not series:
        raise NoColumnError("no column holds values", where=text.name, fix="give a column of numbers")
    return series


def _frame(text: Text, layout: Layout, keep: NDArray[np.bool_]) -> tuple[pd.DataFrame, bool]:
    """Parse the wanted columns; and whether values are numbers, or all of them text as one is no number."""
    import pandas as pd

    dialect = layout.dialect
    wanted = sorted({*dialect.time, *layout.values})

    def parse(numeric: bool) -> pd.DataFrame:
        kind = "float64" if numeric else "str"
        return pd.read_csv(
            io.BytesIO(text.data),
            sep=dialect.separator,
            header=None,
            names=list(range(dialect.width)),
            usecols=wanted,
            dtype={i: "str" if i in dialect.time else kind for i in wanted},
            skiprows=np.flatnonzero(~keep).tolist(),
            keep_default_na=numeric,
            na_values=[*NA[:2], "?"] if numeric else [],
            skip_blank_lines=False,
            skipinitialspace=True,
            encoding="utf-8",
            engine="c",
            low_memory=False,
            # Correctly rounded numbers: the default from pandas 3.1 on.
            float_precision="round_trip" if tuple(map(int, pd.__version__.split(".")[:2])) < (3, 1) else None,
        )

    numeric = dialect.number_format.decimal == "." and not dialect.number_format.thousands
    trouble = f"{int(keep.sum())} lines give another number of rows"
    try:
        try:
            frame = parse(numeric)
        except ValueError:  # a cell that is no number: which one is found cell by cell
            numeric = False
            frame = parse(numeric)
    except ValueError as error:
        trouble = f"cannot be parsed: {error}"
    else:
        if len(frame) == int(keep.sum()):
            return frame, numeric
    raise DataError(trouble, where=text.name, fix="look for quotation marks without a partner")


def _times(frame: pd.DataFrame, layout: Layout, text: Text, lines: NDArray[np.int64]) -> Times:
    cells = frame[layout.dialect.time[0]].fillna("")
    for more in layout.dialect.time[1:]:
        cells = cells + " " + frame[more].fillna("")
    times, _ = parse_times(to_dates(cells, layout.period), layout.dialect.time_format)
    bad = np.flatnonzero(times == NO_TIME)
    if len(bad):
        raise DataError(
            f"{shorten(str(cells.iloc[bad[0]]))} is no time written as "
            f"{layout.dialect.time_format.describe()}"
            + (f" ({len(bad)} such lines)" if len(bad) > 1 else ""),
            where=f"{text.name}:{lines[bad[0]]}",
            fix="correct or delete the line, or name the format with date_format",
        )
    return times


def _check_order(times: Times, lines: NDArray[np.int64], text: Text) -> None:
    """Refuse times that don't ascend."""
    wrong = np.flatnonzero(np.diff(times) <= 0)
    if not len(wrong):
        return
    row = int(wrong[0]) + 1
    stamps, counts = np.unique(times, return_counts=True)
    if len(stamps) < len(times):
        row = int(np.flatnonzero(times == stamps[np.argmax(counts > 1)])[1])
        raise DataError(
            f"{stamp(times[row])} occurs a second time; {int(np.sum(counts > 1))} of {len(stamps)} times "
            "occur more than once",
            where=f"{text.name}:{lines[row]}",
            fix="keep one row a time; where several series stand below each other, give each its own column",
        )
    raise DataError(
        f"times are out of order: {stamp(times[row - 1])}, then {stamp(times[row])}",
        where=f"{text.name}:{lines[row]}",
        fix="sort the rows by time",
    )


def _numbers(
    cells: pd.Series[str], layout: Layout, text: Text, lines: NDArray[np.int64], numeric: bool
) -> Floats:
    """Return a column's values. DataError for an infinite one, or a cell that is neither number nor empty."""
    if numeric:
        values = np.array(cells, np.float64)
        bad = np.flatnonzero(np.isinf(values))
    else:
        values = parse_numbers(cells, layout.dialect.number_format)
        unknown = [i for i in np.flatnonzero(np.isnan(values)) if not says_missing(str(cells.iloc[i]))]
        bad = np.array(unknown, np.int64)
    if len(bad):
        name = layout.dialect.name_of(int(str(cells.name)))
        raise DataError(
            f"{shorten(str(cells.iloc[bad[0]]))} in {name} is no number"
            + (f" ({len(bad)} such cells)" if len(bad) > 1 else ""),
            where=f"{text.name}:{lines[bad[0]]}",
            fix="correct it, or leave the cell empty for a missing value",
        )
    return values
