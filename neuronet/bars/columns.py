"""Which column of a bar file is what: by its name, by --columns, or by what its cells look like."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise

from neuronet.bars.bars import PRICES
from neuronet.bars.names import role_of
from neuronet.bars.numbers import is_missing, is_number
from neuronet.bars.options import ROLES
from neuronet.bars.shapes import column_shape, is_clock, is_numeric
from neuronet.errors import DataError

Rows = list[list[str]]


@dataclass(frozen=True)
class Columns:
    """time: one column of whole times, or two: date and clock. roles: open .. close, and symbol, adj_close if
    there are any. volumes: the preferred one first.
    """

    time: tuple[int, ...]
    roles: dict[str, int]
    volumes: tuple[int, ...]


def find_columns(names: Sequence[str], data: Rows, asked: Mapping[str, str | int], where: str) -> Columns:
    """Find the columns; names may be () for a file without a header. DataError when it holds no bars."""
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
        raise not_bars(where, names, data, "no column holds times")
    roles = _find_prices(found, chosen, time, names, data, where)
    for role in ("symbol", "adj_close"):
        if role in found:
            roles[role] = min(found[role])[1]
    if "volume" in chosen:
        volumes = [chosen["volume"]]
    elif names:
        ticks, real = (sorted(found.get(role, [])) for role in ("tick_volume", "real_volume"))
        volumes = [column for _, column in (*ticks, *real) if column not in time]
    else:
        after = range(roles["close"] + 1, min(roles["close"] + 4, len(data[0])))
        volumes = [column for column in after if _is_volume(data, column, roles)][:2]
    return Columns(time, roles, tuple(volumes))


def _find_prices(
    found: Mapping[str, list[tuple[int, int]]],
    chosen: Mapping[str, int],
    time: tuple[int, ...],
    names: Sequence[str],
    data: Rows,
    where: str,
) -> dict[str, int]:
    roles: dict[str, int] = {}
    first = max(time) + 1
    while first + 4 < len(data[0]) and not _numeric(data, first):
        first += 1  # a symbol or the like between time and prices
    for role in PRICES:
        columns = [pair for pair in found.get(role, []) if pair[1] not in time]
        if role in chosen:
            roles[role] = chosen[role]
        elif columns:
            roles[role] = min(columns)[1]
        elif not names:
            roles[role] = first + PRICES.index(role)
    missing = [role for role in PRICES if role not in roles]
    if missing == ["open", "high", "low"] and min(found["close"])[0] == 0:
        close = names[roles["close"]]
        raise DataError(
            f"these are closes only, no bars; the columns are {', '.join(names)}",
            where=where,
            fix="export open, high, low and close; or take each close for a bar that does not move: "
            f"--columns open={close},high={close},low={close},close={close}",
        )
    if missing:
        raise not_bars(where, names, data, f"no column for {', '.join(missing)}")
    for role, column in roles.items():
        if column >= len(data[0]) or not _numeric(data, column):
            cells = [row[column] for row in data if column < len(row) and not is_missing(row[column])]
            seen = next((cell for cell in cells if not is_number(cell)), "nothing")
            raise not_bars(where, names, data, f"{seen!r} in column {column + 1} is no {role} price")
    return roles


def _numeric(data: Rows, column: int) -> bool:
    cells = [row[column] for row in data]
    return is_numeric(cells) or all(map(is_missing, cells))


def _is_volume(data: Rows, column: int, roles: Mapping[str, int]) -> bool:
    """Whether a column without a name may be the volume: numbers that do not lie between low and high."""
    if not is_numeric([row[column] for row in data], 0.5):
        return False
    inside = 0
    for row in data:
        with suppress(ValueError):  # damaged, or with marks that no exchange writes
            inside += float(row[roles["low"]]) <= float(row[column]) <= float(row[roles["high"]])
    return inside < 0.5 * len(data)


def _find_time(names: Sequence[str], data: Rows, named: Sequence[int]) -> tuple[int, ...]:
    """Return the column of whole times, or those of dates and clocks: named as time, else looking like it."""
    shapes = [column_shape([row[i] for row in data]) for i in range(len(data[0]))]
    looks = [i for i, shape in enumerate(shapes) if "%d" in shape]
    if not looks:
        looks = [i for i, shape in enumerate(shapes) if shape == "epoch" and _may_be_epoch(names, data, i)][
            :1
        ]
    for columns in (named, looks):
        days = [i for i in columns if shapes[i] and not shapes[i].startswith(" ")]
        whole = [i for i in days if "%d" not in shapes[i] or "%H" in shapes[i] or "%I" in shapes[i]]
        if whole:
            return (whole[0],)
        if days:
            clocks = [i for i in named if shapes[i].startswith(" ")]
            following = days[0] + 1
            if not names and following < len(shapes) and is_clock(shapes[following]):
                clocks = [following]
            return (days[0], *clocks[:1])
    return ()


def _may_be_epoch(names: Sequence[str], data: Rows, column: int) -> bool:
    """Whether large numbers may be times: in the first of columns without names, else rising or falling."""
    if not names:
        return column == 0
    values = [float(row[column]) for row in data if is_number(row[column]) and "," not in row[column]]
    steps = [after - before for before, after in pairwise(values)]
    return role_of(names[column]) is None and (all(s >= 0 for s in steps) or all(s <= 0 for s in steps))


def _asked_columns(
    names: Sequence[str], width: int, asked: Mapping[str, str | int], where: str
) -> dict[str, int]:
    """Turn the option ``columns`` (role -> name, or number from 0) into numbers."""
    chosen = {}
    for role, name in asked.items():
        if isinstance(name, str):
            column = names.index(name) if name in names else int(name) if name.isdigit() else -1
        else:
            column = name
        if not 0 <= column < width:
            raise DataError(
                f"columns: {role}={name} fits none of {', '.join(names) or f'{width} columns without names'}",
                where=where,
                fix=f"give names or numbers from 0 for {', '.join(ROLES)}",
            )
        chosen[role] = column
    return chosen


def not_bars(where: str, names: Sequence[str], data: Rows, why: str) -> DataError:
    """Return the error that says what was seen instead of bars, and how to say where they are."""
    seen = f"the columns are {', '.join(names)}" if names else f"a line is {shorten(','.join(data[0]))}"
    return DataError(
        f"these are not bars: {why}; {seen}",
        where=where,
        fix="give time, open, high, low, close; if they are there, say where: --columns, --date-format",
    )


def shorten(line: str) -> str:
    """Return a line in quotes, at most 80 characters of it."""
    return repr(line if len(line) <= 80 else line[:77] + "...")
