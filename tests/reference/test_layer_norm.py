from __future__ import annotations

import numpy as np
import pytest

from neuronet.reference import layer_norm as twin

EPS = 1e-3


def _forward(x: np.ndarray, gamma: np.ndarray, beta: np.ndarray) -> dict[str, np.ndarray]:
    made = {"mean": np.empty(len(x)), "scale": np.empty(len(x))}
    twin.NormalizeStatistics(x=x, **made, eps=EPS)
    y = np.empty_like(x)
    twin.Normalize(x=x, gamma=gamma, beta=beta, y=y, **made)
    return made | {"y": y}


def test_forward_normalises_each_row() -> None:
    x = np.array([[1.0, 2.0, 3.0], [5.0, 5.0, 5.0]])
    y = _forward(x, np.array([1.0, 2.0, -1.0]), np.array([0.0, 0.5, 0.0]))["y"]
    edge = 1 / np.sqrt(2 / 3 + EPS)
    np.testing.assert_allclose(y, [[-edge, 0.5, -edge], [0, 0.5, 0]], atol=1e-15)


@pytest.mark.parametrize(("rows", "window", "chunks"), [(1, 2, 1), (7, 5, 3), (9, 4, 5), (6, 11, 6)])
def test_backward_is_the_derivative_of_forward(rows: int, window: int, chunks: int) -> None:
    rng, eps = np.random.default_rng(0), 1e-5
    arrays = {
        "x": 2 * rng.standard_normal((rows, window)) + 1,
        "gamma": rng.standard_normal(window),
        "beta": rng.standard_normal(window),
    }
    dy = rng.standard_normal((rows, window))
    made = _forward(**arrays)
    del made["y"]
    gradients = {name: np.zeros_like(values) for name, values in arrays.items()}
    twin_sums, parts = np.empty((2, rows)), np.empty((chunks, 2, window))
    known = {"x": arrays["x"], "dy": dy, **made}
    twin.NormalizeGradientSums(**known, gamma=arrays["gamma"], sums=twin_sums)
    twin.NormalizeGradient(**known, gamma=arrays["gamma"], sums=twin_sums, dx=gradients["x"])
    twin.NormalizeWeightParts(**known, parts=parts)
    twin.NormalizeWeightGradient(parts=parts, dgamma=gradients["gamma"], dbeta=gradients["beta"])
    for name, gradient in gradients.items():
        direction = rng.standard_normal(gradient.shape)
        ends = [
            (_forward(**(arrays | {name: arrays[name] + s * eps * direction}))["y"] * dy).sum()
            for s in (1, -1)
        ]
        np.testing.assert_allclose(
            (ends[0] - ends[1]) / (2 * eps), (gradient * direction).sum(), rtol=1e-7, err_msg=name
        )
