"""Mamba4Cast: exact gradients, the same forecasts on every device, for every length, in every unit."""

from __future__ import annotations

import logging
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import neuronet as nn
from neuronet.device.base import Device
from neuronet.device.numpy import NumpyDevice
from neuronet.errors import DataError, FileFormatError, SpecError
from neuronet.fitting.state import TrainingState
from neuronet.models import mamba4cast as module
from neuronet.models import mamba4cast_data
from neuronet.models.mamba4cast import Mamba4Cast, quantiles_at
from neuronet.models.mamba4cast_tokens import Tokens
from neuronet.series.metrics import seasonal_naive
from neuronet.series.series import Series
from neuronet.storage.hdf5 import read_model, write_model
from neuronet.storage.model import ModelFile
from neuronet.testing.gradcheck import gradcheck

Make = Callable[..., Series]
Tiny = Callable[..., Mamba4Cast]
ALL = (0.1, 0.25, 0.5, 0.75, 0.9)


def wave(n: int, seed: int = 0) -> np.ndarray:
    noise = np.random.default_rng(seed).standard_normal(n)
    return np.sin(2 * np.pi * np.arange(n) / 24) + 0.3 * noise


# --- the net ------------------------------------------------------------------------------------------


def test_gradients_of_the_whole_net(tiny: Tiny) -> None:
    """Encoder and head with two heads, values and phases, every element of every array."""
    declared = tiny(context=4, horizon=2, heads=2, levels=(0.2, 0.5), periods=(3_600, 86_400))
    net = declared._declare(4, 2, 2)
    gradcheck(net.layers, net.input_shape, second_shape=net.second_shape, batch=2)


def test_gradient_of_the_quantile_loss_along_random_directions(tiny: Tiny, exact: NumpyDevice) -> None:
    net = tiny(context=10, horizon=3, depth=2).build(exact, batch=3, seed=1).net
    rng = np.random.default_rng(2)
    for p in net.pool.parameters:
        p.value.write(p.value.read() + 0.1 * rng.standard_normal(p.shape))
    x, phases = (rng.random((3, *shape)) for shape in (net.input_shape, net.second_shape or ()))
    target, start = rng.standard_normal((3, *net.target_shape)), net.pool.values.read()
    states = {key: array.read() for layer in net.layers for key, array in _states(layer)}

    def loss(at: np.ndarray) -> float:
        for layer in net.layers:
            for key, array in _states(layer):
                array.write(states[key])
        net.pool.values.write(at)
        net.feedForward(x, phases)
        return net.calcGradients(target)

    loss(start)
    gradient = net.pool.gradients.read()
    for _ in range(4):
        way = rng.standard_normal(start.shape)
        slope = (loss(start + 1e-6 * way) - loss(start - 1e-6 * way)) / 2e-6
        assert slope == pytest.approx(float((gradient * way).sum()), rel=1e-6)


def _states(layer: Any) -> list[tuple[str, Any]]:
    return [(f"{layer.path}/{name}", array) for name, array in layer.states.items()]


def test_a_unit_of_the_net_sees_no_later_one(model: Mamba4Cast) -> None:
    """The first steps ahead do not depend on how many are asked for."""
    times = np.arange(130) * np.timedelta64(1, "h") + np.datetime64("2024-01-01")
    long = model.forecast(wave(130), times, 6, ALL)
    for horizon in (1, 2, 5):
        np.testing.assert_allclose(model.forecast(wave(130), times, horizon, ALL), long[:horizon], rtol=1e-5)


def test_devices_agree(model: Mamba4Cast, device: Device, make_series: Make, tmp_path: Path) -> None:
    model.save(tmp_path / "m.h5")
    other = Mamba4Cast.load(tmp_path / "m.h5", device)
    made = [make_series(wave(n, n)) for n in (10, 65, 128, 228, 40, 41)]
    pairs = zip(model.forecast_many(made, 6, ALL), other.forecast_many(made, 6, ALL), strict=True)
    for want, got in pairs:
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-4 * np.ptp(want))


