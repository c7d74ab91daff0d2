from __future__ import annotations

import numpy as np
import pytest

from neuronet.activations import Activation
from neuronet.reference.activation import activation_gradient
from neuronet.reference.adam import adam
from neuronet.reference.dense import CalcHiddenGradient, FeedForward, UpdateWeightsAdam, WeightGradient


@pytest.mark.parametrize("activation", Activation)
def test_backward_is_the_derivative_of_forward(activation: Activation) -> None:
    rng = np.random.default_rng(0)
    values = {"x": rng.standard_normal((4, 5)), "w": rng.standard_normal((3, 5)), "b": rng.standard_normal(3)}
    weight = rng.standard_normal((4, 3))

    def output(code: int, **arrays: np.ndarray) -> np.ndarray:
        y = np.empty((4, 3))
        FeedForward(**arrays, y=y, activation=code)
        return y

    s = output(Activation.NONE if activation.needs_input else activation, **values)
    dz = weight * activation_gradient(s, activation)
    gradients = {name: np.zeros_like(value) for name, value in values.items()}
    CalcHiddenGradient(dz=dz, w=values["w"], dx=gradients["x"])
    WeightGradient(x=values["x"], dz=dz, dw=gradients["w"], db=gradients["b"])
    for name, gradient in gradients.items():
        direction, eps = rng.standard_normal(gradient.shape), 1e-5
        up = output(activation, **(values | {name: values[name] + eps * direction}))
        down = output(activation, **(values | {name: values[name] - eps * direction}))
        numeric = ((up - down) * weight).sum() / (2 * eps)
        np.testing.assert_allclose(numeric, (gradient * direction).sum(), rtol=1e-7, err_msg=name)


def test_weight_gradient_is_added() -> None:
    x, dz = np.array([[1.0, 2.0]]), np.array([[3.0]])
    dw, db = np.array([[10.0, 20.0]]), np.array([30.0])
    WeightGradient(x=x, dz=dz, dw=dw, db=db)
    np.testing.assert_array_equal(dw, [[13, 26]])
    np.testing.assert_array_equal(db, [33])


def test_update_is_adam_of_the_gradient() -> None:
    rng = np.random.default_rng(0)
    x, dz = rng.standard_normal((4, 5)), rng.standard_normal((4, 3))
    hyper = np.array([1e-2, 0.9, 0.99, 1e-8, 5, 50, 1e-2, 1e-3, 1])
    state = {name: rng.standard_normal((3, 5)) ** 2 for name in ("w", "w_m", "w_v")}
    state |= {name: rng.standard_normal(3) ** 2 for name in ("b", "b_m", "b_v")}
    expected = {name: value.copy() for name, value in state.items()}
    dw, db = np.zeros((3, 5)), np.zeros(3)
    WeightGradient(x=x, dz=dz, dw=dw, db=db)
    adam(expected["w"], expected["w_m"], expected["w_v"], dw, hyper)
    adam(expected["b"], expected["b_m"], expected["b_v"], db, hyper)
    UpdateWeightsAdam(x=x, dz=dz, **state, hyper=hyper)
    for name, value in expected.items():
        np.testing.assert_allclose(state[name], value, rtol=1e-14, err_msg=name)
