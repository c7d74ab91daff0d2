"""Ten losses of a tiny seeded training, kept as numbers: a change of any kernel or rule shows here."""

from __future__ import annotations

import numpy as np

import neuronet as nn
from neuronet.device.base import Device

GOLDEN = [
    0.6823432,
    0.5985163,
    0.5269297,
    0.461655,
    0.4008749,
    0.3441662,
    0.291742,
    0.2441109,
    0.2019771,
    0.1657883,
]


def losses(device: Device) -> list[float]:
    rng = np.random.default_rng(0)
    x = rng.standard_normal((16, 12, 3))
    t = np.tanh(x.sum((1, 2)))[:, None] * [1.0, -0.5]
    layers = [
        nn.CNeuronConvOCL(window=9, step=3, window_out=5, activation="GELU"),
        nn.CNeuronDenseOCL(neurons=8, activation="TANH"),
        nn.CNeuronDenseOCL(neurons=2),
    ]
    net = nn.CNet(input_shape=(12, 3), layers=layers, batch=16, optimizer=nn.Adam(lr=0.01)).build(
        device, seed=1
    )
    found = []
    for _ in range(10):
        net.feedForward(x)
        found.append(net.backProp(t))
    return found


def test_losses_are_the_known_ones(device: Device) -> None:
    np.testing.assert_allclose(losses(device), GOLDEN, rtol=1e-4)


def test_losses_on_numpy_are_the_known_ones(exact: nn.NumpyDevice) -> None:
    np.testing.assert_allclose(losses(exact), GOLDEN, rtol=1e-4)
