from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np
import pytest

from neuronet.activations import Activation
from neuronet.device.base import Device
from neuronet.device.numpy import NumpyDevice
from neuronet.errors import NeuronetError, ShapeError, SpecError
from neuronet.layers.conv import CNeuronConvOCL
from neuronet.layers.dot import CNeuronDOTOCL
from neuronet.net import CNet
from neuronet.testing.gradcheck import gradcheck

A = np.ndarray


def block(**fields: Any) -> CNeuronDOTOCL:
    return CNeuronDOTOCL(**({"window": 4, "dimension": 3, "heads": 2} | fields))


def build(layer: CNeuronDOTOCL, device: Device, units: int = 7, width: int = 4, batch: int = 2) -> CNet:
    """A net of this layer with weights that are far from 0."""
    net = CNet(input_shape=(units, width), layers=[layer], batch=batch).build(device, seed=3)
    rng = np.random.default_rng(4)
    for p in layer.parameters:
        p.value.write(p.value.read() + 0.3 * rng.standard_normal(p.shape))
    return net


def samples(units: int = 7, width: int = 4) -> A:
    return np.random.default_rng(0).standard_normal((2, units, width))


def expected(layer: CNeuronDOTOCL, x: A) -> A:
    """The layer's output from its formula: dense attention with a mask, in NumPy."""
    w = {p.name: p.value.read() for p in layer.parameters}
    units = x.shape[1]

    def linear(name: str, x: A) -> A:
        made: A = x @ w[f"{name}/w"][0].T + w[f"{name}/b"][0]
        return made

    def norm(name: str, x: A) -> A:
        nx = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5)
        made: A = w[f"{name}/gamma"] * nx + w[f"{name}/beta"]
        return made

    def attention(x: A) -> A:
        split = linear("qkv", x).reshape(len(x), units, 3, layer.heads, layer.dimension)
        q, k, v = split.transpose(2, 0, 3, 1, 4)
        slot = np.arange(units) - np.arange(units)[:, None] + layer.radius
        width = w["rpb"].shape[-1]
        bias = np.broadcast_to(w["rpb"], (units, *w["rpb"].shape[1:]))
        own = np.arange(units)[:, None]
        band = bias.transpose(1, 0, 2)[:, own, slot.clip(0, width - 1)]
        s = q @ k.swapaxes(-1, -2) / np.sqrt(layer.dimension) + band
        s[..., (slot < 0) | (slot >= width)] = -np.inf
        e = np.exp(s - s.max(-1, keepdims=True))
        out = (e / e.sum(-1, keepdims=True) @ v).swapaxes(1, 2)
        return linear("proj", out.reshape(len(x), units, -1))

    def feed_forward(x: A) -> A:
        z = linear("ff0", x)
        gelu = z / (1 + np.exp(-2 * np.sqrt(2 / np.pi) * (z + 0.044715 * z**3)))
        return linear("ff1", gelu)

    if "proj_input/w" in w:
        x = linear("proj_input", x)
    if layer.post_norm:
        m = norm("norm0", x + attention(x))
        return norm("norm1", m + feed_forward(m))
    m = x + attention(norm("norm0", x))
    return m + feed_forward(norm("norm1", m))


VARIANTS = [
    {},
    {"causal": True},
    {"per_position": True, "radius": 2},
    {"post_norm": True},
    {"post_norm": True, "causal": True, "radius": 3, "window": 5},
    {"window": 3, "heads": 5, "dimension": 1},
    {"radius": 6},
    {"radius": 12, "per_position": True},
]
variants = pytest.mark.parametrize("fields", VARIANTS, ids=str)


@variants
def test_output_is_dense_attention_with_a_band_mask(fields: dict[str, Any], device: Device) -> None:
    for where, tolerance in ((NumpyDevice(np.float64), 1e-10), (device, 1e-4)):
        layer = block(**fields)
        net = build(layer, where)
        np.testing.assert_allclose(net.predict(samples()), expected(layer, samples()), rtol=0, atol=tolerance)


@variants
def test_gradients(fields: dict[str, Any]) -> None:
    gradcheck([block(**fields)], (4, 4), batch=2)


@pytest.mark.parametrize("post_norm", [False, True])
def test_gradients_reach_the_layer_below_and_through_two_blocks(post_norm: bool) -> None:
    below = CNeuronConvOCL(window=3, step=3, window_out=4, activation="TANH")
    gradcheck([below, block(post_norm=post_norm), block(window=3, post_norm=post_norm)], (4, 3), batch=2)


@pytest.mark.parametrize(("units", "radius"), [(5, 4), (5, 9), (1, 1)])
def test_a_radius_over_all_units_is_full_attention(units: int, radius: int, exact: NumpyDevice) -> None:
    wide = block(radius=radius)
    net = build(wide, exact, units)
    (rpb,) = (p for p in wide.parameters if p.name == "rpb")
    rpb.value.fill(0.0)
    w = {p.name: p.value.read() for p in wide.parameters}
    x = samples(units)
    nx = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5)
    nx = w["norm0/gamma"] * nx + w["norm0/beta"]
    q, k, v = (nx @ w["qkv/w"][0].T + w["qkv/b"][0]).reshape(2, units, 3, 2, 3).transpose(2, 0, 3, 1, 4)
    e = np.exp(q @ k.swapaxes(-1, -2) / np.sqrt(3))
    full = (e / e.sum(-1, keepdims=True) @ v).swapaxes(1, 2).reshape(2, units, 6)
    net.predict(x)
    np.testing.assert_allclose(wide.attention.output.read(), full, rtol=1e-10)


