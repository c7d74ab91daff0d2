from __future__ import annotations

import numpy as np
import pytest

from neuronet.reference import rev_in as twin

EPS = 1e-5
BATCH, UNITS, WINDOW, FORECAST = 2, 7, 4, 3


def _normalize(x: np.ndarray, gamma: np.ndarray, beta: np.ndarray) -> dict[str, np.ndarray]:
    made = {"mean": np.empty((BATCH, WINDOW)), "deviation": np.empty((BATCH, WINDOW))}
    twin.RevInStatistics(x=x, **made, eps=EPS)
    y = np.empty_like(x)
    twin.RevInNormalize(x=x, gamma=gamma, beta=beta, y=y, **made)
    return made | {"y": y}


def _arrays() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    return {
        "x": 3 * rng.standard_normal((BATCH, UNITS, WINDOW)) + 1,
        "gamma": np.array([0.7, -1.3, 2.0, -0.4]),
        "beta": rng.standard_normal(WINDOW),
    }


def test_statistics_are_those_of_each_feature_over_time() -> None:
    x = np.zeros((BATCH, 2, WINDOW))
    x[0, :, 1] = 1, 5
    made = _normalize(x, np.full(WINDOW, 3.0), np.full(WINDOW, 0.5))
    assert made["mean"][0].tolist() == [0, 3, 0, 0]
    np.testing.assert_allclose(made["deviation"][0], np.sqrt([EPS, 4 + EPS, EPS, EPS]))
    np.testing.assert_allclose(made["y"][0, :, 1], [0.5 - 3, 0.5 + 3], rtol=1e-5)
    np.testing.assert_array_equal(made["y"][1], 0.5)


def test_denorm_undoes_the_normalisation() -> None:
    arrays = _arrays()
    made = _normalize(**arrays)
    back = np.empty_like(arrays["x"])
    twin.RevInFeedForward(x=back, feature=0, gamma=arrays["gamma"], beta=arrays["beta"], **made)
    np.testing.assert_allclose(back, arrays["x"], rtol=1e-12)


@pytest.mark.parametrize(("feature", "columns"), [(0, WINDOW), (2, 1), (3, 1)])
def test_backward_of_both_directions_together(feature: int, columns: int) -> None:
    """loss = sum(y * dy) + sum(denorm(forecast) * dx): through mean and deviation both reach x."""
    rng, arrays, eps = np.random.default_rng(1), _arrays(), 1e-5
    arrays["forecast"] = rng.standard_normal((BATCH, FORECAST, columns))
    dy = rng.standard_normal((BATCH, UNITS, WINDOW))
    dx = rng.standard_normal((BATCH, FORECAST, columns))

    def loss(x: np.ndarray, gamma: np.ndarray, beta: np.ndarray, forecast: np.ndarray) -> float:
        made = _normalize(x, gamma, beta)
        y, out = made.pop("y"), np.empty_like(forecast)
        twin.RevInFeedForward(y=forecast, x=out, feature=feature, gamma=gamma, beta=beta, **made)
        return float((y * dy).sum() + (out * dx).sum())

    gamma, beta = arrays["gamma"], arrays["beta"]
    made = _normalize(arrays["x"], gamma, beta)
    deviation, known = made["deviation"], {"mean": made["mean"], "deviation": made["deviation"]}
    gradients = {name: np.zeros_like(values) for name, values in arrays.items()}
    weights = {"dgamma": gradients["gamma"], "dbeta": gradients["beta"]}
    through = {"dmean": np.zeros((BATCH, WINDOW)), "ddeviation": np.zeros((BATCH, WINDOW))}
    sums = np.empty((BATCH, 2, WINDOW))
    twin.RevInHiddenGradient(
        dx=dx, deviation=deviation, gamma=gamma, dy=gradients["forecast"], feature=feature
    )
    twin.RevInStatisticsGradient(
        y=arrays["forecast"], dx=dx, gamma=gamma, beta=beta, feature=feature, **through
    )
    twin.RevInDenormWeightGradient(
        deviation=deviation, gamma=gamma, columns=columns, feature=feature, **through, **weights
    )
    twin.RevInGradientSums(x=arrays["x"], dy=dy, sums=sums, **known)
    twin.RevInNormalizeGradient(
        x=arrays["x"], dy=dy, gamma=gamma, sums=sums, dx=gradients["x"], **known, **through
    )
    twin.RevInWeightGradient(sums=sums, **weights)
    for name, gradient in gradients.items():
        direction = rng.standard_normal(gradient.shape)
        ends = [loss(**(arrays | {name: arrays[name] + s * eps * direction})) for s in (1, -1)]
        np.testing.assert_allclose(
            (ends[0] - ends[1]) / (2 * eps), (gradient * direction).sum(), rtol=1e-7, err_msg=name
        )
