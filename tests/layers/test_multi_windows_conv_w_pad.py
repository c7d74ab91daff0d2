from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from neuronet.device.base import Device
from neuronet.device.numpy import NumpyDevice
from neuronet.errors import ShapeError, SpecError
from neuronet.layers.conv import CNeuronConvOCL
from neuronet.layers.multi_windows_conv_w_pad import CNeuronMultiWindowsConvWPadOCL
from neuronet.net import CNet
from neuronet.testing.gradcheck import gradcheck

WINDOWS = [(1,), (2,), (3, 5), (5, 3), (1, 3, 5, 7)]


def layer(windows: tuple[int, ...] = (3, 5), **fields: object) -> CNeuronMultiWindowsConvWPadOCL:
    return CNeuronMultiWindowsConvWPadOCL(**{"windows": windows, "step": 1, "window_out": 2, **fields})  # type: ignore[arg-type]


@pytest.mark.parametrize("windows", WINDOWS)
@pytest.mark.parametrize("step", [1, 2, 3, 5])
@pytest.mark.parametrize("variables", [1, 3])
def test_gradients(windows: tuple[int, ...], step: int, variables: int) -> None:
    gradcheck([layer(windows, step=step, variables=variables)], (variables, 7), batch=2)


@pytest.mark.parametrize("causal", [False, True])
def test_gradients_of_whole_bars(causal: bool) -> None:
    below = CNeuronConvOCL(window=2, step=2, window_out=3, activation="TANH")
    gradcheck([below, layer((2, 3), dimension=3, causal=causal, activation="SILU")], (5, 2))


@pytest.mark.parametrize("window_out", [1, 3, 70])
@pytest.mark.parametrize("variables", [1, 2])
def test_it_is_a_convolution_of_each_window_over_padded_inputs(
    device: Device, window_out: int, variables: int
) -> None:
    """The same filters in a CNeuronConvOCL for each window, fed with explicit zeros."""
    x = np.random.default_rng(0).standard_normal((2, variables, 11)).astype(np.float32)
    multi = layer((2, 5, 3), step=3, window_out=window_out, variables=variables, activation="TANH")
    net = CNet(input_shape=(variables, 11), layers=[multi], batch=2).build(device, seed=4)
    y = net.predict(x).reshape(2, variables, 4, 3, window_out)
    w, b = multi.w.value.read(), multi.b.value.read()
    for q, (window, first) in enumerate(((2, 0), (5, 2), (3, 7))):
        one = CNeuronConvOCL(
            window=window, step=3, window_out=window_out, variables=variables, activation="TANH"
        )
        padded = np.pad(x, ((0, 0), (0, 0), ((window - 1) // 2, window)))[..., : 9 + window]
        other = CNet(input_shape=padded.shape[1:], layers=[one], batch=2).build(device)
        one.w.value.write(np.tile(w[first : first + window].T, (variables, 1, 1)))
        one.b.value.write(np.tile(b[q], (variables, 1)))
        expected = other.predict(padded).reshape(2, variables, 4, window_out)
        np.testing.assert_allclose(y[..., q, :], expected, rtol=1e-5, atol=2e-6)


def test_a_window_of_bars_covers_whole_bars(device: Device) -> None:
    multi = layer((3,), dimension=2, window_out=1, activation="NONE")
    net = CNet(input_shape=(4, 2), layers=[multi], batch=1).build(device)
    multi.w.value.write(10.0 ** np.arange(6)[:, None])
    multi.b.value.fill(0)
    x = np.array([[[1, 2], [3, 4], [5, 6], [7, 8]]])
    np.testing.assert_array_equal(net.predict(x).ravel(), [432100, 654321, 876543, 8765])


def test_a_causal_output_does_not_depend_on_later_bars(device: Device) -> None:
    x = np.random.default_rng(0).standard_normal((1, 9, 2))
    later = x.copy()
    later[:, 5:] += 1
    for causal, same in ((True, 5), (False, 3)):
        net = CNet(input_shape=(9, 2), layers=[layer(dimension=2, causal=causal)], batch=1).build(device)
        before, after = net.predict(x)[0], net.predict(later)[0]
        np.testing.assert_array_equal(before[:same], after[:same])
        assert (before[same:] != after[same:]).any(1).all()


def test_output_shapes(exact: NumpyDevice) -> None:
    for fields, shape, expected in (
        ({}, (120,), (120, 4)),
        ({"step": 5}, (12,), (3, 4)),
        ({"dimension": 9}, (120, 9), (120, 4)),
        ({"variables": 9, "step": 7}, (9, 120), (9, 18, 4)),
        ({"variables": 2, "dimension": 3}, (2, 5, 3), (2, 5, 4)),
    ):
        net = CNet(input_shape=shape, layers=[layer(**fields)]).build(exact)
        assert net.output_shape == expected


def test_windows_survive_saving(device: Device, tmp_path: Path) -> None:
    """Published: iWindow is 4294967295, which the inherited Save and updates take for the window."""
    multi = layer((1, 3, 5, 7), step=2, causal=True)
    net = CNet(input_shape=(11, 1), layers=[multi], batch=3).build(device)
    net.save(tmp_path / "net.h5")
    again = CNet.load(tmp_path / "net.h5", device)
    assert again.layers[0].spec() == multi.spec()
    assert [p.shape for p in again.layers[0].parameters] == [(16, 2), (4, 2)]
    x = np.random.default_rng(0).standard_normal((3, 11, 1))
    np.testing.assert_array_equal(again.predict(x), net.predict(x))


def test_initial_weights_have_the_bound_of_their_window(exact: NumpyDevice) -> None:
    multi = layer((1, 8), window_out=200)
    CNet(input_shape=(9,), layers=[multi]).build(exact)
    w, b = multi.w.value.read(), multi.b.value.read()
    for taps, bias, bound in ((w[:1], b[0], 2**-0.5), (w[1:], b[1], 1 / 3)):
        for values in (taps, bias):
            assert 0.95 * bound < np.abs(values).max() <= bound


def test_impossible_declarations_are_refused(exact: NumpyDevice) -> None:
    for field in ("step", "dimension", "variables", "window_out"):
        with pytest.raises(SpecError, match=f"CNeuronMultiWindowsConvWPadOCL: {field}=0 is not positive"):
            CNet(input_shape=(8,), layers=[layer(**{field: 0})]).build(exact)
    with pytest.raises(ShapeError, match="8 values per variable do not divide into positions of dimension=3"):
        CNet(input_shape=(8,), layers=[layer(dimension=3)]).build(exact)