# --- scale and shift ----------------------------------------------------------------------------------


@pytest.mark.parametrize("factor", [2.0**-10, 0.5, 1.0, 8.0, 2.0**20])
@pytest.mark.parametrize("shift", [0.0, 3.0, -100.0])
def test_another_unit_gives_the_same_forecast_in_that_unit(
    model: Mamba4Cast, make_series: Make, factor: float, shift: float
) -> None:
    values = wave(100)
    values[[3, 40, 99]] = np.nan
    want = model.forecast_many([make_series(values)], 6, ALL)[0]
    got = model.forecast_many([make_series(factor * (shift + values))], 6, ALL)[0]
    np.testing.assert_allclose(got / factor, shift + want, rtol=0, atol=1e-5)
    assert np.ptp(want) > 0.1


def test_flat_histories_have_finite_forecasts_near_their_level(model: Mamba4Cast, make_series: Make) -> None:
    for level, scale in ((0.0, 1.0), (5.0, 0.005), (-1e6, 1e3)):
        got = model.forecast_many([make_series(np.full(30, level))], 6)[0]
        np.testing.assert_allclose(got, level, rtol=0, atol=20.0 * scale)


# --- every context and horizon ------------------------------------------------------------------------


@pytest.mark.parametrize("length", [1, 10, 64, 65, 128, 228])
@pytest.mark.parametrize("horizon", [1, 6, 9])
def test_the_weights_fit_every_history_and_horizon(
    model: Mamba4Cast, make_series: Make, caplog: pytest.LogCaptureFixture, length: int, horizon: int
) -> None:
    one = make_series(wave(300))[:length]
    with caplog.at_level(logging.WARNING, logger="neuronet"):
        got = model.forecast_many([one], horizon, ALL)[0]
    assert got.shape == (horizon, 5)
    assert np.isfinite(got).all()
    said = [record.getMessage() for record in caplog.records]
    longer = ["the model was trained for 6 steps ahead, not for 9"]
    assert said == (longer if horizon > 6 else [])


def test_padding_in_front_changes_no_forecast(model: Mamba4Cast, make_series: Make) -> None:
    """10 values go through a net of 64 tokens; a net of exactly 10 must say the same but for its padding."""
    one = make_series(wave(10))
    tokens = module.tokens_of_series([one], 64, 6, model.periods)
    net = model._declare(64, 6, 8).build(NumpyDevice())
    net.set_arrays(model.weights())
    want = np.sort(net.predict(tokens.x, tokens.phases)[0], axis=-1) * tokens.scale + tokens.shift
    np.testing.assert_allclose(model.forecast_many([one], 6, ALL)[0], want, rtol=1e-6)


def test_a_longer_history_than_the_context_is_its_end(model: Mamba4Cast, make_series: Make) -> None:
    one = make_series(wave(228))
    whole, end = model.forecast_many([one], 6)[0], model.forecast_many([one[-128:]], 6)[0]
    np.testing.assert_array_equal(whole, end)


def test_many_are_one_by_one_in_their_order(model: Mamba4Cast, make_series: Make) -> None:
    lengths = [65, 10, 128, 64, 228, 11, 66, 100, 12, 13, 14, 15, 16, 17, 18]  # more than a batch of 8
    made = [make_series(10.0 * i + wave(n, i)) for i, n in enumerate(lengths)]
    together = model.forecast_many(made, 6, ALL)
    for one, got in zip(made, together, strict=True):
        np.testing.assert_allclose(got, model.forecast_many([one], 6, ALL)[0], rtol=1e-5, atol=1e-5)
    turned = model.forecast_many(made[::-1], 6, ALL)[::-1]
    for got, want in zip(turned, together, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)
    assert model.forecast_many([], 6) == []


