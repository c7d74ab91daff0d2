"""Prices of which logarithms are taken: what is refused, and what the message offers works."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from neuronet.bars.bars import PRICES, Bars
from neuronet.bars.features import make_features
from neuronet.bars.positive import require_positive, without_bad_prints
from neuronet.bars.read import read_bars
from neuronet.bars.targets import forecast_targets
from neuronet.errors import DataError

Writer = Callable[..., Path]


def shifted(bars: Bars, amount: float) -> Bars:
    return replace(bars, **{name: getattr(bars, name) + amount for name in PRICES})


def with_values(bars: Bars, row: int, **prices: float) -> Bars:
    changed = {name: getattr(bars, name).copy() for name in prices}
    for name, value in prices.items():
        changed[name][row] = value
    return replace(bars, **changed)


def test_prices_below_zero_name_the_amount_that_helps(bars: Bars) -> None:
    oil = shifted(bars, -float(bars.close.mean()))
    with pytest.raises(DataError, match="the task 'forecast' needs logarithms of prices, and") as error:
        forecast_targets(oil, 3)
    amount = float(str(error.value).split("add one amount, above ")[1].split()[0])
    assert amount == pytest.approx(-oil.close.min(), rel=1e-9)
    lowest = min(float(getattr(oil, name).min()) for name in PRICES)
    with pytest.raises(DataError, match=f"above {-lowest:.10g} and better twice that, to all prices"):
        make_features(oil, ["returns"])
    for factor in (1.001, 2.0):
        make_features(shifted(oil, factor * -lowest), ["returns"])
        forecast_targets(shifted(oil, factor * -lowest), 3)


def test_lone_prints_name_the_option_that_helps(bars: Bars, write: Writer) -> None:
    lone = with_values(bars, 17, low=-0.5)
    with pytest.raises(DataError, match="1 of 360 bars have a price <= 0") as error:
        require_positive(lone, "a test")
    assert "Fix: choose --bad-bars fix, which takes the lowest other price of the bar, or" in str(error.value)
    path = write(lone)
    for option, rows in (("fix", 360), ("drop", 359)):
        found = read_bars(path, bad_bars=option)
        assert len(found) == rows
        require_positive(found, "a test")


def test_a_lone_zero_is_kept_and_features_take_the_lowest_other_price(
    bars: Bars, write: Writer, caplog: pytest.LogCaptureFixture
) -> None:
    zero = read_bars(write(with_values(bars, 17, open=0.0, low=0.0)))
    assert (zero.open[17], zero.low[17]) == (0.0, 0.0)
    with caplog.at_level(logging.WARNING):
        features = make_features(zero, ["returns"])
    assert "1 bar with a lone price of 0, the first at 2023-01-02 17:00:00" in caplog.text
    least = min(bars.high[17], bars.close[17])
    fixed = make_features(with_values(bars, 17, open=least, low=least), ["returns"])
    np.testing.assert_array_equal(features.values, fixed.values)
    np.testing.assert_array_equal(forecast_targets(zero, 3), forecast_targets(bars, 3))  # closes only
    assert without_bad_prints(bars, "a test") is bars


@pytest.mark.parametrize("prices", [{"close": 0.0, "low": 0.0}, {"low": -0.5}])
def test_a_close_of_zero_and_a_price_below_it_are_not_touched(bars: Bars, prices: dict[str, float]) -> None:
    """A forecast is about closes; and a price of power may be below zero for an hour."""
    lone = with_values(bars, 17, **prices)
    assert without_bad_prints(lone, "a test") is lone
    with pytest.raises(DataError, match="--bad-bars fix"):
        make_features(lone, ["returns"])
