"""Series: checks, cutting, gaps, and the stamps that follow."""

from __future__ import annotations

import numpy as np
import pytest

from neuronet.errors import DataError
from neuronet.series.frequency import Frequency, Times
from neuronet.series.series import Series


def ns(*stamps: str) -> Times:
    return np.array(stamps, "datetime64[ns]").astype(np.int64)


MONTH = Frequency(1, "m")


def test_a_part_keeps_name_and_frequency() -> None:
    times = MONTH.stamps(0, 5)
    series = Series("s", np.array([1.0, np.nan, 3, 4, 5]), times, MONTH)
    part = series[1:-1]
    assert (part.name, part.frequency, len(part)) == ("s", MONTH, 3)
    np.testing.assert_array_equal(part.values, [np.nan, 3, 4])
    np.testing.assert_array_equal(part.times, times[1:-1])
    assert (series.missing, part.missing, series[2:].missing) == (1, 1, 0)
    for wrong in (2, slice(None, None, 2)):
        with pytest.raises(TypeError, match="slices of step 1"):
            series[wrong]  # type: ignore[index]


def test_future_keeps_month_ends() -> None:
    series = Series("s", np.ones(3), ns("2023-12-31", "2024-01-31", "2024-02-29"), MONTH)
    np.testing.assert_array_equal(series.future(3), ns("2024-03-31", "2024-04-30", "2024-05-31"))
    hours = Series("s", np.ones(2), ns("2024-02-29T22", "2024-02-29T23"), Frequency(1, "h"))
    np.testing.assert_array_equal(hours.future(2), ns("2024-03-01T00", "2024-03-01T01"))


def test_gaps_are_counted_by_the_calendar() -> None:
    assert Series("s", np.ones(3), ns("2024-01-31", "2024-02-29", "2024-03-31"), MONTH).gaps == 0
    assert Series("s", np.ones(3), ns("2024-01-31", "2024-02-29", "2024-04-30"), MONTH).gaps == 1
    days = Series(
        "s", np.ones(4), ns("2024-01-04", "2024-01-05", "2024-01-08", "2024-01-09"), Frequency(1, "d")
    )
    assert days.gaps == 1


@pytest.mark.parametrize(
    ("values", "times", "message"),
    [
        ([1.0], [0, 1], r"shape \(1,\), times \(2,\)"),
        ([[1.0]], [[0]], "shape"),
        ([], [], "no values"),
        ([1.0, np.inf], [0, 86_400 * 10**9], "1970-01-02 00:00:00 .position 1. is infinite"),
        ([1.0, 2.0], [5, 5], "does not ascend at position 1"),
    ],
)
def test_wrong_arrays_are_refused(values: list[float], times: list[int], message: str) -> None:
    with pytest.raises(DataError, match=message) as caught:
        Series("load", np.array(values, float), np.array(times, np.int64), MONTH)
    assert caught.value.where == "series 'load'"
