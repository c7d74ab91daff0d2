"""``neuronet explain``, and ``train --model stca`` that makes the files for it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import click.testing
import numpy as np
import pytest

from neuronet.cli import main

Run = Callable[..., click.testing.Result]
OPTIONS = ("--history", "40", "--horizon", "3", "--epochs", "1", "--every", "32", "--batch", "8")


@pytest.fixture(scope="module")
def stca(bars_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("stca") / "stca.h5"
    arguments = ["train", bars_file, "-o", path, "--model", "stca", *OPTIONS, "--device", "numpy"]
    result = click.testing.CliRunner().invoke(main, [str(a) for a in arguments])
    assert result.exit_code == 0, result.output
    return path


def test_heads_with_their_bars_and_dates(run: Run, stca: Path, bars_file: Path) -> None:
    result = run("explain", stca, bars_file, "--json", "--top", "40")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert found["history"] == 40
    assert len(found["heads"]) == 2 * 3 * 4
    for head in found["heads"]:
        weights = [bar["weight"] for bar in head["top"]]
        assert weights == sorted(weights, reverse=True)
        assert sum(weights) == pytest.approx(1.0, abs=1e-5)
        assert 1.0 <= head["bars_in_effect"] <= 40.001
        times = [bar["time"] for bar in head["top"]]
        assert len(set(times)) == 40
        assert min(times) == found["from"]
        assert max(times) == found["at"]
        ages = [sorted(times, reverse=True).index(time) for time in times]
        assert head["mean_age"] == pytest.approx(float(np.dot(weights, ages)), abs=1e-6)


def test_the_bars_of_a_time_and_the_table(run: Run, stca: Path, bars_file: Path) -> None:
    last = json.loads(run("explain", stca, bars_file, "--json", "--top", "1").stdout)
    at = last["heads"][0]["top"][0]["time"]
    result = run("explain", stca, bars_file, "--at", at, "--top", "2")
    assert result.exit_code == 0, result.output
    assert f"the answer at the close of {at}, from 40 bars" in result.stdout
    assert f"blend: the answer is {last['blend']:.2f} of the net" in result.stdout
    assert result.stdout.count("%)") == 2 * 24


def test_a_time_without_a_bar_names_the_nearest(run: Run, stca: Path, bars_file: Path) -> None:
    last = json.loads(run("explain", stca, bars_file, "--json").stdout)["at"]
    result = run("explain", stca, bars_file, "--at", "2100-01-01")
    assert result.exit_code == 2
    assert f'Fix: the nearest is --at "{last}"' in result.stderr
    assert "no bar with a whole history opens at 2100-01-01 00:00:00" in result.stderr
    assert run("explain", stca, bars_file, "--at", "soon").exit_code == 2


def test_another_model_is_refused(run: Run, model_file: Path, bars_file: Path) -> None:
    result = run("explain", model_file, bars_file)
    assert result.exit_code == 2
    assert "Fix: explain a model of 'neuronet train --model stca'" in result.stderr


def test_a_picture(run: Run, stca: Path, bars_file: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    result = run("explain", stca, bars_file, "--plot", tmp_path / "why.png")
    assert result.exit_code == 0, result.output
    assert (tmp_path / "why.png").read_bytes().startswith(b"\x89PNG")
    assert run("explain", stca, bars_file, "--plot", stca).exit_code == 2  # would overwrite the model


def test_a_policy_is_trained_evaluated_predicted_traded_and_explained(
    run: Run, bars_file: Path, tmp_path: Path
) -> None:
    path = tmp_path / "m.h5"
    for command in (
        ("train", bars_file, "-o", path, "--model", "stca", "--task", "policy", *OPTIONS),
        ("evaluate", path, bars_file),
        ("predict", path, bars_file, "-o", tmp_path / "p.csv"),
        ("backtest", path, bars_file, "--spread", "0.0001"),
        ("explain", path, bars_file),
    ):
        result = run(*command)
        assert result.exit_code == 0, result.output


@pytest.mark.parametrize("task", ["direction", "action"])
def test_other_tasks_are_trained(run: Run, bars_file: Path, tmp_path: Path, task: str) -> None:
    result = run(
        *("train", bars_file, "-o", tmp_path / "m.h5", "--model", "stca", "--task", task, *OPTIONS, "--json")
    )
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["settings"]["task"] == task
