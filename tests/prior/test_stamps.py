"""Stamps: units that fit, starts in step with the calendar, parts of the calendar."""

from __future__ import annotations

import numpy as np
import pytest

from neuronet.errors import SpecError
from neuronet.prior.settings import UNITS, Prior
from neuronet.prior.stamps import cycle, draw_frequency, draw_times, frequencies
from neuronet.series.frequency import Frequency


def test_units_that_reach_beyond_2261_are_left_out() -> None:
    assert set(frequencies(Prior(), 200)) == set(UNITS)
    long = frequencies(Prior(), 572)
    assert "y" not in long
    assert long["m"] == [1, 3, 4]  # 572 half years are 286 years
    assert long["min"] == [1, 5, 15, 30]
    with pytest.raises(SpecError, match="1000 stamps in y reach beyond the year 2261"):
        frequencies(Prior(units=["y"]), 1_000)


@pytest.mark.parametrize("length", [9, 200, 572])
def test_the_latest_start_still_fits(length: int) -> None:
    prior = Prior(years=(2023, 2023), start_beta=(1e6, 1e-3))
    rng = np.random.default_rng(0)
    for unit, counts in frequencies(prior, length).items():
        for count in counts:
            times = draw_times(prior, Frequency(count, unit), length, rng)
            assert len(times) == length
            assert np.all(np.diff(times) > 0)
            assert times[0].view("datetime64[ns]").astype("datetime64[Y]") == np.datetime64("2023")


def test_shares_of_units_and_multiples() -> None:
    prior, rng = Prior(), np.random.default_rng(1)
    drawn = [draw_frequency(prior, frequencies(prior, 100), rng) for _ in range(3_500)]
    for unit in UNITS:
        assert abs(sum(f.unit == unit for f in drawn) - 500) < 4 * np.sqrt(3_500 / 7 * 6 / 7)
    minutes = [f.count for f in drawn if f.unit == "min"]
    assert set(minutes) == {1, 5, 15, 30}
    assert abs(np.mean(np.array(minutes) > 1) - 0.2) < 4 * np.sqrt(0.16 / len(minutes))
    assert {f.count for f in drawn if f.unit in "qy"} == {1}


def test_starts_follow_the_beta_distribution_and_the_calendar() -> None:
    prior, rng = Prior(), np.random.default_rng(2)
    starts = np.array([draw_times(prior, Frequency(1, "d"), 1, rng)[0] for _ in range(2_000)])
    year = 1970 + starts / (365.2425 * 86_400e9)
    assert 1885 <= year.min() < year.max() < 2024
    share = (year - 1885) / 139  # Beta(5, 1): mean 5/6, variance 5/252
    assert abs(share.mean() - 5 / 6) < 5 * np.sqrt(5 / 252 / 2_000)
    for frequency in (Frequency(1, "q"), Frequency(1, "y"), Frequency(4, "m")):
        times = draw_times(prior, frequency, 30, rng)
        assert set(cycle("monthday", times)) == {0}
        allowed = {"q": {0, 3, 6, 9}, "y": {0}, "m": set(range(12))}[frequency.unit]
        assert set(cycle("month", times)) <= allowed
    quarters = [draw_times(prior, Frequency(15, "min"), 2, rng)[0] for _ in range(200)]
    assert {t // (60 * 10**9) % 15 for t in quarters} == {0}
    assert len({t // (3_600 * 10**9) % 24 for t in quarters}) > 15  # any hour of the day


@pytest.mark.parametrize(
    ("stamp", "expected"),
    [
        ("2024-02-29T13:45", (45, 13, 3, 28, 1)),  # a Thursday
        ("1969-12-31T23:59", (59, 23, 2, 30, 11)),  # a Wednesday before 1970
        ("2000-01-01T00:00", (0, 0, 5, 0, 0)),
    ],
)
def test_parts_of_the_calendar(stamp: str, expected: tuple[int, ...]) -> None:
    times = np.array([stamp], "datetime64[ns]").astype(np.int64)
    assert tuple(cycle(n, times)[0] for n in ("minute", "hour", "weekday", "monthday", "month")) == expected
