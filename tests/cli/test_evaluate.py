"""``neuronet evaluate``."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner, Result

from neuronet.cli import main


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["evaluate", *map(str, arguments), "--device", "numpy"])


def test_table_with_definitions(model_file: Path, bars_file: Path) -> None:
    result = run(model_file, bars_file)
    assert result.exit_code == 0, result.output
    for words in (
        "test  model",
        "test  last value",
        "test  drift",
        "MASE        MAE /",
        "skill       1 - MSE",
    ):
        assert words in result.stdout


def test_json_and_test_from(model_file: Path, bars_file: Path) -> None:
    unseen = json.loads(run(model_file, bars_file, "--json").stdout)
    result = run(model_file, bars_file, "--json", "--test-from", "2023-01-10")
    older = json.loads(result.stdout)
    assert older["first"] == "2023-01-10 00:00:00"
    assert older["windows"] > unseen["windows"]
    assert unseen["scores"]["model"]["skill"] > 0.2
    assert "scores before that are not honest" in result.stderr


def test_too_few_bars_for_a_finished_model(model_file: Path, bars_file: Path, tmp_path: Path) -> None:
    """24 bars of history and 4 ahead after one of warm-up: 29. Other sizes cannot be chosen any more."""
    lines, few = bars_file.read_bytes().splitlines(keepends=True), tmp_path / "FEW_H1.csv"
    few.write_bytes(b"".join(lines[:21]))
    result = run(model_file, few)
    assert result.exit_code == 2
    assert (
        "19 bars give 0 windows of 24+4; need >= 28\nFix: give at least 9 bars more, for a" in result.stderr
    )
    few.write_bytes(b"".join([lines[0], *lines[-29:]]))
    result = run(model_file, few)
    assert result.exit_code == 0, result.stderr
    assert ", 1 window\n" in result.stdout


def test_wrong_input(model_file: Path, bars_file: Path, tmp_path: Path) -> None:
    assert run(tmp_path / "none.h5", bars_file).exit_code == 2
    assert run(bars_file, bars_file).exit_code == 2
    result = run(model_file, bars_file, "--test-from", "2050-01-01")
    assert result.exit_code == 2
    assert "no window of 24+4 bars begins at 2050-01-01" in result.stderr
    result = run(model_file, bars_file, "--test-from", "soon")
    assert result.exit_code == 2
    assert "'soon' is no date" in result.stderr
