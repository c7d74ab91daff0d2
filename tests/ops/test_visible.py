from __future__ import annotations

import numpy as np
import pytest

from neuronet.errors import DataError, ShapeError
from neuronet.ops import visible


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("newest", [False, True])
def test_by_time_shows_every_row_that_is_not_younger_and_no_other(newest: bool, strict: bool) -> None:
    rng = np.random.default_rng(0)
    times = np.sort(rng.integers(0, 30, (3, 20)))  # with equal ones
    asked = rng.integers(-3, 33, (3, 7))
    lengths = np.array([20, 0, 11])
    if newest:
        times[2, :11] = times[2, 9:]  # the rows that exist are in front
        times = np.stack(
            [row[::-1] if n < 2 else np.r_[row[:11][::-1], row[11:]] for n, row in enumerate(times)]
        )
    order = "newest-first" if newest else "oldest-first"
    limits = visible.by_time(times, asked, order=order, lengths=lengths, strict=strict)
    t = np.arange(20)
    found = (t >= limits[..., :1]) & (t < limits[..., 1:])
    older = times[:, None] < asked[..., None] if strict else times[:, None] <= asked[..., None]
    np.testing.assert_array_equal(found, older & (t < lengths[:, None, None]))


def test_nanoseconds_are_compared_exactly() -> None:
    now = np.datetime64("2026-11-30T12:00:00", "ns")
    step = np.timedelta64(1, "ns")
    limits = visible.by_time(now + step * np.arange(4), now + step * np.array([0, 2]), order="oldest-first")
    np.testing.assert_array_equal(limits, [[[0, 1], [0, 3]]])


def test_causal() -> None:
    np.testing.assert_array_equal(visible.causal(3, 3)[0, :, 1], [1, 2, 3])
    np.testing.assert_array_equal(visible.causal(2, 5)[0, :, 1], [4, 5])
    np.testing.assert_array_equal(visible.causal(3, 2)[0, :, 1], [0, 1, 2])
    np.testing.assert_array_equal(visible.causal(3, 3, [2, 3])[:, :, 1], [[1, 2, 0], [1, 2, 3]])
    assert visible.causal(3, 3).dtype == np.int32


def test_everything() -> None:
    np.testing.assert_array_equal(visible.everything(2, 5), [[[0, 5], [0, 5]]])
    np.testing.assert_array_equal(visible.everything(1, 5, [5, 0, 2])[:, 0, 1], [5, 0, 2])


def test_what_makes_no_sense_is_refused() -> None:
    with pytest.raises(DataError, match=r"key_time\[2\] of sample 0 is on the wrong side"):
        visible.by_time([1, 5, 4], [9], order="oldest-first")
    with pytest.raises(DataError, match=r"key_time\[1\] of sample 0 is on the wrong side"):
        visible.by_time([1, 5], [9], order="newest-first")
    with pytest.raises(DataError, match="order 'oldest'"):
        visible.by_time([1], [9], order="oldest")  # type: ignore[arg-type]
    with pytest.raises(DataError, match="key_time is float64"):
        visible.by_time([1.0], [9], order="oldest-first")
    with pytest.raises(ShapeError, match="key_time is for 2 samples, query_time for 3, lengths for 1"):
        visible.by_time(np.zeros((2, 4), int), np.zeros((3, 1), int), order="oldest-first")
    with pytest.raises(ShapeError, match=r"lengths \[6\] of 5 rows"):
        visible.everything(1, 5, [6])
    with pytest.raises(ShapeError, match="lengths of 5 rows and 2 questions"):
        visible.causal(2, 5, [5])
    with pytest.raises(ShapeError, match=r"query_time has shape \(1, 1, 1\)"):
        visible.by_time([1], np.zeros((1, 1, 1), int), order="oldest-first")
