from __future__ import annotations

import numpy as np
import pytest

from neuronet.device.base import Device
from neuronet.device.numpy import NumpyDevice
from neuronet.errors import ShapeError, SpecError
from neuronet.layers.conv import CNeuronConvOCL
from neuronet.layers.stca_encoder import CNeuronSTCAEncoder
from neuronet.net import CNet
from neuronet.testing.gradcheck import gradcheck


def encoder(**changes: object) -> CNeuronSTCAEncoder:
    small = {"scenarios": 3, "heads": 2, "dimension": 2, "hidden": 5, "layers": 3, "recent": 3}
    return CNeuronSTCAEncoder(**{**small, **changes})  # type: ignore[arg-type]


def build(device: Device, units: int, *, batch: int = 2, **changes: object) -> CNet:
    made = CNet(input_shape=(units, 4), layers=[encoder(**changes)], batch=batch).build(device, seed=2)
    for i, attention in enumerate(layer_of(made).found):  # ages count, whatever the default
        if attention.recency:
            attention.slope.value.write([10.0 * i, 60.0])
    return made


def layer_of(net: CNet) -> CNeuronSTCAEncoder:
    assert isinstance(net.layers[0], CNeuronSTCAEncoder)
    return net.layers[0]


@pytest.mark.parametrize("rows", [3, 2])
@pytest.mark.parametrize(
    "how", [{}, {"recency": False, "layers": 2}, {"recompute": True, "layers": 2}, {"layers": 1}], ids=str
)
def test_gradients_of_the_whole_stack(how: dict[str, object], rows: int) -> None:
    below = CNeuronConvOCL(window=2, step=2, window_out=4, activation="TANH")
    gradcheck([below, encoder(**{"scenarios": 2, "hidden": 3, **how})], (5, 2), rows=rows)


def test_gradients_of_the_history_itself() -> None:
    gradcheck([encoder(recompute=True, layers=2, hidden=3)], (5, 4), batch=2)


@pytest.mark.parametrize(
    ("how", "rows"),
    [({}, 2), ({"recency": False, "scenarios": 4, "layers": 1}, 3), ({"recompute": True}, 3)],
    ids=str,
)
def test_gradients_with_given_scenarios(how: dict[str, object], rows: int) -> None:
    """The layer below makes the history and the scenarios: it gets the gradient of both."""
    below = CNeuronConvOCL(window=2, step=2, window_out=4, activation="TANH")
    gradcheck(
        [below, encoder(**{"scenarios": 2, "hidden": 3, "given": True, "layers": 2, **how})],
        (7, 2),
        rows=rows,
    )


@pytest.mark.parametrize("recency", [True, False])
def test_a_given_scenario_asks_and_is_no_history(device: Device, recency: bool) -> None:
    """Moving one changes the answer to it, and no bit of the answers to the others."""
    net = build(device, 43, given=True, recency=recency)
    x = np.random.default_rng(0).standard_normal((2, 43, 4))
    before = net.predict(x)
    moved = x.copy()
    moved[:, 41] += 1.0
    after = net.predict(moved)
    np.testing.assert_array_equal(after[:, [0, 2]], before[:, [0, 2]])
    assert np.abs(after[:, 1] - before[:, 1]).min() > 1e-4
    found = layer_of(net).attention()
    assert found.shape == (3, 2, 3, 2, 40)
    np.testing.assert_allclose(found.sum(axis=4), 1.0, atol=1e-5)


def test_given_scenarios_and_the_newest_units_of_a_history(device: Device) -> None:
    short, long = build(device, 23, given=True), build(device, 93, given=True)
    long.set_arrays(short.arrays())
    x = np.random.default_rng(0).standard_normal((2, 93, 4))
    layer_of(long).see_newest(20)
    np.testing.assert_allclose(long.predict(x), short.predict(x[:, 70:]), atol=1e-5)


def test_a_stream_with_given_scenarios_is_the_whole_history_again(device: Device) -> None:
    memory = 20
    whole = build(device, memory + 3, batch=1, given=True)
    one = build(device, 4, batch=1, given=True, memory=memory)
    one.set_arrays(whole.arrays())
    rng = np.random.default_rng(0)
    x = rng.standard_normal((67, 4))
    whole.feedForward(np.concatenate([x[:memory], rng.standard_normal((3, 4))])[None])
    layer_of(one).remember(layer_of(whole))
    for t in range(memory, len(x)):
        asked = rng.standard_normal((3, 4))
        one.input.output.write(np.concatenate([x[t : t + 1], asked])[None])
        layer_of(one).stream(one.input)
        expected = whole.predict(np.concatenate([x[t - memory + 1 : t + 1], asked])[None])
        np.testing.assert_allclose(one.getResults(), expected, atol=1e-5, err_msg=str(t))


def trained(device: Device, *, recompute: bool) -> tuple[CNet, np.ndarray]:
    net = build(device, 70, recompute=recompute)
    rng = np.random.default_rng(0)
    for _ in range(3):
        net.feedForward(rng.standard_normal((2, 70, 4)))
        net.backProp(rng.standard_normal((2, 3, 4)))
    return net, net.predict(rng.standard_normal((2, 70, 4)))


