"""How often a series has a value: its name in files, its season, its stamps along the calendar."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from neuronet.bars.bars import counted
from neuronet.errors import DataError, SpecError

Times = NDArray[np.int64]

SECOND = 10**9
FIXED = {"s": 1, "min": 60, "h": 3_600, "d": 86_400, "w": 604_800}  # unit -> seconds
MONTHS = {"m": 1, "q": 3, "y": 12}  # unit -> months
NAMES = {
    "s": ("s", "s"),
    "min": ("min", "min"),
    "h": ("h", "h"),
    "d": ("day", "days"),
    "w": ("week", "weeks"),
    "m": ("month", "months"),
    "q": ("quarter", "quarters"),
    "y": ("year", "years"),
}
SEASONS = {"d": 7, "w": 1, "m": 12, "q": 4, "y": 1}  # of one unit; below a day: steps in a day
_WORDS = {
    "secondly": "s", "minutely": "min", "hourly": "h", "daily": "d", "weekly": "w", "monthly": "m",
    "quarterly": "q", "yearly": "y", "annual": "y", "annually": "y",
}  # fmt: skip
_UNITS = {
    "second": "s", "seconds": "s", "sec": "s", "minute": "min", "minutes": "min", "hour": "h", "hours": "h",
    **{unit: unit for unit in NAMES}, **{word: unit for unit, pair in NAMES.items() for word in pair},
}  # fmt: skip
_EARLIEST, _LATEST = -9_223_286_400, 9_223_286_400  # s since 1970 that fit into int64 ns, in whole days
_REGULAR, _HALF = 0.9, 0.5  # shares of steps


class NoFrequencyError(DataError):
    """Times do not show how often there is a value; where it can be named, the caller says how."""


@dataclass(frozen=True)
class Frequency:
    """One value every ``count`` units; unit is one of s, min, h, d, w, m (months), q (quarters), y.

    Raises SpecError for another unit or a count below 1.
    """

    count: int
    unit: str

    def __post_init__(self) -> None:
        if self.unit not in NAMES:
            raise SpecError(
                f"unknown unit {self.unit!r}", where="Frequency", fix=f"use one of {', '.join(NAMES)}"
            )
        if not isinstance(self.count, int | np.integer) or isinstance(self.count, bool) or self.count < 1:
            raise SpecError(
                f"count is {self.count!r}", where="Frequency", fix="give a whole number from 1 on"
            )

    def __str__(self) -> str:
        return f"{self.count} {NAMES[self.unit][self.count > 1]}"

    @classmethod
    def parse(cls, text: str) -> Frequency:
        """Read 'monthly', 'half_hourly', '10_minutes', '4_seconds' as in .tsf files, and what str() writes.

        Raises DataError for other words.
        """
        word = text.strip().lower().replace("-", "_")
        if re.fullmatch(r"half[_ ]?hourly", word):
            return cls(30, "min")
        if word in _WORDS:
            return cls(1, _WORDS[word])
        match = re.fullmatch(r"(\d*)[_ ]*([a-z]+)", word)
        if match and match[2] in _UNITS and (match[1] == "" or int(match[1]) > 0):
            return cls(int(match[1] or 1), _UNITS[match[2]])
        raise DataError(
            f"unknown frequency {text!r}",
            where="Frequency",
            fix=f"write {', '.join(_WORDS)}, half_hourly, or a number and a unit, as in 10_minutes",
        )

    @classmethod
    def of(cls, times: Times) -> Frequency:
        """Find the frequency of ascending stamps [n], ns since 1970; gaps may be in between.

        Months, quarters and years when all stamps have one day of the month (or the month's last); else the
        most common step, if at least half of the steps are that long.

        Raises NoFrequencyError when there are fewer than two stamps, or no step is common; DataError when
        they do not ascend.
        """
        times = np.asarray(times, np.int64)
        steps = np.diff(times)
        if len(steps) == 0:
            raise NoFrequencyError(
                f"{counted(len(times), 'time stamp')}: no frequency can be seen",
                where="Frequency",
                fix="give at least two",
            )
        if np.any(steps <= 0):
            at = int(np.argmax(steps <= 0)) + 1
            raise DataError(
                f"time does not ascend at position {at}", where="Frequency", fix="sort the stamps"
            )
        step, share = _most_common(steps)
        months, month_share = _most_common(np.diff(_month_and_day(times)[0]))
        coarse = bool(np.median(steps) >= 28 * FIXED["d"] * SECOND)
        same_day = coarse and months > 0 and _have_one_day(times)
        if same_day and month_share >= _HALF:
            return _in_months(months)
        if share >= (_REGULAR if coarse else _HALF) and step % SECOND == 0:
            seconds = step // SECOND
            unit = next(unit for unit in reversed(FIXED) if seconds % FIXED[unit] == 0)
            return cls(seconds // FIXED[unit], unit)
        if coarse and months > 0 and month_share >= _HALF:
            return _in_months(months)
        shown = ", ".join(f"{s / SECOND:g} s" for s in np.unique(steps)[:3])
        raise NoFrequencyError(
            f"no common step between {len(times)} time stamps: the shortest are {shown}; "
            f"{share:.0%} are {step / SECOND:g} s",
            where="Frequency",
            fix="bring the rows to regular steps of whole seconds",
        )

    @property
    def season(self) -> int:
        """Steps in a season, for seasonal naive and MASE.

        One day below a day (min 1440, h 24, 30 min 48); 7 daily, 1 weekly, 12 monthly, 4 quarterly, 1 yearly;
        1 where the count does not divide that. So do AutoGluon's tables, whose definition the published
        numbers follow, except for seconds (there an hour). Others take other seasons: GluonTS 1 daily, the
        Monash repository 365.25/7 weekly.
        """
        whole = SEASONS.get(self.unit) or FIXED["d"] // FIXED[self.unit]
        return whole // self.count if whole % self.count == 0 else 1

    @property
    def seconds(self) -> float:
        """Length of a step in s; months have 365.2425 / 12 days."""
        if self.unit in FIXED:
            return float(self.count * FIXED[self.unit])
        return self.count * MONTHS[self.unit] * 365.2425 / 12 * FIXED["d"]

    def stamps(self, start: int, n: int, *, day: int | None = None) -> Times:
        """Return n stamps from ``start`` on, [n] ns since 1970.

        Months, quarters and years keep the clock and the day of the month, or take the month's last day where
        it is shorter: 31 January, 29 February, 31 March.

        day  the day of the month to keep, 1 to 31, if it is not that of ``start`` (30 April in a series of
             month ends: 31)

        Raises DataError for years outside 1678-2261, which int64 ns cannot hold.
        """
        start = int(start)
        self._check(start // SECOND, start // SECOND)
        if self.unit in FIXED:
            last = start + self.count * FIXED[self.unit] * SECOND * max(n - 1, 0)
            self._check(min(start, last) // SECOND, max(start, last) // SECOND)
            return start + self.count * FIXED[self.unit] * SECOND * np.arange(n, dtype=np.int64)
        month, own_day = _month_and_day(np.array([start], np.int64))
        months = month + self.count * MONTHS[self.unit] * np.arange(n, dtype=np.int64)
        days = _days_of(months, int(own_day[0]) if day is None else day)
        if n:
            self._check(int(days[0]) * FIXED["d"], int(days[-1]) * FIXED["d"])
        size = FIXED["d"] * SECOND
        return days * size + start % size

    def _check(self, first: int, last: int) -> None:
        if first < _EARLIEST or last > _LATEST:
            year = "1678" if first < _EARLIEST else "2261"
            raise DataError(
                f"stamps every {self} reach beyond the year {year}",
                where="Frequency",
                fix="ask for fewer stamps, or correct the start or the frequency",
            )


def _in_months(months: int) -> Frequency:
    unit = next(unit for unit in reversed(MONTHS) if months % MONTHS[unit] == 0)
    return Frequency(months // MONTHS[unit], unit)


def _most_common(steps: NDArray[np.int64]) -> tuple[int, float]:
    """Return the most common step, the smallest of equals, and its share."""
    values, counts = np.unique(steps, return_counts=True)
    at = int(np.argmax(counts))
    return int(values[at]), float(counts[at] / len(steps))


def days_of_month(times: Times) -> NDArray[np.int64]:
    """Return the day of the month, 1 to 31, of stamps [n] in ns."""
    return _month_and_day(np.asarray(times, np.int64))[1]


def months_of(times: Times) -> NDArray[np.int64]:
    """Return months since January 1970 of stamps [n] in ns."""
    return _month_and_day(np.asarray(times, np.int64))[0]


def _month_and_day(times: Times) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return months since January 1970 and days of the month from 1; [n] each."""
    days = times.view("datetime64[ns]").astype("datetime64[D]")
    months = days.astype("datetime64[M]")
    return months.astype(np.int64), (days - months.astype("datetime64[D]")).astype(np.int64) + 1


def _days_of(months: NDArray[np.int64], day: int) -> NDArray[np.int64]:
    """Return days since 1970 of one day of the month in each month, or of its last; [n]."""
    first = months.astype("datetime64[M]").astype("datetime64[D]").astype(np.int64)
    after = (months + 1).astype("datetime64[M]").astype("datetime64[D]").astype(np.int64)
    return np.minimum(first + day - 1, after - 1)


def _have_one_day(times: Times) -> bool:
    """Whether all stamps fall on one day of the month, or on its last where the month is shorter."""
    months, days = _month_and_day(times)
    size = FIXED["d"] * SECOND
    return bool(np.array_equal(_days_of(months, int(days.max())), times // size))
