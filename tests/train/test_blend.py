"""The blend: near 1 for truth, 0 for noise, and never a harmful amount of it."""

from __future__ import annotations

import numpy as np
import pytest

from neuronet.train import blend


def test_a_true_forecast_is_believed_and_an_exaggerated_one_scaled() -> None:
    y = np.random.default_rng(0).normal(size=(4000, 3))
    assert blend.of_returns(y, y) == 1.0
    assert blend.of_returns(2.0 * y, y) == pytest.approx(0.5)
    assert blend.of_returns(0.5 * y, y) == 1.0  # it never exaggerates itself
    assert blend.of_returns(-y, y) == 0.0
    assert blend.of_returns(np.zeros_like(y), y) == 0.0


def test_shrinkage_by_hand() -> None:
    f, y = np.array([[1.0], [1.0], [1.0], [1.0]]), np.array([[1.0], [0.0], [1.0], [0.0]])
    error = np.sqrt(4 * 0.25) / 4  # share 0.5, residuals +-0.5
    assert blend.of_returns(f, y) == pytest.approx(0.5 * (1 - (error / 0.5) ** 2))
    assert blend.of_returns(f[:2], y[:2]) == pytest.approx(0.5 * (1 - (np.sqrt(0.5) / 2 / 0.5) ** 2))


def test_noise_is_not_believed() -> None:
    rng = np.random.default_rng(1)
    shares = [blend.of_returns(rng.normal(size=(500, 4)), rng.normal(size=(500, 4))) for _ in range(50)]
    assert max(shares) < 0.2
    assert np.mean(np.array(shares) == 0.0) > 0.7


def _probabilities(rng: np.random.Generator, n: int, sharpness: float) -> tuple[np.ndarray, np.ndarray]:
    p = rng.dirichlet([sharpness] * 3, size=n)
    y = (rng.uniform(size=(n, 1)) > p.cumsum(axis=1)).sum(axis=1)
    return p, y


def test_calibrated_probabilities_are_believed() -> None:
    p, y = _probabilities(np.random.default_rng(2), 5000, 1.0)
    base = np.bincount(y, minlength=3) / len(y)
    assert blend.of_probabilities(p, base, y, 4) > 0.9


def test_probabilities_of_noise_are_not() -> None:
    rng = np.random.default_rng(3)
    p, _ = _probabilities(rng, 2000, 5.0)
    y = rng.integers(0, 3, size=2000)
    assert blend.of_probabilities(p, np.full(3, 1 / 3), y, 12) == 0.0


def test_half_true_probabilities_give_the_best_share() -> None:
    rng = np.random.default_rng(4)
    p, _ = _probabilities(rng, 40_000, 1.0)
    mixed = 0.5 * p + 0.5 / 3
    y = (rng.uniform(size=(len(p), 1)) > mixed.cumsum(axis=1)).sum(axis=1)
    assert blend.of_probabilities(p, np.full(3, 1 / 3), y, 1) == pytest.approx(0.5, abs=0.02)


def test_a_baseline_that_is_the_net_needs_none_of_it() -> None:
    base = np.array([0.2, 0.3, 0.5])
    y = np.array([0, 1, 2, 2])
    assert blend.of_probabilities(np.tile(base, (4, 1)), base, y, 1) == 0.0
