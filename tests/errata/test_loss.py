"""Errata E10 and E23: gradients of the output layer."""

from __future__ import annotations

import numpy as np
import pytest

from neuronet.device.base import Device
from neuronet.layers.dense import CNeuronDenseOCL
from neuronet.net import CNet


def _net(device: Device, activation: str) -> tuple[CNet, CNeuronDenseOCL]:
    layer = CNeuronDenseOCL(neurons=2, activation=activation)
    net = CNet(input_shape=(1,), layers=[layer], batch=1).build(device)
    layer.w.value.write([[1.0], [1.0]])
    layer.b.value.fill(0.0)
    net.feedForward([[0.5]])
    return net, layer


def test_e10_a_larger_error_has_a_larger_gradient(device: Device, exact: Device) -> None:
    """Published: MAX_GRAD = 1e-3 makes every error above it count the same."""
    for d in (device, exact):
        net, layer = _net(d, "NONE")
        net.calcGradients([[0.5 - 0.01, 0.5 - 10.0]])
        np.testing.assert_allclose(layer.b.gradient.read(), [0.01, 10.0], rtol=1e-4)  # d mean(e^2) = 2 e / 2


@pytest.mark.parametrize("activation", ["TANH", "SIGMOID", "LRELU", "SOFTPLUS", "GELU"])
def test_e23_the_output_layer_has_the_derivative_of_its_activation(
    device: Device, exact: Device, activation: str
) -> None:
    """Published: the TANH branch leaves 1 - o^2 out: 0.462 at tanh(0.5), target 0, where 0.363 is right."""
    for d in (device, exact):
        net, layer = _net(d, activation)
        out = net.getResults().astype(float)
        net.calcGradients([[0.0, 0.0]])
        slope = _slope(d, activation)
        np.testing.assert_allclose(layer.b.gradient.read(), out[0] * slope, rtol=1e-3)
        if activation == "TANH":
            np.testing.assert_allclose(layer.b.gradient.read(), 0.363434, rtol=1e-4)


def _slope(device: Device, activation: str) -> float:
    """Difference quotient of the output at 0.5."""
    net, _ = _net(device, activation)
    ends = []
    for x in (0.51, 0.49):
        net.feedForward([[x]])
        ends.append(float(net.getResults()[0, 0]))
    return (ends[0] - ends[1]) / 0.02
