from __future__ import annotations

import numpy as np
import pytest

from neuronet.reference.conv import (
    CalcHiddenGradientConv,
    FeedForwardConv,
    UpdateWeightsConvAdam,
    WeightGradientConv,
)

#        length window step: overlapping, side by side, with holes, with a rest
SIZES = [(11, 4, 3), (12, 4, 4), (14, 3, 5), (13, 4, 2), (7, 1, 1), (9, 9, 9)]


def _arrays(length: int, window: int, step: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    units = (length - window) // step + 1
    shapes = {"x": (2, 3, length), "w": (3, 5, window), "b": (3, 5), "dz": (2, 3, units, 5)}
    return {name: rng.standard_normal(shape) for name, shape in shapes.items()}


def test_forward_is_the_sum_over_each_window() -> None:
    arrays = _arrays(13, 4, 2)
    x, w, b, y = arrays["x"], arrays["w"], arrays["b"], np.empty_like(arrays["dz"])
    FeedForwardConv(x=x, w=w, b=b, y=y, step=2, activation=-1)
    for n, v, u, f in np.ndindex(*y.shape):
        expected = b[v, f] + sum(x[n, v, 2 * u + k] * w[v, f, k] for k in range(4))
        np.testing.assert_allclose(y[n, v, u, f], expected, rtol=1e-12)


@pytest.mark.parametrize(("length", "window", "step"), SIZES)
def test_backward_is_the_derivative_of_forward(length: int, window: int, step: int) -> None:
    rng, arrays = np.random.default_rng(1), _arrays(length, window, step)
    dz = arrays.pop("dz")
    gradients = {name: np.zeros_like(value) for name, value in arrays.items()}
    CalcHiddenGradientConv(dz=dz, w=arrays["w"], dx=gradients["x"], step=step)
    WeightGradientConv(x=arrays["x"], dz=dz, dw=gradients["w"], db=gradients["b"], step=step)

    def loss(**values: np.ndarray) -> float:
        y = np.empty_like(dz)
        FeedForwardConv(**values, y=y, step=step, activation=-1)
        return float((y * dz).sum())

    for name, gradient in gradients.items():
        direction, eps = rng.standard_normal(gradient.shape), 1e-5
        up = loss(**(arrays | {name: arrays[name] + eps * direction}))
        down = loss(**(arrays | {name: arrays[name] - eps * direction}))
        np.testing.assert_allclose(
            (up - down) / (2 * eps), (gradient * direction).sum(), rtol=1e-7, err_msg=name
        )


def test_inputs_that_no_window_reaches_get_gradient_zero() -> None:
    arrays = _arrays(14, 3, 5)
    dx = np.full_like(arrays["x"], np.nan)
    CalcHiddenGradientConv(dz=arrays["dz"], w=arrays["w"], dx=dx, step=5)
    assert not dx[:, :, [3, 4, 8, 9, 13]].any()
    assert dx[:, :, [0, 1, 2, 5, 6, 7, 10, 11, 12]].all()


def test_update_is_adam_of_the_gradient() -> None:
    arrays = _arrays(13, 4, 2)
    hyper = np.array([1e-2, 0.9, 0.99, 1e-8, 1, 1, 0, 0, 1])
    w, b = arrays["w"].copy(), arrays["b"].copy()
    w_m, w_v, b_m, b_v = (np.zeros_like(a) for a in (w, w, b, b))
    dw, db = np.zeros_like(w), np.zeros_like(b)
    WeightGradientConv(x=arrays["x"], dz=arrays["dz"], dw=dw, db=db, step=2)
    UpdateWeightsConvAdam(
        x=arrays["x"], dz=arrays["dz"], w=w, b=b, w_m=w_m, w_v=w_v, b_m=b_m, b_v=b_v, hyper=hyper, step=2
    )
    np.testing.assert_allclose(w_m, 0.1 * dw, rtol=1e-12)
    np.testing.assert_allclose(b_v, 0.01 * db**2, rtol=1e-12)
    np.testing.assert_allclose(w, arrays["w"] - 1e-2 * 0.1 * dw / (0.1 * np.abs(dw) + 1e-8), rtol=1e-12)
