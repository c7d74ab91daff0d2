"""Which lines of a text are data: ragged lines, cut and glued ones, footers, comments in between."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from neuronet.bars.columns import shorten
from neuronet.bars.dialect import Dialect
from neuronet.bars.shapes import is_data
from neuronet.bars.text import Text
from neuronet.errors import DataError

FOOTER = 10  # most lines behind the data that are no data
_FULL = 20  # lines before a last line without an end that show how many decimals it should have


def at_lines(lines: NDArray[np.int64] | Sequence[int]) -> str:
    """Return 'line 7', or 'lines 7, 9, 12 and 20 more'."""
    shown = ", ".join(str(line) for line in np.sort(lines)[:3])
    more = f" and {len(lines) - 3} more" if len(lines) > 3 else ""
    return f"line{'s' if len(lines) > 1 else ''} {shown}{more}"


def data_lines(
    text: Text, dialect: Dialect, *, skip_bad_rows: bool = False
) -> tuple[NDArray[np.bool_], list[str]]:
    """Return which lines are data, and notes on what was left out: a cut last line, a footer, bad rows.

    Raises DataError with file:line for any other line with a wrong number of fields.
    """
    fields = text.fields(dialect.separator)
    keep = fields > 0
    keep[: dialect.first_line] = False
    notes = _comments(text, dialect)
    ragged = np.flatnonzero(keep & (fields != dialect.width))
    last = int(np.flatnonzero(keep)[-1])
    if len(ragged) and ragged[-1] == last and fields[last] < dialect.width:
        _check_length(text, keep, last)
        notes.append(
            f"line {last + 1}, the last, has {fields[last]} of {dialect.width} fields and was dropped"
        )
        keep[last], ragged = False, ragged[:-1]
        ragged = _without_footer(text, dialect, keep, ragged, notes)
    elif last == text.lines - 1 and _is_cut(text, dialect, keep, last):
        notes.append(f"line {last + 1}, the last, ends within a number and was dropped")
        keep[last] = False
    if len(ragged) and not skip_bad_rows:
        row = int(ragged[0])
        raise DataError(
            f"{fields[row]} fields instead of {dialect.width}: {shorten(text.line(row))}"
            + (f" ({len(ragged)} such lines)" if len(ragged) > 1 else ""),
            where=f"{text.name}:{row + 1}",
            fix="repair or delete the line, or leave it out with --skip-bad-rows",
        )
    if len(ragged):
        keep[ragged] = False
        notes.append(
            f"{len(ragged)} row{'s' if len(ragged) > 1 else ''} with a wrong number of fields left out: "
            f"{at_lines(ragged + 1)}"
        )
    if not keep.any():
        raise DataError("no line of data", where=text.name, fix="export it again")
    return keep, notes


def _check_length(text: Text, keep: NDArray[np.bool_], last: int) -> None:
    """Refuse a last line that is longer than a cut line, or a note, can be: the damage is larger."""
    sizes = np.diff(text.starts)
    longest = int(sizes[:last][keep[:last]].max(initial=0))
    if sizes[last] > max(2 * longest, 200):
        raise DataError(
            f"line {last + 1} has {sizes[last]:,} bytes, the lines before at most {longest}: "
            f"{shorten(text.line(last))}",
            where=f"{text.name}:{last + 1}",
            fix="export or copy the file again: it is damaged from there on",
        )


def _without_footer(
    text: Text, dialect: Dialect, keep: NDArray[np.bool_], ragged: NDArray[np.int64], notes: list[str]
) -> NDArray[np.int64]:
    """Leave out more short lines of words at the end; return the ragged lines that remain."""
    for _ in range(FOOTER):
        if not len(ragged) or ragged[-1] != np.flatnonzero(keep)[-1]:
            break
        row = int(ragged[-1])
        if is_data(text.line(row).split(dialect.separator)):
            break
        notes.append(f"line {row + 1} is no bar and was left out: {shorten(text.line(row))}")
        keep[row], ragged = False, ragged[:-1]
    return ragged


def _comments(text: Text, dialect: Dialect) -> list[str]:
    """Note lines that begin with # and would be bars without it; above the data only with a bar's numbers."""
    rows = []
    for row in text.comments:
        cells = text.line(row).lstrip("#").split(dialect.separator)
        if len(cells) == dialect.width and (row >= dialect.first_line or is_data(cells)):
            rows.append(row)
    return [f"a bar behind a # was left out: {at_lines([row + 1 for row in rows])}"] if rows else []


def _is_cut(text: Text, dialect: Dialect, keep: NDArray[np.bool_], last: int) -> bool:
    """Whether a last line without an end stops within a number: fewer decimals than all lines before have."""
    if text.data.endswith(b"\n") or dialect.width - 1 not in (*dialect.columns.values(), *dialect.volumes):
        return False
    before = np.flatnonzero(keep[:last])[-_FULL:]
    sign, separator = dialect.number_format.decimal, dialect.separator
    if sign == separator or len(before) < _FULL:
        return False
    decimals = {_decimals(text.line(int(row)).rsplit(separator, 1)[-1], sign) for row in before}
    return len(decimals) == 1 and _decimals(text.line(last).rsplit(separator, 1)[-1], sign) < min(decimals)


def _decimals(cell: str, sign: str) -> int:
    return len(cell.strip().strip('"').partition(sign)[2])
