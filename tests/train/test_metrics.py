"""Metrics against values worked out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from neuronet.train import metrics

Y = np.log(np.array([[1.1, 1.2], [0.9, 1.0], [1.0, 0.8]]))
CLOSE = np.array([100.0, 200.0, 50.0])
LAST_VALUE = np.zeros_like(Y)


def test_errors_of_the_last_value_in_price_units() -> None:
    f, y = metrics.prices(CLOSE, LAST_VALUE), metrics.prices(CLOSE, Y)
    np.testing.assert_allclose(y, [[110, 120], [180, 200], [50, 40]])
    assert metrics.mae(f, y) == pytest.approx((10 + 20 + 20 + 0 + 0 + 10) / 6)
    assert metrics.rmse(f, y) == pytest.approx(math.sqrt((100 + 400 + 400 + 100) / 6))
    want = [10 / 210, 20 / 220, 20 / 380, 0, 0, 10 / 90]
    assert metrics.smape(f, y) == pytest.approx(2 * sum(want) / 6)


def test_smape_ends_at_two_and_is_zero_where_both_are_zero() -> None:
    assert metrics.smape(np.array([[0.0, 1.0]]), np.array([[0.0, 0.0]])) == pytest.approx(1.0)


def test_skill() -> None:
    assert metrics.skill(Y, Y) == 1.0
    assert metrics.skill(LAST_VALUE, Y) == 0.0
    assert metrics.skill(-Y, Y) == pytest.approx(-3.0)
    assert metrics.skill(Y, Y, baseline=Y) is None


def test_naive_error_by_hand_and_its_terms() -> None:
    close = np.array([1.0, 3.0, 2.0, 6.0])
    assert metrics.naive_error(close) == (pytest.approx((2 + 1 + 4) / 3), 3)
    assert metrics.naive_error(close, m=2) == (pytest.approx((1 + 3) / 2), 2)


def test_mase_of_a_flat_history_is_undefined_and_never_filled() -> None:
    assert metrics.naive_error(np.full(10, 5.0)) == (None, 9)
    assert metrics.naive_error(np.array([5.0])) == (None, 0)
    assert metrics.mase(np.ones((1, 1)), np.zeros((1, 1)), None) is None


def test_mase_depends_on_the_history_used() -> None:
    calm, wild = np.tile([10.0, 11.0], 50), np.tile([10.0, 20.0], 50)
    whole, last = metrics.naive_error(np.r_[calm, wild])[0], metrics.naive_error(wild)[0]
    f, y = np.array([[12.0]]), np.array([[15.0]])
    assert metrics.mase(f, y, last) == pytest.approx(3.0 / 10.0)
    assert metrics.mase(f, y, whole) == pytest.approx(3.0 / ((99 * 1 + 1 + 99 * 10) / 199))


def test_wilson_against_published_values() -> None:
    low, high = metrics.wilson(15, 148)  # Newcombe 1998, table I: 81/263 and 15/148
    assert (round(low, 4), round(high, 4)) == (0.0624, 0.1605)
    low, high = metrics.wilson(81, 263)
    assert (round(low, 4), round(high, 4)) == (0.2553, 0.3662)


def test_sign_hits_skips_zeros_and_counts_windows_by_horizon() -> None:
    y = np.array([[0.0, 1.0], [0.0, -1.0], [0.0, 1.0], [0.0, 0.0], [0.0, 1.0]])
    f = np.array([[9.0, 2.0], [9.0, 2.0], [9.0, 3.0], [9.0, 1.0], [9.0, 0.0]])
    hits = metrics.sign_hits(f, y)
    assert hits is not None
    assert (hits["accuracy"], hits["windows"]) == (pytest.approx(2 / 3), 3)
    assert hits["base_rate"] == pytest.approx(2 / 3)
    assert (hits["low"], hits["high"]) == metrics.wilson(2 / 3 * 1.5, 1.5)
    assert metrics.sign_hits(np.zeros_like(y), y) is None


def test_class_scores_by_hand() -> None:
    p = np.array([[0.7, 0.2, 0.1], [0.5, 0.3, 0.2], [0.1, 0.2, 0.7], [0.0, 0.1, 0.9]])
    y = np.array([0, 2, 2, 2])
    scores = metrics.class_scores(p, y, horizon=2)
    assert scores["confusion"] == [[1, 0, 0], [0, 0, 0], [1, 0, 2]]
    assert scores["accuracy"] == 0.75
    assert scores["base_rate"] == 0.75
    assert scores["balanced_accuracy"] == pytest.approx((1 + 2 / 3) / 2)
    assert scores["log_loss"] == pytest.approx(-np.mean(np.log([0.7, 0.2, 0.7, 0.9])))
    assert (scores["low"], scores["high"]) == metrics.wilson(1.5, 2)


def test_log_loss_stays_finite_for_a_certain_miss() -> None:
    assert metrics.log_loss(np.array([[1.0, 0.0]]), np.array([1])) == pytest.approx(-math.log(1e-12))
