from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from neuronet.device.base import Device
from neuronet.device.numpy import NumpyDevice
from neuronet.errors import SpecError
from neuronet.layers.dense import CNeuronDenseOCL
from neuronet.layers.dropout import CNeuronDropoutOCL
from neuronet.net import CNet
from neuronet.testing.gradcheck import gradcheck

SHAPE = (9, 7)  # 63 values: rows of a batch do not begin at round indices


def _net(device: Device, seed: int = 0, p: float = 0.4) -> CNet:
    layers = [CNeuronDropoutOCL(probability=p), CNeuronDropoutOCL(probability=p), CNeuronDenseOCL(neurons=1)]
    return CNet(input_shape=SHAPE, layers=layers, batch=5).build(device, seed=seed)


def _mask(net: CNet, rows: int = 5) -> np.ndarray:
    net.feedForward(np.ones((rows, *SHAPE)))
    return net.layers[0].output.read()


def test_gradients() -> None:
    layers = [CNeuronDenseOCL(neurons=7, activation="TANH"), CNeuronDropoutOCL(probability=0.3)]
    gradcheck(layers, (5,))


def test_training_drops_and_scales_evaluation_passes_exactly(device: Device) -> None:
    net, x = _net(device), np.random.default_rng(0).standard_normal((5, *SHAPE)).astype(np.float32)
    net.feedForward(x)
    out = net.layers[0].output.read()
    kept = out != 0
    assert 0.5 < kept.mean() < 0.7
    np.testing.assert_allclose(out[kept], x[kept] / 0.6, rtol=1e-6)
    net.TrainMode(False)
    net.feedForward(x)
    np.testing.assert_array_equal(net.layers[0].output.read(), x)


def test_the_backward_pass_of_evaluation_is_the_identity(device: Device) -> None:
    net = _net(device)
    net.TrainMode(False)
    net.feedForward(np.ones((5, *SHAPE)))
    net.calcGradients(np.zeros((5, 1)))
    np.testing.assert_array_equal(net.layers[0].gradient.read(), net.layers[1].gradient.read())


def test_masks_repeat_with_the_seed_and_change_with_seed_layer_and_step(device: Device) -> None:
    net, again, other = _net(device), _net(device), _net(device, seed=1)
    mask = _mask(net)
    np.testing.assert_array_equal(_mask(net), mask)
    np.testing.assert_array_equal(_mask(again), mask)
    np.testing.assert_array_equal(_mask(_net(NumpyDevice())), mask)
    assert (_mask(other) != mask).any()
    assert ((net.layers[1].output.read() != 0) != (mask != 0)).any()
    net.backProp(np.zeros((5, 1)))
    assert (_mask(net) != mask).any()


def test_masks_of_a_row_do_not_depend_on_the_number_of_rows(device: Device) -> None:
    net = _net(device)
    whole = _mask(net)
    np.testing.assert_array_equal(_mask(net, 2), whole[:2])


def test_the_key_is_saved(device: Device, tmp_path: Path) -> None:
    net = _net(device, seed=9)
    mask = _mask(net)
    net.save(tmp_path / "net.h5")
    again = CNet.load(tmp_path / "net.h5", device)
    again.TrainMode(True)
    np.testing.assert_array_equal(_mask(again), mask)


@pytest.mark.parametrize("p", [-0.1, 1, 2.0, float("nan")])
def test_impossible_probabilities_are_refused(p: float) -> None:
    with pytest.raises(SpecError, match=r"CNeuronDropoutOCL: probability=.* is not in \[0, 1\)"):
        CNeuronDropoutOCL(probability=p)
