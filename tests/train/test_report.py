"""The report: a row for the model and each baseline, and a definition for each column."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from neuronet.train.pipeline import TrainResult
from neuronet.train.report import report

Trained = tuple[Path, TrainResult]


def test_forecast(trained: Trained) -> None:
    text = "\n".join(report(trained[1].evaluations))
    for row in ("model", "last value", "drift", "seasonal (24 bars)"):
        assert f"test        {row} " in text
    for column in ("MAE price", "RMSE bp", "MASE", "sMAPE", "skill", "direction (95 %)"):
        assert column in text
    for words in ("m=1", "from 0 to 200 %", "windows / 4", "blend"):
        assert words in text
    assert text.isascii()


def test_direction(trained_direction: Trained) -> None:
    text = "\n".join(report(trained_direction[1].evaluations))
    for words in ("training shares", "log loss", "balanced", "always saying", "within 0.001"):
        assert words in text


def test_one_is_singular(trained: Trained, trained_direction: Trained) -> None:
    for result, words in (
        (trained[1], "mean error over all windows and 1 step; "),
        (trained_direction[1], "the close 1 bar ahead: "),
    ):
        one = result.evaluations[1]
        text = "\n".join(report([replace(one, windows=1, constants={**one.constants, "horizon": 1})]))
        assert ", 1 window\n" in text
        assert words in text


def test_undefined_values_and_a_useless_net(trained: Trained) -> None:
    one = trained[1].evaluations[1]
    model = {**one.scores["model"], "mase": None, "skill": None}
    text = "\n".join(
        report([replace(one, scores={"model": model}, constants={**one.constants, "blend": 0.0})])
    )
    assert text.count("n/a") >= 2
    assert "the net is no help" in text


def test_nothing_scored_is_nothing_said() -> None:
    assert report([]) == []
