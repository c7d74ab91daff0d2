from __future__ import annotations

import numpy as np
import pytest

from neuronet.cases.base import Case
from neuronet.cases.swi_glu import SMALL
from neuronet.device.base import Device
from neuronet.device.numpy import NumpyDevice
from neuronet.ops import swi_glu


@pytest.mark.parametrize("case", SMALL, ids=lambda case: f"{case.op} {case}")
def test_matches_the_twin(device: Device, case: Case) -> None:
    case.check(device)


def test_by_hand() -> None:
    device = NumpyDevice(np.float64)
    z = device.array((1, 2))
    swi_glu.forward(device.put(np.array([[3.0, 5.0, 0.0, np.log(3.0)]])), z)
    np.testing.assert_allclose(z.read(), [[0.0, 5.0 * np.log(3.0) * 0.75]])  # sigmoid(ln 3) = 3/4


def test_gradient_matches_finite_differences() -> None:
    device, rng = NumpyDevice(np.float64), np.random.default_rng(0)
    uv, dz = 2 * rng.standard_normal((3, 10)), rng.standard_normal((3, 5))
    duv = device.array(uv.shape)
    swi_glu.backward(device.put(uv), device.put(dz), duv)

    def loss(values: np.ndarray) -> float:
        z = device.array(dz.shape)
        swi_glu.forward(device.put(values), z)
        return float((z.read() * dz).sum())

    for i in range(uv.size):
        step = np.zeros(uv.size)
        step[i] = 1e-5
        step = step.reshape(uv.shape)
        slope = (loss(uv + step) - loss(uv - step)) / 2e-5
        assert duv.read().flat[i] == pytest.approx(slope, rel=1e-7, abs=1e-9)


def test_large_gates_stay_finite(device: Device) -> None:
    """exp(-v) overflows for v = -100: the gate is then 0, not NaN."""
    uv, z = device.put(np.array([[2.0, 2.0, -100.0, 100.0]])), device.array((1, 2))
    swi_glu.forward(uv, z)
    np.testing.assert_allclose(z.read(), [[0.0, 200.0]], atol=1e-30)
