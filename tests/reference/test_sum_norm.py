from __future__ import annotations

import numpy as np
import pytest

from neuronet.reference import sum_norm

EPS = 1e-6


@pytest.mark.parametrize("window", [2, 5, 9])
def test_backward_is_the_derivative_of_forward(window: int) -> None:
    rng = np.random.default_rng(0)
    shape = (3, window)
    a, b, dy, along = (rng.standard_normal(shape) for _ in range(4))
    weights = {"gamma": rng.standard_normal(window), "beta": rng.standard_normal(window)}
    made = {name: np.empty(shape) for name in ("sum", "y")} | {n: np.empty(3) for n in ("mean", "scale")}

    def loss(a: np.ndarray) -> float:
        sum_norm.SumNormalize(a=a, b=b, **weights, **made, eps=1e-3)
        return float((made["y"] * dy).sum() + (made["sum"] * along).sum())

    loss(a)
    dsum, (mean, scale) = np.empty(shape), (made["mean"].copy(), made["scale"].copy())
    given = {"sum": a + b, "dy": dy, "mean": mean, "scale": scale, "gamma": weights["gamma"]}
    sum_norm.SumNormalizeGradient(**given, dshortcut=along, dsum=dsum)
    for i in range(a.size):
        step = np.zeros(a.size)
        step[i] = EPS
        numeric = (loss(a + step.reshape(shape)) - loss(a - step.reshape(shape))) / (2 * EPS)
        assert abs(numeric - dsum.flat[i]) < 1e-7


def test_a_sum_of_1_2_3_is_normalised_and_its_gradient_known() -> None:
    made = {name: np.empty((1, 3)) for name in ("sum", "y")} | {n: np.empty(1) for n in ("mean", "scale")}
    a, ones = np.array([[1.0, 0, 1]]), np.ones(3)
    sum_norm.SumNormalize(a=a, b=np.array([[0.0, 2, 2]]), gamma=ones, beta=0 * ones, **made, eps=0.0)
    np.testing.assert_allclose(made["y"], [[-(1.5**0.5), 0, 1.5**0.5]])
    del made["y"]
    dsum, zeros = np.empty((1, 3)), np.zeros((1, 3))
    sum_norm.SumNormalizeGradient(**made, dy=np.array([[1.0, 0, 0]]), gamma=ones, dshortcut=zeros, dsum=dsum)
    np.testing.assert_allclose(dsum, [[0.204124, -0.408248, 0.204124]], atol=1e-6)
