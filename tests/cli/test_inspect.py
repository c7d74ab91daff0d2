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


def with_a_gap(bars_file: Path, folder: Path) -> Path:
    lines = bars_file.read_bytes().splitlines(keepends=True)
    path = folder / "gap.csv"
    path.write_bytes(b"".join([*lines[:50], *lines[53:], lines[-1]]))
    return path


def test_warnings_are_in_the_report_and_nowhere_else(bars_file: Path, tmp_path: Path) -> None:
    path, log = with_a_gap(bars_file, tmp_path), tmp_path / "all.log"
    result = run(path, "--log-file", log)
    for words in ("1 row repeated by an equal row", "1 gap besides weekends and sessions, the largest 4 h"):
        assert result.stdout.count(words) == 1
        assert log.read_text(encoding="utf-8").count(words) == 1
    assert result.stderr == ""
    as_json = run(path, "--json")
    assert len(json.loads(as_json.stdout)["warnings"]) == 2
    assert as_json.stderr == ""


def test_without_a_report_warnings_are_messages(bars_file: Path, tmp_path: Path) -> None:
    path = with_a_gap(bars_file, tmp_path)
    strict = run(path, "--strict")
    assert (strict.exit_code, strict.stdout) == (2, "")
    assert strict.stderr.count("warning: gap.csv: ") == 2
    assert "error: gap.csv: 2 warnings under --strict" in strict.stderr
    assert "warning: " not in run(path, "--strict", "-q").stderr


def test_max_gap(bars_file: Path, tmp_path: Path) -> None:
    path = with_a_gap(bars_file, tmp_path)
    assert json.loads(run(path, "--max-gap", "4d", "--json").stdout)["pieces"]["count"] == 1
    pieces = json.loads(run(path, "--max-gap", "3h", "--json").stdout)["pieces"]
    assert pieces["cuts"][0] == {"before": "2023-01-04 04:00:00", "gap_ns": 4 * 3_600 * 10**9}
    wrong = run(path, "--max-gap", "3 weeks")
    assert wrong.exit_code == 2
    assert "write it 90min, 36h or 4d" in wrong.stderr


def test_options_of_reading(bars_file: Path) -> None:
    data = json.loads(run(bars_file, "--json", "--utc-offset", 2, "--columns", "volume=<SPREAD>").stdout)
    assert data["first"]["time"] == "2023-01-01 22:00:00"
    assert data["first"]["volume"] == 10.0


def test_not_bars(tmp_path: Path) -> None:
    empty = tmp_path / "empty.csv"
    empty.write_bytes(b"")
    result = run(empty)
    assert result.exit_code == 2
    assert result.stderr == "error: empty.csv: the file is empty\nFix: export it again\n"
    assert run(tmp_path / "none.csv").exit_code == 2
