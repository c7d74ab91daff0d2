"""The whole life of every layer: spec, gradients, kernels, saving, tape, partial batches."""

from __future__ import annotations

import json
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest

from neuronet.cases.layers import EXAMPLES, Example
from neuronet.device.base import Device
from neuronet.device.numpy import NumpyDevice
from neuronet.fitting.fit import fit
from neuronet.layers.base import LAYERS, layer_from_spec
from neuronet.net import CNet
from neuronet.testing.compare import assert_matches
from neuronet.testing.gradcheck import gradcheck

examples = pytest.mark.parametrize("example", EXAMPLES, ids=str)


def make_net(example: Example, device: Device) -> CNet:
    net = CNet(
        input_shape=example.input_shape,
        layers=example.layers(),
        batch=example.batch,
        second_shape=example.second_shape,
    )
    return net.build(device, seed=5)


def samples(example: Example, rows: int, seed: int = 0) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    shapes = [example.input_shape] + ([example.second_shape] if example.second_shape else [])
    return [rng.standard_normal((rows, *shape)).astype(np.float32) for shape in shapes]


def train(net: CNet, example: Example, steps: int = 3, seed: int = 0) -> None:
    for i in range(seed, seed + steps):
        net.feedForward(*samples(example, example.batch, seed=i))
        net.backProp(np.random.default_rng(100 + i).standard_normal((example.batch, *net.target_shape)))


@examples
def test_spec_round_trip(example: Example) -> None:
    for layer in example.stack:
        spec = json.loads(json.dumps(layer.spec()))
        assert layer_from_spec(spec).spec() == spec


@examples
@pytest.mark.parametrize("partial", [False, True], ids=["full", "partial"])
def test_gradients_match_finite_differences(example: Example, partial: bool) -> None:
    rows = max(1, example.batch - 1) if partial else example.batch
    gradcheck(
        example.layers(),
        example.input_shape,
        second_shape=example.second_shape,
        batch=example.batch,
        rows=rows,
        training=example.training,
    )


@examples
def test_kernels_match_twins(example: Example, device: Device) -> None:
    """One pass on the device against the same in float64: output and the gradient of the whole net."""
    ours, exact = make_net(example, device), make_net(example, NumpyDevice(np.float64))
    exact.set_arrays(ours.arrays())
    x = samples(example, example.batch)
    target = np.random.default_rng(9).standard_normal((example.batch, *ours.target_shape))
    for net in (ours, exact):
        net.feedForward(*x)
        net.calcGradients(target)
    assert_matches(ours.getResults(), exact.getResults(), terms=1000, name="output")
    flat = [
        np.concatenate([p.gradient.read().ravel() for p in net.pool.parameters] or [[]])
        for net in (ours, exact)
    ]
    assert_matches(*flat, terms=1000, name="gradient")


@examples
def test_saved_model_gives_the_same_output(example: Example, device: Device, tmp_path: Path) -> None:
    net = make_net(example, device)
    train(net, example)
    x = samples(example, example.batch, seed=7)
    net.save(tmp_path / "net.h5")
    again = CNet.load(tmp_path / "net.h5", device)
    assert again.spec() == net.spec()
    np.testing.assert_array_equal(net.predict(*x), again.predict(*x))


@examples
def test_tape_gives_the_same_bits(example: Example, device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    weights = []
    for flag in ("1", "0"):
        monkeypatch.setenv("NEURONET_TAPE", flag)
        net = make_net(example, device)
        train(net, example)
        weights.append(net.arrays())
    for name, values in weights[0].items():
        np.testing.assert_array_equal(values, weights[1][name], err_msg=name)


@examples
def test_shared_memory_changes_no_bit(example: Example, device: Device) -> None:
    """Each step starts with nothing but NaN in what only lives in a backward pass."""
    alone, sharing = make_net(example, device), make_net(example, device)
    train(alone, example)
    with sharing.sharing():
        for i in range(3):
            for array in sharing.brief:
                array.fill(np.nan)
            train(sharing, example, steps=1, seed=i)
    train(alone, example, steps=1, seed=7)
    train(sharing, example, steps=1, seed=7)
    for name, values in alone.arrays().items():
        np.testing.assert_array_equal(values, sharing.arrays()[name], err_msg=name)
    for mine, other in zip(alone.layers, sharing.layers, strict=True):  # behind it, each has its own again
        np.testing.assert_array_equal(mine.gradient.read(), other.gradient.read(), err_msg=mine.where)


@examples
def test_a_repeated_backward_pass_is_the_same_on_shared_memory(example: Example, device: Device) -> None:
    """What a forward pass leaves for the gradients is not shared."""
    found = []
    for share in (False, True):
        net = make_net(example, device)
        target = np.random.default_rng(9).standard_normal((example.batch, *net.target_shape))
        with net.sharing() if share else nullcontext():
            net.feedForward(*samples(example, example.batch))
            for _ in range(2):
                net.calcGradients(target)
            found.append(net.pool.gradients.read())
    np.testing.assert_array_equal(*found)


@examples
def test_fit_gives_the_same_bits_without_sharing(
    example: Example, device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whole batches and one of fewer samples."""
    nets = [make_net(example, device) for _ in range(2)]
    monkeypatch.setattr(nets[0], "sharing", nullcontext)
    rows = 3 * example.batch - 1 if example.batch > 1 else 2
    x, *second = samples(example, rows)
    target = np.random.default_rng(9).standard_normal((rows, *nets[0].target_shape)).astype(np.float32)
    for net in nets:
        fit(net, x, target, second=second[0] if second else None, epochs=2, patience=None)
    for name, values in nets[0].arrays().items():
        np.testing.assert_array_equal(values, nets[1].arrays()[name], err_msg=name)


@examples
def test_gradients_one_after_the_other_are_the_same_bits(example: Example, device: Device) -> None:
    """All input gradients and then those of all weights, against both layer by layer."""
    apart, together = make_net(example, device), make_net(example, device)
    target = np.random.default_rng(9).standard_normal((example.batch, *apart.target_shape))
    for net in (apart, together):
        net.feedForward(*samples(example, example.batch))
    together.calcGradients(target)
    apart.target.write(target)
    apart.apply_loss(apart.target)
    apart.backward()
    for prev, layer in apart.pairs:
        layer.calcWeightGradients(prev, apart.second if layer.takes_second else None)
    np.testing.assert_array_equal(apart.pool.gradients.read(), together.pool.gradients.read())


@examples
def test_evaluation_changes_no_state(example: Example, device: Device) -> None:
    net = make_net(example, device)
    train(net, example)
    before = net.arrays()
    x = samples(example, 2 * example.batch + 1, seed=3)
    whole = net.predict(*x)
    for name, values in net.arrays().items():
        np.testing.assert_array_equal(values, before[name], err_msg=name)
    one_by_one = np.concatenate([net.predict(*(a[i : i + 1] for a in x)) for i in range(len(x[0]))])
    np.testing.assert_allclose(whole, one_by_one, rtol=1e-5, atol=1e-6)


@examples
def test_prediction_agrees_with_numpy(example: Example, device: Device) -> None:
    net = make_net(example, device)
    train(net, example)
    other = CNet.from_spec(net.spec()).build(NumpyDevice())
    other.set_arrays(net.arrays())
    x = samples(example, example.batch, seed=4)
    ours, theirs = net.predict(*x), other.predict(*x)
    assert np.abs(ours - theirs).max() <= 1e-4 * np.abs(theirs).max()


def test_every_layer_has_an_example() -> None:
    shown = {e.shown for e in EXAMPLES}
    assert shown == LAYERS.keys() - {"CNeuronInputOCL"}
