"""Stamps of synthetic series: a frequency, a start, and the parts of the calendar that seasons follow."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from neuronet.errors import SpecError
from neuronet.prior.settings import Prior
from neuronet.series.frequency import Frequency

Times = NDArray[np.int64]
MONTH = 30.4375  # mean days of a month: 365.25 / 12
CYCLE_LENGTHS = {"minute": 60.0, "hour": 24.0, "weekday": 7.0, "monthday": MONTH, "month": 12.0}
_DAY = 86_400
_LAST_DAY = (np.datetime64("2262-01-01") - np.datetime64("1970-01-01")).astype(int)


def frequencies(prior: Prior, length: int) -> dict[str, list[int]]:
    """Counts of each unit, 1 first, whose ``length`` stamps fit into int64 ns wherever the series starts.

    Raises SpecError when none does.
    """
    room = (int(_LAST_DAY) - _day_of(prior.years[1] + 1)) * _DAY
    multiples = dict(prior.multiples)
    fitting: dict[str, list[int]] = {}
    for unit in prior.units:
        counts = [1, *multiples.get(unit, ())]
        if kept := [c for c in counts if Frequency(c, unit).seconds * length <= room]:
            fitting[unit] = kept
    if not fitting:
        raise SpecError(
            f"{length} stamps in {', '.join(prior.units)} reach beyond the year 2261",
            where="draw",
            fix="choose a shorter length, shorter units or earlier years",
        )
    return fitting


def draw_frequency(prior: Prior, fitting: dict[str, list[int]], rng: np.random.Generator) -> Frequency:
    """One of the fitting units, each as likely; with probability ``subfrequency`` several of them a step."""
    unit = list(fitting)[int(rng.integers(len(fitting)))]
    several = rng.random() < prior.subfrequency
    counts = fitting[unit][1:] if several else []
    return Frequency(int(rng.choice(counts)) if counts else 1, unit)


def draw_times(prior: Prior, frequency: Frequency, length: int, rng: np.random.Generator) -> Times:
    """``length`` stamps [length] in ns from a random start, in step with the clock and the calendar.

    Steps below a day begin at any multiple of themselves within the day (the published program: always at
    midnight, so that its minutes never reach the afternoon); months, quarters and years begin on their first
    day, and longer steps on any day.
    """
    first, last = _day_of(prior.years[0]), _day_of(prior.years[1] + 1)
    day = first + int((last - first) * min(rng.beta(*prior.start_beta), 1.0 - 1e-12))
    moment = rng.random()
    seconds = 0
    if frequency.unit in ("min", "h"):
        step = int(frequency.seconds)
        seconds = int(moment * (_DAY // step)) * step
    elif frequency.unit in ("m", "q", "y"):
        month = int(np.datetime64(day, "D").astype("datetime64[M]").astype(np.int64))
        month -= month % {"m": 1, "q": 3, "y": 12}[frequency.unit]  # month 0 is January 1970
        day = int(np.datetime64(month, "M").astype("datetime64[D]").astype(np.int64))
    return frequency.stamps((day * _DAY + seconds) * 10**9, length)


def cycle(name: str, times: Times) -> NDArray[np.int64]:
    """The part ``name`` of stamps [n] in ns, whole numbers from 0; weekday 0 is Monday, month 0 January."""
    return _CYCLES[name](times)


def _days(times: Times) -> NDArray[np.int64]:
    return times // (_DAY * 10**9)


def _months(times: Times) -> NDArray[np.int64]:
    return _days(times).astype("datetime64[D]").astype("datetime64[M]").astype(np.int64)


def _month_days(times: Times) -> NDArray[np.int64]:
    first = _months(times).astype("datetime64[M]").astype("datetime64[D]").astype(np.int64)
    return _days(times) - first


_CYCLES: dict[str, Callable[[Times], NDArray[np.int64]]] = {
    "minute": lambda times: times // (60 * 10**9) % 60,
    "hour": lambda times: times // (3_600 * 10**9) % 24,
    "weekday": lambda times: (_days(times) + 3) % 7,  # 1 January 1970 was a Thursday
    "monthday": _month_days,
    "month": lambda times: _months(times) % 12,
}


def _day_of(year: int) -> int:
    """Days from 1970 to 1 January of ``year``."""
    return int(np.datetime64(f"{year}-01-01").astype("datetime64[D]").astype(np.int64))