def test_recomputing_changes_no_bit(device: Device) -> None:
    (kept, one), (again, two) = (trained(device, recompute=flag) for flag in (False, True))
    np.testing.assert_array_equal(one, two)
    for name, values in kept.arrays().items():
        np.testing.assert_array_equal(values, again.arrays()[name], err_msg=name)


def numbers_alive(net: CNet) -> int:
    """Of the distinct buffers of the maps of the history."""
    layer = layer_of(net)
    maps = {
        id(array.storage): array.size
        for read, norm in zip(layer.read, layer.history, strict=True)
        for part in (read.up, read.gated, read, norm)
        for array in (part.output, part.gradient)
    }
    return sum(maps.values())


def test_recomputing_needs_less_memory(exact: NumpyDevice) -> None:
    """Of 3 layers' maps (up 10, gated 5, SwiGLU 4, norm 4 numbers a unit, twice) the norms' outputs stay."""
    kept, again = (numbers_alive(build(exact, 500, recompute=flag)) for flag in (False, True))
    unit = 2 * 500
    assert kept == 3 * 2 * (10 + 5 + 4 + 4) * unit
    assert again == kept - 2 * (2 * (10 + 5 + 4) + 4) * unit


def test_the_weights_of_a_short_history_serve_a_long_one(device: Device) -> None:
    """Units that nobody sees change nothing: the newest 40 of 90 are answered as 40 alone."""
    short, long = build(device, 40), build(device, 90)
    long.set_arrays(short.arrays())
    x = np.random.default_rng(0).standard_normal((2, 90, 4))
    layer_of(long).see_newest(40)
    expected = short.predict(x[:, 50:])
    np.testing.assert_allclose(long.predict(x), expected, atol=1e-5)
    layer_of(long).see_newest(90)
    assert np.abs(long.predict(x) - expected).max() > 1e-4


def test_attention_of_each_layer(device: Device) -> None:
    net = build(device, 50)
    net.feedForward(np.random.default_rng(0).standard_normal((2, 50, 4)))
    found = layer_of(net).attention()
    assert found.shape == (3, 2, 3, 2, 50)
    np.testing.assert_allclose(found.sum(axis=4), 1.0, atol=1e-5)


@pytest.mark.parametrize("recency", [True, False])
def test_a_stream_is_the_whole_history_again(device: Device, recency: bool) -> None:
    """Past twice the memory, so that rows are overwritten: equal to the newest 20 units at once."""
    memory = 20
    whole = build(device, memory, batch=1, recency=recency)
    one = build(device, 3, batch=1, recency=recency, memory=memory)
    one.set_arrays(whole.arrays())
    x = np.random.default_rng(0).standard_normal((67, 4))
    whole.feedForward(x[None, :memory])
    layer_of(one).remember(layer_of(whole))
    for t in range(memory, len(x)):
        one.input.output.write(x[None, t - 2 : t + 1])
        layer_of(one).stream(one.input)
        expected = whole.predict(x[None, t - memory + 1 : t + 1])
        np.testing.assert_allclose(one.getResults(), expected, atol=1e-5, err_msg=str(t))


def test_a_stream_begins_with_nothing(device: Device) -> None:
    """Without ``remember``, bar 2 answers from what has come: the rows of the units 2 and 3 of 4."""
    one = build(device, 3, batch=1, memory=20)
    x = np.random.default_rng(0).standard_normal((4, 4))
    for round_ in range(2):
        layer_of(one).Clear()
        for t in (2, 3):
            one.input.output.write(x[None, t - 2 : t + 1])
            layer_of(one).stream(one.input)
        whole = build(device, 4, batch=1)
        whole.set_arrays(one.arrays())
        layer_of(whole).see_newest(2)
        np.testing.assert_allclose(one.getResults(), whole.predict(x[None]), atol=1e-5, err_msg=str(round_))


def test_impossible_declarations_are_refused(exact: NumpyDevice) -> None:
    with pytest.raises(
        ShapeError, match="recent=3 is longer than the history, 2 units\nFix: choose recent <= 2"
    ):
        build(exact, 2)
    with pytest.raises(ShapeError, match="3 units are no history and scenarios=3\nFix: give 4 units or more"):
        build(exact, 3, given=True)
    with pytest.raises(SpecError, match="scenarios=0 is not positive"):
        build(exact, 9, scenarios=0)
    with pytest.raises(SpecError, match="memory=-1 is negative"):
        build(exact, 9, memory=-1)
    net = build(exact, 9)
    with pytest.raises(SpecError, match="memory=0\nFix: declare it with the rows to keep"):
        layer_of(net).stream(net.input)
    long = build(exact, 5, batch=1, memory=4)
    with pytest.raises(ShapeError, match="9 rows do not fit into memory=4"):
        layer_of(long).remember(layer_of(build(exact, 9, batch=1)))
