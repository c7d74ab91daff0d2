"""A terminal of any encoding shows every command, its bars included, in characters that it has."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

pty = pytest.importorskip("pty", reason="Windows has no pseudo-terminals")
Terminal = Callable[..., tuple[int, str, str]]


@pytest.fixture(params=["ascii", "cp1252"])
def terminal(request: pytest.FixtureRequest) -> Terminal:
    """``terminal("devices")``: the exit code, stdout, and what a terminal got, decoded strictly."""

    def run(*arguments: object) -> tuple[int, str, str]:
        screen, end = pty.openpty()
        process = subprocess.Popen(
            [sys.executable, "-m", "neuronet", *map(str, arguments)],
            stdout=subprocess.PIPE,
            stderr=end,
            env={
                **os.environ,
                "PYTHONIOENCODING": request.param,
                "NO_COLOR": "1",
                "NEURONET_DEVICE": "numpy",
            },
        )
        os.close(end)
        shown = b""
        while block := _read(screen):
            shown += block
        os.close(screen)
        out = process.communicate()[0]
        return process.returncode, out.decode(request.param), shown.decode(request.param)

    return run


def _read(screen: int) -> bytes:
    try:
        return os.read(screen, 1 << 16)
    except OSError:  # the other end is closed
        return b""


def test_every_command(terminal: Terminal, bars_file: Path, small: list[str], tmp_path: Path) -> None:
    bars = tmp_path / "Цена ü.csv"
    bars.write_bytes(bars_file.read_bytes().replace(b"<DATE>", "Дата".encode()))
    model = tmp_path / "m.h5"
    for name, arguments in {
        "inspect": [bars],
        "convert": [bars, tmp_path / "ü.h5"],
        "train": [bars, "-o", model, *small, "--batch", 1],
        "evaluate": [model, bars],
        "predict": [model, bars, "-o", tmp_path / "ü.csv"],
    }.items():
        code, out, shown = terminal(name, *arguments)
        assert code == 0, shown
        assert "\x1b" not in out + shown, "a colour in spite of NO_COLOR"
        assert "#" * 24 + " 900/900" in shown, "no bar of reading"
        if name == "train":
            assert "\repoch 2/2 " + "#" * 24 in shown
    assert terminal("inspect", bars)[1].startswith("???? ")
    code, _, shown = terminal("train", bars, "-o", model, "--history", 5000)
    assert code == 2
    assert "error: ????" in shown
    assert "#" not in terminal("inspect", bars, "-q")[2]


def test_info_and_devices(terminal: Terminal, model_file: Path) -> None:
    assert terminal("info", model_file)[0] == 0
    assert terminal("devices")[0] == 0
    code, _, shown = terminal("info", "нет.h5")
    assert (code, "???.h5" in shown) == (2, True)