def test_forecast_takes_times_as_dates_or_nanoseconds(model: Mamba4Cast, make_series: Make) -> None:
    one = make_series(wave(40))
    want = model.forecast_many([one], 6)[0]
    for times in (one.times, one.times.astype("datetime64[ns]").astype("datetime64[m]"), one.times.tolist()):
        np.testing.assert_array_equal(model.forecast(one.values, times, 6), want)
    moved = model.forecast(one.values, one.times + 5 * 3_600 * 10**9, 6)
    assert np.abs(moved - want).max() > 1e-4  # the time of day counts
    for times in (one.times.astype(np.float64), one.times.astype(str)):
        with pytest.raises(DataError, match=r"times have dtype .*\nFix: give datetime64, or int64 ns"):
            model.forecast(one.values, times, 6)
    with pytest.raises(DataError, match=r"values have shape \(39,\), times \(40,\)"):
        model.forecast(one.values[1:], one.times, 6)


# --- quantiles ----------------------------------------------------------------------------------------


def test_quantiles_ascend_and_the_median_is_the_forecast(model: Mamba4Cast, make_series: Make) -> None:
    made = [make_series(wave(n, n)) for n in (30, 70, 200)]
    levels = (0.1, 0.2, 0.25, 0.5, 0.6, 0.9)
    medians = model.forecast_many(made, 6)
    for got, median in zip(model.forecast_many(made, 6, levels), medians, strict=True):
        assert got.shape == (6, 6)
        assert np.all(np.diff(got, axis=1) >= 0.0)
        assert np.ptp(got, axis=1).min() > 0.0
        np.testing.assert_array_equal(got[:, 3], median)
        np.testing.assert_allclose(got[:, 1], got[:, 0] + (got[:, 2] - got[:, 0]) * 2 / 3, rtol=1e-9)
    swapped = model.forecast_many(made[:1], 6, levels[::-1])[0]
    np.testing.assert_array_equal(swapped[:, ::-1], model.forecast_many(made[:1], 6, levels)[0])


def scaled(shift: float, scale: float) -> Tokens:
    nothing = np.zeros((1, 1, 1), np.float32)
    return Tokens(nothing, nothing, np.array([shift]), np.array([scale]))


def test_quantiles_between_levels_by_hand() -> None:
    outputs = np.array([[[-2.0, 0.0, 4.0], [1.0, 1.5, 2.0]]])
    got = quantiles_at(outputs, (0.1, 0.5, 0.9), (0.1, 0.3, 0.5, 0.6, 0.9), scaled(10.0, 2.0))
    want = [[[6.0, 8.0, 10.0, 12.0, 18.0], [12.0, 12.5, 13.0, 13.25, 14.0]]]
    np.testing.assert_allclose(got, want, rtol=1e-12)
    np.testing.assert_array_equal(
        quantiles_at(outputs[..., :1], (0.5,), (0.5,), scaled(1.0, 1.0)), [[[-1.0], [2.0]]]
    )
    two = quantiles_at(outputs[..., :2], (0.1, 0.5), (0.1, 0.2, 0.5), scaled(0.0, 1.0))
    np.testing.assert_allclose(two, [[[-2.0, -1.5, 0.0], [1.0, 1.125, 1.5]]], rtol=1e-12)


@pytest.mark.parametrize(
    ("asked", "named"),
    [
        ((0.05,), "quantiles 0.05 are not between 0.1 and 0.9"),
        ((0.5, 0.91, 0.95), "quantiles 0.91, 0.95 are not between"),
        ((float("nan"),), "quantiles nan are not between"),
        ((), "no quantiles"),
    ],
)
def test_quantiles_outside_are_refused(
    model: Mamba4Cast, make_series: Make, asked: tuple[float, ...], named: str
) -> None:
    with pytest.raises(SpecError, match=rf"{named}.*\nFix: choose from 0.1 to 0.9, the levels"):
        model.forecast_many([make_series(wave(30))], 6, asked)


