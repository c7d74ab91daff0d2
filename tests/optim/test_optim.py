from __future__ import annotations

import numpy as np
import pytest

import neuronet as nn


def trajectory(optimizer: nn.Adam | nn.SGD, steps: int) -> list[float]:
    """One weight, fed 1, trained to 0 with loss w^2 (gradient 2w): its values step by step."""
    net = nn.CNet(input_shape=(1,), layers=[nn.CNeuronDenseOCL(neurons=1)], batch=1, optimizer=optimizer)
    net.build(nn.NumpyDevice(np.float64))
    w, b = net.layers[0].parameters
    w.value.write([[1.0]])
    values = []
    for _ in range(steps):
        b.value.write([0.0])  # leave the weight alone
        net.feedForward([[1.0]])
        net.backProp([[0.0]])
        values.append(float(w.value.read()[0, 0]))
    return values


def test_adam_against_the_published_algorithm() -> None:
    w = m = v = 0.0
    w, expected = 1.0, []
    for t in range(1, 6):
        g = 2 * w
        m, v = 0.9 * m + 0.1 * g, 0.99 * v + 0.01 * g * g
        w -= 0.05 * ((m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.99**t)) + 1e-8) + 0.1 * w)
        expected.append(w)
    found = trajectory(nn.Adam(lr=0.05, beta1=0.9, beta2=0.99, l2=0.1), 5)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_sgd_with_momentum_against_the_formula() -> None:
    w, m, expected = 1.0, 0.0, []
    for _ in range(5):
        m = 0.5 * m + 2 * w
        w -= 0.1 * m
        expected.append(w)
    np.testing.assert_allclose(trajectory(nn.SGD(lr=0.1, momentum=0.5), 5), expected, rtol=1e-12)


def test_l1_pulls_towards_zero() -> None:
    found = trajectory(nn.SGD(lr=0.1, momentum=0.0, l1=0.5), 1)
    assert found[0] == pytest.approx(1 - 0.1 * (2 + 0.5))


def test_warmup_cosine() -> None:
    schedule = nn.WarmupCosine(lr=1.0, warmup=4, total=14, final=0.1)
    assert [schedule(s) for s in (0, 1, 3)] == [0.25, 0.5, 1.0]
    assert schedule(9) == pytest.approx(0.1 + 0.9 * 0.5)
    assert schedule(14) == schedule(100) == pytest.approx(0.1)


def test_step_decay() -> None:
    schedule = nn.StepDecay(lr=1.0, every=3, factor=0.1)
    np.testing.assert_allclose([schedule(s) for s in (0, 2, 3, 6)], [1, 1, 0.1, 0.01])


def test_schedule_is_followed_step_by_step() -> None:
    """Adam's first steps have the size of the rate, so the rates are seen in the weights."""
    values = [1.0, *trajectory(nn.Adam(lr=nn.StepDecay(lr=0.01, every=1, factor=0.5)), 3)]
    np.testing.assert_allclose(-np.diff(values), [0.01, 0.005, 0.0025], rtol=0.02)


def test_wrong_settings_are_refused() -> None:
    with pytest.raises(nn.SpecError, match="clip_norm must be positive"):
        nn.Adam(clip_norm=0.0)
    with pytest.raises(nn.SpecError, match="warmup=10 is not below total=10"):
        nn.WarmupCosine(lr=1.0, warmup=10, total=10)
