"""Channels: several values at each time, as a detector of anomalies sees them, and log returns of prices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from neuronet.bars.bars import stamp
from neuronet.errors import DataError

Floats = NDArray[np.float64]
Times = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Channels:
    """Values of several channels, oldest first, no time twice, none missing.

    times   [rows] int64 ns since 1970, UTC or the source's clock; positions from 0 on where not ``timed``
    values  [rows, channels] float64, finite
    names   one a channel, each once
    timed   whether the source has times
    changed whether values are changes of what the source has, in part at least
    notes   what was left out or decided while reading, for people

    Raises DataError when the arrays do not fit, a value is missing or infinite, or time does not ascend.
    """

    times: Times
    values: Floats
    names: tuple[str, ...]
    timed: bool = True
    notes: tuple[str, ...] = field(default=())
    changed: bool = False

    def __post_init__(self) -> None:
        values = np.ascontiguousarray(self.values, np.float64)
        times = np.ascontiguousarray(self.times, np.int64)
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "times", times)
        if values.ndim != 2 or times.shape != values.shape[:1] or len(self.names) != values.shape[1]:
            raise _error(
                f"values {values.shape}, times {times.shape}, {len(self.names)} names",
                "give values [rows, channels], a time for each row and a name for each channel",
            )
        if not values.size:
            raise _error("no values", "give at least one row of one channel")
        if len(set(self.names)) < len(self.names):
            twice = next(name for name in self.names if self.names.count(name) > 1)
            raise _error(f"{twice!r} names more than one channel", "give each channel its own name")
        if np.any(np.diff(times) <= 0):
            at = int(np.argmax(np.diff(times) <= 0)) + 1
            raise _error(
                f"time does not ascend at row {at}: {self.when(at - 1)}, then {self.when(at)}",
                "sort the rows by time and keep one a time",
            )
        lack = missing_rows(times, values, self.names, timed=self.timed, what="no finite value")
        if lack:
            raise _error(lack, "correct these rows, or leave them out")

    def __len__(self) -> int:
        return len(self.times)

    def __getitem__(self, rows: slice) -> Channels:
        """Return a part, at least one row, as views."""
        if not isinstance(rows, slice) or rows.step not in (None, 1):
            raise TypeError(
                f"channels are cut with slices of step 1, as in channels[10:20], not with {rows!r}"
            )
        return replace(self, times=self.times[rows], values=self.values[rows])

    def when(self, row: int) -> str:
        """Return the time of a row for messages: '2024-01-31 13:00:00', or 'row 17'."""
        return stamp(self.times[row]) if self.timed else f"row {self.times[row]}"

    @property
    def constant(self) -> tuple[str, ...]:
        """Names of the channels that have one value only: they can raise no alarm until they move."""
        still = np.all(self.values == self.values[0], axis=0)
        return tuple(name for name, one in zip(self.names, still, strict=True) if one)

    def select(self, names: Sequence[str]) -> Channels:
        """Return the named channels in this order. DataError for a name that is none."""
        unknown = [name for name in names if name not in self.names]
        if unknown or not names:
            raise _error(
                f"no channel {unknown[0]!r}" if unknown else "no channel is named",
                f"choose from {', '.join(self.names)}",
            )
        at = [self.names.index(name) for name in names]
        return replace(self, values=self.values[:, at], names=tuple(names))

    def changes(self, bases: Mapping[str, Floats], counts: Sequence[str] = ()) -> Channels:
        """Return log(value / base of the row before) where there is a base, log changes of counts + 1.

        bases  name of a channel -> [rows] what its values are compared with: its own for a plain log return,
               the close for open, high and low, so that a bar's range stays in sight

        A price wanders and has no level to be normal at; its changes have. Other channels stay as they are,
        and the first row falls away. Raises DataError for a single row, and for a value without a logarithm,
        with its time and channel.
        """
        if len(self) < 2:
            raise _error("one row has no change", "give at least two rows")
        values = self.values[1:].copy()
        for at, name in enumerate(self.names):
            if name in bases:
                level = self._level(name, self.values[:, at])
                values[:, at] = np.log(level[1:]) - np.log(
                    self._level(f"what {name} is compared with", bases[name])[:-1]
                )
            elif name in counts:
                values[:, at] = np.diff(np.log(self._level(name, self.values[:, at] + 1.0)))
        return replace(self, times=self.times[1:], values=values, changed=True)

    def _level(self, name: str, level: Floats) -> Floats:
        low = level <= 0.0
        if low.any():
            raise _error(
                f"{name} needs logarithms, and {int(low.sum())} of {len(level)} rows have none, the first at "
                f"{self.when(int(np.argmax(low)))}",
                "correct the values, leave the channel out, or take them unchanged with changes='no'",
            )
        return level


def missing_rows(
    times: Times, values: Floats, names: Sequence[str], *, timed: bool, what: str = "no value"
) -> str:
    """Return how many rows of values [rows, channels] lack one, the first few and where; '' for none."""
    broken = ~np.isfinite(values)
    rows = np.flatnonzero(broken.any(axis=1))
    if not len(rows):
        return ""
    shown = "; ".join(
        f"{stamp(times[row]) if timed else f'row {times[row]}'} in {names[int(np.argmax(broken[row]))]}"
        for row in rows[:3].tolist()
    )
    more = f" and {len(rows) - 3} more" if len(rows) > 3 else ""
    return f"{len(rows)} of {len(values)} rows have {what}: {shown}{more}"


def _error(what: str, fix: str) -> DataError:
    return DataError(what, where="channels", fix=fix)
