from __future__ import annotations

import numpy as np
import pytest

import neuronet as nn
from neuronet.losses.base import make_loss


def value_and_gradient(loss: nn.Mse, y: list, target: list) -> tuple[float, np.ndarray]:
    """Through a net of one identity-like layer would hide the loss: call it on arrays."""
    device = nn.NumpyDevice(np.float64)
    loss.bind(device)
    out, t = device.put(np.array(y, float)), device.put(np.array(target))
    dy, total = device.array(out.shape), device.array((2,))
    hyper, step = device.put(np.ones(9) * 1.0), device.array((4,), np.int32)
    loss.apply(out, t, dy, total, hyper, step)
    value = total.read()
    assert value[0] == pytest.approx(value[1] * len(y))
    return float(value[1]), dy.read()


def test_mse_by_hand() -> None:
    value, gradient = value_and_gradient(nn.Mse(), [[1.0, 2.0], [0.0, -1.0]], [[0.0, 2.0], [2.0, 0.0]])
    assert value == pytest.approx((1 + 0 + 4 + 1) / 4)
    np.testing.assert_allclose(gradient, [[0.5, 0.0], [-1.0, -0.5]])


def test_mae_by_hand() -> None:
    value, gradient = value_and_gradient(nn.Mae(), [[1.0, 2.0], [0.0, -1.0]], [[0.0, 2.0], [2.0, 0.0]])
    assert value == pytest.approx((1 + 0 + 2 + 1) / 4)
    np.testing.assert_allclose(gradient, [[0.25, 0.0], [-0.25, -0.25]])


def test_huber_by_hand() -> None:
    value, gradient = value_and_gradient(nn.Huber(delta=1.0), [[0.5], [3.0]], [[0.0], [0.0]])
    assert value == pytest.approx((0.125 + 2.5) / 2)
    np.testing.assert_allclose(gradient, [[0.25], [0.5]])


def test_quantile_by_hand() -> None:
    value, gradient = value_and_gradient(nn.Quantile(levels=(0.1, 0.9)), [[[1.0, 1.0]]], [[3.0]])
    assert value == pytest.approx((0.1 * 2 + 0.9 * 2) / 2)
    np.testing.assert_allclose(gradient, [[[-0.05, -0.45]]])


def test_quantile_minimum_is_the_quantile() -> None:
    sample = np.random.default_rng(0).standard_normal(999)
    grid = np.linspace(-2, 2, 401)
    losses = [
        value_and_gradient(
            nn.Quantile(levels=(0.8,)), np.full((999, 1, 1), q).tolist(), sample[:, None].tolist()
        )[0]
        for q in grid
    ]
    assert grid[int(np.argmin(losses))] == pytest.approx(np.quantile(sample, 0.8), abs=0.02)


def test_cross_entropy_by_hand() -> None:
    value, gradient = value_and_gradient(nn.CrossEntropy(), [[0.0, 0.0], [0.0, np.log(3)]], [0, 1])
    assert value == pytest.approx((np.log(2) + np.log(4 / 3)) / 2)
    np.testing.assert_allclose(gradient, [[-0.25, 0.25], [0.125, -0.125]])


def test_cross_entropy_of_huge_logits_is_finite() -> None:
    value, gradient = value_and_gradient(nn.CrossEntropy(), [[1000.0, -1000.0]], [1])
    assert value == pytest.approx(2000.0)
    np.testing.assert_allclose(gradient, [[1.0, -1.0]])


def test_names_and_specs() -> None:
    assert isinstance(make_loss("cross_entropy"), nn.CrossEntropy)
    assert make_loss({"class": "Huber", "delta": 0.3}).delta == 0.3  # type: ignore[attr-defined]
    with pytest.raises(nn.SpecError, match="not all between 0 and 1"):
        nn.Quantile(levels=(0.5, 1.0))
    with pytest.raises(nn.SpecError, match=r"does not hold 3 levels"):
        nn.Quantile().target_shape((4,))
    assert nn.Quantile().target_shape((12,)) == (4,)
    assert nn.Quantile().target_shape((12, 3)) == (12,)
