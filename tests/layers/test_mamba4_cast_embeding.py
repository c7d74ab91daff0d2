from __future__ import annotations

import numpy as np
import pytest

from neuronet.device.base import Device
from neuronet.device.numpy import NumpyDevice
from neuronet.errors import ShapeError, SpecError
from neuronet.layers.batch_norm import CNeuronBatchNormOCL
from neuronet.layers.conv import CNeuronConvOCL
from neuronet.layers.dense import CNeuronDenseOCL
from neuronet.layers.mamba4_cast_embeding import CMamba4CastEmbeding
from neuronet.layers.ts_position_encoder import time_phases
from neuronet.net import CNet
from neuronet.optim.adam import Adam
from neuronet.testing.gradcheck import gradcheck

DAY_WEEK = (86_400, 604_800)


def make_net(device: Device, window_out: int = 11, batch: int = 6) -> CNet:
    layers = [CMamba4CastEmbeding(window=3, window_out=window_out, periods=DAY_WEEK)]
    return CNet(input_shape=(4, 3), layers=layers, batch=batch, second_shape=(4, 2)).build(device, seed=2)


@pytest.mark.parametrize("window_out", [8, 11, 17])
@pytest.mark.parametrize(("rows", "unit_norm"), [(6, False), (5, False), (5, True)])
def test_gradients(window_out: int, rows: int, unit_norm: bool) -> None:
    layers = [CMamba4CastEmbeding(window=3, window_out=window_out, periods=DAY_WEEK, unit_norm=unit_norm)]
    gradcheck(layers, (4, 3), second_shape=(4, 2), batch=6, rows=rows)


def test_output_is_the_normed_projection_beside_the_one_with_time(device: Device) -> None:
    net, rng = make_net(device), np.random.default_rng(0)
    x, phases = rng.standard_normal((6, 4, 3)), rng.random((6, 4, 2))
    net.feedForward(x, phases)
    weights = {p.name: p.value.read() for p in net.layers[0].parameters}

    def project(name: str) -> np.ndarray:
        return x @ weights[f"{name}/w"][0].T + weights[f"{name}/b"][0]

    plain, turns = np.tanh(project("projection")), 2 * np.pi * phases[..., None]  # one harmonic a period
    plain = (plain - plain.mean(0)) / np.sqrt(plain.var(0) + 1e-5)
    time = np.concatenate([np.sin(turns), np.cos(turns)], -1).reshape(6, 4, 4)
    expected = np.concatenate([plain, project("with_time/projection") + time], -1)
    np.testing.assert_allclose(net.getResults(), expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    ("window_out", "periods", "freqs", "time"),
    [(24, 5, 1, 10), (20, 5, 1, 10), (12, 3, 1, 6), (32, 4, 2, 16), (31, 4, 1, 8), (9, 2, 1, 4)],
)
def test_e1_time_takes_half_the_output_at_most(
    exact: NumpyDevice, window_out: int, periods: int, freqs: int, time: int
) -> None:
    """Published: freqs is rounded up: window_out 24 with 5 periods gives 20 values to time, 4 to the rest."""
    layer = CMamba4CastEmbeding(window=2, window_out=window_out, periods=tuple(range(1, periods + 1)))
    CNet(input_shape=(3, 2), layers=[layer], second_shape=(3, periods)).build(exact)
    assert layer.freqs == freqs
    assert layer.with_time.output.shape[2] == time
    assert layer.norm.output.shape[2] == window_out - time
    assert layer.output.shape[2] == window_out


@pytest.mark.parametrize(("window_out", "periods"), [(8, 5), (12, 6), (19, 5), (0, 1), (-4, 1)])
def test_e1_too_narrow_an_output_is_refused(exact: NumpyDevice, window_out: int, periods: int) -> None:
    """Published: 8 values with 5 periods ask for 4294967294 filters, 12 with 6 periods for none."""
    layer = CMamba4CastEmbeding(window=2, window_out=window_out, periods=tuple(range(1, periods + 1)))
    with pytest.raises(SpecError, match=f"window_out={window_out} has no room for a harmonic of {periods}"):
        CNet(input_shape=(3, 2), layers=[layer], second_shape=(3, periods)).build(exact)


def test_e2_without_times_the_net_is_refused(device: Device) -> None:
    """Published: the pass fails at run time and says nothing."""
    layer = CMamba4CastEmbeding(window=3, window_out=11, periods=DAY_WEEK)
    with pytest.raises(SpecError, match="takes a second input, the net has none"):
        CNet(input_shape=(4, 3), layers=[layer])
    with pytest.raises(ShapeError, match="the net has a second input"):
        make_net(device).feedForward(np.ones((6, 4, 3)))


