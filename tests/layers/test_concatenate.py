from __future__ import annotations

import numpy as np
import pytest

from neuronet.activations import Activation
from neuronet.device.base import Device
from neuronet.errors import ShapeError, SpecError
from neuronet.layers.concatenate import CNeuronConcatenate
from neuronet.layers.dense import CNeuronDenseOCL
from neuronet.net import CNet
from neuronet.testing.gradcheck import gradcheck


@pytest.mark.parametrize("activation", [Activation.NONE, Activation.TANH, Activation.GELU])
def test_gradients_of_both_inputs(activation: Activation) -> None:
    layers = [CNeuronConcatenate(neurons=4, activation=activation), CNeuronDenseOCL(neurons=2)]
    gradcheck(layers, (2, 3), second_shape=(5,))


def _net(device: Device, *, split: bool = False) -> CNet:
    layers = [CNeuronConcatenate(neurons=4, activation="SILU"), CNeuronDenseOCL(neurons=2)]
    net = CNet(input_shape=(2, 3), layers=layers, batch=5, second_shape=(5,)).build(device, seed=3)
    net.split_updates = split
    return net


def _samples(rows: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return rng.standard_normal((rows, 2, 3)), rng.standard_normal((rows, 5))


def test_output_is_that_of_a_dense_layer_over_both(device: Device) -> None:
    net, (x, second) = _net(device), _samples(5)
    net.feedForward(x, second)
    layer = net.layers[0]
    assert isinstance(layer, CNeuronConcatenate)
    w, b = layer.w.value.read(), layer.b.value.read()
    assert np.abs(w).max() <= 1 / 12**0.5  # 6 + 5 inputs and the bias
    z = np.hstack([x.reshape(5, 6), second]) @ w.T + b
    np.testing.assert_allclose(layer.output.read(), z / (1 + np.exp(-z)), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("needed", [(True, True), (True, False), (False, True), (False, False)])
def test_only_gradients_that_are_needed_are_written(device: Device, needed: tuple[bool, bool]) -> None:
    net, (x, second) = _net(device), _samples(5)
    assert net.second is not None
    inputs = (net.input, net.second)
    for layer, flag in zip(inputs, needed, strict=True):
        layer.needs_gradient = flag
        layer.gradient.fill(123.0)
    net.feedForward(x, second)
    net.calcGradients(np.ones((5, 2)))
    layer = net.layers[0]
    assert isinstance(layer, CNeuronConcatenate)
    both = layer.pre_gradient.read() @ layer.w.value.read()
    for array, flag, part in zip(inputs, needed, np.split(both, [6], axis=1), strict=True):
        expected = part if flag else np.full_like(part, 123.0)
        np.testing.assert_allclose(array.gradient.read().reshape(5, -1), expected, rtol=1e-4, atol=1e-6)


def test_a_partial_batch_gives_the_same_rows(device: Device) -> None:
    net, (x, second) = _net(device), _samples(5)
    whole = net.predict(x, second)
    np.testing.assert_allclose(net.predict(x[:2], second[:2]), whole[:2], rtol=1e-6, atol=1e-7)


def test_fused_and_split_updates_give_the_same_bits(device: Device) -> None:
    x, second = _samples(5)
    nets = [_net(device, split=flag) for flag in (False, True)]
    for net in nets:
        net.feedForward(x, second)
        net.apply_loss(device.put(np.ones((5, 2))))
        net.optimizer.hyper.write(np.r_[net.optimizer.rates(0), 1.0])
        net.descend()
    for name, values in nets[0].arrays().items():
        np.testing.assert_array_equal(values, nets[1].arrays()[name], err_msg=name)


def test_a_missing_second_input_is_refused(device: Device) -> None:
    with pytest.raises(SpecError, match="takes a second input, the net has none"):
        CNet(input_shape=(3,), layers=[CNeuronConcatenate(neurons=4)])
    composite = CNet(input_shape=(3,), layers=[CNeuronDenseOCL(neurons=1)]).build(device)
    with pytest.raises(ShapeError, match="CNeuronConcatenate: there is no second input"):
        composite.layers[0].inner("inner", CNeuronConcatenate(neurons=4), (3,))
