"""Targets: right rows, right columns, unknown where the file ends."""

from __future__ import annotations

import math

import numpy as np
import pytest

from neuronet.bars.bars import Bars
from neuronet.bars.targets import direction_targets, forecast_targets
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
