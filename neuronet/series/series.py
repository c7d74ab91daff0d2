"""Series: one value over time as NumPy arrays, with its name and frequency."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from neuronet.bars.bars import stamp
from neuronet.errors import DataError
from neuronet.series.frequency import FIXED, MONTHS, SECOND, Frequency, Times, days_of_month, months_of

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Series:
    """A series of at least one value, oldest first, no time twice.

    name       for reports
    values     [n] float64 in the source's unit; NaN is a missing value
    times      [n] int64 ns since 1970, UTC or the source's clock; steps need not be regular
    frequency  the regular step, by which ``future`` goes on

    Raises DataError when the arrays differ in length or are empty, a value is infinite, or time does not
    ascend.
    """

    name: str
    values: Floats
    times: Times
    frequency: Frequency

    def __post_init__(self) -> None:
        values = np.ascontiguousarray(self.values, np.float64)
        times = np.ascontiguousarray(self.times, np.int64)
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "times", times)
        if values.ndim != 1 or values.shape != times.shape:
            raise self._error(
                f"values have shape {values.shape}, times {times.shape}", "give two arrays [n] of one length"
            )
        if not len(values):
            raise self._error("no values", "give at least one")
        if np.isinf(values).any():
            at = int(np.argmax(np.isinf(values)))
            raise self._error(
                f"the value of {stamp(times[at])} (position {at}) is infinite",
                "correct it, or put NaN for missing",
            )
        if np.any(np.diff(times) <= 0):
            at = int(np.argmax(np.diff(times) <= 0)) + 1
            raise self._error(
                f"time does not ascend at position {at}: {stamp(times[at - 1])}, then {stamp(times[at])}",
                "sort the values by time and keep one a stamp",
            )

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, part: slice) -> Series:
        """Return a part, at least one value, as views; name and frequency stay."""
        if not isinstance(part, slice) or part.step not in (None, 1):
            raise TypeError(f"a series is cut with slices of step 1, as in series[10:20], not with {part!r}")
        return replace(self, values=self.values[part], times=self.times[part])

    @property
    def missing(self) -> int:
        """How many values are missing (NaN)."""
        return int(np.isnan(self.values).sum())

    @property
    def gaps(self) -> int:
        """How many of the n - 1 steps are not one step of the frequency long.

        Months, quarters and years are counted by the calendar, whatever the day of the month.
        """
        if self.frequency.unit in FIXED:
            step = self.frequency.count * FIXED[self.frequency.unit] * SECOND
            return int(np.sum(np.diff(self.times) != step))
        step = self.frequency.count * MONTHS[self.frequency.unit]
        return int(np.sum(np.diff(months_of(self.times)) != step))

    def future(self, steps: int) -> Times:
        """Return the stamps of the next ``steps`` values, [steps] ns.

        Along the calendar the largest day of the month so far is kept, so that month ends stay month ends.
        """
        day = int(days_of_month(self.times).max())
        return self.frequency.stamps(int(self.times[-1]), steps + 1, day=day)[1:]

    def _error(self, what: str, fix: str) -> DataError:
        return DataError(what, where=f"series {self.name!r}", fix=fix)
