"""Windows: which start rows there are, and that none spans a long gap."""

from __future__ import annotations

import numpy as np
import pytest

from neuronet.bars.bars import Bars
from neuronet.bars.targets import forecast_targets
from neuronet.bars.windows import fitting, window_starts
from neuronet.errors import DataError

HOUR = 3_600 * 10**9


def test_first_and_last_window(bars: Bars) -> None:
    starts = window_starts(bars, history=40, horizon=5, warmup=33)
    assert starts.dtype == np.int32
    assert starts[0] == 33
    assert starts[-1] + 40 + 5 == len(bars)
    assert len(starts) == len(bars) - 33 - 45 + 1
    targets = forecast_targets(bars, 5)
    assert np.isfinite(targets[starts + 39]).all()
    assert not np.isfinite(targets[starts[-1] + 40]).all()


def test_no_window_spans_a_weekend(bars: Bars) -> None:
    history, horizon = 10, 4
    starts = window_starts(bars, history=history, horizon=horizon, max_gap=2 * HOUR)
    good = [
        s
        for s in range(len(bars) - history - horizon + 1)
        if np.diff(bars.time[s : s + history + horizon]).max() <= 2 * HOUR
    ]
    assert starts.tolist() == good
    assert len(good) == 3 * (120 - 14 + 1)


def test_prediction_needs_no_target(bars: Bars) -> None:
    assert window_starts(bars, history=360, horizon=0).tolist() == [0]


def test_too_few_bars(bars: Bars) -> None:
    with pytest.raises(DataError, match=r"8 bars give 0 windows of 40\+5; need >= 45"):
        window_starts(bars[:8], history=40, horizon=5)
    with pytest.raises(DataError, match=r"44 bars after 33 of warm-up give 0 windows of 40\+5; need >= 45"):
        window_starts(bars[:77], history=40, horizon=5, warmup=33)
    with pytest.raises(
        DataError, match=r"99 bars give 0 windows .*\nFix: give more bars, or train with --history 6 --hor"
    ):
        window_starts(bars[:99], history=120, horizon=12)
    with pytest.raises(
        DataError, match=r"99 bars give 0 windows of 120\+0; need >= 120\nFix: give more bars$"
    ):
        window_starts(bars[:99], history=120, horizon=0)  # a trained model's history is given
    with pytest.raises(DataError, match=r"1 bar gives 0"):
        window_starts(bars[:1], history=1, horizon=1)


@pytest.mark.parametrize(
    ("rows", "options"), [(5, ""), (6, "2 --horizon 1"), (14, "6 --horizon 2"), (122, "55 --horizon 12")]
)
def test_what_fits_half_a_part(rows: int, options: str) -> None:
    assert fitting(rows, 12) == (options and f", or train with --history {options}")


@pytest.mark.parametrize(
    ("count", "horizon", "more"), [(99, 12, "33 bars"), (131, 12, "1 bar"), (0, 0, "120 bars")]
)
def test_a_trained_model_has_its_sizes(bars: Bars, count: int, horizon: int, more: str) -> None:
    with pytest.raises(DataError, match=rf"\nFix: give at least {more} more, for a window of the model$"):
        window_starts(bars[:count], history=120, horizon=horizon, trained=True)


def test_gaps_everywhere(bars: Bars) -> None:
    with pytest.raises(
        DataError, match=r"the file has 2\nFix: give 130 bars or more without such a gap, as the"
    ):
        window_starts(bars, history=120, horizon=10, max_gap=HOUR, trained=True)
    with pytest.raises(DataError, match=r"none of 1 window of 350\+10 bars"):
        window_starts(bars, history=350, horizon=10, max_gap=HOUR)
    with pytest.raises(
        DataError, match=r"none of 231 windows of 120\+10 bars .* longer than 1 h; the file has 2"
    ):
        window_starts(bars, history=120, horizon=10, max_gap=HOUR)


def test_no_window_at_all(bars: Bars) -> None:
    with pytest.raises(DataError, match="history 0"):
        window_starts(bars, history=0, horizon=1)
