"""``neuronet study`` and ``neuronet online``: the chain from bars to an actor that learns on."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from neuronet.bars.bars import stamp
from neuronet.bars.read import read_bars
from neuronet.cli import online as online_command
from neuronet.market.experience_file import read_experience

COSTS = ("--spread", 0.0001)
SMALL = ("--history", 24, "--horizon", 4, "--epochs", 2, "--steps", 300, "--every", 100, "--lr", 0.003)


def first_lines(path: Path, count: int, target: Path) -> Path:
    lines = path.read_text("utf-8").splitlines(keepends=True)
    target.write_text("".join(lines[:count]), "utf-8")
    return target


@pytest.fixture
def actor(run: Any, bars_file: Path, tmp_path: Path) -> Path:
    """An actor that has studied the first 700 of the 900 bars."""
    past = first_lines(bars_file, 701, tmp_path / "WAVE_H1.csv")
    experience, model = tmp_path / "e.h5", tmp_path / "actor ü.h5"
    assert run("collect", past, "-o", experience, "--random", 20, *COSTS, "--lots", 0.05).exit_code == 0
    result = run("study", experience, "-o", model, *SMALL, "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert found["settings"]["steps"] == 300
    assert found["blend"] == 1.0  # the wave is easy
    assert found["net"] > 0.1  # of 0.23 that are in its swings
    assert "step   300/300" in result.stderr
    return model


def test_the_whole_chain(run: Any, actor: Path, bars_file: Path, tmp_path: Path) -> None:
    """collect, study, backtest, evaluate, info, collect with the actor, study again, online."""
    result = run("backtest", actor, bars_file, "--lots", 0.05, *COSTS, "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert found["strategy"]["profit"] > 100.0
    assert found["random_beaten"] > 0.9
    for arguments in (
        ("backtest", actor, bars_file, *COSTS),
        ("evaluate", actor, bars_file),
        ("info", actor),
    ):
        assert run(*arguments).exit_code == 0
    experience, past = tmp_path / "e.h5", tmp_path / "WAVE_H1.csv"
    again = ("collect", past, "-o", experience, "--append", "--actor", actor, "--lots", 0.05, *COSTS)
    assert run(*again).exit_code == 0
    assert len(read_experience(experience)) == 21
    assert run("study", experience, "-o", tmp_path / "b.h5", *SMALL, "--steps", 10).exit_code == 0
    few = ("--shadows", 3, "--memory", 50, "--lots", 0.05, *COSTS)
    result = run("online", actor, bars_file, "-o", tmp_path / "o.h5", "--log", tmp_path / "o.csv", *few)
    assert result.exit_code == 0, result.output
    assert "mae no change" in result.stdout
    lines = (tmp_path / "o.csv").read_text().splitlines()
    assert float(lines[-1].split(",")[-1]) > 10_000.0
    assert run("predict", tmp_path / "o.h5", bars_file, "-o", tmp_path / "p.csv").exit_code == 0


def test_ctrl_c_stops_online_and_resume_goes_on(
    run: Any, actor: Path, model_file: Path, bars_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = ("--shadows", 3, "--memory", 50, *COSTS)
    whole = tmp_path / "whole.h5"
    assert run("online", actor, bars_file, "-o", whole, *few).exit_code == 0

    class Interrupt:
        """Asked to stop after the 30th bar."""

        def __enter__(self) -> Any:
            asked: Iterator[bool] = iter([False] * 29 + [True])
            return lambda: next(asked)

        def __exit__(self, *_: object) -> None: ...

    path = tmp_path / "o.h5"
    with monkeypatch.context() as patched:
        patched.setattr(online_command, "Interrupt", Interrupt)
        result = run("online", actor, bars_file, "-o", path, *few)
    assert result.exit_code == 130
    assert f"saved {path} after 30 bars; go on with:" in result.stderr
    other = run("online", model_file, bars_file, "-o", path, *few, "--resume")
    assert other.exit_code == 2
    assert f"its pass began with {actor.name}, not with the {model_file.name} that is" in other.stderr
    assert run("online", actor, bars_file, "-o", path, *few, "--resume").exit_code == 0
    assert path.read_bytes() == whole.read_bytes()


def test_online_begins_where_it_is_told(run: Any, actor: Path, bars_file: Path, tmp_path: Path) -> None:
    time = stamp(read_bars(bars_file).time[-1])[:10]
    few = ("--shadows", 2, "--memory", 20, *COSTS, "--json")
    result = run("online", actor, bars_file, "-o", tmp_path / "o.h5", "--from", time, *few)
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert found["first"].startswith(time)
    assert found["bars"] < 30
    assert np.isfinite(found["mae"])


def test_wrong_input(run: Any, bars_file: Path, model_file: Path, tmp_path: Path) -> None:
    path = tmp_path / "o.h5"
    for arguments, message in {
        ("study", model_file, "-o", path): "holds a model, not experience",
        ("study", tmp_path / "none.h5", "-o", path): "no such file",
        ("study", model_file, "-o", model_file): "is a file to read",
        ("study", model_file, "-o", path, "--tau", 2): "--tau: tau cannot be 2.0",
        ("study", bars_file, "-o", path): "where experience is wanted\nFix: if these are bars, let agents",
        ("online", bars_file, bars_file, "-o", path): "where a model is wanted",
        ("online", model_file, bars_file, "-o", path): "holds no actor that learns",
        ("online", model_file, bars_file, "-o", path, "--every", 0): "--every",
        ("online", model_file, bars_file, "-o", path, "--memory", 1): "--memory",
        ("online", model_file, bars_file, "-o", path, "--spread", "nan"): "--spread: spread cannot be nan",
        ("online", model_file, bars_file, "-o", model_file): "is a file to read",
        ("online", model_file, bars_file, "-o", path, "--resume"): "no such file",
    }.items():
        result = run(*arguments)
        assert result.exit_code == 2, (arguments, result.output)
        assert message in result.stderr, (arguments, result.stderr)
        assert result.stdout == ""
        assert not path.exists()
