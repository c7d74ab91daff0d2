"""Windows, their errors in time and frequency, and how they become one score for each row and channel."""

from __future__ import annotations

import numpy as np
import pytest

from neuronet.anomaly.scores import (
    ScoreScale,
    frequency_error,
    over_time,
    shares,
    time_error,
    total,
    window_starts,
)
from neuronet.errors import DataError, ShapeError


@pytest.mark.parametrize(
    ("rows", "length", "stride", "starts"),
    [
        (8, 4, None, [0, 4]),
        (10, 4, None, [0, 4, 6]),
        (4, 4, None, [0]),
        (9, 4, 2, [0, 2, 4, 5]),
        (6, 3, 1, [0, 1, 2, 3]),
    ],
)
def test_windows_cover_every_row(rows: int, length: int, stride: int | None, starts: list[int]) -> None:
    np.testing.assert_array_equal(window_starts(rows, length, stride), starts)


def test_windows_that_do_not_fit() -> None:
    with pytest.raises(DataError, match="3 rows are fewer than a window of 4"):
        window_starts(3, 4)
    with pytest.raises(DataError, match="every 5 rows"):
        window_starts(10, 4, 5)


def test_the_first_window_over_a_row_gives_its_value() -> None:
    values = np.array([[0, 1, 2, 3], [4, 5, 6, 7], [20, 21, 22, 23]], np.float64)
    found = over_time(values, window_starts(10, 4), 10)
    np.testing.assert_array_equal(found, [0, 1, 2, 3, 4, 5, 6, 7, 22, 23])


def test_mean_of_the_windows_over_a_row() -> None:
    values = np.array([[[1.0], [2.0], [3.0]], [[5.0], [7.0], [9.0]], [[0.0], [0.0], [6.0]]])
    found = over_time(values, np.array([0, 1, 2]), 5, average=True)
    np.testing.assert_array_equal(found[:, 0], [1, 3.5, 10 / 3, 4.5, 6])


def test_rows_without_a_window_are_told() -> None:
    with pytest.raises(DataError, match="2 of 8 rows are in no window, the first is row 3"):
        over_time(np.zeros((2, 3)), np.array([0, 5]), 8)
    with pytest.raises(DataError, match="1 of 7 rows are in no window, the first is row 6"):
        over_time(np.zeros((2, 3)), np.array([0, 3]), 7, average=True)
    with pytest.raises(ShapeError, match="ascending order"):
        over_time(np.zeros((2, 3)), np.array([3, 0]), 6)


def test_time_error_by_hand() -> None:
    x, xhat = np.array([[[1.0, 5.0], [2.0, 5.0]]]), np.array([[[0.0, 5.0], [4.0, 2.0]]])
    np.testing.assert_array_equal(time_error(x, xhat), [[[1, 0], [4, 9]]])


def test_frequency_error_by_hand() -> None:
    """[3, 1, 1] in patches of 2: spectra [4, 2] and [2, 0], means 3 and 1; the value between has both."""
    x = np.array([[[3.0], [1.0], [1.0]]])
    np.testing.assert_allclose(frequency_error(x, 0 * x, patch=2)[0, :, 0], [3, 2, 1], rtol=1e-15)
    impulse = np.zeros((1, 5, 1))
    impulse[0, 2] = -4.0  # flat spectrum: 4 in every bin of every patch
    np.testing.assert_allclose(frequency_error(impulse, 0 * impulse, patch=5), 4.0, rtol=1e-15)


@pytest.mark.parametrize(
    ("length", "patch", "stride"),
    [(96, 16, 1), (40, 32, 1), (17, 16, 1), (16, 16, 1), (30, 5, 3), (33, 16, 8), (9, 1, 1)],
)
@pytest.mark.parametrize("spike", [0.0, 1e6])
def test_frequency_error_is_its_definition(length: int, patch: int, stride: int, spike: float) -> None:
    random = np.random.default_rng(0)
    x, xhat = random.normal(size=(2, 3, length, 2))
    x[1, length // 2] += spike
    found = frequency_error(x, xhat, patch=patch, stride=stride)
    begin = window_starts(length, patch, stride)
    direct = np.zeros_like(x)
    for t in range(length):
        over = [b for b in begin if b <= t < b + patch]
        spectra = [
            np.abs(np.fft.fft(x[:, b : b + patch], axis=1) - np.fft.fft(xhat[:, b : b + patch], axis=1))
            for b in over
        ]
        direct[:, t] = np.mean([s.mean(axis=1) for s in spectra], axis=0)
    assert np.abs(found - direct).max() <= 1e-7 * direct[[0, 2]].max()


def test_exactly_reconstructed_windows_score_0() -> None:
    x = np.random.default_rng(0).normal(size=(2, 32, 3))
    assert not frequency_error(x, x).any()
    assert not time_error(x, x).any()


def test_frequency_error_is_the_same_in_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    x, xhat = np.random.default_rng(0).normal(size=(2, 7, 20, 2))
    whole = frequency_error(x, xhat)
    monkeypatch.setattr("neuronet.anomaly.scores.CHUNK", 1)
    np.testing.assert_array_equal(frequency_error(x, xhat), whole)


def test_what_cannot_be_scored() -> None:
    x = np.zeros((1, 8, 2))
    with pytest.raises(ShapeError, match=r"x is \(1, 8, 2\), its reconstruction \(1, 8, 1\)"):
        time_error(x, x[:, :, :1])
    with pytest.raises(DataError, match="patches of 16 values in windows of 8"):
        frequency_error(x, x)
    bad = x.copy()
    bad[0, 3, 1] = np.nan
    with pytest.raises(DataError, match="the reconstruction is nan in window 0, row 3, channel 1"):
        time_error(x, bad)


def test_scale_makes_the_two_errors_alike() -> None:
    train_time, train_frequency = np.array([[1.0, 3.0]]), np.array([[10.0, 30.0]])
    scale = ScoreScale.fit(train_time, train_frequency, weight=0.5)
    assert scale == ScoreScale(2.0, 20.0, 0.5)
    scores = scale.combine(np.array([[2.0, 18.0], [0.0, 0.0]]), np.array([[50.0, 0.0], [0.0, 0.0]]))
    np.testing.assert_array_equal(scores, [[1.5, 3.0], [0.0, 0.0]])
    np.testing.assert_array_equal(total(scores), [2.25, 0.0])
    np.testing.assert_allclose(shares(scores), [[1 / 3, 2 / 3], [0, 0]], rtol=1e-15)
    assert ScoreScale(**scale.to_dict()) == scale


def test_a_scale_of_0_is_refused() -> None:
    with pytest.raises(DataError, match="mean time error of the training part is 0"):
        ScoreScale.fit(np.zeros((3, 2)), np.ones((3, 2)))
    with pytest.raises(DataError, match="weight of the frequency error is -1"):
        ScoreScale(1.0, 1.0, -1.0)
