"""``neuronet inspect``."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner, Result

from neuronet.cli import main


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["inspect", *map(str, arguments)])


def test_page(bars_file: Path) -> None:
    result = run(bars_file)
    assert result.exit_code == 0, result.output
    for words in ("900 bars", "1 h", "tab", "2023-01-02 00:00:00", "weekend gaps"):
        assert words in result.stdout
    assert result.stderr == ""


def test_json(bars_file: Path) -> None:
    data = json.loads(run(bars_file, "--json").stdout)
    assert data["counts"]["bars"] == 900
    assert data["step_ns"] == 3_600 * 10**9
    assert data["decisions"]["separator"] == "tab"


def test_options_of_reading(bars_file: Path) -> None:
    data = json.loads(run(bars_file, "--json", "--utc-offset", 2, "--columns", "volume=<SPREAD>").stdout)
    assert data["first"]["time"] == "2023-01-01 22:00:00"
    assert data["first"]["volume"] == 10.0


def test_not_bars(tmp_path: Path) -> None:
    empty = tmp_path / "empty.csv"
    empty.write_bytes(b"")
    result = run(empty)
    assert result.exit_code == 2
    assert "no bars in" in result.stderr
    assert run(tmp_path / "none.csv").exit_code == 2
