"""``neuronet collect``: random agents, a model, a history of deals; append, cap, refusals, Ctrl-C."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from neuronet.bars.read import read_bars
from neuronet.device.numpy import NumpyDevice
from neuronet.market import collect as collecting
from neuronet.market.experience_file import read_experience
from neuronet.market.rules import Rules
from neuronet.train.collect import model_actions

COSTS = ("--spread", 0.0001, "--commission-lot", 3.5)


def asked(run: Any, *arguments: object) -> dict[str, Any]:
    result = run("collect", *arguments, "--json")
    assert result.exit_code == 0, result.output
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def test_random_agents(run: Any, bars_file: Path, tmp_path: Path) -> None:
    path = tmp_path / "experience ü.h5"
    result = run("collect", bars_file, "-o", path, "--random", 20, *COSTS)
    assert result.exit_code == 0, result.output
    assert "trajectories" in result.stdout
    assert result.stderr == f"{path}: 20 trajectories\n"
    found = read_experience(path)
    assert (len(found), found.states, found.cap) == (20, 20 * 900, 500)
    assert found.markets[0].rules == Rules(point=1e-5, spread=10, commission=3.5)
    assert path.stat().st_size / found.states < 100
    again = tmp_path / "again.h5"
    run("collect", bars_file, "-o", again, "--random", 20, *COSTS)
    assert again.read_bytes() == path.read_bytes()
    run("collect", bars_file, "-o", again, "--random", 20, *COSTS, "--seed", 1)
    assert again.read_bytes() != path.read_bytes()


def test_append_cap_and_min_profit(run: Any, bars_file: Path, tmp_path: Path) -> None:
    path = tmp_path / "e.h5"
    first = asked(run, bars_file, "-o", path, "--random", 10, *COSTS)
    assert (first["trajectories"], first["new"], first["dropped"]) == (10, 10, 0)
    second = asked(run, bars_file, "-o", path, "--random", 8, *COSTS, "--seed", 5, "--append", "--cap", 12)
    assert (second["trajectories"], second["new"], second["dropped"]) == (12, 8, 6)
    found = read_experience(path)
    assert (found.cap, len(found.markets)) == (12, 1)
    least = float(np.median(found.profits)) * 10_000
    third = asked(run, bars_file, "-o", path, "--random", 10, *COSTS, "--min-profit", least)
    assert third["new"] + third["below_min_profit"] == 10
    assert all(profit * 10_000 >= least for profit in read_experience(path).profits)
    result = run("collect", bars_file, "-o", tmp_path / "f.h5", "--random", 3, *COSTS, "--min-profit", 1e6)
    assert result.exit_code == 2
    assert "none of 3 agents earned 1,000,000.00; the best" in result.stderr


def test_a_model_decides(run: Any, model_file: Path, bars_file: Path, tmp_path: Path) -> None:
    path = tmp_path / "e.h5"
    found = asked(run, bars_file, "-o", path, "--actor", model_file, "--lots", 0.5, *COSTS)
    assert (found["trajectories"], found["new"]) == (1, 1)
    assert found["trades"] > 3
    (one,) = read_experience(path).trajectories
    bars = read_bars(bars_file)
    want = model_actions(model_file, bars, one.market.rules, lots=0.5, device=NumpyDevice())
    np.testing.assert_array_equal(one.records.action, want)
    assert np.all(one.records.action[:23] == 0)  # before the first window
    assert set(np.unique(one.records.action[:, [0, 3]])) == {np.float32(0.0), np.float32(0.5)}
    part = model_actions(model_file, bars[:600], one.market.rules, lots=0.5, device=NumpyDevice())
    np.testing.assert_array_equal(part, want[:600])


def test_a_model_of_actions_sets_stops(run: Any, bars_file: Path, tmp_path: Path, small: list[str]) -> None:
    model, path = tmp_path / "action.h5", tmp_path / "e.h5"
    assert run("train", bars_file, "-o", model, *small, "--task", "action").exit_code == 0
    asked(run, bars_file, "-o", path, "--actor", model, "--lots", 2, *COSTS)
    (one,) = read_experience(path).trajectories
    action = one.records.action
    held = (action[:, 0] > 0) | (action[:, 3] > 0)
    assert held.any()
    assert np.all((action[held][:, [1, 2]] > 0).all(axis=1) | (action[held][:, [4, 5]] > 0).all(axis=1))
    assert np.all(action[~held] == 0)


def test_a_history_of_deals(run: Any, bars_file: Path, tmp_path: Path) -> None:
    time = read_bars(bars_file).time
    opened, closed = (str(time[i].astype("datetime64[ns]").astype("datetime64[s]")) for i in (100, 140))
    lines = ["Time;Type;Volume;Symbol;Price;S/L;T/P;Time;Price;Commission;Swap;Profit"]
    times = (text.replace("T", " ").replace("-", ".") for text in (opened, closed))
    lines.append("{};Buy;0.3;WAVE;1.1;;;{};1.1;0;0;0".format(*times))
    deals, path = tmp_path / "deals.csv", tmp_path / "e.h5"
    deals.write_text("\n".join(lines), encoding="utf-16")
    found = asked(run, bars_file, "-o", path, "--signals", deals, "--signals-symbol", "WAVE", *COSTS)
    assert (found["new"], found["trades"]) == (1, 1)
    (one,) = read_experience(path).trajectories
    assert list(np.flatnonzero(one.records.volume)) == list(range(100, 140))
    result = run("collect", bars_file, "-o", path, "--signals", deals, "--signals-symbol", "X", *COSTS)
    assert result.exit_code == 2
    assert "no deals of X; there are deals of WAVE" in result.stderr


def test_h10_a_cancelled_run_keeps_what_it_has(
    run: Any, bars_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second block of agents is interrupted: the first is in the file."""
    simulate, calls = collecting.simulate, []

    def interrupted(*arguments: Any, **keywords: Any) -> Any:
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return simulate(*arguments, **keywords)

    monkeypatch.setattr(collecting, "simulate", interrupted)
    monkeypatch.setattr(collecting, "BLOCK", 5)
    path = tmp_path / "e.h5"
    result = run("collect", bars_file, "-o", path, "--random", 15, *COSTS)
    assert result.exit_code == 130
    assert len(read_experience(path)) == 5


