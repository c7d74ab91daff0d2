from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import neuronet as nn
from neuronet.device.base import Device
from neuronet.device.numpy import NumpyDevice
from neuronet.testing.gradcheck import gradcheck


def small(**options: object) -> nn.CNet:
    layers = [
        nn.CNeuronConvOCL(window=6, step=2, window_out=4, activation="TANH"),
        nn.CNeuronDenseOCL(neurons=8, activation="GELU"),
        nn.CNeuronDenseOCL(neurons=2),
    ]
    return nn.CNet(input_shape=(10, 2), layers=layers, batch=8, **options)  # type: ignore[arg-type]


def batch(n: int = 8, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, 10, 2)), rng.standard_normal((n, 2))


def test_loss_is_the_mean_and_falls(device: Device) -> None:
    net, (x, t) = small(optimizer=nn.Adam(lr=0.01)).build(device), batch()
    net.feedForward(x)
    expected = float(((net.getResults() - t) ** 2).mean())
    assert net.calcGradients(t) == pytest.approx(expected, rel=1e-5)
    losses = []
    for _ in range(200):
        net.feedForward(x)
        losses.append(net.backProp(t))
    assert losses[-1] < 0.01 * losses[0]


def test_calc_gradients_twice_gives_the_same_gradient(device: Device) -> None:
    net, (x, t) = small().build(device), batch()
    gradients = []
    for _ in range(2):
        net.feedForward(x)
        net.calcGradients(t)
        gradients.append(net.layers[0].parameters[0].gradient.read())
    np.testing.assert_array_equal(*gradients)
    assert np.abs(gradients[0]).max() > 0


def test_first_step_of_adam_moves_each_weight_by_lr() -> None:
    """Kingma & Ba, section 2.1: with bias correction the first step is lr * g / (|g| + eps)."""
    net, (x, t) = small(optimizer=nn.Adam(lr=0.125)).build(NumpyDevice(np.float64)), batch()
    net.feedForward(x)
    net.calcGradients(t)
    p = net.layers[2].parameters[0]
    before, g = p.value.read(), p.gradient.read()
    net.feedForward(x)
    net.backProp(t)
    np.testing.assert_allclose(before - p.value.read(), 0.125 * g / (np.abs(g) + 1e-8), rtol=1e-9)


@pytest.mark.parametrize("rows", [1, 5, 8, 9, 17])
def test_predict_takes_any_number_of_rows(device: Device, rows: int) -> None:
    net = small().build(device)
    x, _ = batch(rows)
    whole = net.predict(x)
    assert whole.shape == (rows, 2)
    single = np.concatenate([net.predict(x[i : i + 1]) for i in range(rows)])
    np.testing.assert_allclose(whole, single, rtol=1e-5, atol=1e-6)


def test_partial_batch_gradient_is_of_its_rows_alone() -> None:
    x, t = batch()
    gradients = []
    for size in (8, 3):  # a full net of 8 fed 3 rows, and a net of 3
        net = small()
        net.batch = size
        net.build(NumpyDevice(np.float64), seed=2)
        net.feedForward(x[:3])
        net.calcGradients(t[:3])
        gradients.append(net.pool.gradients.read())
    np.testing.assert_allclose(*gradients, rtol=1e-12)


def test_clip_norm_limits_the_first_sgd_step(device: Device) -> None:
    net, (x, t) = small(optimizer=nn.SGD(lr=1.0, momentum=0.0, clip_norm=0.01)).build(device), batch()
    before = net.pool.values.read()
    net.feedForward(x)
    net.backProp(1000 * t)
    assert np.linalg.norm(net.pool.values.read() - before) == pytest.approx(0.01, rel=1e-4)


def test_model_trained_on_a_device_predicts_on_numpy(device: Device, tmp_path: Path) -> None:
    net, (x, t) = small().build(device, seed=3), batch()
    for _ in range(20):
        net.feedForward(x)
        net.backProp(t)
    net.save(tmp_path / "net.h5")
    ours, theirs = net.predict(x), nn.CNet.load(tmp_path / "net.h5", NumpyDevice()).predict(x)
    assert np.abs(ours - theirs).max() <= 1e-4 * np.abs(theirs).max()


