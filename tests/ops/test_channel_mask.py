from __future__ import annotations

from typing import get_args

import numpy as np
import pytest

from neuronet.cases.base import Case
from neuronet.cases.channel_mask import SMALL
from neuronet.device.base import Device
from neuronet.device.numpy import NumpyDevice
from neuronet.errors import ShapeError
from neuronet.ops import channel_mask
from neuronet.reference.channel_mask import logistic

A = np.ndarray
every_mode = pytest.mark.parametrize("mode", get_args(channel_mask.Mode))


@pytest.mark.parametrize("case", SMALL, ids=lambda case: f"{case.op} {case}")
def test_kernel_matches_its_twin(device: Device, case: Case) -> None:
    case.check(device)


def draw(
    device: Device, z: A, mode: channel_mask.Mode = "sample", *, key: int = 7, step: int = 3, tau: float = 1.0
) -> tuple[A, A]:
    """y and mask."""
    y, mask = device.array(z.shape), device.array(z.shape)
    counters = device.put([key]), device.put([step, 0, 0, 0])
    channel_mask.forward(device.put(z * 1.0), *counters, y, mask, mode=mode, tau=tau)
    return y.read(), mask.read()


def gradient(device: Device, y: A, dmask: A, mode: channel_mask.Mode = "sample", *, tau: float = 1.0) -> A:
    dz = device.array(y.shape)
    channel_mask.backward(device.put(y), device.put(dmask * 1.0), dz, mode=mode, tau=tau)
    return dz.read()


@pytest.mark.parametrize("tau", [0.5, 2.0])
def test_c17_a_pair_is_open_with_the_probability_sigmoid_of_2z(device: Device, tau: float) -> None:
    """The logits of the two outcomes are z and -z: sigmoid(z), as the code names it, is another number."""
    n, levels = 40_000, np.array([-1.0, -0.3, 0.3, 1.0])
    for at, z in enumerate(levels):
        _, mask = draw(device, np.full((n, 2, 2), z), key=at, tau=tau)
        found = mask[:, [0, 1], [1, 0]].mean(dtype=np.float64)
        right = 1 / (1 + np.exp(-2 * z))
        assert abs(found - right) < 4 * (right * (1 - right) / (2 * n)) ** 0.5
        assert abs(found - 1 / (1 + np.exp(-z))) > 0.05
    assert set(np.unique(mask)) == {0, 1}


@every_mode
def test_c18_saturated_logits_stay_finite(device: Device, mode: channel_mask.Mode) -> None:
    """By way of ln(D / (1 - D)) with D = sigmoid(z), float32 has 1 - D = 0 from z = 17 on, and NaN."""
    z = np.array([[50.0, 50.0, -50.0], [-50.0, 50.0, 1e30], [20.0, -1e30, -50.0]])[None]
    y, mask = draw(device, z, mode)
    assert np.isfinite(y).all()
    np.testing.assert_allclose(mask[0], [[1, 1, 0], [0, 1, 1], [1, 0, 1]], atol=1e-12)
    dz = gradient(device, y, np.ones_like(z), mode)
    assert np.isfinite(dz).all()
    assert np.abs(dz).max() < 1e-3
    published = np.float32(1) / (1 + np.exp(-z.astype(np.float32).clip(-88, 88)))
    with np.errstate(divide="ignore"):
        assert not np.isfinite(np.log(published / (1 - published))).all()


def test_nan_is_not_hidden(device: Device) -> None:
    y, mask = draw(device, np.array([[[0.0, np.nan], [1.0, 0.0]]]))
    assert np.isnan(y[0, 0, 1])
    assert np.isnan(mask[0, 0, 1])


@every_mode
def test_a_channel_always_sees_itself_and_trains_no_logit_for_it(
    device: Device, mode: channel_mask.Mode
) -> None:
    z = np.full((3, 5, 5), -4.0)
    y, mask = draw(device, z, mode)
    np.testing.assert_array_equal(np.diagonal(mask, axis1=1, axis2=2), 1)
    dz = gradient(device, y, np.ones_like(z), mode)
    np.testing.assert_array_equal(np.diagonal(dz, axis1=1, axis2=2), 0)
    assert (dz[:, 0, 1:] > 0).all()


def test_without_training_all_pairs_are_open(device: Device) -> None:
    z = np.zeros((1, 3, 3))
    z[0, 0, 1] = -1e-6
    np.testing.assert_array_equal(draw(device, z, "deterministic")[1], [[[1, 0, 1], [1, 1, 1], [1, 1, 1]]])
    np.testing.assert_allclose(draw(device, z, "expected")[1][0, 1], [0.5, 1, 0.5])


def test_key_and_step_alone_decide_the_draw(device: Device) -> None:
    z = np.zeros((20, 9, 9))
    first = draw(device, z)
    for a, b in zip(first, draw(device, z), strict=True):
        np.testing.assert_array_equal(a, b)
    for other in ({"key": 8}, {"step": 4}):
        assert np.mean(draw(device, z, **other)[1] != first[1]) > 0.3  # type: ignore[arg-type]


def test_noise_is_finite_logistic_and_its_own_for_every_element() -> None:
    n = 200_000
    noise = logistic(n, 7, 3)
    assert np.isfinite(noise).all()
    assert abs(noise.mean()) < 4 * np.pi / (3 * n) ** 0.5
    assert noise.var() == pytest.approx(np.pi**2 / 3, rel=0.02)
    assert np.unique(noise[:1000]).size == 1000


@every_mode
@pytest.mark.parametrize("tau", [0.7, 1.0, 2.5])
def test_backward_is_the_derivative_of_y(exact: NumpyDevice, mode: channel_mask.Mode, tau: float) -> None:
    """Every element by central differences, in float64; y takes the place of the draw."""
    rng = np.random.default_rng(0)
    z, dmask = rng.standard_normal((2, 3, 5, 5))
    y, _ = draw(exact, z, mode, tau=tau)
    ends = [draw(exact, z + s, mode, tau=tau)[0] for s in (1e-5, -1e-5)]
    expected = (ends[0] - ends[1]) / 2e-5 * dmask * (1 - np.eye(5))
    found = gradient(exact, y, dmask, mode, tau=tau)
    assert np.abs(found - expected).max() <= 1e-6 * np.abs(expected).max()


def test_what_makes_no_sense_is_refused(device: Device) -> None:
    counters = device.put([0]), device.put([0, 0, 0, 0])
    z, square = device.array((2, 3, 4)), device.array((2, 3, 3))
    with pytest.raises(ShapeError, match=r"\[2, 3, 4\] are not \[rows, units, units\]"):
        channel_mask.forward(z, *counters, z, z, mode="sample")
    with pytest.raises(ShapeError, match="tau=0 is not above 0"):
        channel_mask.forward(square, *counters, square, square, mode="sample", tau=0)
