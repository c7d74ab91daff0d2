"""Frequencies: words, seasons, calendar stamps worked out by hand, inference from stamps."""

from __future__ import annotations

import numpy as np
import pytest

from neuronet.errors import DataError, SpecError
from neuronet.series.frequency import Frequency, NoFrequencyError, Times


def ns(*stamps: str) -> Times:
    return np.array(stamps, "datetime64[ns]").astype(np.int64)


def shown(times: Times) -> list[str]:
    return [str(t)[:16] for t in times.view("datetime64[ns]")]


@pytest.mark.parametrize(
    ("word", "count", "unit", "season", "text"),
    [
        ("4_seconds", 4, "s", 21_600, "4 s"),
        ("minutely", 1, "min", 1440, "1 min"),
        ("10_minutes", 10, "min", 144, "10 min"),
        ("half_hourly", 30, "min", 48, "30 min"),
        ("hourly", 1, "h", 24, "1 h"),
        ("4 h", 4, "h", 6, "4 h"),
        ("7 h", 7, "h", 1, "7 h"),
        ("daily", 1, "d", 7, "1 day"),
        ("weekly", 1, "w", 1, "1 week"),
        ("Monthly", 1, "m", 12, "1 month"),
        ("3 months", 3, "m", 4, "3 months"),
        ("quarterly", 1, "q", 4, "1 quarter"),
        ("yearly", 1, "y", 1, "1 year"),
    ],
)
def test_words(word: str, count: int, unit: str, season: int, text: str) -> None:
    frequency = Frequency.parse(word)
    assert frequency == Frequency(count, unit)
    assert frequency.season == season
    assert str(frequency) == text
    assert Frequency.parse(text) == frequency


@pytest.mark.parametrize("word", ["", "fortnightly", "0_minutes", "-1 h", "monthly 2", "1.5 h"])
def test_unknown_words_are_refused(word: str) -> None:
    with pytest.raises(DataError, match="unknown frequency"):
        Frequency.parse(word)


def test_wrong_fields_are_refused() -> None:
    with pytest.raises(SpecError, match="unknown unit 'M'"):
        Frequency(1, "M")
    for count in (0, -1, 1.5, True):
        with pytest.raises(SpecError, match="count"):
            Frequency(count, "h")  # type: ignore[arg-type]


def test_seconds() -> None:
    assert Frequency(2, "w").seconds == 1_209_600
    assert Frequency(1, "y").seconds == 365.2425 * 86_400
    assert Frequency(1, "q").seconds == pytest.approx(3 * Frequency(1, "m").seconds)


def test_fixed_stamps() -> None:
    start = int(ns("2024-02-28T23:50")[0])
    assert shown(Frequency(10, "min").stamps(start, 3)) == [
        "2024-02-28T23:50",
        "2024-02-29T00:00",
        "2024-02-29T00:10",
    ]
    assert shown(Frequency(1, "w").stamps(start, 2))[1] == "2024-03-06T23:50"
    assert len(Frequency(1, "h").stamps(start, 0)) == 0


def test_month_ends_with_and_without_a_leap_day() -> None:
    month = Frequency(1, "m")
    assert shown(month.stamps(int(ns("2024-01-31T06:00")[0]), 4)) == [
        "2024-01-31T06:00", "2024-02-29T06:00", "2024-03-31T06:00", "2024-04-30T06:00",
    ]  # fmt: skip
    assert shown(month.stamps(int(ns("2022-12-30")[0]), 4)) == [
        "2022-12-30T00:00", "2023-01-30T00:00", "2023-02-28T00:00", "2023-03-30T00:00",
    ]  # fmt: skip
    assert shown(month.stamps(int(ns("2023-04-30")[0]), 2, day=31))[1] == "2023-05-31T00:00"


def test_quarters_and_years_before_and_after_1970() -> None:
    assert shown(Frequency(1, "q").stamps(int(ns("1969-08-31T01:30")[0]), 4)) == [
        "1969-08-31T01:30", "1969-11-30T01:30", "1970-02-28T01:30", "1970-05-31T01:30",
    ]  # fmt: skip
    assert shown(Frequency(1, "y").stamps(int(ns("2020-02-29")[0]), 5)) == [
        "2020-02-29T00:00", "2021-02-28T00:00", "2022-02-28T00:00", "2023-02-28T00:00", "2024-02-29T00:00",
    ]  # fmt: skip


@pytest.mark.parametrize("unit", ["w", "y"])
def test_stamps_beyond_what_ns_hold_are_refused(unit: str) -> None:
    with pytest.raises(DataError, match="2261"):
        Frequency(1, unit).stamps(int(ns("2200-01-01")[0]), 4_000)
    with pytest.raises(DataError, match="1678"):
        Frequency(1, unit).stamps(-(10**19), 2)


@pytest.mark.parametrize(
    "word", ["4_seconds", "10_minutes", "hourly", "daily", "weekly", "monthly", "quarterly", "yearly"]
)
@pytest.mark.parametrize("start", ["2023-12-31T21:00", "2020-02-29", "2019-01-01"])
def test_of_finds_what_stamps_made(word: str, start: str) -> None:
    frequency = Frequency.parse(word)
    times = frequency.stamps(int(ns(start)[0]), 30)
    assert Frequency.of(times) == frequency
    assert Frequency.of(np.delete(times, [3, 4, 11, 20])) == frequency


def test_of_weekends_and_business_month_ends() -> None:
    days = ns(*(f"2024-01-{day:02d}" for day in (1, 2, 3, 4, 5, 8, 9, 10, 11, 12, 15, 16)))
    assert Frequency.of(days) == Frequency(1, "d")
    # The last working days of the months: neither one day of the month nor one step.
    ends = ns(
        "2024-01-31", "2024-02-29", "2024-03-29", "2024-04-30", "2024-05-31", "2024-06-28", "2024-07-31"
    )
    assert Frequency.of(ends) == Frequency(1, "m")


def test_of_tells_thirty_days_from_months() -> None:
    start = int(ns("2024-01-01")[0])
    assert Frequency.of(start + 30 * 86_400 * 10**9 * np.arange(12)) == Frequency(30, "d")
    assert Frequency.of(ns("2024-01-01", "2024-07-01", "2025-01-01")) == Frequency(2, "q")


def test_of_refuses_what_shows_no_frequency() -> None:
    with pytest.raises(
        NoFrequencyError, match=r"1 time stamp: no frequency can be seen\nFix: give at least two$"
    ):
        Frequency.of(ns("2024-01-01"))
    with pytest.raises(DataError, match="does not ascend at position 2"):
        Frequency.of(ns("2024-01-01", "2024-01-02", "2024-01-02"))
    with pytest.raises(
        NoFrequencyError, match=r"no common step .*\nFix: bring the rows to regular steps of whole "
    ):
        Frequency.of(ns("2024-01-01", "2024-01-02", "2024-01-04", "2024-01-09", "2024-01-19"))
    with pytest.raises(DataError, match="no common step"):
        Frequency.of(np.arange(10, dtype=np.int64) * 1_500_000_000)  # 1.5 s