def test_gradients_of_a_net_of_all_layers() -> None:
    """All of the foundation, chained; the whole-life table has every layer by itself."""
    layers = [
        nn.CNeuronRevINOCL(),
        nn.CNeuronPositionEncoder(),
        nn.CNeuronConvOCL(window=8, step=4, window_out=6, activation="SILU"),
        nn.CNeuronLayerNormOCL(),
        nn.CResidualConv(window=6, window_out=4),
        nn.CNeuronProofOCL(window=2, step=1),
        nn.CNeuronTransposeOCL(),
        nn.CNeuronBatchNormOCL(activation="TANH"),
        nn.CNeuronSoftMaxOCL(heads=2),
        nn.CNeuronDropoutOCL(probability=0.2),
        nn.CNeuronConcatenate(neurons=12, activation="SOFTPLUS"),
        nn.CNeuronDenseOCL(neurons=12, activation="GELU"),
        nn.CNeuronConvOCL(window=4, step=4, window_out=4, activation="LRELU"),
        nn.CNeuronRevINDenormOCL(layers=0),
    ]
    assert len({type(layer) for layer in layers}) == 13
    gradcheck(layers, (10, 4), second_shape=(3,), batch=4)


@pytest.mark.parametrize("rows", [4, 3])
def test_gradients_of_a_second_input_that_three_layers_take(rows: int) -> None:
    """Each layer overwrites the gradient of its second input; a net's is their sum."""
    layers = [
        nn.CNeuronConcatenate(neurons=6, activation="TANH"),
        nn.CNeuronDenseOCL(neurons=4, activation="GELU"),
        nn.CNeuronConcatenate(neurons=5, activation="SOFTPLUS"),
        nn.CNeuronConcatenate(neurons=3),
    ]
    gradcheck(layers, (7,), second_shape=(2, 3), batch=4, rows=rows)


def test_second_gradients_add_up_on_a_device(device: Device) -> None:
    """As float64 has them, when they are computed and when the tape replays them."""
    rng = np.random.default_rng(0)
    x, second, t = (rng.standard_normal((5, n)) for n in (4, 3, 2))
    found = []
    for where in (NumpyDevice(np.float64), device):
        layers = [nn.CNeuronConcatenate(neurons=6, activation="TANH"), nn.CNeuronConcatenate(neurons=2)]
        net = nn.CNet(input_shape=(4,), second_shape=(3,), layers=layers, batch=5).build(where, seed=1)
        assert net.second is not None
        net.second.needs_gradient = True  # type: ignore[misc]  # an instance's
        for _ in range(2):
            net.feedForward(x, second)
            net.calcGradients(t)
            found.append(net.second.gradient.read())
    np.testing.assert_allclose(found[2], found[0], rtol=1e-4, atol=1e-6)
    np.testing.assert_array_equal(found[2], found[3])


def test_same_seed_same_bits_other_seed_other_weights(device: Device) -> None:
    values = [small().build(device, seed=s).pool.values.read() for s in (4, 4, 5)]
    np.testing.assert_array_equal(values[0], values[1])
    assert not np.array_equal(values[0], values[2])


