from __future__ import annotations

import numpy as np
import pytest

from neuronet.device.array import Shape
from neuronet.device.base import Device
from neuronet.device.numpy import NumpyDevice
from neuronet.errors import NeuronetError, ShapeError, SpecError
from neuronet.layers.conv import CNeuronConvOCL
from neuronet.layers.mamba import CNeuronMambaOCL
from neuronet.net import CNet
from neuronet.testing.gradcheck import gradcheck


@pytest.mark.parametrize("units", [1, 2, 66])
def test_gradients(units: int) -> None:
    gradcheck([CNeuronMambaOCL(window_key=4, heads=2, state_size=3)], (units, 2), batch=2)


def test_f18_both_branches_reach_the_input() -> None:
    """Published: calcHiddenGradients runs twice for the gate, and never for x."""
    before = CNeuronConvOCL(window=2, step=2, window_out=3, activation="TANH")
    gradcheck([before, CNeuronMambaOCL(window_key=6, heads=3, state_size=2)], (5, 2), rows=2)


def build(device: Device, units: int, batch: int = 2) -> CNet:
    layers = [CNeuronMambaOCL(window_key=6, heads=2, state_size=5)]
    return CNet(input_shape=(units, 3), layers=layers, batch=batch).build(device, seed=1)


def silu(z: np.ndarray) -> np.ndarray:
    return z / (1 + np.exp(-z))


def test_f20_output_is_a_recurrence_over_time_behind_a_gate(exact: NumpyDevice) -> None:
    """Published: window 3 over the features of one step, a sigmoid concatenated, no recurrence over units."""
    net = build(exact, 7, batch=1)
    w = {p.name: p.value.read() for p in net.layers[0].parameters}
    x = np.random.default_rng(0).standard_normal((7, 3))
    net.feedForward(x[None])
    rows = x @ w["in_project/w"][0].T + w["in_project/b"][0]
    padded = np.concatenate([np.zeros((3, 16)), rows[:, 6:22]])
    xbc = silu(w["conv_b"] + sum(w["conv_w"][k] * padded[k : k + 7] for k in range(4)))
    h, expected = np.zeros((2, 5, 3)), []
    for t in range(7):
        delta = np.log1p(np.exp(rows[t, 22:]))
        heads, b, c = xbc[t, :6].reshape(2, 3), xbc[t, 6:11], xbc[t, 11:]
        decay = np.exp(-np.exp(w["a_log"]) * delta)
        h = decay[:, None, None] * h + delta[:, None, None] * b[:, None] * heads[:, None, :]
        u = ((c[:, None] * h).sum(1) + w["d"][:, None] * heads).ravel() * silu(rows[t, :6])
        u = w["norm_w"] * u / np.sqrt((u * u).mean() + 1e-5)
        expected.append(u @ w["out_project/w"][0].T + w["out_project/b"][0])
    np.testing.assert_allclose(net.getResults()[0], expected, rtol=1e-10, atol=1e-12)


def test_no_output_depends_on_a_later_unit(device: Device) -> None:
    net, rng = build(device, 70), np.random.default_rng(0)
    x = rng.standard_normal((2, 70, 3))
    whole = net.predict(x)
    x[:, 66:] = rng.standard_normal((2, 4, 3))
    np.testing.assert_array_equal(net.predict(x)[:, :66], whole[:, :66])
    assert np.abs(net.predict(x)[:, 66:] - whole[:, 66:]).min() > 0


@pytest.mark.parametrize("piece", [1, 5, 70])
def test_streaming_equals_the_full_pass(device: Device, piece: int) -> None:
    full, live = build(device, 140), build(device, piece)
    live.set_arrays(full.arrays())
    x = np.random.default_rng(0).standard_normal((2, 140, 3))
    expected = full.predict(x)
    for _ in range(2):  # the second time after Clear
        found = []
        for begin in range(0, 140, piece):
            live.set_rows(2)
            live.input.output.write(x[:, begin : begin + piece])
            live.layers[0].stream(live.input)  # type: ignore[attr-defined]
            found.append(live.getResults())
        np.testing.assert_allclose(np.concatenate(found, axis=1), expected, rtol=0, atol=1e-5)
        live.layers[0].Clear()  # type: ignore[attr-defined]


def test_a_pass_begins_afresh_whatever_was_streamed(device: Device) -> None:
    net, x = build(device, 5), np.random.default_rng(0).standard_normal((2, 5, 3))
    expected = net.predict(x)
    net.layers[0].stream(net.input)  # type: ignore[attr-defined]
    np.testing.assert_array_equal(net.predict(x), expected)


def test_a_step_size_starts_between_a_thousandth_and_a_tenth(exact: NumpyDevice) -> None:
    layer = CNeuronMambaOCL(window_key=64, heads=64, state_size=1)
    CNet(input_shape=(1, 2), layers=[layer]).build(exact, seed=3)
    delta = np.log1p(np.exp(layer.in_project.b.value.read()[0, -64:]))
    assert 1e-3 <= delta.min() < 5e-3 < 0.03 < delta.max() <= 0.1
    rates = np.exp(layer.a_log.value.read())
    assert 1 <= rates.min() < 4 < 12 < rates.max() <= 16


@pytest.mark.parametrize(
    ("window_key", "heads", "shape", "error"),
    [(6, 4, (4, 3), SpecError), (0, 1, (4, 3), SpecError), (6, 2, (12,), ShapeError)],
)
def test_impossible_declarations_are_refused(
    window_key: int, heads: int, shape: Shape, error: type[NeuronetError], exact: NumpyDevice
) -> None:
    net = CNet(input_shape=shape, layers=[CNeuronMambaOCL(window_key=window_key, heads=heads)])
    with pytest.raises(error, match="CNeuronMambaOCL"):
        net.build(exact)