def test_what_cannot_be_forecast_is_refused(model: Mamba4Cast, make_series: Make) -> None:
    values = wave(200)
    values[-128:] = np.nan
    with pytest.raises(DataError, match=r"series 'gone': none of the last 128 values is known"):
        model.forecast_many([make_series(wave(30)), make_series(values, name="gone")], 6)
    with pytest.raises(SpecError, match="horizon=0 is no whole number from 1 on"):
        model.forecast_many([make_series(wave(30))], 0)


# --- declaration and files ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"context": 0}, "context=0 is not positive"),
        ({"depth": 0}, "depth=0 is not positive"),
        ({"horizon": 2.5}, "horizon must be a whole number"),
        ({"levels": (0.1, 0.9)}, "do not ascend with 0.5 among them"),
        ({"levels": (0.5, 0.1)}, "do not ascend with 0.5 among them"),
        ({"levels": ()}, "do not ascend with 0.5 among them"),
    ],
)
def test_what_cannot_be_is_refused(tiny: Tiny, change: dict[str, Any], what: str) -> None:
    with pytest.raises(SpecError, match=what):
        tiny(**change)


def test_a_level_that_is_no_probability_is_refused_when_it_is_built(tiny: Tiny) -> None:
    with pytest.raises(SpecError, match="are not all between 0 and 1"):
        tiny(levels=(0.0, 0.5)).build(NumpyDevice())


def test_saved_and_loaded_it_says_the_same(model: Mamba4Cast, make_series: Make, tmp_path: Path) -> None:
    path = tmp_path / "m.h5"
    model.save(path)
    loaded = nn.models.Mamba4Cast.load(path, NumpyDevice())
    assert loaded.spec() == model.spec()
    assert (loaded.levels, loaded.periods) == (model.levels, model.periods)
    assert not [name for name in read_model(path).arrays if name.startswith("optimizer/")]
    one = [make_series(wave(90))]
    np.testing.assert_array_equal(loaded.forecast_many(one, 6, ALL)[0], model.forecast_many(one, 6, ALL)[0])
    loaded.save(tmp_path / "again.h5")
    assert read_model(tmp_path / "again.h5").spec == read_model(path).spec


def test_another_model_s_file_is_refused(model: Mamba4Cast, tmp_path: Path) -> None:
    net = nn.CNet(input_shape=(4, 2), layers=[nn.CNeuronDenseOCL(neurons=2)]).build(NumpyDevice())
    net.save(tmp_path / "net.h5")
    with pytest.raises(FileFormatError, match=r"net.h5: holds no Mamba4Cast\nFix: give a file that"):
        Mamba4Cast.load(tmp_path / "net.h5", NumpyDevice())
    spec = {**model.net.spec(), "builder": {**model.spec(), "gears": 5}}
    write_model(tmp_path / "new.h5", ModelFile(spec=spec, arrays=model.weights()))
    with pytest.raises(SpecError, match=r"new.h5: unknown field gears\nFix: pip install -U"):
        Mamba4Cast.load(tmp_path / "new.h5", NumpyDevice())


def test_the_shipped_weights_lie_beside_the_module(
    model: Mamba4Cast, make_series: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model.save(tmp_path / "mamba4cast.h5")
    monkeypatch.setattr(module, "__file__", str(tmp_path / "mamba4cast.py"))
    one = [make_series(wave(90))]
    shipped = Mamba4Cast.shipped(NumpyDevice())
    np.testing.assert_array_equal(shipped.forecast_many(one, 6)[0], model.forecast_many(one, 6)[0])


# --- fitting ------------------------------------------------------------------------------------------


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mamba4cast_data, "VALIDATION", 64)