@pytest.mark.parametrize("fields", [{"post_norm": False}, {"post_norm": True}], ids=str)
def test_causal_never_sees_a_later_unit(fields: dict[str, Any], device: Device) -> None:
    layers = [block(causal=True, radius=2, **fields) for _ in range(2)]
    net = CNet(input_shape=(9, 4), layers=layers, batch=2).build(device, seed=1)
    x = samples(9)
    changed = x.copy()
    changed[:, 5:] += 3
    before, after = net.predict(x), net.predict(changed)
    np.testing.assert_array_equal(before[:, :5], after[:, :5])
    assert np.abs(before[:, 5:] - after[:, 5:]).max() > 0.1


def test_weights_fit_any_number_of_units_unless_each_has_its_own_bias(exact: NumpyDevice) -> None:
    few, many = build(block(), exact, units=3), build(block(), exact, units=30)
    many.set_arrays(few.arrays())
    x = samples(30)
    np.testing.assert_allclose(many.predict(x)[:, 0], few.predict(x[:, :3])[:, 0], rtol=1e-12)
    own = CNet(input_shape=(6, 4), layers=[block(per_position=True)], batch=2).build(exact)
    assert own.layers[0].parameters[4].shape == (6, 2, 3)


@pytest.mark.parametrize(
    ("fields", "shape", "error", "message"),
    [
        ({"radius": 0}, (5, 4), SpecError, "radius=0 is too small"),
        ({"heads": 0}, (5, 4), SpecError, "heads=0"),
        ({"window": 1}, (5, 4), SpecError, "choose window >= 2"),
        ({}, (20,), ShapeError, r"is not \[units, window\]"),
    ],
)
def test_impossible_declarations_are_refused(
    fields: dict[str, Any],
    shape: tuple[int, ...],
    error: type[NeuronetError],
    message: str,
    exact: NumpyDevice,
) -> None:
    with pytest.raises(error, match=message):
        CNet(input_shape=shape, layers=[block(**fields)]).build(exact)


# --- the published mistakes ----------------------------------------------------------------


def test_g13_qkv_has_room_for_queries_keys_and_values(exact: NumpyDevice) -> None:
    layer = block()
    build(layer, exact)
    assert layer.qkv.output.shape == (2, 7, 3 * 2 * 3)


def test_g14_a_shift_in_time_shifts_the_output(device: Device) -> None:
    net = build(block(), device)
    x = samples(8)
    early, late = net.predict(x[:, :7]), net.predict(x[:, 1:])
    np.testing.assert_allclose(early[:, 2:6], late[:, 1:5], rtol=1e-5, atol=1e-5)


def test_g15_queries_keys_values_and_sums_are_not_rectified(exact: NumpyDevice) -> None:
    layer = block()
    net = build(layer, exact)
    linear = (layer.qkv, layer.proj, layer.ff1)
    assert [inner.activation for inner in linear] == [Activation.NONE] * 3
    for p in layer.qkv.parameters + layer.proj.parameters:  # keys of -3 stay -3, not -0.03
        p.value.fill(-0.5)
    net.predict(samples())
    assert layer.qkv.output.read().min() < -0.2
    np.testing.assert_allclose(net.predict(samples()), expected(layer, samples()), rtol=1e-10)


def test_g16_a_shortcut_passes_the_whole_gradient(exact: NumpyDevice) -> None:
    layer = block()
    net = build(layer, exact)
    net.input.needs_gradient = True  # type: ignore[misc]
    for inner in (layer.proj, layer.ff1):
        for p in inner.parameters:
            p.value.fill(0.0)
    x = samples()
    net.feedForward(x)
    np.testing.assert_array_equal(net.getResults(), x)
    net.calcGradients(np.zeros_like(x))
    np.testing.assert_allclose(net.input.gradient.read(), layer.gradient.read(), rtol=1e-14)


def test_g17_the_gradient_passes_through_the_normalisation(exact: NumpyDevice) -> None:
    layer = block(window=3, post_norm=True)
    net = CNet(input_shape=(1, 3), layers=[layer], batch=1).build(exact)
    net.input.needs_gradient = True  # type: ignore[misc]
    for inner in (layer.proj, layer.ff1):
        for p in inner.parameters:
            p.value.fill(0.0)
    net.feedForward([[[1.0, 2, 3]]])
    net.apply_loss(net.target)
    layer.gradient.write([[[1.0, 0, 0]]])
    net.backward()
    np.testing.assert_allclose(net.input.gradient.read()[0, 0], [0.204, -0.408, 0.204], atol=1e-3)


def test_g18_a_unit_is_normalised_alone_and_a_flat_one_gives_zeros(device: Device) -> None:
    layer = block(post_norm=True)
    net = CNet(input_shape=(7, 4), layers=[layer], batch=2).build(device, seed=3)
    for inner in (layer.proj, layer.ff1):
        for p in inner.parameters:
            p.value.fill(0.0)
    x = samples()
    x[:, 2] = 5
    far = x.copy()
    far[:, 6] *= 100
    found = net.predict(x)
    assert not found[:, 2].any()
    np.testing.assert_array_equal(found[:, :5], net.predict(far)[:, :5])


def test_g19_building_again_frees_the_scores(exact: NumpyDevice) -> None:
    layer = block()
    net = build(layer, exact)
    scores = weakref.ref(layer.score.storage)
    net.build(exact)
    gc.collect()
    assert scores() is None
