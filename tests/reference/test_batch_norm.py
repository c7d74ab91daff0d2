from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from neuronet.reference import batch_norm as twin

EPS = 1e-5
Arrays = dict[str, np.ndarray]


def _arrays(batch: int, n: int = 5) -> Arrays:
    rng = np.random.default_rng(0)
    return {
        "x": 3 * rng.standard_normal((batch, n)) + 1,
        "gamma": rng.standard_normal(n),
        "beta": rng.standard_normal(n),
    }


def _check(
    arrays: Arrays, gradients: Arrays, forward: Callable[[Arrays], np.ndarray], dz: np.ndarray
) -> None:
    """Central differences along a random direction, for each array."""
    rng, eps = np.random.default_rng(1), 1e-5
    for name, gradient in gradients.items():
        direction = rng.standard_normal(gradient.shape)
        ends = [(forward(arrays | {name: arrays[name] + s * eps * direction}) * dz).sum() for s in (1, -1)]
        np.testing.assert_allclose(
            (ends[0] - ends[1]) / (2 * eps), (gradient * direction).sum(), rtol=1e-7, err_msg=name
        )


def _forward(arrays: Arrays, mean: np.ndarray, scale: np.ndarray) -> np.ndarray:
    y = np.empty_like(arrays["x"])
    twin.BatchFeedForward(**arrays, mean=mean, scale=scale, y=y, activation=-1)
    return y


def _weights(
    arrays: Arrays, dz: np.ndarray, mean: np.ndarray, scale: np.ndarray
) -> tuple[Arrays, np.ndarray]:
    sums = np.empty((2, dz.shape[1]))
    twin.BatchGradientSums(x=arrays["x"], dz=dz, mean=mean, scale=scale, sums=sums)
    gradients = {name: np.zeros_like(arrays[name]) for name in ("gamma", "beta")}
    twin.WeightGradientBatch(sums=sums, dgamma=gradients["gamma"], dbeta=gradients["beta"])
    return gradients, sums


@pytest.mark.parametrize("batch", [3, 11])
@pytest.mark.parametrize("frozen", [False, True])
def test_backward_of_batch_statistics(batch: int, frozen: bool) -> None:
    arrays = _arrays(batch)
    dz = np.random.default_rng(2).standard_normal((batch, 5))
    given = {"mean": np.full(5, 0.5), "scale": np.full(5, 0.4)}

    def statistics(x: np.ndarray) -> Arrays:
        if frozen:
            return given
        made = {name: np.empty(5) for name in ("mean", "scale")}
        running = {name: np.zeros(5) for name in ("running_mean", "running_variance", "count")}
        twin.BatchStatistics(x=x, **made, **running, batch_size=100, eps=EPS)
        return made

    now = statistics(arrays["x"])
    gradients, sums = _weights(arrays, dz, **now)
    gradients["x"] = np.empty_like(dz)
    share = 0.0 if frozen else 1 / batch
    twin.CalcHiddenGradientBatch(
        x=arrays["x"], dz=dz, **now, gamma=arrays["gamma"], sums=sums, dx=gradients["x"], share=share
    )
    _check(arrays, gradients, lambda a: _forward(a, **statistics(a["x"])), dz)


@pytest.mark.parametrize("count", [1.0, 4.0, 99.0, 250.0])
def test_backward_of_running_statistics(count: float) -> None:
    arrays = {name: values.reshape(-1) for name, values in _arrays(1).items()}
    dz = np.random.default_rng(2).standard_normal(5)

    def statistics(x: np.ndarray) -> Arrays:
        state = {"mean": np.full(5, 0.5), "variance": np.full(5, 7.0), "count": np.full(5, count)}
        scale = np.empty(5)
        twin.RunningStatistics(x=x, **state, scale=scale, batch_size=100, eps=EPS)
        return {"mean": state["mean"], "scale": scale, "count": state["count"]}

    def forward(a: Arrays) -> np.ndarray:
        now = statistics(a["x"])
        return _forward(a, now["mean"], now["scale"])

    now = statistics(arrays["x"])
    dx = np.empty(5)
    twin.CalcHiddenGradientRunning(x=arrays["x"], dz=dz, gamma=arrays["gamma"], **now, dx=dx)
    _check(arrays, {"x": dx}, forward, dz)


def test_batch_statistics_and_how_the_running_ones_follow() -> None:
    rng = np.random.default_rng(0)
    mean, scale, running_mean, running_variance = (np.zeros(3) for _ in range(4))
    count, seen = np.zeros(3), []
    for rows, total in ((4, 4), (6, 10), (2, 10), (30, 30)):
        x, before = rng.standard_normal((rows, 3)), running_mean.copy()
        before_variance = running_variance.copy()
        seen.append(x)
        twin.BatchStatistics(
            x=x,
            mean=mean,
            scale=scale,
            running_mean=running_mean,
            running_variance=running_variance,
            count=count,
            batch_size=10,
            eps=EPS,
        )
        np.testing.assert_allclose(mean, x.mean(0))
        np.testing.assert_allclose(scale, 1 / np.sqrt(x.var(0) + EPS))
        weight = rows / total
        np.testing.assert_allclose(running_mean, before + weight * (x.mean(0) - before))
        expected = before_variance + weight * (x.var(0, ddof=1) - before_variance)
        np.testing.assert_allclose(running_variance, expected)
        np.testing.assert_array_equal(count, total)
        if rows == 6:  # until the memory is full it is the mean of all samples
            np.testing.assert_allclose(running_mean, np.concatenate(seen).mean(0))


def test_running_statistics_follow_neuronets_formula() -> None:
    x = np.random.default_rng(0).standard_normal((9, 2)) + 5
    mean, variance, count, scale = np.zeros(2), np.ones(2), np.zeros(2), np.empty(2)
    m, v = np.zeros(2), np.ones(2)
    for i, sample in enumerate(x):
        twin.RunningStatistics(
            x=sample, mean=mean, variance=variance, count=count, scale=scale, batch_size=4, eps=EPS
        )
        b = min(i + 1, 4)
        m = (m * (b - 1) + sample) / b
        v = (v * (b - 1) + (sample - m) ** 2) / b
        np.testing.assert_allclose(mean, m)
        np.testing.assert_allclose(variance, v, atol=1e-15)
        np.testing.assert_allclose(scale, 1 / np.sqrt(v + EPS))
        np.testing.assert_array_equal(count, b)
