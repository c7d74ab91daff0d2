"""Evaluation: the same numbers as after training, for any batch size, over windows never seen."""

from __future__ import annotations

import json
import logging
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from neuronet.bars.bars import Bars
from neuronet.device.numpy import NumpyDevice
from neuronet.errors import DataError
from neuronet.storage.hdf5 import read_model, write_model
from neuronet.train.evaluate import Evaluation, evaluate
from neuronet.train.metrics import mae, rmse
from neuronet.train.pipeline import TrainResult
from neuronet.train.predict import predict

Trained = tuple[Path, TrainResult]


def numbers(data: Any) -> list[float]:
    if isinstance(data, dict):
        return [n for key in data for n in numbers(data[key])]
    if isinstance(data, list):
        return [n for item in data for n in numbers(item)]
    return [float(data)] if isinstance(data, int | float) else []


def test_the_file_gives_the_table_of_its_training(
    trained: Trained, trained_direction: Trained, bars: Bars
) -> None:
    for path, result in (trained, trained_direction):
        found = evaluate(path, bars, device=NumpyDevice())
        test = next(one for one in result.evaluations if one.part == "test")
        assert (found.first, found.last, found.windows) == (test.first, test.last, test.windows)
        np.testing.assert_allclose(numbers(found.scores), numbers(test.scores), rtol=1e-6)


@pytest.mark.parametrize("batch", [1, 32, 4096])
def test_any_batch_size_gives_the_same_metrics(
    trained: Trained, bars: Bars, tmp_path: Path, batch: int
) -> None:
    path = tmp_path / "model.h5"
    file = read_model(trained[0])
    file.spec["batch"] = batch
    write_model(path, file)
    found = evaluate(path, bars, device=NumpyDevice())
    test = trained[1].evaluations[1]
    assert found.windows == test.windows
    np.testing.assert_allclose(numbers(found.scores), numbers(test.scores), rtol=1e-6)


def test_scores_are_those_of_the_predictions(trained: Trained, bars: Bars) -> None:
    path, result = trained
    found = predict(path, bars, device=NumpyDevice())
    test = result.evaluations[1]
    first = int(np.searchsorted(found.time, np.datetime64(test.first, "ns").astype(int))) + 23
    rows = slice(first, first + test.windows)
    f = np.stack([found.columns[f"forecast_{k}"][rows] for k in range(1, 5)], axis=1)
    at = np.searchsorted(bars.time, found.time[rows])
    y = np.stack([bars.close[at + k] for k in range(1, 5)], axis=1)
    assert at[-1] + 4 == len(bars) - 1  # every window is scored, up to the last bar
    assert test.scores["model"]["mae_price"] == pytest.approx(mae(f, y))
    close = bars.close[at][:, None]
    assert test.scores["model"]["rmse"] == pytest.approx(rmse(np.log(f / close), np.log(y / close)))
    assert test.scores["model"]["mase"] == pytest.approx(mae(f, y) / result.contract.reference.naive_error)


def test_baselines_are_beside_the_model(trained: Trained, trained_direction: Trained) -> None:
    scores = trained[1].evaluations[1].scores
    assert list(scores) == ["model", "last value", "drift", "seasonal (24 bars)"]
    assert scores["last value"]["skill"] == 0.0
    assert scores["last value"]["direction"] is None
    assert list(trained_direction[1].evaluations[1].scores) == ["model", "training shares"]


def test_test_from_scores_older_bars_with_a_warning(
    trained: Trained, bars: Bars, caplog: pytest.LogCaptureFixture
) -> None:
    path, result = trained
    with caplog.at_level(logging.WARNING, logger="neuronet"):
        found = evaluate(path, bars, test_from="2023-01-20", device=NumpyDevice())
    assert found.first >= "2023-01-20"
    assert found.windows > result.evaluations[1].windows
    assert "used bars up to" in caplog.text


def test_without_an_unseen_bar_nothing_is_scored(trained: Trained, bars: Bars) -> None:
    with pytest.raises(DataError, match=r"no window of 24\+4 bars begins at .* or later"):
        evaluate(trained[0], bars[:600], device=NumpyDevice())


def test_a_flat_training_close_leaves_mase_undefined(trained: Trained, bars: Bars, tmp_path: Path) -> None:
    path, result = trained
    reference = replace(result.contract.reference, naive_error=None)
    file = read_model(path)
    file.bars = replace(result.contract, reference=reference).to_dict()
    write_model(tmp_path / "m.h5", file)
    found = evaluate(tmp_path / "m.h5", bars, device=NumpyDevice())
    assert {s["mase"] for s in found.scores.values()} == {None}


def test_round_trip(trained: Trained) -> None:
    for one in trained[1].evaluations:
        assert Evaluation.from_dict(json.loads(json.dumps(one.to_dict()))) == one
