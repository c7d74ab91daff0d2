from __future__ import annotations

import math

import numpy as np
import pytest

from neuronet.device.base import Device
from neuronet.errors import ShapeError
from neuronet.layers.conv import CNeuronConvOCL
from neuronet.layers.position_encoder import CNeuronPositionEncoder, positions
from neuronet.net import CNet
from neuronet.testing.gradcheck import gradcheck


@pytest.mark.parametrize(("units", "window"), [(1, 1), (7, 4), (50, 5)])
def test_table_is_that_of_the_transformer_paper(units: int, window: int) -> None:
    table = positions(units, window)
    assert table.shape == (units, window)
    for p in range(units):
        for i in range(0, window, 2):
            angle = p / 10000 ** (i / window)
            assert table[p, i] == pytest.approx(math.sin(angle), abs=1e-12)
            if i + 1 < window:
                assert table[p, i + 1] == pytest.approx(math.cos(angle), abs=1e-12)


def test_every_sample_gets_the_table(device: Device) -> None:
    x = np.random.default_rng(0).standard_normal((3, 6, 5))
    net = CNet(input_shape=(6, 5), layers=[CNeuronPositionEncoder()], batch=3).build(device)
    np.testing.assert_allclose(net.predict(x), x + positions(6, 5), rtol=1e-5, atol=1e-6)
    assert net.layers[0].states == {}  # the table is computed again, never saved


@pytest.mark.parametrize("activation", ["TANH", "LRELU"])
def test_f15_a_layer_below_gets_its_derivative(activation: str) -> None:
    """Published: it takes the gradient of the layer below but reports no activation of its own."""
    below = CNeuronConvOCL(window=4, step=2, window_out=3, activation=activation)
    gradcheck([below, CNeuronPositionEncoder()], (6, 2))


def test_f15_the_gradient_passes_unchanged(device: Device) -> None:
    layers = [CNeuronConvOCL(window=2, step=2, window_out=3), CNeuronPositionEncoder()]
    net = CNet(input_shape=(4, 2), layers=layers, batch=2).build(device)
    net.feedForward(np.ones((2, 4, 2)))
    net.calcGradients(np.ones((2, 4, 3)))
    np.testing.assert_array_equal(net.layers[0].gradient.read(), net.layers[1].gradient.read())


def test_a_line_is_refused() -> None:
    with pytest.raises(ShapeError, match=r"a sample has shape \[7\], expected \[units, window\]"):
        CNeuronPositionEncoder().output_shape((7,))
