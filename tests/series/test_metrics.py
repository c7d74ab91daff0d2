"""MASE and seasonal naive against numbers worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from neuronet.errors import DataError
from neuronet.series.metrics import mase, seasonal_naive

NAN = np.nan


def arrays(*lists: list[float]) -> list[np.ndarray]:
    return [np.array(values, float) for values in lists]


def test_mase_by_hand() -> None:
    # Changes over two steps: 3-1, 5-2, 2-3 -> 2, 3, 1, mean 2. Errors 1 and 4, mean 2.5.
    forecast, actual, history = arrays([4, 6], [5, 2], [1, 2, 3, 5, 2])
    result = mase(forecast, actual, history, season=2)
    assert (result.value, result.error, result.denominator, result.terms) == (1.25, 2.5, 2.0, 3)
    # Over one step: 1, 1, 2, 3, mean 1.75.
    assert mase(forecast, actual, history, season=1).value == pytest.approx(2.5 / 1.75)


def test_missing_values_are_left_out() -> None:
    forecast, actual, history = arrays([4, 6, 1], [5, NAN, 4], [1, NAN, 3, 5, 2])
    result = mase(forecast, actual, history, season=2)  # changes |3-1|, |2-3|; errors 1, 3
    assert (result.value, result.error, result.denominator, result.terms) == (2 / 1.5, 2.0, 1.5, 2)


@pytest.mark.parametrize(
    ("actual", "history", "season", "denominator", "terms"),
    [
        ([1.0], [3, 4, 3, 4], 2, 0.0, 2),  # flat over a season
        ([1.0], [3, 4], 2, None, 0),  # not longer than a season
        ([1.0], [3, NAN, NAN, 4], 2, None, 0),
        ([NAN], [3, 4, 5], 1, 1.0, 2),
    ],
)
def test_no_mase(
    actual: list[float], history: list[float], season: int, denominator: float | None, terms: int
) -> None:
    result = mase(*arrays([2.0], actual, history), season)
    assert (result.value, result.denominator, result.terms) == (None, denominator, terms)


def test_wrong_arguments_of_mase() -> None:
    forecast, actual, history = arrays([1, NAN], [1, 2], [1, 2, 4])
    with pytest.raises(DataError, match="nan at step 2"):
        mase(forecast, actual, history, 1)
    with pytest.raises(DataError, match=r"forecast \(2,\), actual \(1,\)"):
        mase(forecast, actual[:1], history, 1)
    with pytest.raises(DataError, match="season is 0"):
        mase(actual, actual, history, 0)


@pytest.mark.parametrize(
    ("history", "season", "horizon", "expected"),
    [
        ([1, 2, 3, 4, 5], 3, 2, [3, 4]),
        ([1, 2, 3, 4, 5], 3, 7, [3, 4, 5, 3, 4, 5, 3]),
        ([1, 2, 3, 4, 5], 1, 3, [5, 5, 5]),
        ([1, 2], 3, 4, [2, 1, 2, 2]),  # shorter than a season: the last value where none is known
        ([1, 2, 3, NAN, 5, 6], 3, 3, [1, 5, 6]),  # a season further back
        ([NAN, 2, 3, NAN, 5, 6], 3, 3, [6, 5, 6]),  # never known there: the last value
    ],
)
def test_seasonal_naive(history: list[float], season: int, horizon: int, expected: list[float]) -> None:
    np.testing.assert_array_equal(seasonal_naive(np.array(history, float), season, horizon), expected)


def test_wrong_arguments_of_seasonal_naive() -> None:
    with pytest.raises(DataError, match="no value"):
        seasonal_naive(np.array([NAN, NAN]), 1, 1)
    with pytest.raises(DataError, match="horizon 0"):
        seasonal_naive(np.ones(3), 1, 0)
    with pytest.raises(DataError, match="season is 0"):
        seasonal_naive(np.ones(3), 0, 1)
