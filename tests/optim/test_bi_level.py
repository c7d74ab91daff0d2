"""BiLevel: plain Adam for the body, sums of gradients for slow parameters; resumed bit for bit."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest

import neuronet as nn
from neuronet.device.base import Device
from neuronet.device.numpy import NumpyDevice
from neuronet.fitting.fit import fit
from neuronet.optim.schedules import Halving


class SlowBias(nn.CNeuronDenseOCL):
    """A dense layer whose bias is slow."""

    def allocate(self, input_shape: tuple[int, ...], rng: np.random.Generator) -> None:
        super().allocate(input_shape, rng)
        self.b.slow = True

    def updateInputWeights(self, prev: Any, optimizer: Any, second: Any = None) -> None:
        nn.layers.base.CNeuronBaseOCL.updateInputWeights(self, prev, optimizer, second)


def make(device: Device, **fields: Any) -> nn.CNet:
    optimizer = nn.BiLevel(**{"lr": 0.01, "slow_lr": 0.1, "every": 3} | fields)
    layers = [SlowBias(neurons=2), nn.CNeuronDenseOCL(neurons=1)]
    return nn.CNet(input_shape=(3,), layers=layers, batch=4, optimizer=optimizer).build(device, seed=1)


def bias(net: nn.CNet) -> np.ndarray:
    return net.layers[0].b.value.read()


@pytest.mark.parametrize("slow_first", [False, True])
def test_slow_parameters_take_a_step_for_the_sum_of_gradients(device: Device, slow_first: bool) -> None:
    """By hand: Adam's first step is lr * g / |g|, its second one follows from both sums."""
    net = make(device, slow_first=slow_first)
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((24, 3)), rng.standard_normal((24, 1))
    before, sums, total = bias(net), [], np.zeros(2)

    def seen(done: int) -> None:
        """The gradient that the step added, from a twin net with the same weights."""
        twin = make(NumpyDevice(np.float64))
        twin.set_arrays({k: v for k, v in net.arrays().items() if not k.startswith("optimizer/")})
        twin.feedForward(x[4 * done : 4 * done + 4])
        twin.calcGradients(y[4 * done : 4 * done + 4])
        total[:] += twin.layers[0].b.gradient.read()

    values, last = [], np.zeros(2)
    for i in range(6):
        seen(i)
        if i % 3 == 2:
            sums.append(total.copy() if not slow_first else last.copy())
            total[:] = 0 if not slow_first else total - last
        last = total.copy()
        fit(net, x[4 * i : 4 * i + 4], y[4 * i : 4 * i + 4], epochs=1, patience=None)
        values.append(bias(net))
    for i in (0, 1, 3, 4):  # between the updates nothing moves
        np.testing.assert_array_equal(values[i], before if i < 2 else values[2])
    m, v, w = np.zeros(2), np.zeros(2), before.astype(np.float64)
    for t, (g, at) in enumerate(zip(sums, (2, 5), strict=True), 1):
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
        w = w - 0.1 * (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.999**t)) + 1e-8)
        np.testing.assert_allclose(values[at], w, atol=2e-4)


def test_the_body_moves_as_with_adam(device: Device) -> None:
    """With every=1 and one rate for both, BiLevel is Adam to the bit."""
    x, y = np.random.default_rng(0).standard_normal((2, 40, 3))
    nets = make(device, every=1, slow_lr=0.01), make(device)
    nets[1].optimizer = nn.Adam(lr=0.01)
    nets[1].build(device, seed=1)
    for net in nets:
        fit(net, x, y[:, :1], epochs=3, patience=None, seed=2)
    for name, values in nets[1].arrays().items():
        np.testing.assert_array_equal(nets[0].arrays()[name], values, err_msg=name)


def test_interrupted_training_goes_on_bit_for_bit(device: Device) -> None:
    """Stopped between two slow updates: the gradients that wait for the next one are part of the state."""
    x, y = np.random.default_rng(3).standard_normal((2, 40, 3))
    whole, first, rest = make(device), make(device), make(device)
    fit(whole, x, y[:, :1], epochs=2, patience=None, seed=2)
    asked = iter([False] * 10 + [True] * 99)
    state = fit(first, x, y[:, :1], epochs=1, patience=None, seed=2, stop=lambda: next(asked, True))
    rest.set_arrays(state.last or first.arrays())
    state.stopped = ""
    fit(rest, x, y[:, :1], epochs=2, patience=None, state=state)
    for name, values in whole.arrays().items():
        np.testing.assert_array_equal(rest.arrays()[name], values, err_msg=name)


def test_calc_gradients_starts_afresh(device: Device) -> None:
    net = make(device)
    x, y = np.random.default_rng(5).standard_normal((2, 4, 3))
    net.feedForward(x)
    net.calcGradients(y[:, :1])
    once = net.layers[0].b.gradient.read()
    net.calcGradients(y[:, :1])
    np.testing.assert_array_equal(net.layers[0].b.gradient.read(), once)


@pytest.mark.parametrize("slow_first", [False, True])
def test_gradients_by_hand_are_the_same_where_memory_is_shared(device: Device, slow_first: bool) -> None:
    """As in a callback of fit: what shares memory there is chosen for the order of its steps."""
    x, y = np.random.default_rng(6).standard_normal((2, 4, 5, 4))
    found = []
    for share in (False, True):
        layers = [nn.CNeuronXCiTOCL(heads=2, dimension=3, post_norm=True), SlowBias(neurons=4)]
        optimizer = nn.BiLevel(lr=0.01, slow_lr=0.1, every=2, slow_first=slow_first)
        net = nn.CNet(input_shape=(5, 4), layers=layers, batch=4, optimizer=optimizer).build(device, seed=1)
        with net.sharing() if share else nullcontext():
            net.feedForward(x)
            net.calcGradients(y[:, 0])
            found.append(net.pool.gradients.read())
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize("slow_first", [False, True])
def test_a_step_by_hand_is_a_step_of_fit(device: Device, slow_first: bool) -> None:
    x, y = np.random.default_rng(7).standard_normal((2, 5, 4, 3))
    hand, looped = (make(device, slow_first=slow_first) for _ in range(2))
    for i in range(5):
        hand.feedForward(x[i])
        hand.backProp(y[i, :, :1])
        fit(looped, x[i], y[i, :, :1], epochs=1, patience=None)
    for name, values in looped.arrays().items():
        np.testing.assert_allclose(hand.arrays()[name], values, rtol=1e-6, atol=1e-7, err_msg=name)


def test_halving_by_hand() -> None:
    rate = Halving(lr=0.8, first=0.1, every=3)
    assert [rate(s) for s in (0, 2, 3, 5, 6, 9)] == [0.1, 0.1, 0.8, 0.8, 0.4, 0.2]


def test_bad_fields_are_named() -> None:
    with pytest.raises(nn.SpecError, match="every=0 is not positive"):
        nn.BiLevel(every=0)
    with pytest.raises(nn.SpecError, match="slow_lr must be positive"):
        nn.BiLevel(slow_lr=-1.0)
