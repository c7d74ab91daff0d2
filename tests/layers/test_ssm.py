from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from neuronet.device.array import Shape
from neuronet.device.base import Device
from neuronet.device.numpy import NumpyDevice
from neuronet.errors import NeuronetError, ShapeError, SpecError
from neuronet.layers.ssm import CNeuronSSMOCL
from neuronet.net import CNet
from neuronet.testing.gradcheck import gradcheck


def build(device: Device, batch: int = 1) -> CNet:
    return CNet(input_shape=(2, 3), layers=[CNeuronSSMOCL(window_key=4)], batch=batch).build(device, seed=2)


def hidden(net: CNet) -> np.ndarray:
    return net.layers[0].states["hidden"].read()


@pytest.mark.parametrize("rows", [3, 1])
def test_gradients(rows: int) -> None:
    gradcheck([CNeuronSSMOCL(window_key=4), CNeuronSSMOCL(window_key=2)], (2, 3), rows=rows)


@pytest.mark.parametrize("batch", [1, 3])
def test_output_and_the_next_state(exact: NumpyDevice, batch: int) -> None:
    net = build(exact, batch)
    w = {p.name: p.value.read() for p in net.layers[0].parameters}
    state = np.zeros((2, 4))

    def sigmoid(z: np.ndarray) -> np.ndarray:
        return 1 / (1 + np.exp(-z))

    for seed in range(3):
        x = np.random.default_rng(seed).standard_normal((batch, 2, 3))
        net.feedForward(x)
        a = sigmoid(state @ w["a/w"][0].T + w["a/b"][0])
        b = sigmoid(x @ w["b/w"][0].T + w["b/b"][0])
        both = np.concatenate([np.broadcast_to(a, b.shape), b], axis=2)
        np.testing.assert_allclose(net.getResults(), both @ w["c/w"][0].T + w["c/b"][0], rtol=1e-10)
        half = ((a + b) / 2).mean(0)
        state = (half - half.mean(1, keepdims=True)) / np.sqrt(half.var(1, keepdims=True) + 1e-5)
        np.testing.assert_allclose(hidden(net), state, rtol=1e-9)


def test_f19_the_state_starts_at_0_is_saved_and_is_forgotten_by_clear(device: Device, tmp_path: Path) -> None:
    """Published: it starts at 1, is in no file, and nothing takes it back."""
    net = build(device)
    assert not hidden(net).any()
    net.feedForward(np.ones((1, 2, 3)))
    assert hidden(net).any()
    net.save(tmp_path / "net.h5")
    again = CNet.load(tmp_path / "net.h5", device)
    np.testing.assert_array_equal(hidden(again), hidden(net))
    again.layers[0].Clear()  # type: ignore[attr-defined]
    assert not hidden(again).any()


def test_f19_streaming_has_a_memory_in_evaluation_too(device: Device) -> None:
    """Published: TrainMode never arrives, and the state only moves in updateInputWeights."""
    net = build(device)
    net.TrainMode(False)
    layer, outputs = net.layers[0], []
    for value in (1.0, -2.0, -2.0):
        net.input.output.write(np.full((1, 2, 3), value))
        layer.stream(net.input)  # type: ignore[attr-defined]
        outputs.append(net.getResults())
    assert np.abs(outputs[2] - outputs[1]).max() > 1e-4
    before = hidden(net)
    net.predict(np.ones((1, 2, 3)))
    np.testing.assert_array_equal(hidden(net), before)


def test_a_stream_is_one_series(device: Device) -> None:
    net = build(device, batch=2)
    with pytest.raises(ShapeError, match="2 samples share one state"):
        net.layers[0].stream(net.input)  # type: ignore[attr-defined]


@pytest.mark.parametrize(("key", "shape", "error"), [(1, (2, 3), SpecError), (4, (6,), ShapeError)])
def test_impossible_declarations_are_refused(
    key: int, shape: Shape, error: type[NeuronetError], exact: NumpyDevice
) -> None:
    with pytest.raises(error, match="CNeuronSSMOCL"):
        CNet(input_shape=shape, layers=[CNeuronSSMOCL(window_key=key)]).build(exact)
