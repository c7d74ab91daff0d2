"""Targets: right rows, right columns, unknown where the file ends."""

from __future__ import annotations

import math

import numpy as np
import pytest

from neuronet.bars.bars import Bars
from neuronet.bars.targets import action_targets, direction_targets, forecast_targets
from neuronet.errors import DataError


def test_forecast_is_the_log_return_from_the_last_known_close(bars: Bars) -> None:
    targets = forecast_targets(bars, 5)
    assert targets.shape == (len(bars), 5)
    for row, k in ((0, 1), (7, 3), (354, 5)):
        assert targets[row, k - 1] == pytest.approx(math.log(bars.close[row + k] / bars.close[row]), rel=1e-9)
    unknown = np.isnan(targets)
    assert unknown.sum() == 5 + 4 + 3 + 2 + 1
    assert unknown[-1].all()
    assert unknown[-5].tolist() == [False] * 4 + [True]
    assert not unknown[-6].any()


def test_direction_against_a_threshold() -> None:
    close = np.array([100.0, 100.0, 101.0, 101.05, 100.0, 99.9])
    bars = Bars(np.arange(6) * 60 * 10**9, close, close, close, close, np.ones(6))
    targets = direction_targets(bars, 1, 0.002)
    assert targets.dtype == np.int32
    assert targets.tolist() == [1, 2, 1, 0, 1, -1]
    assert direction_targets(bars, 2, 0.0).tolist() == [2, 2, 0, 0, -1, -1]


def six_bars() -> Bars:
    opened = np.array([100.0, 100.0, 102.0, 101.0, 104.0, 103.0])
    high = np.array([101.0, 103.0, 102.5, 105.0, 104.0, 103.5])
    low = np.array([99.0, 99.5, 100.0, 100.5, 102.0, 103.0])
    close = np.array([100.0, 102.0, 101.0, 104.0, 103.0, 103.2])
    return Bars(np.arange(6) * 60 * 10**9, opened, high, low, close, np.ones(6), "SIX")


def test_action_enters_at_the_next_open() -> None:
    """Two bars ahead: from the opens 100, 102, 101, 104 to the closes 101, 104, 103, 103.2."""
    targets = action_targets(six_bars(), 2, 0.015)
    assert targets.shape == (6, 3)
    assert targets[:4, 0].tolist() == [1, 2, 2, 1]  # +1.0 %, +1.9 %, +2.0 %, -0.8 % in log
    np.testing.assert_allclose(targets[:4, 1], np.log([103 / 100, 105 / 102, 105 / 101, 1.0]), atol=1e-15)
    np.testing.assert_allclose(targets[:4, 2], np.log([100 / 99.5, 102 / 100, 101 / 100.5, 104 / 102]))
    assert np.isnan(targets[4:]).all()


def test_action_one_bar_ahead_and_its_classes() -> None:
    targets = action_targets(six_bars(), 1, 0.005)
    assert targets[:5, 0].tolist() == [2, 0, 2, 0, 1]  # 100-102, 102-101, 101-104, 104-103, 103-103.2
    np.testing.assert_allclose(targets[:5, 1], np.log([1.03, 102.5 / 102, 105 / 101, 1.0, 103.5 / 103]))
    np.testing.assert_allclose(targets[:5, 2], np.log([100 / 99.5, 1.02, 101 / 100.5, 104 / 102, 1.0]))
    assert np.isnan(targets[5]).all()


def test_an_action_knows_no_bar_behind_its_horizon(bars: Bars) -> None:
    whole = action_targets(bars, 5, 0.001)
    assert (whole[:-5, 1:] >= 0.0).all()
    part = action_targets(bars[:200], 5, 0.001)
    np.testing.assert_array_equal(part[:195], whole[:195])
    assert np.isnan(part[195:]).all()


def test_action_refusals() -> None:
    bars = six_bars()
    with pytest.raises(DataError, match=r"SIX: nothing to learn: every target is 'flat' with threshold 0\.5"):
        action_targets(bars, 2, 0.5)
    with pytest.raises(DataError, match=r"action_targets: threshold -0\.1 is negative"):
        action_targets(bars, 2, -0.1)
    with pytest.raises(DataError, match="horizon 6 with 6 bars"):
        action_targets(bars, 6, 0.1)
    below = Bars(bars.time, bars.open, bars.high, bars.low - 100, bars.close, bars.volume)
    with pytest.raises(DataError, match=r"the task 'action' needs logarithms of prices, and 3 of 6"):
        action_targets(below, 2, 0.1)


def test_nothing_to_learn() -> None:
    flat = np.full(50, 1.5)
    bars = Bars(np.arange(50) * 60 * 10**9, flat, flat, flat, flat, np.ones(50), "FLAT")
    with pytest.raises(DataError, match=r"FLAT: nothing to learn: all 50 bars close at 1\.5"):
        forecast_targets(bars, 3)
    with pytest.raises(DataError, match="nothing to learn: every target is 'flat' with threshold 0"):
        direction_targets(bars, 3, 0.0)


def test_refusals(bars: Bars) -> None:
    with pytest.raises(
        DataError, match=r"horizon 360 with 360 bars(.|\n)*train with --history 21 --horizon 8"
    ):
        forecast_targets(bars, 360)
    with pytest.raises(DataError, match=r"horizon 0(.|\n)*Fix: choose 1 or more"):
        direction_targets(bars, 0, 0.0)
    with pytest.raises(DataError, match="negative"):
        direction_targets(bars, 1, -0.1)
    below = Bars(bars.time, bars.open - 2, bars.high - 2, bars.low - 2, bars.close - 2, bars.volume)
    with pytest.raises(DataError, match="360 of 360 bars have a price <= 0"):
        forecast_targets(below, 1)
