"""``neuronet convert``, and every other command on what it wrote."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from neuronet.bars.read import read_bars
from neuronet.cli import main


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, [*map(str, arguments)])


def test_convert_and_use(bars_file: Path, small: list[str], tmp_path: Path) -> None:
    stored = tmp_path / "bars.h5"
    result = run("convert", bars_file, stored, "--utc-offset", 2, "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["bars"] == 900
    assert sorted(p.name for p in tmp_path.iterdir()) == ["bars.h5"]
    assert len(read_bars(stored)) == 900

    page, same = run("inspect", stored), run("inspect", bars_file, "--utc-offset", 2)
    assert page.stdout == same.stdout
    assert "--utc-offset 2.0" in page.stdout
    direct, from_store = tmp_path / "a.h5", tmp_path / "b.h5"
    assert run("train", bars_file, "-o", direct, *small, "--utc-offset", 2).exit_code == 0
    assert run("train", stored, "-o", from_store, *small).exit_code == 0
    one, two = (run("predict", model, stored) for model in (direct, from_store))
    assert one.exit_code == 0
    assert one.stdout == two.stdout
    scores = run("evaluate", from_store, bars_file, "--utc-offset", 2, "--json")
    assert scores.exit_code == 0
    assert scores.stderr == ""


def test_other_reading_than_in_training_is_told(bars_file: Path, small: list[str], tmp_path: Path) -> None:
    model = tmp_path / "m.h5"
    assert run("train", bars_file, "-o", model, *small, "--bad-bars", "fix").exit_code == 0
    result = run("predict", model, bars_file, "--utc-offset", 2)
    assert result.exit_code == 0
    assert "warning: the training bars were read with --bad-bars fix, these with the default" in result.stderr
    assert "check --tz and --utc-offset" in result.stderr


def test_what_is_refused(bars_file: Path, small: list[str], tmp_path: Path) -> None:
    stored, model = tmp_path / "bars.h5", tmp_path / "m.h5"
    assert run("convert", bars_file, stored, "-q").stderr == ""
    late = run("inspect", stored, "--tz", "Europe/Athens")
    assert late.exit_code == 2
    assert "give --tz to 'neuronet convert'" in late.stderr
    assert run("train", bars_file, "-o", model, *small).exit_code == 0
    swapped = run("predict", stored, model)
    assert swapped.exit_code == 2
    assert "not bars" in swapped.stderr or "not a model" in swapped.stderr
    assert "this is a model, not bars" in run("inspect", model).stderr
    assert "holds bars, not a model" in run("info", stored).stderr
    assert run("convert", bars_file, bars_file).exit_code == 2
    assert run("convert", bars_file, tmp_path / "none" / "b.h5").exit_code == 2


@pytest.mark.parametrize("options", [("--nan", "maybe"), ("--columns", "bid=1"), ("--utc-offset", "x")])
def test_wrong_options(options: tuple[str, str], bars_file: Path) -> None:
    result = run("inspect", bars_file, *options)
    assert result.exit_code == 2
    assert options[0] in result.stderr