def test_warnings(run: Any, bars_file: Path, tmp_path: Path) -> None:
    path = tmp_path / "e.h5"
    result = run("collect", bars_file, "-o", path, "--random", 3)
    assert "no costs are counted" in result.stderr
    result = run("collect", bars_file, "-o", path, "--random", 3, *COSTS, "--lots", 50, "--leverage", 1)
    assert "nothing was traded: the margin allowed none of" in result.stderr


def test_wrong_input(run: Any, bars_file: Path, model_file: Path, tmp_path: Path) -> None:
    path = tmp_path / "e.h5"
    for arguments, message in {
        ("--random", 5, "--actor", model_file): "exclude each other",
        ("--random", 0): "0 agents cannot trade",
        ("--signals-symbol", "X"): "--signals-symbol is for --signals",
        ("--spread", 0.000015): "a spread of 1.5e-05 is 1.5 points of 1e-05",
        ("--leverage", 0): "--leverage",
        ("--spread", "nan"): "--spread: spread cannot be nan",
        ("--spread", "inf"): "--spread: spread cannot be inf",
        ("--point", "nan"): "--point: point cannot be nan",
        ("--point", 0): "--point: point cannot be 0",
        ("--seed", -1): "--seed: seed cannot be -1",
        ("--actor", model_file, "--lots", 0.001): "choose 0.01 to 100, or other --min-lot",
        ("--cap", 0): "--cap",
        ("--lots", 0): "--lots",
        ("--actor", model_file, "--lots", 0): "--lots: lots cannot be 0",
        ("--signals", bars_file): "is a file to read" if path == bars_file else "no table of deals",
        ("--actor", tmp_path / "none.h5"): "no such file",
    }.items():
        result = run("collect", bars_file, "-o", path, *arguments)
        assert result.exit_code == 2, (arguments, result.output)
        assert result.stdout == ""
        assert message in result.stderr
        assert not path.exists()
    result = run("collect", bars_file, "-o", bars_file, "--random", 2)
    assert "is a file to read" in result.stderr
    other = tmp_path / "model.h5"
    other.write_bytes(model_file.read_bytes())
    result = run("collect", bars_file, "-o", other, "--random", 2, "--append")
    assert "holds a model, not experience" in result.stderr
