from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from neuronet.reference.loss import (
    HUBER,
    MAE,
    MSE,
    CalcOutputGradient,
    CalcOutputGradientAction,
    CalcOutputGradientCrossEntropy,
    CalcOutputGradientQuantile,
)

Twin = Callable[..., None]
Arrays = dict[str, np.ndarray]
RNG = np.random.default_rng(0)
Y, TARGET, LEVELS = RNG.standard_normal((4, 5, 3)), RNG.standard_normal((4, 5)), np.array([0.1, 0.5, 0.8])
CLASSES = np.array([2, 0, 1, 2])
ACTIONS = np.column_stack([CLASSES, TARGET[:, :2]])
NAMES = ["mse", "mae", "huber", "quantile", "cross_entropy", "action"]


def _run(twin: Twin, y: np.ndarray, **arguments: object) -> tuple[np.ndarray, Arrays]:
    """dy, and the net's arrays after one batch."""
    dy = np.empty_like(y)
    net = {"loss": np.zeros(2), "hyper": np.ones(9), "step": np.array([70, 7, -1, 0], np.int32)}
    twin(y=y, dy=dy, **net, **arguments)
    return dy, net


CASES = [
    (CalcOutputGradient, Y[..., 0], {"target": TARGET, "kind": MSE, "delta": 1.0}),
    (CalcOutputGradient, Y[..., 0], {"target": TARGET, "kind": MAE, "delta": 1.0}),
    (CalcOutputGradient, Y[..., 0], {"target": TARGET, "kind": HUBER, "delta": 0.7}),
    (CalcOutputGradientQuantile, Y, {"target": TARGET, "levels": LEVELS}),
    (CalcOutputGradientCrossEntropy, Y[:, 0], {"target": CLASSES}),
    (CalcOutputGradientAction, Y[..., 0], {"target": ACTIONS, "weight": 0.6, "delta": 0.7}),
]


@pytest.mark.parametrize(("twin", "y", "arguments"), CASES, ids=NAMES)
def test_gradient_is_the_derivative_of_the_value(twin: Twin, y: np.ndarray, arguments: Arrays) -> None:
    direction, eps = np.random.default_rng(1).standard_normal(y.shape), 1e-5
    dy, _ = _run(twin, y, **arguments)
    up, down = (_run(twin, y + e * direction, **arguments)[1]["loss"][1] for e in (eps, -eps))
    np.testing.assert_allclose((dy * direction).sum(), (up - down) / (2 * eps), rtol=1e-7)


@pytest.mark.parametrize(
    ("kind", "expected"), [(MSE, (1 + 9 + 0) / 3), (MAE, (1 + 3 + 0) / 3), (HUBER, (0.5 + 2 * (3 - 1)) / 3)]
)
def test_elementwise_values(kind: int, expected: float) -> None:
    y = np.array([[1.0, -3.0, 2.0]])
    dy, net = _run(CalcOutputGradient, y, target=np.array([[0.0, 0.0, 2.0]]), kind=kind, delta=2.0)
    np.testing.assert_allclose(net["loss"], [expected, expected], rtol=1e-15)
    assert dy[0, 2] == 0  # at a distance of 0 there is no slope, of the absolute loss neither


def test_quantile_value_weighs_misses_above_and_below() -> None:
    y, target, levels = np.array([[[1.0, 1.0]]]), np.array([[3.0]]), np.array([0.1, 0.9])
    _, net = _run(CalcOutputGradientQuantile, y, target=target, levels=levels)
    assert net["loss"][1] == pytest.approx((0.1 * 2 + 0.9 * 2) / 2)
    _, net = _run(CalcOutputGradientQuantile, y, target=-target, levels=levels)
    assert net["loss"][1] == pytest.approx((0.9 * 4 + 0.1 * 4) / 2)


def test_cross_entropy_value_is_the_log_of_the_probability_even_far_out() -> None:
    y = np.array([[1e4, 1e4 + np.log(3)]])
    _, net = _run(CalcOutputGradientCrossEntropy, y, target=np.array([1]))
    assert net["loss"][1] == pytest.approx(-np.log(3 / 4), rel=1e-8)


@pytest.mark.parametrize(("twin", "y", "arguments"), CASES, ids=NAMES)
def test_a_value_that_is_not_finite_is_remembered(twin: Twin, y: np.ndarray, arguments: Arrays) -> None:
    _, net = _run(twin, y, **arguments)
    assert net["hyper"][8] == 1
    assert net["step"].tolist() == [70, 7, -1, 0]
    y = y.copy()
    y.flat[3] = np.nan
    _, net = _run(twin, y, **arguments)
    assert net["hyper"][8] == 0
    assert net["step"].tolist() == [70, 7, 7, 0]
