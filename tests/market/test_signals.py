"""Positions from a file meet the bars by their times."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from neuronet.bars.bars import Bars
from neuronet.errors import DataError
from neuronet.market.signals import read_positions

Make = Callable[..., Bars]


@pytest.fixture
def bars(make: Make) -> Bars:
    return make([1.0] * 6, [1.0] * 6)


def write(path: Path, *lines: str) -> Path:
    file = path / "signals.csv"
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return file


def test_rows_find_their_bars(bars: Bars, tmp_path: Path) -> None:
    rows = ["2024-01-01 01:00:00,1.1,0.5", "2024-01-01 02:00:00,1.2,", "2024-01-01 05:00:00,1.3,-1"]
    found = read_positions(write(tmp_path, "time,close,position", *rows), bars)
    np.testing.assert_array_equal(found, [np.nan, 0.5, np.nan, np.nan, np.nan, -1])


def test_a_time_without_a_bar_is_told(bars: Bars, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    rows = [
        "2024-01-01 01:00:00,1",
        "2024-01-01 01:30:00,0.5",
        "2024-01-01 02:00:00,1",
        "2024-01-02 00:00:00,1",
    ]
    found = read_positions(write(tmp_path, "time,position", *rows), bars)
    assert np.flatnonzero(found == 1).tolist() == [1, 2]
    assert "2 of 4 positions have a time without a bar and count for nothing" in caplog.text
    assert "the first at 2024-01-01 01:30:00" in caplog.text


def test_refusals(bars: Bars, tmp_path: Path) -> None:
    for lines, message in {
        (
            "time,position",
            "2025-01-01 01:00:00,1",
            "2025-01-01 02:00:00,1",
        ): "no bar has the time of one of the 2",
        ("time,signal", "2024-01-01 01:00:00,1", "2024-01-01 02:00:00,1"): "no column 'position'",
        ("time,position", "2024-01-01 01:00:00,1", "2024-01-01 02:00:00,x"): "signals.csv:3: ",
    }.items():
        with pytest.raises(DataError) as caught:
            read_positions(write(tmp_path, *lines), bars)
        assert message in str(caught.value)


def test_positions_may_be_irregular_or_one(
    bars: Bars, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    one = read_positions(write(tmp_path, "time,position", "2024-01-01 02:00:00,1"), bars)
    np.testing.assert_array_equal(one, [np.nan, np.nan, 1, np.nan, np.nan, np.nan])
    assert not caplog.text
    rows = ["2024-01-01 00:00:00,1", "2024-01-01 01:00:00,0", "2024-01-01 05:00:00,-1"]
    found = read_positions(write(tmp_path, "time,position", *rows), bars)
    np.testing.assert_array_equal(found, [1, 0, np.nan, np.nan, np.nan, -1])
    assert "3 of 6 bars between its first and last position have no row and are flat" in caplog.text


def test_another_name_of_the_column_says_what_helps(bars: Bars, tmp_path: Path) -> None:
    with pytest.raises(DataError) as caught:
        read_positions(write(tmp_path, "time,Position", "2024-01-01 01:00:00,1"), bars)
    assert "one of numbers named position" in str(caught.value)
