"""read_channels: channels from the columns of one file, or from several files joined on their times."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np

from neuronet.bars.bars import PRICES, Bars, stamp
from neuronet.bars.options import ReadOptions
from neuronet.bars.positive import without_bad_prints
from neuronet.bars.read import PACKED, read_bars, symbol_of
from neuronet.bars.store import is_hdf5
from neuronet.bars.text import Text, read_text
from neuronet.errors import DataError, NoColumnError
from neuronet.series.channels import Channels, Floats, Times, missing_rows
from neuronet.series.layout import Layout
from neuronet.series.series import Series
from neuronet.series.table import _holds_bars as holds_bars
from neuronet.series.table import read_series
from neuronet.series.tsf import is_tsf
from neuronet.series.untimed import find_untimed, read_untimed

log = logging.getLogger(__name__)

COLUMNS = (*PRICES, "volume")
CHANGES = ("auto", "no")
MISSING = ("error", "drop")


def read_channels(
    paths: str | Path | Sequence[str | Path],
    columns: Sequence[str] | None = None,
    *,
    changes: str = "auto",
    missing: str = "error",
    **options: Any,
) -> Channels:
    """Read one file with several columns, or several files that share times, as channels side by side.

    paths     text files with columns of numbers, and of times where there are any; bar files (text, or of
              'neuronet convert'). Several files are joined: the times that all of them have stay, the note
              says how many rows of which file that drops
    columns   names of the columns to take, in this order; of each file when there are several. None: all
              numbers of a table; open, high, low, close, volume of one bar file; the close of each of several
    changes   'auto': prices of bars become log(price / close of the row before), volume the log change of
              volume + 1, after joining, so that all channels span the same time; tables stay as they are.
              'no': nothing is changed
    missing   a row with a missing value: 'error' names the rows, 'drop' leaves them out and says how many
    options   fields of ReadOptions, for bars; date_format and decimal for tables too

    Channels are named as the columns; of bars 'close'; of several files by symbol or file, with the column
    where a file gives more than one: 'EURUSD', 'EURUSD high'. Without a column of times rows are numbered.
    What was decided is in ``notes`` and logged; channels that never move are named there, and stay.

    Raises DataError for files without common times or numbers, an unknown column, times that occur twice or
    are out of order, a missing value, or a price without a logarithm: with the file, the rows and a fix.
    """
    files = [paths] if isinstance(paths, (str, Path)) else list(paths)
    if not files:
        raise DataError("no file is given", where="read_channels", fix="give at least one")
    for name, value, choices in (("changes", changes, CHANGES), ("missing", missing, MISSING)):
        if value not in choices:
            raise DataError(
                f"{name} is {value!r}", where="read_channels", fix=f"choose {' or '.join(choices)}"
            )
    parts = [_read(Path(file), columns, len(files) > 1, changes, missing, options) for file in files]
    if len(parts) == 1:
        found = parts[0].channels
    else:
        parts = _named(parts, [Path(file) for file in files])
        found = _join(parts)
    kinds = [kind for part in parts for kind in part.kinds]
    rows = [np.searchsorted(part.channels.times, found.times) for part in parts]
    closes = [part.close[row] for part, row in zip(parts, rows, strict=True) for _ in part.kinds]
    named = zip(found.names, kinds, closes, strict=True)
    bases = {name: close for name, kind, close in named if kind == "price"}
    counts = [name for name, kind in zip(found.names, kinds, strict=True) if kind == "count"]
    if changes == "auto" and (bases or counts):
        found = _noted(found.changes(bases, counts), f"log changes of {', '.join([*bases, *counts])}")
    if still := found.constant:
        found = _noted(found, f"never change: {', '.join(still)}")
    for note in found.notes:
        log.info("%s", note)
    return found


@dataclass(frozen=True)
class _Part:
    """What one file gives. kinds: of each channel 'price', 'count' or ''; close and clock: of bars only."""

    channels: Channels
    kinds: tuple[str, ...]
    title: str
    close: Floats
    clock: str = ""


def _read(
    path: Path,
    columns: Sequence[str] | None,
    several: bool,
    changes: str,
    missing: str,
    options: dict[str, Any],
) -> _Part:
    chosen = ReadOptions(**options)
    ours = columns is None or {name.lower() for name in columns} <= set(COLUMNS)
    if is_hdf5(path):
        return _of_bars(read_bars(path, **options), columns, several, changes, path)
    if not is_tsf(path):
        text = read_text(path)
        bars = holds_bars(text, chosen)
        if bars and ours:
            return _of_bars(read_bars(path, **options), columns, several, changes, path)
        if bars and columns is not None:  # read_series would take the closes
            each = [read_series(path, name, **options)[0] for name in columns]
            return _of_series(each, None, path, missing)
        layout = find_untimed(text, chosen)
        if layout is not None:
            return _of_rows(text, layout, columns, path, missing)
    return _of_series(read_series(path, **options), columns, path, missing)


def _of_bars(bars: Bars, columns: Sequence[str] | None, several: bool, changes: str, path: Path) -> _Part:
    if changes == "auto":
        bars = without_bad_prints(bars, "read_channels")
    wanted: tuple[str, ...] = ("close",) if several else COLUMNS
    notes: list[str] = []
    if columns is not None:
        wanted = tuple(name.lower() for name in columns)
    elif not several and not np.any(bars.volume != bars.volume[0]):
        wanted = PRICES
        notes.append(f"{path.name}: volume never changes and was left out")
    unknown = [name for name in wanted if name not in COLUMNS]
    if unknown or not wanted:
        raise NoColumnError(
            f"no column {unknown[0]!r} in bars" if unknown else "no column is named",
            where=path.name,
            fix=f"choose from {', '.join(COLUMNS)}",
        )
    values = np.stack([getattr(bars, name) for name in wanted], axis=1)
    kinds = tuple("count" if name == "volume" else "price" for name in wanted)
    clock = str(bars.source.get("time_zone", ""))
    return _Part(
        Channels(bars.time, values, wanted, notes=tuple(notes)),
        kinds,
        bars.symbol or symbol_of(path),
        bars.close,
        clock,
    )


def _of_series(series: list[Series], columns: Sequence[str] | None, path: Path, missing: str) -> _Part:
    times = series[0].times
    other = next((one for one in series if not np.array_equal(one.times, times)), None)
    if other is not None:
        raise DataError(
            f"{series[0].name!r} and {other.name!r} have different times",
            where=path.name,
            fix="give a table, or a file for each series",
        )
    named = {one.name: one.values for one in series}
    if len(named) < len(series):
        raise DataError("a name is that of two columns", where=path.name, fix="give each its own name")
    return _table(times, named, [], columns, path, missing, timed=True)


def _of_rows(text: Text, layout: Layout, columns: Sequence[str] | None, path: Path, missing: str) -> _Part:
    named, notes = read_untimed(text, layout)
    rows = len(next(iter(named.values())))
    notes = [f"{path.name}: {note}" for note in notes]
    return _table(np.arange(rows, dtype=np.int64), named, notes, columns, path, missing, timed=False)


def _table(
    times: Times,
    named: dict[str, Floats],
    notes: list[str],
    columns: Sequence[str] | None,
    path: Path,
    missing: str,
    *,
    timed: bool,
) -> _Part:
    names = tuple(named) if columns is None else tuple(columns)
    unknown = [name for name in names if name not in named]
    if unknown or not names:
        raise NoColumnError(
            f"no column {unknown[0]!r}" if unknown else "no column is named",
            where=path.name,
            fix=f"choose from {', '.join(named)}",
        )
    values = np.stack([named[name] for name in names], axis=1)
    lack = missing_rows(times, values, names, timed=timed)
    if lack and missing == "error":
        raise DataError(
            lack, where=path.name, fix="fill them in, or leave these rows out with missing='drop'"
        )
    if lack:
        whole = np.isfinite(values).all(axis=1)
        times, values = times[whole], values[whole]
        notes = [*notes, f"{path.name}: {lack}; these rows were left out"]
        if not len(times):
            raise DataError("no row has all values", where=path.name, fix="leave the emptiest columns out")
    stem = path.with_suffix("").stem if path.suffix.lower() in PACKED else path.stem
    return _Part(
        Channels(times, values, names, timed, tuple(notes)),
        ("",) * len(names),
        stem,
        np.full(len(times), np.nan),
    )


def _named(parts: list[_Part], paths: list[Path]) -> list[_Part]:
    """Name the channels by symbol or file; by file where a symbol occurs twice."""
    titles = [part.title for part in parts]
    stems = [path.stem for path in paths]
    titles = [stem if titles.count(title) > 1 else title for title, stem in zip(titles, stems, strict=True)]
    found = []
    for part, title in zip(parts, titles, strict=True):
        old = part.channels.names
        names = (title,) if len(old) == 1 else tuple(f"{title} {name}" for name in old)
        found.append(replace(part, title=title, channels=replace(part.channels, names=names)))
    return found


def _join(parts: list[_Part]) -> Channels:
    """Keep the times that all parts have, and note what that drops."""
    untimed = [part.title for part in parts if not part.channels.timed]
    if untimed:
        raise DataError(
            f"{untimed[0]} has no column of times",
            where="read_channels",
            fix="give files with times, or put all columns into one file",
        )
    times = reduce(np.intersect1d, [part.channels.times for part in parts])
    if not len(times):
        spans = [
            f"{part.title} {stamp(part.channels.times[0])} to {stamp(part.channels.times[-1])}"
            for part in parts
        ]
        raise DataError(
            f"the files have no time in common: {'; '.join(spans)}",
            where="read_channels",
            fix="give files of the same span, step and clock; --tz or --utc-offset shift a clock of bars",
        )
    values, notes = [], [note for part in parts for note in part.channels.notes]
    for part in parts:
        one = part.channels
        values.append(one.values[np.searchsorted(one.times, times)])
        if len(one) > len(times):
            notes.append(f"{part.title}: {len(one) - len(times)} of {len(one)} rows dropped, for their times "
                         "are not in all files")  # fmt: skip
    clocks = {part.clock: part.title for part in parts if part.clock}
    if len(clocks) > 1:
        text = "; ".join(f"{title} {clock}" for clock, title in clocks.items())
        log.warning("the files' clocks differ: %s; are the same times the same moments?", text)
        notes.append(f"the clocks differ: {text}")
    names = tuple(name for part in parts for name in part.channels.names)
    return Channels(times, np.concatenate(values, axis=1), names, notes=tuple(notes))


def _noted(channels: Channels, note: str) -> Channels:
    return replace(channels, notes=(*channels.notes, note))
