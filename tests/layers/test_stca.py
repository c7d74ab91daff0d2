from __future__ import annotations

import numpy as np
import pytest

from neuronet.device.base import Device
from neuronet.device.numpy import NumpyDevice
from neuronet.errors import ShapeError, SpecError
from neuronet.layers.stca import AGE, CNeuronSTCAOCL
from neuronet.net import CNet
from neuronet.ops import visible
from neuronet.testing.gradcheck import gradcheck

QUESTIONS, WIDTH, UNITS, WINDOW = 3, 4, 300, 5


def build(device: Device, *, seed: int = 1, batch: int = 2, units: int = UNITS, **changes: object) -> CNet:
    layer = CNeuronSTCAOCL(**{"heads": 2, "dimension": 3, **changes})  # type: ignore[arg-type]
    net = CNet(input_shape=(QUESTIONS, WIDTH), second_shape=(units, WINDOW), layers=[layer], batch=batch)
    return net.build(device, seed=seed)


def samples(batch: int = 2, units: int = UNITS, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.standard_normal((batch, QUESTIONS, WIDTH)), rng.standard_normal((batch, units, WINDOW))


def layer_of(net: CNet) -> CNeuronSTCAOCL:
    assert isinstance(net.layers[0], CNeuronSTCAOCL)
    return net.layers[0]


def weights_of(net: CNet, *x: np.ndarray) -> np.ndarray:
    net.feedForward(*x)
    assert net.second is not None
    return layer_of(net).attention(net.second)


@pytest.mark.parametrize("rows", [3, 1])
@pytest.mark.parametrize(
    "how", [{"absorbed": True}, {"absorbed": False}, {"recency": True, "sharpen": 1.5}], ids=str
)
def test_gradients(how: dict[str, bool | float], rows: int) -> None:
    gradcheck([CNeuronSTCAOCL(heads=2, dimension=3, **how)], (3, 4), second_shape=(7, 5), rows=rows)


def test_absorbed_is_classic(device: Device) -> None:
    """Output and all gradients, with the same weights."""
    absorbed, classic = (build(device, absorbed=flag) for flag in (True, False))
    classic.set_arrays(absorbed.arrays())
    x, target = samples(), np.random.default_rng(5).standard_normal((2, QUESTIONS, WIDTH))
    results, gradients = [], []
    for net in (absorbed, classic):
        net.feedForward(*x)
        net.calcGradients(target)
        results.append(net.getResults())
        gradients.append(np.concatenate([p.gradient.read().ravel() for p in net.pool.parameters]))
    np.testing.assert_allclose(results[0], results[1], atol=1e-5)
    np.testing.assert_allclose(gradients[0], gradients[1], atol=1e-5)


def test_the_way_with_less_work_is_taken(exact: NumpyDevice) -> None:
    assert layer_of(build(exact, heads=2)).absorbs  # 3 (2 - 1) < 5
    assert not layer_of(build(exact, heads=3)).absorbs  # 3 (3 - 1) >= 5
    assert layer_of(build(exact, heads=3, recency=True)).absorbs


def test_attention_is_a_plain_softmax(device: Device) -> None:
    net = build(device)
    layer, x = layer_of(net), samples()
    found = weights_of(net, *x)
    r = layer.query.output.read().astype(np.float64).reshape(2, QUESTIONS, 2, 3)
    k = np.einsum("hew,btw->bthe", layer.w_k.value.read(), x[1])
    scores = np.exp(np.einsum("bqhe,bthe->bqht", r, k) / np.sqrt(3))
    assert found.shape == (2, QUESTIONS, 2, UNITS)
    np.testing.assert_allclose(found, scores / scores.sum(axis=3, keepdims=True), atol=1e-6)
    v = np.einsum("hew,btw->bthe", layer.w_v.value.read(), x[1])
    mixed = np.einsum("bqht,bthe->bqhe", found, v).reshape(2, QUESTIONS, 6)
    w, b = (p.value.read() for p in net.pool.parameters if p.name.startswith("project"))
    np.testing.assert_allclose(net.getResults(), mixed @ w[0].T + b.ravel(), atol=1e-5)


def test_recency_by_hand(device: Device) -> None:
    """Equal rows: what is left is exp(-slope age), with ages in units of 1,024."""
    net = build(device, units=3, recency=True)
    layer_of(net).slope.value.write([0.0, np.log(2.0) / AGE])
    x = samples(units=3)[0], np.ones((2, 3, WINDOW))
    found = weights_of(net, *x)
    np.testing.assert_allclose(found[:, :, 0], 1 / 3, atol=1e-6)
    np.testing.assert_allclose(found[:, :, 1], np.broadcast_to([1 / 7, 2 / 7, 4 / 7], (2, 3, 3)), atol=1e-5)


@pytest.mark.parametrize("how", [{"absorbed": True}, {"absorbed": False}, {"recency": True}], ids=str)
def test_see_limits_what_a_question_looks_at(device: Device, how: dict[str, bool]) -> None:
    net = build(device, **how)
    limits = np.array([[[0, 300], [17, 18], [5, 5]]], np.int32)
    layer_of(net).see(limits)
    x = samples()
    found = weights_of(net, *x)
    np.testing.assert_allclose(found.sum(axis=3), [[[1, 1], [1, 1], [0, 0]]] * 2, atol=1e-5)
    np.testing.assert_allclose(found[:, 1, :, 17], 1.0, atol=1e-5)
    before = net.getResults()
    bias = next(p for p in net.pool.parameters if p.name == "project/b").value.read().ravel()
    np.testing.assert_allclose(before[:, 2], [bias] * 2, atol=1e-7)  # it has seen nothing
    moved = x[1].copy()
    moved[:, 18:] += 1.0
    after = net.predict(x[0], moved)
    np.testing.assert_array_equal(after[:, 1:], before[:, 1:])
    assert np.abs(after[:, 0] - before[:, 0]).max() > 1e-3
    layer_of(net).see(visible.everything(QUESTIONS, UNITS))
    assert weights_of(net, *x)[:, 2].sum() == pytest.approx(4.0, abs=1e-5)


def test_limits_of_each_sample(device: Device) -> None:
    """A ragged batch: each sample is answered as its own rows alone would be."""
    net, x = build(device, recency=True), samples()
    layer_of(net).slope.value.write([1.5, 40.0])
    layer_of(net).see(visible.everything(QUESTIONS, UNITS, lengths=[300, 123]))
    both = net.predict(*x)
    short = build(device, units=123, batch=1, recency=True)
    short.set_arrays(net.arrays())
    np.testing.assert_allclose(both[1:], short.predict(x[0][1:], x[1][1:, :123]), atol=1e-5)


def test_order_of_the_history_does_not_matter_without_recency(device: Device) -> None:
    x, order = samples(), np.random.default_rng(1).permutation(UNITS)
    net, aged = build(device), build(device, recency=True)
    np.testing.assert_allclose(net.predict(x[0], x[1][:, order]), net.predict(*x), atol=1e-6)
    layer_of(aged).slope.value.write([5.0, 50.0])
    assert np.abs(aged.predict(x[0], x[1][:, order]) - aged.predict(*x)).max() > 1e-2


def test_heads_are_independent(device: Device) -> None:
    """A head whose values are 0 takes only its own part of what was found away."""
    net, x = build(device), samples()
    layer = layer_of(net)
    net.feedForward(*x)
    before = layer.found.output.read()
    w = layer.w_v.value.read()
    w[1] = 0.0
    layer.w_v.value.write(w)
    net.feedForward(*x)
    after = layer.found.output.read()
    np.testing.assert_array_equal(after[..., :3], before[..., :3])
    assert not after[..., 3:].any()
    assert before[..., 3:].any()


def test_two_runs_give_the_same_bits(device: Device) -> None:
    runs = []
    for _ in range(2):
        net = build(device, recency=True)
        for seed in range(3):
            net.feedForward(*samples(seed=seed))
            net.backProp(np.ones((2, QUESTIONS, WIDTH)))
        runs.append(net.predict(*samples()))
    np.testing.assert_array_equal(*runs)


def test_impossible_declarations_are_refused(exact: NumpyDevice) -> None:
    with pytest.raises(
        SpecError, match=r"recency=True and sharpen=1.0 without absorbed\nFix: leave absorbed out"
    ):
        build(exact, absorbed=False, recency=True)
    with pytest.raises(SpecError, match="dimension=0 is not positive"):
        build(exact, dimension=0)
    net = CNet(input_shape=(3, 4), second_shape=(9,), layers=[CNeuronSTCAOCL(heads=2, dimension=3)])
    with pytest.raises(ShapeError, match=r"the history is \(9,\), expected \[units, window\]"):
        net.build(exact)


def test_its_output_and_gradient_may_lie_in_anothers_buffers() -> None:
    """The layer inside that ends it follows, whoever shares the buffers after it was built."""
    device, rng = NumpyDevice(np.float64), np.random.default_rng(0)
    net = CNet(
        input_shape=(3, 4),
        second_shape=(5, 4),
        layers=[CNeuronSTCAOCL(heads=2, dimension=3)],
        batch=2,
    ).build(device, seed=1)
    x, history = rng.standard_normal((2, 3, 4)), rng.standard_normal((2, 5, 4))
    net.feedForward(x, history)
    wanted, shared = net.getResults(), device.array((2, 3, 4))
    net.layers[0].SetOutput(shared)
    shared.fill(0.0)
    net.forward()
    np.testing.assert_array_equal(shared.read(), wanted)
