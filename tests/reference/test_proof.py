from __future__ import annotations

import numpy as np
import pytest

from neuronet.reference.proof import CalcInputGradientProof, FeedForwardProof


def _forward(x: np.ndarray, window: int, step: int) -> tuple[np.ndarray, np.ndarray]:
    y = np.empty((x.shape[0], (x.shape[1] - window) // step + 1, x.shape[2]))
    index = np.empty(y.shape, np.int32)
    FeedForwardProof(x=x, y=y, index=index, window=window, step=step)
    return y, index


def _gradient(x: np.ndarray, dy: np.ndarray, window: int, step: int) -> np.ndarray:
    dx = np.empty_like(x)
    _, index = _forward(x, window, step)
    CalcInputGradientProof(dy=dy, index=index, dx=dx, window=window, step=step)
    return dx


def test_forward_is_the_largest_of_each_window() -> None:
    y, index = _forward(np.array([1.0, 5, 2, 4, 3, 9]).reshape(1, 6, 1), 3, 2)
    np.testing.assert_array_equal(y.ravel(), [5, 4])  # the sixth unit is in no whole window
    np.testing.assert_array_equal(index.ravel(), [1, 1])


@pytest.mark.parametrize(("window", "step"), [(3, 3), (4, 1), (2, 5), (5, 2), (11, 1)])
def test_backward_is_the_derivative_of_forward(window: int, step: int) -> None:
    rng, eps = np.random.default_rng(0), 1e-6
    x, direction = rng.standard_normal((2, 11, 3)), rng.standard_normal((2, 11, 3))
    dy = rng.standard_normal((2, (11 - window) // step + 1, 3))
    up, down = (_forward(x + e * direction, window, step)[0] for e in (eps, -eps))
    numeric = ((up - down) * dy).sum() / (2 * eps)
    np.testing.assert_allclose((_gradient(x, dy, window, step) * direction).sum(), numeric, rtol=1e-7)


def test_f11_the_first_of_equal_maxima_takes_the_whole_gradient() -> None:
    """Published: every equal maximum gets it, so a flat input counts the gradient several times."""
    dx = _gradient(np.array([7.0, 7, 1, 7]).reshape(1, 4, 1), np.array([[[10.0]]]), 4, 4)
    np.testing.assert_array_equal(dx.ravel(), [10, 0, 0, 0])


def test_gradients_of_overlapping_windows_add() -> None:
    dx = _gradient(np.array([1.0, 5, 2, 5]).reshape(1, 4, 1), np.array([1.0, 10, 100]).reshape(1, 3, 1), 2, 1)
    np.testing.assert_array_equal(dx.ravel(), [0, 11, 0, 100])
