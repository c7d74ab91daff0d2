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


def test_policy_by_hand() -> None:
    """Positions 0.5, -0.5, 0.5: the change into row 1 costs 0.2, into row 2 nothing: a gap."""
    y = np.arctanh([0.5, -0.5, 0.5])
    target = [[1.0, 0.1, 1.0], [2.0, 0.2, 1.0], [-4.0, 0.4, 0.0]]
    value, gradient = value_and_gradient(nn.Policy(), y[:, None].tolist(), target)
    assert value == pytest.approx((0.2 * 1.0 - (0.5 * 1 - 0.5 * 2 - 0.5 * 4)) / 3)
    dp = np.array([-1.0 + 0.2, -2.0 - 0.2, 4.0])
    np.testing.assert_allclose(gradient[:, 0], dp * 0.75 / 3)


def test_policy_gradient_by_differences() -> None:
    rng = np.random.default_rng(0)
    y = rng.standard_normal((9, 1))
    target = np.stack([rng.standard_normal(9), rng.random(9), rng.random(9) < 0.7], axis=1).tolist()
    _, gradient = value_and_gradient(nn.Policy(), y.tolist(), target)
    for i in range(9):
        sides = []
        for h in (1e-6, -1e-6):
            moved = y.copy()
            moved[i] += h
            sides.append(value_and_gradient(nn.Policy(), moved.tolist(), target)[0])
        assert gradient[i, 0] == pytest.approx((sides[0] - sides[1]) / 2e-6, abs=1e-8)


def test_policy_needs_one_output() -> None:
    layers = [nn.CNeuronDenseOCL(neurons=2)]
    with pytest.raises(nn.SpecError, match=r"output \[2\] is not one value"):
        nn.CNet(input_shape=(3,), layers=layers, loss="policy").build(nn.NumpyDevice())


def test_action_by_hand() -> None:
    """Row 0: p = 1/4, 1/4, 1/2 and buy came; errors 0.5 and -3. Row 1: p all 1/3 and sell came; no errors."""
    y = [[0.0, 0.0, np.log(2), 1.5, 0.0], [7.0, 7.0, 7.0, 2.0, 1.0]]
    target = [[2.0, 1.0, 3.0], [0.0, 2.0, 1.0]]
    value, gradient = value_and_gradient(nn.Action(weight=0.5, delta=2.0), y, target)
    assert value == pytest.approx((np.log(2) + np.log(3) + 0.5 * (0.125 + 2.0 * (3 - 1)) / 2) / 2)
    np.testing.assert_allclose(gradient[0], [0.125, 0.125, -0.25, 0.5 * 0.5 / 4, 0.5 * -2.0 / 4])
    np.testing.assert_allclose(gradient[1], [-1 / 3, 1 / 6, 1 / 6, 0.0, 0.0], atol=1e-15)


def test_action_gradient_by_differences() -> None:
    rng = np.random.default_rng(0)
    y = rng.standard_normal((4, 5)) * 2.0
    target = np.column_stack([[0, 1, 2, 2], rng.standard_normal((4, 2))]).tolist()
    loss = nn.Action(weight=0.7, delta=0.9)
    _, gradient = value_and_gradient(loss, y.tolist(), target)
    for i in np.ndindex(4, 5):
        sides = []
        for h in (1e-6, -1e-6):
            moved = y.copy()
            moved[i] += h
            sides.append(value_and_gradient(loss, moved.tolist(), target)[0])
        assert gradient[i] == pytest.approx((sides[0] - sides[1]) / 2e-6, abs=1e-8)


def test_action_without_weight_is_cross_entropy() -> None:
    y = np.random.default_rng(1).standard_normal((6, 5))
    classes = [0, 1, 2, 2, 1, 0]
    rows = np.column_stack([classes, np.full((6, 2), 9.0)]).tolist()
    value, gradient = value_and_gradient(nn.Action(weight=0.0), y.tolist(), rows)
    want, slopes = value_and_gradient(nn.CrossEntropy(), y[:, :3].tolist(), classes)
    assert value == pytest.approx(want, rel=1e-12)
    np.testing.assert_allclose(gradient[:, :3], slopes, rtol=1e-12)
    np.testing.assert_array_equal(gradient[:, 3:], 0.0)


def test_action_refuses_other_outputs_and_bad_numbers() -> None:
    layers = [nn.CNeuronDenseOCL(neurons=3)]
    with pytest.raises(nn.SpecError, match=r"output \[3\] is not five values"):
        nn.CNet(input_shape=(3,), layers=layers, loss="action").build(nn.NumpyDevice())
    with pytest.raises(nn.SpecError, match=r"weight cannot be -1"):
        nn.Action(weight=-1.0)
    with pytest.raises(nn.SpecError, match=r"weight cannot be nan"):
        nn.Action(weight=float("nan"))
    with pytest.raises(nn.SpecError, match=r"delta must be positive, got 0"):
        nn.Action(delta=0.0)
