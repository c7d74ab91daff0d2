"""Errata E6, E11 and GELU: activations whose published backward pass is not their derivative."""

from __future__ import annotations

import numpy as np
import pytest

from neuronet.activations import Activation
from neuronet.device.base import Device
from neuronet.ops import activation as op


def _both(
    device: Device, exact: Device, z: list[float], dy: list[float], act: Activation
) -> list[np.ndarray]:
    """(output, dL/dz) on the device and in float64: [2 devices, 2, n]."""
    found = []
    for d in (device, exact):
        arrays = {"z": d.put(np.array(z)), "dy": d.put(np.array(dy))}
        y, dz = d.array((len(z),)), d.array((len(z),))
        op.forward(arrays["z"], y, activation=act)
        op.backward(arrays["z"] if act.needs_input else y, arrays["dy"], dz, activation=act)
        found.append(np.stack([y.read(), dz.read()]))
    return found


@pytest.mark.parametrize(
    ("act", "z"), [(Activation.TANH, np.arctanh(0.9)), (Activation.SIGMOID, np.log(9.0))]
)
def test_e6_gradients_of_two_branches_may_be_added_before_or_after(
    device: Device, exact: Device, act: Activation, z: float
) -> None:
    """Published: g is clipped so that output + g stays in range. tanh, o = 0.9: 0.019 for 0.2 and for 0.4."""
    slope = {Activation.TANH: 0.19, Activation.SIGMOID: 0.09}[act]
    for _, dz in _both(device, exact, [z, z], [0.2, 0.4], act):
        np.testing.assert_allclose(dz, [0.2 * slope, 0.4 * slope], rtol=1e-5)


def test_e11_softplus_keeps_growing_and_has_its_derivative(device: Device, exact: Device) -> None:
    """Published: softplus(20) = 1, and the slope at -3 is sigmoid(output) = 0.512 where 0.0474 is right."""
    z = [-3.0, 19.9, 20.0, 50.0]
    for y, dz in _both(device, exact, z, [1.0] * 4, Activation.SOFTPLUS):
        np.testing.assert_allclose(y, [0.0485874, 19.9, 20.0, 50.0], rtol=1e-5)
        np.testing.assert_allclose(dz, [0.0474259, 1.0, 1.0, 1.0], rtol=1e-5)


def test_gelu_slope_comes_from_the_pre_activation(device: Device, exact: Device) -> None:
    """Published: sigmoid(5 * output), from the output alone, though two inputs share each negative output."""
    z = [-2.0, -0.5, 0.0, 1.0]
    inner = [np.sqrt(2 / np.pi) * (v + 0.044715 * v**3) for v in z]
    slope = [
        0.5 * (1 + np.tanh(u)) + 0.5 * v / np.cosh(u) ** 2 * np.sqrt(2 / np.pi) * (1 + 3 * 0.044715 * v * v)
        for u, v in zip(inner, z, strict=True)
    ]
    assert slope[0] < 0  # a sigmoid never is
    for _, dz in _both(device, exact, z, [1.0] * 4, Activation.GELU):
        np.testing.assert_allclose(dz, slope, rtol=1e-4)
