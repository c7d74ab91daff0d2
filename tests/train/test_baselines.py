"""Baselines against loops, and what they find in the training part."""

from __future__ import annotations

import json

import numpy as np
import pytest

from neuronet.bars.synthetic import make_bars
from neuronet.train.baselines import Reference, forecasts


def reference(day: int) -> Reference:
    return Reference(drift=0.01, day=day, naive_error=1.0, naive_count=9)


def test_last_value_and_drift() -> None:
    found = forecasts(reference(1), np.arange(1.0, 20.0), np.array([9, 12]), 3)
    assert list(found) == ["last value", "drift"]  # a day of one bar has no season
    np.testing.assert_array_equal(found["last value"], np.zeros((2, 3)))
    np.testing.assert_allclose(found["drift"], [[0.01, 0.02, 0.03]] * 2)


@pytest.mark.parametrize("horizon", [1, 3, 4, 5, 9])
def test_seasonal_is_the_close_whole_days_earlier(horizon: int) -> None:
    close = np.exp(np.random.default_rng(0).normal(size=60))
    last = np.array([20, 33, 47])
    found = forecasts(reference(4), close, last, horizon)["seasonal (4 bars)"]
    for i, t in enumerate(last):
        for k in range(1, horizon + 1):
            back = t + k
            while back > t:
                back -= 4
            assert found[i, k - 1] == pytest.approx(np.log(close[back] / close[t]))


def test_seasonal_is_left_out_where_the_bars_begin_too_late() -> None:
    close = np.arange(1.0, 40.0)
    assert "seasonal (24 bars)" not in forecasts(reference(24), close, np.array([22]), 5)
    assert "seasonal (24 bars)" in forecasts(reference(24), close, np.array([23]), 5)


def test_reference_of_bars() -> None:
    bars = make_bars(400)
    found = Reference.of(bars, np.array([0, 2, 2, 2], np.int32))
    assert found.day == 24
    assert found.drift == pytest.approx(np.log(bars.close[-1] / bars.close[0]) / 399)
    assert found.naive_error == pytest.approx(np.abs(np.diff(bars.close)).mean())
    assert found.naive_count == 399
    assert found.shares == (0.25, 0.0, 0.75)
    assert Reference.from_dict(json.loads(json.dumps(found.to_dict()))) == found