def hourly(make_series: Make, n: int, seed: int) -> Series:
    """Noise of 0.3 on a daily wave and a step at weekends, whose mean error cannot be below 0.24."""
    one = make_series(np.zeros(n), start="2024-01-01")
    hours = one.times // (3_600 * 10**9)
    weekend = (hours // 24 + 3) % 7 >= 5
    noise = 0.3 * np.random.default_rng(seed).standard_normal(n)
    return make_series(10.0 + np.sin(2 * np.pi * hours / 24) + weekend + noise, start="2024-01-01")


@pytest.mark.usefixtures("quick")
def test_a_small_model_learns_a_calendar_within_seconds(make_series: Make, tiny: Tiny) -> None:
    one = hourly(make_series, 1_300, seed=0)
    periods = (86_400, 604_800)
    model = tiny(context=48, horizon=12, width=16, levels=(0.1, 0.5, 0.9), periods=periods)
    state = model.fit([one[:1_000]], epochs=4, samples=384, batch=32, lr=1e-2, device=NumpyDevice())
    assert [row["epoch"] for row in state.history] == [1, 2, 3, 4]
    histories = [one[:end] for end in range(1_000, 1_288, 12)]
    truth = np.stack([one.values[len(h) : len(h) + 12] for h in histories])
    made = np.stack(model.forecast_many(histories, 12, (0.1, 0.5, 0.9)))
    error = float(np.abs(made[..., 1] - truth).mean())
    season = float(np.abs([seasonal_naive(h.values, 24, 12) for h in histories] - truth).mean())
    last = float(np.abs([h.values[-1] - t for h, t in zip(histories, truth, strict=True)]).mean())
    assert error < 0.75 * season < last, (error, season, last)
    inside = float(((truth > made[..., 0]) & (truth < made[..., 2])).mean())
    assert 0.65 < inside < 0.95  # of a band that is to hold 0.8


@pytest.mark.usefixtures("quick")
def test_forecasts_follow_the_weights_during_and_after_a_training(make_series: Make, tiny: Tiny) -> None:
    """A forecast keeps a net for its length; another training must not leave it behind with old weights."""
    model, said = tiny(context=24), []
    history = [make_series(wave(24))]

    def look(_state: TrainingState) -> None:
        said.append(model.forecast_many(history, 6)[0])

    model.build(NumpyDevice(), seed=1)
    look(TrainingState())
    model.fit([hourly(make_series, 200, 1)], epochs=3, samples=32, batch=16, lr=0.5, on_epoch=look)
    assert all(np.abs(a - b).max() > 1e-6 for a, b in pairwise(said))
    after = model.forecast_many(history, 6)[0]
    fresh = tiny(context=24).build(NumpyDevice())
    fresh.net.set_arrays(model.weights())
    np.testing.assert_array_equal(after, fresh.forecast_many(history, 6)[0])


@pytest.mark.usefixtures("quick")
def test_a_fit_goes_on_from_the_weights_that_are_there(make_series: Make, tiny: Tiny) -> None:
    one, model = hourly(make_series, 200, 2), tiny(context=24).build(NumpyDevice(), seed=5)
    before = model.net.pool.values.read()
    model.fit([one], epochs=1, samples=32, batch=16, lr=1e-12)
    np.testing.assert_allclose(model.net.pool.values.read(), before, atol=1e-9)
    fresh = tiny(context=24)
    fresh.fit([one], epochs=1, samples=32, batch=16, lr=1e-12, seed=5, device=NumpyDevice())
    np.testing.assert_allclose(fresh.net.pool.values.read(), before, atol=1e-9)  # drawn from the seed


@pytest.mark.usefixtures("quick")
def test_a_fit_with_gaps_in_the_series_has_room_for_every_epoch(make_series: Make, tiny: Tiny) -> None:
    """Cuts without a known target are left out, another number of them in every epoch."""
    values = hourly(make_series, 300, 3).values.copy()
    values[::17] = np.nan
    state = tiny(context=24).fit([make_series(values)], epochs=5, samples=61, batch=4, device=NumpyDevice())
    assert state.epoch == 5
