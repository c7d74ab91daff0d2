from __future__ import annotations

import numpy as np
import pytest

from neuronet.reference import causal_conv

EPS = 1e-5


def _forward(rows: np.ndarray, tail: np.ndarray, w: np.ndarray, b: np.ndarray, offset: int) -> np.ndarray:
    y = np.full((*rows.shape[:2], w.shape[1]), np.nan)
    causal_conv.CausalConv(rows=rows, tail=tail, w=w, b=b, y=y, offset=offset)
    return y


def test_last_tap_is_the_present_step() -> None:
    rows = np.array([[[7.0, 1.0], [7.0, 2.0]]])
    tail, w = np.array([[[30.0], [20.0], [10.0]]]), np.array([[1.0], [10.0], [100.0], [1000.0]])
    z = np.array([30 + 200 + 1000 + 1000, 20 + 100 + 100 + 2000]) * 1e-3 + 0.5
    y = _forward(rows, tail, 1e-3 * w, np.array([0.5]), offset=1)
    np.testing.assert_allclose(y.ravel(), z / (1 + np.exp(-z)), rtol=1e-14)
    causal_conv.CausalConvKeep(rows=rows, tail=tail, offset=1)
    np.testing.assert_array_equal(tail.ravel(), [10, 1, 2])


@pytest.mark.parametrize("length", [1, 2, 3, 5, 64, 66, 130])
def test_backward_is_the_derivative_of_forward(length: int) -> None:
    rng = np.random.default_rng(0)
    given = {
        "rows": rng.standard_normal((2, length, 5)),
        "tail": rng.standard_normal((2, 3, 3)),
        "w": rng.standard_normal((4, 3)),
        "b": rng.standard_normal(3),
    }
    dy, stretches = rng.standard_normal((2, length, 3)), -(-length // 64)
    drows, w_parts, b_parts = (
        np.zeros((2, length, 5)),
        np.empty((2, stretches, 4, 3)),
        np.empty((2, stretches, 3)),
    )
    causal_conv.CausalConvGradient(**given, dy=dy, drows=drows, w_parts=w_parts, b_parts=b_parts, offset=1)
    assert not drows[:, :, [0, 4]].any()
    gradients = {"rows": drows, "w": w_parts.sum((0, 1)), "b": b_parts.sum((0, 1))}
    for name, gradient in gradients.items():
        direction = rng.standard_normal(gradient.shape)
        ends = [
            (_forward(**(given | {name: given[name] + s * EPS * direction}), offset=1) * dy).sum()
            for s in (1, -1)
        ]
        expected = (ends[0] - ends[1]) / (2 * EPS)
        np.testing.assert_allclose((gradient * direction).sum(), expected, rtol=1e-7, err_msg=name)
