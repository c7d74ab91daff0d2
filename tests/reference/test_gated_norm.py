from __future__ import annotations

import numpy as np
import pytest

from neuronet.reference import gated_norm

EPS = 1e-5


def _forward(x: np.ndarray, rows: np.ndarray, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    scale, y = np.empty(len(x)), np.empty_like(x)
    gated_norm.GatedNorm(x=x, rows=rows, w=w, scale=scale, y=y, eps=1e-2)
    return scale, y


def test_a_unit_is_divided_by_its_root_mean_square() -> None:
    gate = 2 / (1 + np.exp(-2.0))
    _, y = _forward(np.array([[3.0, 4.0]]), np.array([[2.0, 2.0, 9.0]]), np.array([1.0, -2.0]))
    rms = np.sqrt(12.5 * gate**2 + 1e-2)
    np.testing.assert_allclose(y, [[3 * gate / rms, -8 * gate / rms]], rtol=1e-14)


@pytest.mark.parametrize(("count", "window", "chunks"), [(1, 1, 1), (7, 5, 3), (9, 4, 12)])
def test_backward_is_the_derivative_of_forward(count: int, window: int, chunks: int) -> None:
    rng = np.random.default_rng(0)
    given = {
        "x": rng.standard_normal((count, window)),
        "rows": rng.standard_normal((count, window + 2)),
        "w": rng.standard_normal(window),
    }
    scale, y = _forward(**given)
    dy, dx, drows = rng.standard_normal(y.shape), np.empty_like(y), np.zeros_like(given["rows"])
    parts = np.full((chunks, window), np.nan)
    gated_norm.GatedNormGradient(**given, scale=scale, dy=dy, dx=dx, drows=drows, parts=parts)
    assert not drows[:, window:].any()
    for name, gradient in {"x": dx, "rows": drows, "w": parts.sum(0)}.items():
        direction = rng.standard_normal(gradient.shape)
        ends = [
            (_forward(**(given | {name: given[name] + s * EPS * direction}))[1] * dy).sum() for s in (1, -1)
        ]
        expected = (ends[0] - ends[1]) / (2 * EPS)
        np.testing.assert_allclose((gradient * direction).sum(), expected, rtol=1e-7, err_msg=name)