def test_spec_round_trip() -> None:
    net = small(loss=nn.Huber(delta=0.5), optimizer=nn.Adam(lr=nn.WarmupCosine(lr=1e-3, warmup=5, total=50)))
    again = nn.CNet.from_spec(net.spec())
    assert again.spec() == net.spec()
    assert again.optimizer.rate(0) == pytest.approx(2e-4)


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: nn.CNet(input_shape=(3,), layers=[]), nn.SpecError, "has no layers"),
        (lambda: small(loss="mze"), nn.SpecError, "unknown loss 'mze'"),
        (lambda: nn.CNeuronDenseOCL(neurons=2.5), nn.SpecError, "neurons must be a whole number, got 2.5"),
        (lambda: nn.CNeuronDenseOCL(neurons=2, activation="TANHH"), nn.SpecError, "choose one of NONE, TANH"),
        (lambda: nn.Adam(lr=-1), nn.SpecError, "lr must be positive, got -1"),
        (lambda: nn.CNet.from_spec({"layers": []}), nn.SpecError, "missing key 'input_shape'"),
        (
            lambda: nn.CNet.from_spec({"input_shape": [3], "layers": [{"class": "CNeuronX"}]}),
            nn.SpecError,
            "unknown layer 'CNeuronX'",
        ),
        (
            lambda: nn.CNet.from_spec({"input_shape": [3], "layers": [{"class": "CNeuronDenseOCL", "x": 1}]}),
            nn.SpecError,
            "unknown field 'x'",
        ),
    ],
)
def test_wrong_declarations_are_refused(make: object, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        make()  # type: ignore[operator]


def test_a_second_input_is_never_dropped() -> None:
    """Errata E17: the published two-argument feedForward ignores its second argument."""
    x, second, t = np.zeros((4, 5)), np.ones((4, 3)), np.zeros((4, 2))
    device = NumpyDevice()
    plain = nn.CNet(input_shape=(5,), layers=[nn.CNeuronDenseOCL(neurons=2)]).build(device)
    with_second = nn.CNet(
        input_shape=(5,), second_shape=(3,), layers=[nn.CNeuronConcatenate(neurons=2)]
    ).build(device)
    for call in (lambda: plain.feedForward(x, second), lambda: nn.fit(plain, x, t, second=second)):
        with pytest.raises(nn.ShapeError, match="has no second input"):
            call()
    for call in (lambda: with_second.feedForward(x), lambda: nn.fit(with_second, x, t)):
        with pytest.raises(nn.ShapeError, match="the net has a second input"):
            call()
    with pytest.raises(
        nn.ShapeError, match=r"second inputs have shape \(2,\) a sample, the net takes \(3,\)"
    ):
        nn.fit(with_second, x, t, second=np.ones((4, 2)))
    before = with_second.predict(x, second)
    assert np.abs(with_second.predict(x, 2 * second) - before).max() > 0
    nn.fit(with_second, x, t, second=second, epochs=1)


def test_wrong_shapes_are_refused() -> None:
    net = small().build(NumpyDevice())
    with pytest.raises(nn.ShapeError, match=r"x has shape \(8, 10, 3\), expected \[n, 10, 2\]"):
        net.feedForward(np.zeros((8, 10, 3)))
    with pytest.raises(nn.ShapeError, match="x has 9 rows, the net takes 8"):
        net.feedForward(np.zeros((9, 10, 2)))
    net.feedForward(np.zeros((8, 10, 2)))
    with pytest.raises(nn.ShapeError, match=r"target has shape \(8, 3\), expected \(8, 2\)"):
        net.calcGradients(np.zeros((8, 3)))
    wide = nn.CNet(input_shape=(2,), layers=[nn.CNeuronConvOCL(window=3, step=1, window_out=1)])
    with pytest.raises(nn.ShapeError, match="window=3 is longer than the input, 2 values per variable"):
        wide.build(NumpyDevice())


class Penalised(nn.CNeuronDenseOCL):
    """A dense layer with a term of its own in the loss, which this test writes."""

    def allocate(self, input_shape: tuple[int, ...], rng: np.random.Generator) -> None:
        super().allocate(input_shape, rng)
        self.set_penalty()


def test_a_layers_penalty_is_part_of_the_loss(device: Device) -> None:
    net = nn.CNet(input_shape=(2,), layers=[Penalised(neurons=1)], batch=3).build(device, seed=0)
    x, target = np.ones((2, 2)), np.zeros((2, 1))
    net.feedForward(x)
    assert net.layers[0].penalty is not None
    net.layers[0].penalty.write([0.0, 0.0])
    plain = net.calcGradients(target)
    net.layers[0].penalty.write([0.5, 2.5])
    assert net.calcGradients(target) == pytest.approx(plain + 1.5)
    assert net.loss_value.read()[0] == pytest.approx(2 * plain + (2 * plain + 3.0))  # a sum over samples


def test_predicting_takes_no_memory_for_gradients_and_training_little(device: Device) -> None:
    layers = [nn.CNeuronDenseOCL(neurons=8, activation="TANH") for _ in range(6)]
    net = nn.CNet(input_shape=(8,), layers=layers, batch=4).build(device)
    net.predict(np.ones((4, 8)))
    assert not any(array.memory.is_there for array in net.brief)
    with net.sharing():
        places = {id(array.storage) for array in net.brief if array.memory.is_there}
        assert len(places) == 2  # for 12 arrays: a kernel reads one and writes one
    assert not any(array.memory.is_there for array in net.brief)
