from __future__ import annotations

import numpy as np
import pytest

from neuronet.device.base import Device
from neuronet.device.numpy import NumpyDevice
from neuronet.errors import ShapeError, SpecError
from neuronet.layers.sae import CNeuronSAE
from neuronet.net import CNet
from neuronet.testing.gradcheck import gradcheck

A = np.ndarray


def sae(units: int, *windows: int, window_out: int = 3) -> CNeuronSAE:
    return CNeuronSAE(units=units, windows=windows, window_out=window_out, heads=1, dimension=2)


def values(layer: CNeuronSAE) -> int:
    return sum(units * window for units, window in layer.map_shapes())


@pytest.mark.parametrize(("units", "windows"), [(3, (2, 1)), (5, (1, 2, 3)), (9, (2, 1, 1, 2))])
def test_gradients(units: int, windows: tuple[int, ...]) -> None:
    layer = sae(units, *windows)
    gradcheck([layer], (values(layer),), batch=2)


def test_output_has_the_units_of_the_last_map_but_one(device: Device) -> None:
    layer = sae(11, 4, 3, 2, 2, window_out=5)
    assert layer.map_shapes() == [(11, 4), (6, 3), (3, 2), (2, 2)]
    net = CNet(input_shape=(values(layer),), layers=[layer], batch=2).build(device)
    assert net.predict(np.ones((2, values(layer)))).shape == (2, 3, 5)


def test_every_map_reaches_the_output_and_its_gradient_comes_back(exact: NumpyDevice) -> None:
    layer = sae(8, 2, 3, 4)
    net = CNet(input_shape=(values(layer),), layers=[layer], batch=1).build(exact, seed=2)
    net.input.needs_gradient = True  # type: ignore[misc]
    x = np.random.default_rng(0).standard_normal((1, values(layer)))
    net.feedForward(x)
    net.calcGradients(np.zeros((1, *net.target_shape)))
    gradient, start = net.input.gradient.read()[0], 0
    for i, (units, window) in enumerate(layer.map_shapes()):
        found = np.abs(gradient[start : start + units * window].reshape(units, window)).max(1)
        if i == 0:  # of the finest map every second unit is taken, the newest of each pair
            assert (found[0::2] == 0).all()
            found = found[1::2]
        assert (found > 0).all()
        start += units * window


def test_maps_as_layers_give_the_same_as_packed_ones(exact: NumpyDevice) -> None:
    layer = sae(7, 2, 1, 3)
    net = CNet(input_shape=(values(layer),), layers=[layer], batch=2).build(exact, seed=2)
    x = np.random.default_rng(0).standard_normal((2, values(layer)))
    packed = net.predict(x)
    other, start = layer.maps, 0
    for port in other:
        size = int(np.prod(port.output.shape[1:]))
        port.output.write(x[:, start : start + size].reshape(port.output.shape))
        start += size
    layer.forward_maps(other)
    np.testing.assert_array_equal(layer.output.read(), packed)


def test_misfits_are_refused(exact: NumpyDevice) -> None:
    def build(layer: CNeuronSAE, size: int) -> None:
        CNet(input_shape=(size,), layers=[layer]).build(exact)

    with pytest.raises(SpecError, match="is not two or more maps"):
        build(sae(4, 3), 12)
    with pytest.raises(SpecError, match="window_out=1"):
        build(sae(4, 3, 2, window_out=1), 16)
    with pytest.raises(SpecError, match="windows\\[1\\]=0 is not positive"):
        build(sae(4, 3, 0), 12)
    with pytest.raises(ShapeError, match="has not the 16 values of the maps 4x3 \\+ 2x2"):
        build(sae(4, 3, 2), 15)
