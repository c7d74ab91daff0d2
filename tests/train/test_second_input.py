"""A net's second input on bars is the phases of their times: in training, evaluation and prediction alike."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from neuronet.bars.bars import Bars
from neuronet.device.numpy import NumpyDevice
from neuronet.errors import SpecError
from neuronet.layers.base import CNeuronBaseOCL
from neuronet.layers.concatenate import CNeuronConcatenate
from neuronet.layers.dense import CNeuronDenseOCL
from neuronet.layers.mamba4_cast_embeding import CMamba4CastEmbeding
from neuronet.layers.ts_position_encoder import CNeuronTSPositionEncoder, time_phases
from neuronet.net import CNet
from neuronet.train import pipeline
from neuronet.train.evaluate import evaluate
from neuronet.train.pipeline import TrainResult
from neuronet.train.predict import predict
from neuronet.train.prepare import Prepared
from neuronet.train.second_input import second_input
from neuronet.train.settings import Settings

Small = Callable[..., Settings]
DAY, WEEK = 86_400, 604_800


def net(*layers: CNeuronBaseOCL, second: int | None = 2) -> CNet:
    return CNet(input_shape=(24, 5), layers=layers, second_shape=None if second is None else (24, second))


def test_phases_of_the_periods_that_the_layers_name(bars: Bars) -> None:
    found = second_input(net(CNeuronTSPositionEncoder(periods=(WEEK, DAY), freqs=1)), bars)
    np.testing.assert_array_equal(found, time_phases(bars.time, (WEEK, DAY)))
    assert found is not None
    assert found.shape == (900, 2)
    hours = bars.time // (3_600 * 10**9) % 24
    np.testing.assert_allclose(found[:, 1], hours / 24, atol=1e-12)
    same = CMamba4CastEmbeding(window=5, window_out=8, periods=(DAY,)), CNeuronDenseOCL(neurons=1)
    np.testing.assert_array_equal(second_input(net(*same, second=1), bars), found[:, 1:])


def test_a_net_without_a_second_input_gets_none(bars: Bars) -> None:
    assert second_input(net(CNeuronDenseOCL(neurons=1), second=None), bars) is None


@pytest.mark.parametrize(
    "layers",
    [
        (
            CNeuronTSPositionEncoder(periods=(DAY,), freqs=1),
            CNeuronTSPositionEncoder(periods=(WEEK,), freqs=1),
        ),
        (CNeuronConcatenate(neurons=1),),
        (CNeuronConcatenate(neurons=1), CNeuronTSPositionEncoder(periods=(DAY,), freqs=1)),
        (CNeuronDenseOCL(neurons=1),),
    ],
)
def test_a_second_input_that_is_not_one_time_is_refused(
    bars: Bars, layers: tuple[CNeuronBaseOCL, ...]
) -> None:
    with pytest.raises(SpecError, match=r"a second input of bars is their time.*\nFix: give the layers"):
        second_input(net(*layers), bars)


# --- through the pipeline -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def timed(
    tmp_path_factory: pytest.TempPathFactory, bars: Bars, small: Small
) -> tuple[Path, TrainResult, Prepared]:
    """A model that sees times, and what it was trained on."""
    path, seen = tmp_path_factory.mktemp("timed") / "model.h5", list[Prepared]()
    settings = small(model="mamba4cast", epochs=2)
    result = pipeline.train(bars, path, settings, device=NumpyDevice(), on_start=lambda p, _: seen.append(p))
    return path, result, seen[0]


def test_training_sees_the_phases_of_the_prepared_bars(
    timed: tuple[Path, TrainResult, Prepared], bars: Bars
) -> None:
    _, result, prepared = timed
    periods = result.net.layers[0].periods  # type: ignore[attr-defined]
    np.testing.assert_array_equal(prepared.second, time_phases(prepared.bars.time, periods))
    assert prepared.bars.time[0] == bars.time[1]  # the first bar is warm-up: nothing may shift by one
    starts = prepared.split.validation
    source = prepared.source(starts)
    assert source.second is not None
    first = int(starts[0])
    np.testing.assert_array_equal(source.second[:24], time_phases(bars.time[first + 1 : first + 25], periods))


def test_predictions_are_the_net_s_with_the_times_of_each_window(
    timed: tuple[Path, TrainResult, Prepared], bars: Bars
) -> None:
    path, result, prepared = timed
    periods = result.net.layers[0].periods  # type: ignore[attr-defined]
    rows = [0, 5, 400, len(prepared.bars) - 24]
    x = np.stack([prepared.values[i : i + 24] for i in rows])
    phases = np.stack([time_phases(prepared.bars.time[i : i + 24], periods) for i in rows])
    returns = result.contract.returns(result.net.predict(x, phases))
    want = prepared.bars.close[[i + 23 for i in rows]][:, None] * np.exp(returns)
    found = predict(path, bars, device=NumpyDevice())
    got = np.stack([found.columns[f"forecast_{k}"][rows] for k in range(1, 5)], axis=1)
    np.testing.assert_allclose(got, want, rtol=1e-6)


def test_another_time_of_day_changes_predictions_and_scores(
    timed: tuple[Path, TrainResult, Prepared], bars: Bars
) -> None:
    path, result, _ = timed
    moved = replace(bars, time=bars.time + 5 * 3_600 * 10**9)
    before, after = (predict(path, b, device=NumpyDevice()).columns["forecast_4"] for b in (bars, moved))
    assert np.abs(after / before - 1.0).max() > 1e-5
    same, other = (
        evaluate(path, b, test_from=start, device=NumpyDevice()).scores["model"]["skill"]
        for b, start in (
            (bars, str(result.evaluations[1].first)),
            (moved, str(np.datetime64(result.evaluations[1].first) + np.timedelta64(5, "h"))),
        )
    )
    assert same == pytest.approx(result.evaluations[1].scores["model"]["skill"], rel=1e-5)
    assert other != pytest.approx(same, rel=1e-4)
