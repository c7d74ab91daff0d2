from __future__ import annotations

import numpy as np
import pytest

import neuronet as nn
from neuronet.device.base import Device
from neuronet.errors import ShapeError, SpecError
from neuronet.layers.complex_conv import CNeuronComplexConvOCL
from neuronet.layers.dense import CNeuronDenseOCL
from neuronet.net import CNet
from neuronet.testing.gradcheck import gradcheck


@pytest.mark.parametrize(("window", "step"), [(3, 3), (3, 2), (2, 4)])
def test_gradients(window: int, step: int) -> None:
    below = CNeuronComplexConvOCL(window=2, step=1, window_out=2)
    shown = CNeuronComplexConvOCL(window=window, step=step, window_out=3)
    gradcheck([below, shown, CNeuronDenseOCL(neurons=2)], (5, 2))


def test_output_is_the_complex_product(device: Device) -> None:
    layer = CNeuronComplexConvOCL(window=3, step=2, window_out=4)
    net = CNet(input_shape=(7, 2), layers=[layer], batch=2).build(device, seed=0)
    x = np.random.default_rng(0).standard_normal((3, 7, 2)).astype(np.float32)
    z, w, b = (a[..., 0] + 1j * a[..., 1] for a in (x, layer.w.value.read(), layer.b.value.read()))
    expected = np.stack([z[:, 2 * u : 2 * u + 3] @ w.T + b for u in range(3)], 1)
    found = net.predict(x)
    np.testing.assert_allclose(found[..., 0] + 1j * found[..., 1], expected, atol=1e-6)


def test_a9_a_first_step_moves_each_part_against_its_own_gradient(device: Device) -> None:
    """The published Adam squares complex numbers: for a gradient of i it steps along the real axis.

    Here a gradient of 0 - i leaves the real part alone and raises the imaginary part by the rate.
    """
    layer = CNeuronComplexConvOCL(window=1, step=1, window_out=1)
    net = CNet(input_shape=(1, 2), layers=[layer], optimizer=nn.Adam(lr=0.01), batch=1).build(device, seed=0)
    w, b = layer.w.value.read(), layer.b.value.read()
    x = np.array([[[1.0, 0.0]]])  # z = 1: y = w + b and dL/dw = dL/dy
    y = w[0] + b
    net.feedForward(x)
    net.backProp((y + np.array([0, 1])).reshape(1, 1, 1, 2))
    np.testing.assert_allclose(layer.w.value.read() - w, [[[0, 0.01]]], atol=1e-4)
    np.testing.assert_allclose(layer.b.value.read() - b, [[0, 0.01]], atol=1e-4)


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(SpecError, match="window_out=0 is not positive"):
        CNeuronComplexConvOCL(window=2, step=2, window_out=0).output_shape((4, 2))
    with pytest.raises(ShapeError, match=r"shape \[4, 3\], expected complex numbers \[..., 2\]"):
        CNeuronComplexConvOCL(window=2, step=2, window_out=1).output_shape((4, 3))
    with pytest.raises(ShapeError, match="window=5 is longer than the input, 4 complex numbers"):
        CNeuronComplexConvOCL(window=5, step=2, window_out=1).output_shape((4, 2))
