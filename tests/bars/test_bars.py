"""Bars: contract of the container."""

from __future__ import annotations

import numpy as np
import pytest

from neuronet.bars.bars import Bars, counted, most_common_step, span, stamp
from neuronet.errors import DataError

HOUR = 3_600 * 10**9


def test_slices_are_views_and_keep_the_step(bars: Bars) -> None:
    part = bars[110:130]
    assert len(part) == 20
    assert part.close[0] == bars.close[110]
    assert np.shares_memory(part.close, bars.close)
    assert (part.step, part.symbol) == (HOUR, "SYNTH")


def test_a_number_is_no_slice(bars: Bars) -> None:
    with pytest.raises(TypeError, match="slices"):
        bars[3]  # type: ignore[index]


def test_to_frame(bars: Bars) -> None:
    frame = bars.to_frame()
    assert list(frame.columns) == ["open", "high", "low", "close", "volume"]
    assert str(frame.index[0]) == "2023-01-02 00:00:00+00:00"
    assert frame["close"].iloc[-1] == bars.close[-1]


def test_step_is_the_most_common_difference() -> None:
    assert most_common_step(np.array([0, 60, 120, 500, 560, 9000]) * 10**9) == 60 * 10**9
    assert most_common_step(np.array([5])) == 0


def test_times_must_ascend() -> None:
    ones = np.ones(3)
    with pytest.raises(DataError, match=r"ascend at bar 2: 1970-01-01 01:00:00, then 1970-01-01 01:00:00"):
        Bars(np.array([0, HOUR, HOUR]), ones, ones, ones, ones, ones)


def test_arrays_must_have_one_length() -> None:
    ones = np.ones(2)
    with pytest.raises(DataError, match=r"low has shape \(3,\)"):
        Bars(np.array([0, HOUR]), ones, ones, np.ones(3), ones, ones)


def test_words_for_numbers_of_things() -> None:
    assert [counted(n, "bar") for n in (0, 1, 1_234)] == ["0 bars", "1 bar", "1,234 bars"]
    assert [counted(n, "row is", "rows are") for n in (1, 2)] == ["1 row is", "2 rows are"]


def test_words_for_times() -> None:
    assert stamp(1_704_067_200 * 10**9) == "2024-01-01 00:00:00"
    assert stamp(1_704_067_200 * 10**9 + 5 * 10**8) == "2024-01-01 00:00:00.5"
    assert [span(n * 60 * 10**9) for n in (5, 60, 3_060, 1_440)] == ["5 min", "1 h", "2 days 3 h", "1 day"]
