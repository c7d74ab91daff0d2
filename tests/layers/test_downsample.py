from __future__ import annotations

import numpy as np
import pytest

from neuronet.device.base import Device
from neuronet.device.numpy import NumpyDevice
from neuronet.errors import ShapeError, SpecError
from neuronet.layers.downsample import CNeuronDownsampleOCL
from neuronet.net import CNet
from neuronet.testing.gradcheck import gradcheck


@pytest.mark.parametrize("units", [1, 2, 5, 6])
def test_gradients(units: int) -> None:
    gradcheck([CNeuronDownsampleOCL(window_out=3), CNeuronDownsampleOCL(window_out=2)], (units, 2))


@pytest.mark.parametrize("units", [6, 7])
def test_output_is_that_of_the_formula(exact: NumpyDevice, units: int) -> None:
    layer = CNeuronDownsampleOCL(window_out=3)
    net = CNet(input_shape=(units, 2), layers=[layer], batch=2).build(exact, seed=1)
    for p in layer.parameters:
        p.value.write(p.value.read() + 0.1)
    w = {p.name: p.value.read() for p in layer.parameters}
    x = np.random.default_rng(0).standard_normal((2, units, 2))
    front = np.zeros((2, units % 2, 2))
    pairs = np.concatenate([front, x], 1).reshape(2, -1, 4)
    nx = (pairs - pairs.mean(-1, keepdims=True)) / np.sqrt(pairs.var(-1, keepdims=True) + 1e-5)
    expected = (w["norm/gamma"] * nx + w["norm/beta"]) @ w["dense/w"][0].T + w["dense/b"][0]
    np.testing.assert_allclose(net.predict(x), expected, rtol=1e-10)


def test_the_newest_pair_ends_with_the_newest_unit(device: Device) -> None:
    net = CNet(input_shape=(7, 3), layers=[CNeuronDownsampleOCL(window_out=2)]).build(device)
    x = np.random.default_rng(0).standard_normal((1, 7, 3))
    before = net.predict(x)
    assert before.shape == (1, 4, 2)
    x[:, 6] += 1.0
    assert np.flatnonzero((net.predict(x) != before).any((0, 2))).tolist() == [3]


def test_misfits_are_refused(exact: NumpyDevice) -> None:
    with pytest.raises(SpecError, match="window_out=0 is not positive"):
        CNet(input_shape=(4, 2), layers=[CNeuronDownsampleOCL(window_out=0)]).build(exact)
    with pytest.raises(ShapeError, match="is not \\[units, window\\]"):
        CNet(input_shape=(4,), layers=[CNeuronDownsampleOCL(window_out=2)]).build(exact)
