"""STCAStream: bar by bar a net says what it says of whole windows; which nets can."""

from __future__ import annotations

import numpy as np
import pytest

import neuronet as nn
from neuronet.device.base import Device
from neuronet.device.numpy import NumpyDevice
from neuronet.errors import DataError, ShapeError, SpecError
from neuronet.layers.base import CNeuronBaseOCL
from neuronet.layers.stca_encoder import CNeuronSTCAEncoder
from neuronet.models.stca_stream import STCAStream, can_stream, encoder_of
from neuronet.net import CNet

WIDTH = 4


def unit(window: int = WIDTH) -> nn.CNeuronConvOCL:
    return nn.CNeuronConvOCL(window=window, step=window, window_out=WIDTH)


def encoder(**changes: object) -> nn.CNeuronSTCAEncoder:
    small = {"scenarios": 2, "heads": 2, "dimension": 2, "hidden": 5, "recent": 3}
    return nn.CNeuronSTCAEncoder(**{**small, **changes})  # type: ignore[arg-type]


STACKS: dict[str, list[CNeuronBaseOCL]] = {
    "times": [
        nn.CNeuronTSPositionEncoder(periods=(3_600, 86_400), freqs=1),
        nn.CNeuronLayerNormOCL(),
        nn.CNeuronSwiGLUOCL(hidden=6, window_out=5),
        unit(5),
        encoder(recompute=True),
        nn.CNeuronDenseOCL(neurons=3),
    ],
    "bare": [encoder(recency=False)],
}


def net_of(layers: list[CNeuronBaseOCL], units: int = 20, width: int = WIDTH, batch: int = 2) -> CNet:
    fresh = [nn.layers.base.layer_from_spec(layer.spec()) for layer in layers]
    second = (units, 2) if any(layer.takes_second for layer in layers) else None
    return CNet(input_shape=(units, width), second_shape=second, layers=fresh, batch=batch)


@pytest.mark.parametrize("name", STACKS)
def test_a_stream_says_what_the_net_says_of_whole_windows(device: Device, name: str) -> None:
    net = net_of(STACKS[name]).build(device, seed=1)
    for attention in encoder_of(net).found:
        if attention.recency:
            attention.slope.value.write([3.0, 40.0])
    rng = np.random.default_rng(0)
    arrays = [rng.standard_normal((65, WIDTH))]
    if net.second_shape is not None:
        arrays.append(rng.random((65, 2)))
    windows = [np.stack([x[s : s + 20] for s in range(46)]) for x in arrays]
    wanted = net.predict(*windows)
    stream = STCAStream(net)
    for first in (0, 7):  # again, from another bar on
        said = [stream.start(*(x[first : first + 20] for x in arrays))]
        said += [stream.append(*(x[t] for x in arrays)) for t in range(first + 20, 65)]
        np.testing.assert_allclose(said, wanted[first:], atol=1e-5 * np.abs(wanted).max())
    assert net.training  # as it was


def test_a_stream_keeps_the_weights_that_it_was_made_with(exact: NumpyDevice) -> None:
    net = net_of(STACKS["bare"]).build(exact)
    x = np.random.default_rng(0).standard_normal((21, WIDTH))
    before = net.predict(x[None, 1:])[0]
    stream = STCAStream(net)
    stream.start(x[:20])
    net.pool.values.fill(0.0)
    np.testing.assert_allclose(stream.append(x[20]), before, rtol=1e-12)


@pytest.mark.parametrize(
    ("layers", "can"),
    [
        ([unit(), encoder()], True),
        ([encoder(given=True)], True),
        ([nn.CNeuronDenseOCL(neurons=2)], False),  # no encoder
        ([encoder(), encoder(recent=2)], False),
        ([nn.CNeuronConvOCL(window=8, step=4, window_out=4), encoder()], False),  # two bars at once
        ([nn.CNeuronConvOCL(window=8, step=8, window_out=4), encoder()], False),
        ([nn.CNeuronConvOCL(window=2, step=2, window_out=4), encoder()], False),  # half a bar
        ([nn.CNeuronRevINOCL(), encoder()], False),  # norms over the whole window
        ([nn.CNeuronMambaOCL(window_key=2, heads=2), encoder()], False),  # sees the bars before
        ([encoder(), nn.CNeuronTSPositionEncoder(periods=(3_600, 86_400), freqs=1)], False),
    ],
    ids=str,
)
def test_only_what_reads_each_bar_alone_can_stream(layers: list[CNeuronBaseOCL], can: bool) -> None:
    assert can_stream(net_of(layers)) is can


def test_another_net_is_refused(exact: NumpyDevice) -> None:
    net = net_of([nn.CNeuronDenseOCL(neurons=2)]).build(exact)
    with pytest.raises(
        SpecError, match="does not answer bar by bar\nFix: give a net with one CNeuronSTCAEncoder"
    ):
        STCAStream(net)


@pytest.mark.parametrize("shape", [(), (1,), (2, 2), (3,)])
def test_a_row_of_another_shape_is_named(shape: tuple[int, ...]) -> None:
    layers: list[CNeuronBaseOCL] = [CNeuronSTCAEncoder(scenarios=1, heads=1, dimension=2, hidden=2, recent=2)]
    net = net_of(layers).build(NumpyDevice())
    stream = STCAStream(net)
    stream.start(np.ones(net.input_shape))
    with pytest.raises(ShapeError, match="a row of shape"):
        stream.append(np.ones(shape))


@pytest.mark.parametrize("name", STACKS)
def test_numbers_that_are_not_finite_are_named_and_not_kept(device: Device, name: str) -> None:
    net = net_of(STACKS[name]).build(device, seed=1)
    rng = np.random.default_rng(0)
    arrays = [rng.standard_normal((30, WIDTH))]
    if net.second_shape is not None:
        arrays.append(rng.random((30, 2)))
    stream = STCAStream(net)
    first, wrong = [x[:20] for x in arrays], [x[10:30].copy() for x in arrays]
    stream.start(*first)
    wanted = [stream.append(*(x[t] for x in arrays)) for t in range(20, 30)]
    stream.start(*first)
    wrong[-1][3, 1] = np.inf
    of = " of the second input" if len(arrays) > 1 else ""
    with pytest.raises(DataError, match=f"STCAStream.start: row 3{of} has inf in column 1"):
        stream.start(*wrong)
    for t in range(20, 30):
        for i, part in enumerate(("", " of the second input")[: len(arrays)]):
            given = [x[t].copy() for x in arrays]
            given[i][1] = np.nan
            with pytest.raises(DataError, match=f"STCAStream.append: the row{part} has nan in column 1"):
                stream.append(*given)

        def refuse(_: object) -> None:
            raise ValueError

        with pytest.raises(ValueError):  # noqa: PT011
            stream.append(*(-x[t] for x in arrays), check=refuse)
        np.testing.assert_array_equal(stream.append(*(x[t] for x in arrays)), wanted[t - 20])
