from __future__ import annotations

import numpy as np

from neuronet.reference.soft_max import SoftMax_FeedForward, SoftMax_HiddenGradient


def _soft_max(x: np.ndarray) -> np.ndarray:
    y = np.empty_like(x)
    SoftMax_FeedForward(x=x, y=y)
    return y


def test_forward_is_the_definition_and_does_not_overflow() -> None:
    x = np.random.default_rng(0).standard_normal((4, 7))
    np.testing.assert_allclose(_soft_max(x), np.exp(x) / np.exp(x).sum(axis=1, keepdims=True), rtol=1e-14)
    np.testing.assert_allclose(_soft_max(x + 1e4), _soft_max(x), rtol=1e-10)


def test_backward_is_the_derivative_of_forward() -> None:
    rng, eps = np.random.default_rng(0), 1e-5
    x, dy, direction = (rng.standard_normal((4, 7)) for _ in range(3))
    dx = np.empty_like(x)
    SoftMax_HiddenGradient(y=_soft_max(x), dy=dy, dx=dx)
    numeric = ((_soft_max(x + eps * direction) - _soft_max(x - eps * direction)) * dy).sum() / (2 * eps)
    np.testing.assert_allclose((dx * direction).sum(), numeric, rtol=1e-7)
