from __future__ import annotations

import numpy as np
import pytest

from neuronet.device.base import Device
from neuronet.device.numpy import NumpyDevice
from neuronet.errors import ShapeError, SpecError
from neuronet.layers.conv import CNeuronConvOCL
from neuronet.layers.swi_glu import CNeuronSwiGLUOCL
from neuronet.net import CNet
from neuronet.testing.gradcheck import gradcheck


@pytest.mark.parametrize("rows", [3, 1])
@pytest.mark.parametrize("window_out", [None, 4])
def test_gradients(window_out: int | None, rows: int) -> None:
    below = CNeuronConvOCL(window=2, step=2, window_out=3, activation="TANH")
    gradcheck([below, CNeuronSwiGLUOCL(hidden=5, window_out=window_out)], (4, 2), rows=rows)


def test_output_is_the_formula(device: Device) -> None:
    glu = CNeuronSwiGLUOCL(hidden=7, window_out=2)
    net = CNet(input_shape=(5, 3), layers=[glu], batch=2).build(device, seed=1)
    x = np.random.default_rng(0).standard_normal((2, 5, 3))
    w, b, w_o, b_o = (p.value.read().astype(np.float64) for p in net.pool.parameters)
    both = x @ w.reshape(14, 3).T + b.ravel()
    u, v = both[..., :7], both[..., 7:]
    expected = (u * v / (1.0 + np.exp(-v))) @ w_o.reshape(2, 7).T + b_o.ravel()
    np.testing.assert_allclose(net.predict(x), expected, rtol=1e-5, atol=1e-6)


def test_layers_that_share_buffers_give_what_they_give_alone(exact: NumpyDevice) -> None:
    first, second = CNeuronSwiGLUOCL(hidden=4), CNeuronSwiGLUOCL(hidden=4)
    net = CNet(input_shape=(5, 3), layers=[first, second], batch=2).build(exact, seed=1)
    x = np.random.default_rng(0).standard_normal((2, 5, 3))
    expected = net.predict(x)
    second.share(first)
    np.testing.assert_array_equal(net.predict(x), expected)
    for mine, theirs in ((second.up, first.up), (second.gated, first.gated)):
        assert mine.output.storage is theirs.output.storage
        assert mine.gradient.storage is theirs.gradient.storage


def test_impossible_declarations_are_refused(exact: NumpyDevice) -> None:
    for layer, shape, error in (
        (CNeuronSwiGLUOCL(hidden=0), (4, 3), SpecError),
        (CNeuronSwiGLUOCL(hidden=2, window_out=0), (4, 3), SpecError),
        (CNeuronSwiGLUOCL(hidden=2), (12,), ShapeError),
    ):
        with pytest.raises(error, match="CNeuronSwiGLUOCL"):
            CNet(input_shape=shape, layers=[layer]).build(exact)
