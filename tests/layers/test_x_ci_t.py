from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from neuronet.device.base import Device
from neuronet.device.numpy import NumpyDevice
from neuronet.errors import ShapeError, SpecError
from neuronet.layers.x_ci_t import CNeuronXCiTOCL
from neuronet.net import CNet
from neuronet.testing.gradcheck import gradcheck

A = np.ndarray


def block(**fields: Any) -> CNeuronXCiTOCL:
    return CNeuronXCiTOCL(**({"heads": 2, "dimension": 3} | fields))


def build(layer: CNeuronXCiTOCL, device: Device, units: int = 7, window: int = 4) -> CNet:
    """A net of this layer with weights that are far from 0."""
    net = CNet(input_shape=(units, window), layers=[layer], batch=2).build(device, seed=3)
    rng = np.random.default_rng(4)
    for p in layer.parameters:
        p.value.write(p.value.read() + 0.3 * rng.standard_normal(p.shape))
    return net


def samples(units: int = 7, window: int = 4) -> A:
    return np.random.default_rng(0).standard_normal((2, units, window))


def expected(layer: CNeuronXCiTOCL, x: A) -> A:
    """The layer's output from its formula, unit by unit, in NumPy."""
    w = {p.name: p.value.read() for p in layer.parameters}
    units = x.shape[1]

    def linear(name: str, x: A) -> A:
        made: A = x @ w[f"{name}/w"][0].T + w[f"{name}/b"][0]
        return made

    def norm(name: str, x: A) -> A:
        nx = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5)
        made: A = w[f"{name}/gamma"] * nx + w[f"{name}/beta"]
        return made

    def gelu(z: A) -> A:
        made: A = 0.5 * z * (1 + np.tanh(np.sqrt(2 / np.pi) * (z + 0.044715 * z**3)))
        return made

    def attention(x: A) -> A:
        rows = linear("attention/channels/project", x).reshape(*x.shape[:2], 3, layer.heads, layer.dimension)
        out = np.empty((*x.shape[:2], layer.heads, layer.dimension))
        for n, t, h in np.ndindex(out.shape[:3]):
            seen = t + 1 if layer.causal else units
            q, k = rows[n, :seen, 0, h], rows[n, :seen, 1, h]
            start = 1.0 if layer.causal else 0.0
            lengths = [np.sqrt(start + (v**2).sum(0)) for v in (q, k)]
            a = np.exp(w["attention/channels/tau"][h] * (q.T @ k) / np.outer(*lengths))
            out[n, t, h] = (a / a.sum(1, keepdims=True)) @ rows[n, t, 2, h]
        return linear("attention/project", out.reshape(*x.shape[:2], -1))

    def conv(name: str, x: A) -> A:
        taps = w[f"{name}/w"]
        before = len(taps) - 1 if layer.causal else (len(taps) - 1) // 2
        made = np.zeros_like(x) + w[f"{name}/b"]
        for t, k in np.ndindex(units, len(taps)):
            if 0 <= t - before + k < units:
                made[:, t] += taps[k] * x[:, t - before + k]
        return made

    def local(x: A) -> A:
        return conv("lpi/conv1", norm("lpi/between", gelu(conv("lpi/conv0", x))))

    def forward_part(x: A) -> A:
        return linear("feed_forward/ff1", gelu(linear("feed_forward/ff0", x)))

    for name, branch in (("attention", attention), ("lpi", local), ("feed_forward", forward_part)):
        if layer.post_norm:
            x = norm(f"{name}/norm", x + branch(x))
            continue
        x = x + branch(norm(f"{name}/norm", x))
    return x


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("post_norm", [False, True])
def test_output_is_that_of_the_formula(exact: NumpyDevice, causal: bool, post_norm: bool) -> None:
    layer = block(causal=causal, post_norm=post_norm, lpi_window=4)
    net = build(layer, exact)
    x = samples()
    np.testing.assert_allclose(net.predict(x), expected(layer, x), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(
    ("units", "window", "heads", "dimension", "lpi_window"),
    [(1, 2, 1, 1, 1), (3, 5, 5, 1, 4), (18, 3, 1, 3, 3)],
)
def test_gradients(
    causal: bool, units: int, window: int, heads: int, dimension: int, lpi_window: int
) -> None:
    layer = block(heads=heads, dimension=dimension, lpi_window=lpi_window, causal=causal)
    gradcheck([layer], (units, window), batch=2)


@pytest.mark.parametrize("post_norm", [False, True])
def test_gradients_through_two_blocks(post_norm: bool) -> None:
    blocks = [block(post_norm=post_norm), block(post_norm=post_norm, causal=True)]
    gradcheck(blocks, (4, 3), batch=2)


def test_causal_output_does_not_depend_on_later_units(device: Device) -> None:
    for causal in (True, False):
        net = build(block(causal=causal), device, units=20)
        x = samples(20)
        before = net.predict(x)
        x[:, 11:] += 1.0
        moved = np.abs(net.predict(x) - before).max((0, 2))
        assert bool(moved[:11].max() == 0) is causal
        assert moved[11:].min() > 0


def test_streaming_equals_the_full_pass(device: Device) -> None:
    full = CNet(input_shape=(35, 3), layers=[block(causal=True), block(causal=True)], batch=2)
    full.build(device, seed=1)
    live = CNet(input_shape=(1, 3), layers=[block(causal=True), block(causal=True)], batch=2).build(device)
    live.set_arrays(full.arrays())
    x, runs = samples(35, 3), []
    for _ in range(2):
        found = []
        for t in range(35):
            live.input.output.write(x[:, t : t + 1])
            for prev, layer in live.pairs:
                layer.stream(prev)  # type: ignore[attr-defined]
            found.append(live.getResults())
        runs.append(np.concatenate(found, axis=1))
        for layer in live.layers:
            layer.Clear()  # type: ignore[attr-defined]
    np.testing.assert_allclose(runs[0], full.predict(x), rtol=0, atol=1e-5)
    np.testing.assert_array_equal(runs[0], runs[1])


def test_streaming_without_causal_is_refused(exact: NumpyDevice) -> None:
    net = build(block(), exact)
    with pytest.raises(SpecError, match="streams only with causal=True"):
        net.layers[0].stream(net.input)  # type: ignore[attr-defined]


@pytest.mark.parametrize("field", ["heads", "dimension", "lpi_window"])
def test_a_field_that_is_not_positive_is_refused(exact: NumpyDevice, field: str) -> None:
    with pytest.raises(SpecError, match=f"{field}=0 is not positive"):
        build(block(**{field: 0}), exact)


def test_other_shapes_are_refused(exact: NumpyDevice) -> None:
    with pytest.raises(ShapeError, match="is not \\[units, window\\]"):
        CNet(input_shape=(12,), layers=[block()]).build(exact)
    with pytest.raises(ShapeError, match="fewer than 2 values per unit"):
        build(block(), exact, window=1)


def _write(layer: CNeuronXCiTOCL, **values: float) -> None:
    """Set every parameter whose name contains a key, dots for slashes."""
    for p in layer.parameters:
        for key, value in values.items():
            if key.replace("__", "/") in p.name:
                p.value.write(np.full(p.shape, value))


def test_g25_the_local_part_reaches_every_unit_and_channel(exact: NumpyDevice) -> None:
    layer = block()
    net = build(layer, exact)
    _write(layer, attention__project=0.0, ff1=0.0)  # only the local part is left
    x = samples()
    change = net.predict(x) - x
    assert np.abs(change).min() > 1e-4


def test_g26_the_local_part_runs_along_time(exact: NumpyDevice) -> None:
    layer = block()
    net = build(layer, exact, units=9)
    conv = layer.links[1].layers[0]  # type: ignore[attr-defined]
    x = np.zeros((2, 9, 4))
    net.predict(x)
    source = layer.links[1].norm  # type: ignore[attr-defined]
    found = []
    for value in (0.0, 1.0):
        x[0, 4, 2] = value
        source.output.write(x)
        conv.feedForward(source)
        found.append(conv.output.read())
    moved = np.argwhere(found[1] != found[0])
    assert moved.tolist() == [[0, 3, 2], [0, 4, 2], [0, 5, 2]]  # its channel, its neighbours, nothing else


@pytest.mark.parametrize(("window", "heads", "dimension"), [(6, 4, 2), (5, 8, 1), (3, 2, 7)])
def test_g27_heads_need_not_divide_the_window(
    device: Device, window: int, heads: int, dimension: int
) -> None:
    layer = block(heads=heads, dimension=dimension)
    net = build(layer, device, window=window)
    x = samples(window=window)
    np.testing.assert_allclose(net.predict(x), expected(layer, x), rtol=2e-4, atol=2e-4)


def test_g28_a_larger_loss_has_a_larger_gradient(exact: NumpyDevice) -> None:
    layer = block()
    net = build(layer, exact)
    net.input.needs_gradient = True  # type: ignore[misc]
    net.predict(samples())
    net.set_rows(2)
    rng, found = np.random.default_rng(5), []
    dy = rng.standard_normal((2, 7, 4))
    for scale in (1.0, 1000.0):
        layer.gradient.write(scale * dy)
        layer.calcInputGradients(net.input)
        found.append(net.input.gradient.read())
    np.testing.assert_allclose(found[1], 1000.0 * found[0], rtol=1e-9)


def test_g29_shortcuts_pass_the_whole_gradient(exact: NumpyDevice) -> None:
    layer = block()
    net = build(layer, exact)
    net.input.needs_gradient = True  # type: ignore[misc]
    _write(layer, attention__project=0.0, lpi__conv1=0.0, ff1=0.0)
    x, dy = samples(), np.random.default_rng(5).standard_normal((2, 7, 4))
    np.testing.assert_allclose(net.predict(x), x, rtol=1e-12)
    layer.gradient.write(dy)
    layer.calcInputGradients(net.input)
    np.testing.assert_allclose(net.input.gradient.read(), dy, rtol=1e-12)  # not dy / 8
