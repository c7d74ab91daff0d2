from __future__ import annotations

import math

import numpy as np
import pytest

from neuronet.activations import Activation
from neuronet.reference.activation import Activate, DeActivation, activate

FORMULAS = {
    Activation.NONE: lambda z: z,
    Activation.TANH: math.tanh,
    Activation.SIGMOID: lambda z: 1 / (1 + math.exp(-z)),
    Activation.LRELU: lambda z: max(z, 0.01 * z),
    Activation.SOFTPLUS: lambda z: math.log(1 + math.exp(z)),
    Activation.GELU: lambda z: 0.5 * z * (1 + math.tanh(math.sqrt(2 / math.pi) * (z + 0.044715 * z**3))),
    Activation.SILU: lambda z: z / (1 + math.exp(-z)),
    Activation.RELU: lambda z: max(z, 0.0),
}


@pytest.mark.parametrize("activation", Activation)
def test_forward_is_the_formula(activation: Activation) -> None:
    z = np.linspace(-9, 9, 37)
    y = np.empty_like(z)
    Activate(z=z, y=y, activation=activation)
    np.testing.assert_allclose(y, [FORMULAS[activation](v) for v in z], rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("activation", Activation)
def test_backward_is_the_derivative_of_forward(activation: Activation) -> None:
    rng, eps = np.random.default_rng(0), 1e-5
    z, dy = 2 * rng.standard_normal(50), rng.standard_normal(50)
    s = z if activation.needs_input else activate(z, activation)
    dz = np.empty_like(z)
    DeActivation(s=s, dy=dy, dz=dz, activation=activation)
    numeric = dy * (activate(z + eps, activation) - activate(z - eps, activation)) / (2 * eps)
    np.testing.assert_allclose(dz, numeric, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("activation", Activation)
def test_far_arguments_stay_finite(activation: Activation) -> None:
    z = np.array([-1e4, 1e4])
    y, dz = np.empty_like(z), np.empty_like(z)
    Activate(z=z, y=y, activation=activation)
    DeActivation(s=z if activation.needs_input else y, dy=np.ones(2), dz=dz, activation=activation)
    assert np.isfinite(y).all()
    assert np.isfinite(dz).all()
