"""What commands say of another kind of file, and of bars of another symbol."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from neuronet.cli.given import check_model
from neuronet.errors import FileFormatError


def test_text_where_a_model_is_wanted(run: Any, bars_file: Path, tmp_path: Path) -> None:
    for arguments in (
        ("info", bars_file),
        ("predict", bars_file, bars_file),
        ("evaluate", bars_file, bars_file),
        ("explain", bars_file, bars_file),
        ("backtest", bars_file, bars_file),
        ("anomalies", bars_file, bars_file),
        ("forecast", bars_file, bars_file),
        ("collect", bars_file, "-o", tmp_path / "e.h5", "--actor", bars_file),
    ):
        result = run(*arguments)
        assert (result.exit_code, result.stdout) == (2, ""), arguments
        assert f"{bars_file}: is a CSV ('<DATE>" in result.stderr
        assert "where a model is wanted\nFix: give a .h5 file, as 'neuronet train' writes it" in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_utf16_is_text_and_the_reader_names_the_rest(tmp_path: Path) -> None:
    path = tmp_path / "bars.txt"
    path.write_bytes("<DATE>\t<CLOSE>\r\n".encode("utf-16"))
    with pytest.raises(FileFormatError, match=r"bars.txt: is text \('<DATE>"):
        check_model(path)
    for content in (b"", b"\xff\xfe", b"<html><body>", b"\x80\x04", b"\x89HDF\r\n\x1a\nbroken"):
        path.write_bytes(content)
        if content == b"\xff\xfe":
            with pytest.raises(FileFormatError, match="is text"):
                check_model(path)
        else:
            check_model(path)
    check_model(tmp_path / "none.h5")
    check_model(tmp_path)


def test_experience_is_no_model_and_text_no_experience(run: Any, bars_file: Path, tmp_path: Path) -> None:
    made = tmp_path / "e.h5"
    assert run("collect", bars_file, "-o", made, "--random", 1).exit_code == 0
    result = run("predict", made, bars_file)
    assert result.exit_code == 2
    assert "holds experience of 'neuronet collect', not a model\nFix: learn a model from it" in result.stderr
    table = tmp_path / "e.csv"
    table.write_text("a,b\n1,2\n")
    result = run("collect", bars_file, "-o", table, "--append", "--random", 1)
    assert result.exit_code == 2
    assert "e.csv: is a CSV ('a,b'), where experience is wanted" in result.stderr


@pytest.mark.parametrize("command", ["predict", "evaluate", "backtest"])
def test_bars_of_another_symbol_are_one_warning(
    run: Any, model_file: Path, bars_file: Path, command: str
) -> None:
    other = run(command, model_file, bars_file, "--symbol", "EURUSD")
    assert other.exit_code == 0, other.output
    assert other.stderr.count("the model was trained on bars of WAVE, these are of EURUSD") == 1
    for same in ((), ("--symbol", "my bars")):  # of the second nothing is known but a name
        assert "was trained on bars of" not in run(command, model_file, bars_file, *same).stderr
