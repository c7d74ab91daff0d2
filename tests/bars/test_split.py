"""Splits by time: no bar in two parts, shares as asked for, counts in the refusal."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neuronet.bars.bars import Bars
from neuronet.bars.split import split_by_time
from neuronet.bars.synthetic import make_bars
from neuronet.bars.windows import window_starts
from neuronet.errors import DataError

BARS = make_bars(600, seed=3)


def bars_of(starts: np.ndarray, length: int) -> set[int]:
    return {row for start in starts.tolist() for row in range(start, start + length)}


@settings(max_examples=40, deadline=None)
@given(
    history=st.integers(1, 40),
    horizon=st.integers(1, 12),
    validation=st.floats(0.15, 0.3),
    test=st.floats(0.15, 0.3),
    warmup=st.integers(0, 40),
)
def test_no_bar_is_shared(history: int, horizon: int, validation: float, test: float, warmup: int) -> None:
    starts = window_starts(BARS, history=history, horizon=horizon, warmup=warmup)
    split = split_by_time(
        starts, BARS.time, history=history, horizon=horizon, validation=validation, test=test
    )
    parts = (split.train, split.validation, split.test)
    used = [bars_of(part, history + horizon) for part in parts]
    assert not used[0] & used[1]
    assert not used[1] & used[2]
    assert max(used[0]) + 1 == min(used[1])
    for before, after in pairwise(parts):
        assert after[0] - before[-1] == history + horizon
    assert all(part.dtype == np.int32 for part in parts)
    assert len(used[2]) == round(test * (600 - warmup))
    assert len(used[1]) == round(validation * (600 - warmup))


def test_test_part_from_a_date() -> None:
    starts = window_starts(BARS, history=10, horizon=2)
    split = split_by_time(starts, BARS.time, history=10, horizon=2, validation=0.2, test_from="2023-01-30")
    assert BARS.time[split.test[0]] == np.datetime64("2023-01-30", "ns").astype(np.int64)
    assert split.test[-1] == starts[-1]
    assert split.validation[0] == split.test[0] - 120


def test_parts_that_nobody_asked_for_may_be_empty() -> None:
    starts = window_starts(BARS, history=10, horizon=2)
    split = split_by_time(starts, BARS.time, history=10, horizon=2, validation=0.0, test=0.0)
    assert (len(split.train), len(split.validation), len(split.test)) == (len(starts), 0, 0)


def test_validation_too_short(bars: Bars) -> None:
    few = bars[:70]
    starts = window_starts(few, history=40, horizon=5)
    with pytest.raises(
        DataError,
        match=r"train: 56 bars give 12 windows, validation: 14 bars give 0 windows of 40\+5; .* needs >= 45",
    ) as error:
        split_by_time(starts, few.time, history=40, horizon=5, validation=0.2, test=0.0)
    assert "Fix: give more bars, or train with --history 6 --horizon 2, or other parts (--validation" in str(
        error.value
    )
    starts = window_starts(few, history=6, horizon=2)
    split = split_by_time(starts, few.time, history=6, horizon=2, validation=0.2, test=0.0)
    assert len(split.validation) == 14 - 8 + 1


def test_gaps_that_leave_a_part_without_windows(bars: Bars) -> None:
    starts = window_starts(bars, history=20, horizon=2)
    with pytest.raises(DataError, match="validation: 54 bars give 0 windows") as error:
        split_by_time(starts[starts < 200], bars.time, history=20, horizon=2)
    assert "or allow longer gaps (--max-gap)" in str(error.value)


def test_shares_that_leave_nothing(bars: Bars) -> None:
    starts = window_starts(bars, history=4, horizon=1)
    with pytest.raises(DataError, match=r"validation 0.5 and test 0.5"):
        split_by_time(starts, bars.time, history=4, horizon=1, validation=0.5, test=0.5)
    with pytest.raises(DataError, match=r"test: 0 bars give 0 windows(.|\n)*--test-from"):
        split_by_time(starts, bars.time, history=4, horizon=1, test_from="2030-01-01")