@pytest.mark.parametrize("periods", [(), (60, 0), (60, 60)])
def test_e3_periods_that_make_no_sense_are_refused(exact: NumpyDevice, periods: tuple[int, ...]) -> None:
    """Published: a period of 0 divides by zero, one given twice is learned twice."""
    layer = CMamba4CastEmbeding(window=2, window_out=16, periods=periods)
    with pytest.raises(SpecError, match="period"):
        CNet(input_shape=(3, 2), layers=[layer], second_shape=(3, 2)).build(exact)


def test_e4_the_layer_below_keeps_its_gradient_buffer(device: Device) -> None:
    """Published: the gradient buffer of the layer below is exchanged, and lost where a call then fails."""
    below = CNeuronConvOCL(window=2, step=2, window_out=3, activation="TANH")
    layers = [below, CMamba4CastEmbeding(window=3, window_out=11, periods=DAY_WEEK)]
    net = CNet(input_shape=(4, 2), layers=layers, batch=6, second_shape=(4, 2)).build(device)
    owned, output = below.gradient.storage, below.output
    net.feedForward(np.random.default_rng(0).standard_normal((6, 4, 2)), np.zeros((6, 4, 2)))
    before = output.read()
    net.calcGradients(np.ones((6, 4, 11)))
    assert below.gradient.storage is owned
    np.testing.assert_array_equal(below.output.read(), before)


@pytest.mark.parametrize("activation", ["TANH", "SIGMOID"])
def test_e5_e6_every_input_gets_the_sum_of_both_branches(activation: str) -> None:
    """Published: the sum drops the tail of an input, and each branch is derived, with a clip, before it."""
    below = CNeuronConvOCL(window=2, step=2, window_out=3, activation=activation)
    layers = [below, CMamba4CastEmbeding(window=3, window_out=11, periods=DAY_WEEK)]
    gradcheck(layers, (5, 2), second_shape=(5, 2), batch=6)


def test_e8_the_norm_is_there_at_any_batch(device: Device) -> None:
    """Published: with a batch of 1 or less the norm passes its input on; a first sample is then not 0."""
    net, rng = make_net(device, batch=1), np.random.default_rng(0)
    net.feedForward(rng.standard_normal((1, 4, 3)), np.zeros((1, 4, 2)))
    layer = net.layers[0]
    assert isinstance(layer, CMamba4CastEmbeding)
    assert isinstance(layer.norm, CNeuronBatchNormOCL)
    np.testing.assert_allclose(net.getResults()[..., :7], 0, atol=1e-6)
    assert np.abs(layer.projection.output.read()).max() > 0.1


def test_time_is_seen_and_trained(device: Device) -> None:
    """A target that depends on the hour alone, from values that are noise."""
    layers = [CMamba4CastEmbeding(window=1, window_out=8, periods=DAY_WEEK), CNeuronDenseOCL(neurons=1)]
    net = CNet(
        input_shape=(1, 1), layers=layers, batch=32, second_shape=(1, 2), optimizer=Adam(lr=0.05)
    ).build(device, seed=1)
    rng = np.random.default_rng(0)
    for _ in range(150):
        times = rng.integers(0, 604_800, (32, 1)) * 10**9
        phases = time_phases(times, DAY_WEEK)
        net.feedForward(rng.standard_normal((32, 1, 1)), phases)
        loss = net.backProp(np.sin(2 * np.pi * phases[:, :, 0]))
    assert loss < 0.02


def test_another_width_is_refused(exact: NumpyDevice) -> None:
    layer = CMamba4CastEmbeding(window=3, window_out=16, periods=DAY_WEEK)
    with pytest.raises(ShapeError, match=r"input \[4, 2\] is not \[units, window=3\]"):
        CNet(input_shape=(4, 2), layers=[layer], second_shape=(4, 2)).build(exact)


def test_with_unit_norm_weights_fit_any_number_of_units(device: Device) -> None:
    def make(units: int) -> CNet:
        layers = [CMamba4CastEmbeding(window=3, window_out=11, periods=DAY_WEEK, unit_norm=True)]
        return CNet(input_shape=(units, 3), second_shape=(units, 2), layers=layers, batch=2).build(device)

    long, short, rng = make(7), make(2), np.random.default_rng(0)
    short.set_arrays(long.arrays())
    x, phases = rng.standard_normal((2, 7, 3)), rng.random((2, 7, 2))
    found = short.predict(x[:, 3:5], phases[:, 3:5])
    np.testing.assert_allclose(found, long.predict(x, phases)[:, 3:5], rtol=1e-6, atol=1e-6)
