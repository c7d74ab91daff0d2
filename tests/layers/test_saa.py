from __future__ import annotations

import numpy as np
import pytest

from neuronet.device.numpy import NumpyDevice
from neuronet.errors import ShapeError, SpecError
from neuronet.layers.conv import CNeuronConvOCL
from neuronet.layers.saa import CNeuronSAA
from neuronet.layers.x_ci_t import CNeuronXCiTOCL
from neuronet.net import CNet
from neuronet.testing.gradcheck import gradcheck


def saa() -> CNeuronSAA:
    return CNeuronSAA(heads=2, dimension=2)


@pytest.mark.parametrize("units", [1, 4, 5])
def test_gradients(units: int) -> None:
    gradcheck([saa()], (units, 3), second_shape=(-(-units // 2), 2), batch=2)
    stack = [CNeuronConvOCL(window=3, step=3, window_out=4), saa()]
    gradcheck(stack, (units, 3), second_shape=(-(-units // 2), 2), batch=2)


@pytest.mark.parametrize("units", [6, 7])
def test_output_is_the_block_over_the_sum(exact: NumpyDevice, units: int) -> None:
    layer, inside = saa(), CNeuronXCiTOCL(heads=2, dimension=2)
    net = CNet(input_shape=(units, 3), layers=[layer], second_shape=(-(-units // 2), 2), batch=2)
    net.build(exact, seed=1)
    w = {p.name: p.value.read() for p in layer.parameters}
    alone = CNet(input_shape=(units, 3), layers=[inside], batch=2).build(exact)
    for p in inside.parameters:
        p.value.write(w[f"block/{p.name}"])
    rng = np.random.default_rng(0)
    x, coarse = rng.standard_normal((2, units, 3)), rng.standard_normal((2, -(-units // 2), 2))
    two = (coarse @ w["up/dense/w"][0].T + w["up/dense/b"][0]).reshape(2, -1, 3)
    expected = alone.predict(x + two[:, -units:])  # the last coarse unit belongs to the last two
    np.testing.assert_allclose(net.predict(x, coarse), expected, rtol=1e-9, atol=1e-12)


def test_maps_that_do_not_fit_are_refused(exact: NumpyDevice) -> None:
    with pytest.raises(SpecError, match="takes a second input, the net has none"):
        CNet(input_shape=(4, 3), layers=[saa()]).build(exact)
    with pytest.raises(ShapeError, match="is not \\[3, any\\], half as many units as 5"):
        CNet(input_shape=(5, 3), layers=[saa()], second_shape=(2, 3)).build(exact)
