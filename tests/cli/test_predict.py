"""``neuronet predict``: rows, price units, and no look-ahead, on every device."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from neuronet.cli import main
from neuronet.device.find import working_devices


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["predict", *map(str, arguments)])


def test_a_file_with_one_row_a_bar(model_file: Path, bars_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    result = run(model_file, bars_file, "-o", out, "--device", "numpy")
    assert result.exit_code == 0, result.output
    assert result.stdout == ""
    lines = out.read_text(encoding="ascii").splitlines()
    assert lines[0] == "time,close,forecast_1,forecast_2,forecast_3,forecast_4"
    assert len(lines) == 1 + 900 - 24
    last = bars_file.read_text(encoding="ascii").splitlines()[-1].split("\t")
    assert lines[-1].startswith(f"{last[0].replace('.', '-')} {last[1]},{float(last[5])},")
    assert f"{last[0].replace('.', '-')} {last[1]}" in result.stderr


def test_printed_and_json(model_file: Path, bars_file: Path, tmp_path: Path) -> None:
    printed = run(model_file, bars_file, "--device", "numpy")
    run(model_file, bars_file, "-o", tmp_path / "out.csv", "--device", "numpy")
    assert printed.stdout == (tmp_path / "out.csv").read_text(encoding="ascii")
    last = json.loads(run(model_file, bars_file, "--json", "--device", "numpy").stdout)
    assert last["rows"] == 876
    assert last["forecast_1"] == pytest.approx(float(printed.stdout.splitlines()[-1].split(",")[2]), rel=1e-7)


@pytest.mark.parametrize("device", [d.label for d in working_devices() if d.kind != "accelerator"])
@pytest.mark.parametrize("kind", ["model_file", "timed_model_file"])
def test_a_file_cut_later_gives_the_same_earlier_rows(
    request: pytest.FixtureRequest, bars_file: Path, tmp_path: Path, kind: str, device: str
) -> None:
    model_file = request.getfixturevalue(kind)
    name = "numpy" if device.startswith("NumPy") else device
    lines = bars_file.read_bytes().splitlines(keepends=True)
    whole = run(model_file, bars_file, "--device", name)
    assert whole.exit_code == 0, whole.output
    for end in (24 + 2, 301, 880):
        cut = tmp_path / "cut.csv"
        cut.write_bytes(b"".join(lines[: end + 1]))
        part = run(model_file, cut, "--device", name)
        assert part.stdout.splitlines() == whole.stdout.splitlines()[: 1 + end - 24]


def test_devices_agree(model_file: Path, bars_file: Path) -> None:
    rows = {}
    for device in [d for d in working_devices() if d.kind != "accelerator"]:
        name = "numpy" if device.kind == "numpy" else device.label
        lines = run(model_file, bars_file, "--device", name).stdout.splitlines()[1:]
        rows[name] = [[float(cell) for cell in line.split(",")[1:]] for line in lines]
    for name, found in rows.items():
        for got, want in zip(found, rows["numpy"], strict=True):
            assert got == pytest.approx(want, rel=1e-6), name


def test_the_time_of_the_bars_reaches_a_model_that_sees_times(
    model_file: Path, timed_model_file: Path, bars_file: Path
) -> None:
    """The same prices five hours later: other predictions, but not from a model that sees no times."""
    hours = ("--utc-offset", 0), ("--utc-offset", -5)
    for model, differs in ((model_file, False), (timed_model_file, True)):
        made = [run(model, bars_file, *option, "--device", "numpy") for option in hours]
        assert [one.exit_code for one in made] == [0, 0], made[1].output
        rows = [[line.split(",")[1:] for line in one.stdout.splitlines()[1:]] for one in made]
        assert [row[0] for row in rows[0]] == [row[0] for row in rows[1]]  # the closes
        assert (rows[0] != rows[1]) == differs


def test_closed_only(model_file: Path, bars_file: Path) -> None:
    whole = run(model_file, bars_file, "--device", "numpy").stdout.splitlines()
    closed = run(model_file, bars_file, "--closed-only", "--device", "numpy").stdout.splitlines()
    assert closed == whole[:-1]


def test_another_clock_is_warned_of(model_file: Path, bars_file: Path) -> None:
    result = run(model_file, bars_file, "--utc-offset", 2, "--device", "numpy")
    assert result.exit_code == 0, result.output
    assert "UTC+2 h" in result.stderr


def test_wrong_input(model_file: Path, bars_file: Path, tmp_path: Path) -> None:
    result = run(model_file, bars_file, "-o", tmp_path / "none" / "out.csv", "--device", "numpy")
    assert result.exit_code == 2
    assert "there is no folder" in result.stderr
    short = tmp_path / "short.csv"
    short.write_bytes(b"".join(bars_file.read_bytes().splitlines(keepends=True)[:20]))
    result = run(model_file, short, "--device", "numpy")
    assert result.exit_code == 2
    assert "give 0 windows of 24+0; need >= 24" in result.stderr


def test_model_and_bars_are_never_the_output(model_file: Path, bars_file: Path) -> None:
    for target in (model_file, bars_file):
        before = target.read_bytes()
        result = run(model_file, bars_file, "-o", target)
        assert result.exit_code == 2
        assert "is a file to read" in result.stderr
        assert target.read_bytes() == before
