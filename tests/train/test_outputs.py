"""Outputs of an STCA net bar by bar: those of whole windows, over gaps, whatever bars follow."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from neuronet.bars.bars import Bars
from neuronet.bars.synthetic import make_bars
from neuronet.device.base import Device
from neuronet.device.numpy import NumpyDevice
from neuronet.errors import SpecError
from neuronet.fitting.fit import predict_source
from neuronet.fitting.source import Source
from neuronet.layers.ts_position_encoder import time_phases
from neuronet.models.stca_stream import STCAStream, encoder_of
from neuronet.net import CNet
from neuronet.storage.hdf5 import read_model, write_model
from neuronet.study.latents import latents_of
from neuronet.train import outputs as outputs_module
from neuronet.train.default_net import PERIODS, default_net
from neuronet.train.evaluate import evaluate
from neuronet.train.outputs import outputs_of, reads_bars_once
from neuronet.train.pipeline import train
from neuronet.train.predict import predict
from neuronet.train.settings import Settings

HISTORY = 30
HOUR = 3_600_000_000_000


@pytest.fixture
def bar_by_bar(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Streams, however short a history is; the lengths of those that begin."""
    monkeypatch.setattr(outputs_module, "BARS_A_UNIT", 0)
    begun: list[int] = []
    start = STCAStream.start
    monkeypatch.setattr(
        STCAStream,
        "start",
        lambda self, rows, second: (begun.append(len(rows)), start(self, rows, second))[1],
    )
    return begun


def stca(device: Device, history: int = HISTORY) -> CNet:
    net = default_net(Settings(model="stca", history=history, batch=8), 3).build(device, seed=1)
    for attention in encoder_of(net).found:
        attention.slope.value.write([0.0, 3.0, 30.0, -3.0])
    return net


def source(starts: np.ndarray, history: int = HISTORY) -> Source:
    rows = np.random.default_rng(0).standard_normal((160, 3)).astype(np.float32)
    return Source.windows(rows, None, starts, history, time_phases(np.arange(160) * HOUR, PERIODS))


def test_outputs_are_those_of_whole_windows_over_gaps(device: Device, bar_by_bar: list[int]) -> None:
    """Two runs, and two windows that stand alone."""
    net = stca(device)
    given = source(np.array([*range(70), 75, *range(80, 110), 130]))
    wanted = predict_source(net, given)
    found = outputs_of(net, given)
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-5 * np.abs(wanted).max())
    assert np.ptp(wanted, axis=0).min() > 1e-2 * np.abs(wanted).max()
    assert bar_by_bar == [HISTORY] * 4
    assert net.training


def test_windows_that_follow_change_nothing(device: Device, bar_by_bar: list[int]) -> None:
    net = stca(device)
    starts = np.array([*range(40), 45, *range(50, 60)])
    whole = outputs_of(net, source(starts))
    for count in (1, 2, 39, 40, 41, 42, 50):
        np.testing.assert_allclose(outputs_of(net, source(starts[:count])), whole[:count], rtol=1e-6)


def test_latents_are_the_same_bits_however_many_bars_follow(device: Device, bar_by_bar: list[int]) -> None:
    encoder = stca(device)
    values = np.random.default_rng(0).standard_normal((90, 3)).astype(np.float32)
    second = time_phases(np.arange(90) * HOUR, PERIODS)
    whole = latents_of(encoder, values, HISTORY, second)
    assert bar_by_bar == [HISTORY]
    each = predict_source(encoder, Source.windows(values, None, np.arange(61), HISTORY, second))
    np.testing.assert_allclose(whole[HISTORY - 1 :].reshape(each.shape), each, atol=1e-5)
    for count in (HISTORY, HISTORY + 1, 80):
        part = latents_of(encoder, values[:count], HISTORY, second[:count])
        np.testing.assert_array_equal(part, whole[:count])


def test_each_bar_is_read_once_where_that_is_less_work(exact: NumpyDevice, bar_by_bar: list[int]) -> None:
    assert reads_bars_once(stca(exact), source(np.arange(5)))
    conv = default_net(Settings(history=HISTORY, batch=8), 3).build(exact)
    assert not reads_bars_once(conv, source(np.arange(5)))
    outputs_module.BARS_A_UNIT = HISTORY + 1
    assert not reads_bars_once(stca(exact), source(np.arange(5)))
    outputs_of(stca(exact), source(np.arange(5)))
    assert not bar_by_bar


def test_train_evaluate_and_predict_say_the_same_both_ways(
    bars: Bars, tmp_path: Path, bar_by_bar: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Losses, scores and forecasts; the cut bars change no row."""
    settings = Settings(model="stca", history=HISTORY, horizon=4, epochs=1, batch=16, every=8, max_gap="2h")
    path, results, device = tmp_path / "m.h5", [], NumpyDevice()
    short = bars[:400]
    for least in (0, 1_000):
        monkeypatch.setattr(outputs_module, "BARS_A_UNIT", least)
        result = train(short, path, settings, device=device)
        file = read_model(path)
        file.bars["blend"] = 1.0  # whatever so short a training is worth
        write_model(path, file)
        again = evaluate(path, short, device=device)
        scores = [one.scores["model"] for one in (*result.evaluations, again)]
        numbers = [value for score in scores for value in score.values() if isinstance(value, float)]
        forecasts = predict(path, short, device=device).columns["forecast_4"]
        results.append([result.state.best_score, *numbers, *forecasts])
        if not least:
            assert len(bar_by_bar) >= 6
            part = predict(path, short[:200], device=device).columns["forecast_4"]
            np.testing.assert_allclose(part, forecasts[: len(part)], rtol=1e-6)
            bar_by_bar.clear()
    assert not bar_by_bar
    np.testing.assert_allclose(*results, rtol=1e-5, atol=1e-7)


def test_given_scenarios_are_no_bars(tmp_path: Path) -> None:
    settings = Settings(model="stca", history=40, epochs=1)
    spec = default_net(settings, 5).spec()
    for layer in spec["layers"]:
        if layer["class"] == "CNeuronSTCAEncoder":
            layer["given"] = True
    net = CNet.from_spec(spec).build(NumpyDevice())
    source = Source.windows(np.zeros((60, 5)), None, np.arange(20), 40, np.zeros((60, len(PERIODS))))
    assert not reads_bars_once(net, source)
    with pytest.raises(SpecError, match="given=true asks for scenarios"):
        train(make_bars(600), tmp_path / "m.h5", settings, net={"layers": spec["layers"]})
