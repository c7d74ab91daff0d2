"""Alarms: runs above a threshold with their peak, their channels, and how they are written."""

from __future__ import annotations

import numpy as np
import pytest

from neuronet.anomaly.alarms import HEADER, alarms_csv, find_alarms
from neuronet.errors import DataError, ShapeError

HOUR = 3_600 * 10**9
START = int(np.datetime64("2024-01-31T12", "ns").astype(np.int64))
NAMES = ("EURUSD", "GBPUSD", "a, b")
#                     0  1  2  3  4  5  6  7
SCORES = np.array([0, 6, 3, 0, 9, 0, 0, 3], np.float64)[:, None] * [[0.5, 2.0, 0.5]]
TIMES = START + HOUR * np.arange(8)


def test_runs_with_their_peaks() -> None:
    first, second, _ = find_alarms(SCORES, 2.5, TIMES, NAMES)
    assert (first.first, first.last, first.rows) == (1, 2, 2)
    assert (first.start, first.end, first.peak) == (TIMES[1], TIMES[2], TIMES[1])
    assert (first.score, first.threshold) == (6.0, 2.5)
    assert (second.first, second.last, second.score) == (4, 4, 9.0)
    assert [name for name, _ in first.channels] == ["GBPUSD", "EURUSD", "a, b"]
    np.testing.assert_allclose([share for _, share in first.channels], [2 / 3, 1 / 6, 1 / 6])


def test_threshold_itself_is_no_alarm_and_the_last_row_may_be_one() -> None:
    assert [a.first for a in find_alarms(SCORES, 3.0, TIMES, NAMES)] == [1, 4]
    assert [a.first for a in find_alarms(SCORES, 2.9, TIMES, NAMES)] == [1, 4, 7]
    assert find_alarms(SCORES, 9.0, TIMES, NAMES) == []


def test_near_runs_are_joined() -> None:
    assert [(a.first, a.last) for a in find_alarms(SCORES, 2.9, TIMES, NAMES, join=1)] == [(1, 4), (7, 7)]
    (whole,) = find_alarms(SCORES, 2.9, TIMES, NAMES, join=2, top=1)
    assert (whole.first, whole.last, whole.peak, whole.rows) == (1, 7, TIMES[4], 7)
    assert whole.channels == (("GBPUSD", pytest.approx(2 / 3)),)


def test_shares_are_those_of_the_whole_run() -> None:
    scores = np.array([[6.0, 0.0], [0.0, 2.0]])
    (one,) = find_alarms(scores, 0.5, TIMES[:2], ("x", "y"))
    assert one.channels == (("x", 0.75), ("y", 0.25))


def test_written_as_csv() -> None:
    alarms = find_alarms(SCORES, 2.5, TIMES, NAMES, top=2)
    lines = list(alarms_csv(alarms))
    assert lines == [
        HEADER + "\n",
        "2024-01-31 13:00:00,2024-01-31 14:00:00,2,2024-01-31 13:00:00,6,2.5,GBPUSD 67%; EURUSD 17%\n",
        "2024-01-31 16:00:00,2024-01-31 16:00:00,1,2024-01-31 16:00:00,9,2.5,GBPUSD 67%; EURUSD 17%\n",
        "2024-01-31 19:00:00,2024-01-31 19:00:00,1,2024-01-31 19:00:00,3,2.5,GBPUSD 67%; EURUSD 17%\n",
    ]
    positions = list(alarms_csv(find_alarms(SCORES, 8.0, np.arange(8), NAMES), timed=False))
    assert positions[1] == '4,4,1,4,9,8,"GBPUSD 67%; EURUSD 17%; a, b 17%"\n'


def test_what_does_not_fit() -> None:
    with pytest.raises(ShapeError, match=r"scores \(8, 3\), times \(7,\), 3 names"):
        find_alarms(SCORES, 1.0, TIMES[:7], NAMES)
    with pytest.raises(DataError, match="not finite"):
        find_alarms(SCORES, float("nan"), TIMES, NAMES)
    with pytest.raises(DataError, match="join -1"):
        find_alarms(SCORES, 1.0, TIMES, NAMES, join=-1)
