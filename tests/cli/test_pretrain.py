"""``neuronet pretrain``: messages, results, settings, Ctrl-C and going on."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from neuronet.models import mamba4cast_data
from neuronet.storage.hdf5 import read_model
from neuronet.train import pretrain as module

SETTINGS = {
    "context": 16, "horizon": 3, "width": 20, "depth": 1, "heads": 1, "state-size": 2,
    "epochs": 2, "samples": 48, "batch": 16, "lr": 0.01, "seed": 3,
}  # fmt: skip
SMALL = [text for name, value in SETTINGS.items() for text in (f"--{name}", str(value))]


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    for where in (mamba4cast_data, module):
        monkeypatch.setattr(where, "VALIDATION", 64)
    monkeypatch.setattr(module, "SCORED", 64)


def pretrain(run: Any, path: Path, *options: object) -> Any:
    return run("pretrain", "mamba4cast", "-o", path, *options)


def arrays(path: Path) -> dict[str, bytes]:
    return {name: values.tobytes() for name, values in read_model(path).arrays.items()}


def test_results_on_stdout_messages_on_stderr(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "w.h5"
    result = pretrain(run, path, *SMALL)
    assert result.exit_code == 0, result.output
    said = result.stderr.splitlines()
    assert len(said) == 4
    assert "parameters on numpy" in said[0]
    assert "series of 19 steps" in said[0]
    assert said[1].startswith("epoch   1/2  loss ")
    assert said[2].startswith("epoch   2/2  loss ")
    assert said[3].startswith(f"saved {path}: epoch ")
    assert said[3].endswith(" of 2")
    lines = [line.split() for line in result.stdout.splitlines()]
    assert lines[1] == ["median", "mean"]
    assert (lines[2][0], lines[3][:2]) == ("model", ["seasonal", "naive"])
    assert [p.name for p in tmp_path.iterdir()] == ["w.h5"]
    file = read_model(path)
    assert float(lines[2][1]) == pytest.approx(file.training["mase"]["model"][0], rel=1e-3)
    builder, settings = file.spec["builder"], file.training["pretraining"]
    found = {name: (builder | settings)[name.replace("-", "_")] for name in SETTINGS}
    assert found == SETTINGS


def test_its_file_forecasts_and_info_shows_it(run: Any, tmp_path: Path) -> None:
    path, series = tmp_path / "w.h5", tmp_path / "s.csv"
    assert pretrain(run, path, *SMALL).exit_code == 0
    days = np.datetime64("2024-01-01") + np.arange(20)
    series.write_text("day,v\n" + "".join(f"{d},{i % 7}\n" for i, d in enumerate(days)), encoding="ascii")
    result = run("forecast", path, series)
    assert result.exit_code == 0, result.output
    assert [line.split(",")[1][:10] for line in result.stdout.splitlines()[1:]] == [
        "2024-01-21", "2024-01-22", "2024-01-23",
    ]  # fmt: skip
    shown = run("info", path)
    assert shown.exit_code == 0, shown.output
    lines = [line.split() for line in shown.stdout.splitlines()]
    for words in ("pretraining.samples 48", "epoch 2", "stopped epochs", "pretraining.lr 0.01"):
        assert words.split() in lines, words


def test_json_and_quiet(run: Any, tmp_path: Path) -> None:
    result = pretrain(run, tmp_path / "w.h5", *SMALL, "--json", "-q")
    assert result.exit_code == 0, result.output
    assert result.stderr == ""
    data = json.loads(result.stdout)
    assert data["spec"]["class"] == "Mamba4Cast"
    assert data["spec"]["context"] == 16
    assert [row["epoch"] for row in data["training"]["history"]] == [1, 2]
    kept = read_model(tmp_path / "w.h5").training["mase"]
    for who in ("model", "seasonal naive"):
        assert list(data["mase"][who].values()) == kept[who]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--epochs", 0), "--epochs: epochs cannot be 0"),
        (("--lr", -1), "--lr: lr cannot be -1"),
        (("--lr", "fast"), "not a valid float"),
        (("--context", 0), "context=0 is not positive"),
        (("--processes", 0), "is not in the range"),
    ],
)
def test_wrong_options(run: Any, tmp_path: Path, options: tuple[object, ...], message: str) -> None:
    result = pretrain(run, tmp_path / "w.h5", *options)
    assert result.exit_code == 2
    assert message in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_usage(run: Any, tmp_path: Path) -> None:
    assert "is not 'mamba4cast'" in run("pretrain", "other", "-o", tmp_path / "w.h5").stderr
    assert "Missing option '-o'" in run("pretrain", "mamba4cast").stderr


def test_resume_of_what_cannot_go_on(run: Any, model_file: Path, tmp_path: Path) -> None:
    path = tmp_path / "w.h5"
    assert pretrain(run, path, *SMALL).exit_code == 0
    before = path.read_bytes()
    for file, message in {
        path: "has come to its end after 2 epochs\nFix: pretrain without --resume",
        model_file: "is no pretraining\nFix: pretrain without --resume",
        tmp_path / "none.h5": "no such file",
    }.items():
        result = pretrain(run, file, "--resume")
        assert result.exit_code == 2
        assert message in result.stderr
        assert result.stdout == ""
    assert path.read_bytes() == before


def test_interrupted_and_resumed_in_this_process(
    run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command that goes on takes the settings from the file, and counts the epochs that it says."""
    whole, parts = tmp_path / "whole.h5", tmp_path / "parts.h5"
    assert pretrain(run, whole, *SMALL, "--epochs", 3).exit_code == 0
    with monkeypatch.context() as patch:
        # after the first epoch, which writes the file
        patch.setattr("neuronet.cli.interrupt.Interrupt.__call__", lambda _: parts.exists())
        result = pretrain(run, parts, *SMALL, "--epochs", 3)
    assert result.exit_code == 130
    assert result.stdout == ""
    assert f"saved {parts} after 1 epoch; go on with:\n" in result.stderr
    assert result.stderr.rstrip().endswith("--resume")
    before = parts.read_bytes()
    changed = pretrain(run, parts, "--resume", *SMALL, "--epochs", 4, "--state-size", 3)
    assert changed.exit_code == 2
    assert f"--resume takes the settings from {parts}: leave out --state-size, --epochs" in changed.stderr
    assert parts.read_bytes() == before
    result = pretrain(run, parts, "--resume")
    assert result.exit_code == 0, result.output
    assert [line[:12] for line in result.stderr.splitlines() if line.startswith("epoch")] == [
        "epoch   2/3 ", "epoch   3/3 ",
    ]  # fmt: skip
    assert arrays(parts) == arrays(whole)


# --- Ctrl-C -------------------------------------------------------------------------------------------


@contextmanager
def pretraining(output: Path, *options: str) -> Iterator[subprocess.Popen[str]]:
    """A pretraining in a process of its own, after its first epoch and long before its last."""
    arguments = ["pretrain", "mamba4cast", "-o", str(output), *SMALL, "--epochs", "10000", *options]
    process = subprocess.Popen(
        [sys.executable, "-m", "neuronet", *arguments, "--device", "numpy"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        start_new_session=True,
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
    )
    deadline = time.monotonic() + 60
    while not output.exists() and time.monotonic() < deadline and process.poll() is None:
        time.sleep(0.05)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGINT for one process")
@pytest.mark.parametrize("processes", ["1", "2"])
def test_a_signal_saves_and_the_command_it_prints_goes_on(run: Any, tmp_path: Path, processes: str) -> None:
    path = tmp_path / "w 1.h5"
    with pretraining(path, "--processes", processes) as process:
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to the workers too
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert out == ""
    assert "stopping after this batch" in err
    assert "Traceback" not in err
    file = read_model(path)
    assert file.training["stopped"] == "interrupted"
    assert any(name.startswith("optimizer/") for name in file.arrays)
    assert [p.name for p in tmp_path.iterdir()] == ["w 1.h5"]
    printed = err.rstrip().splitlines()[-1].strip()
    assert printed.endswith("--resume")
    assert f"-o '{path}'" in printed
    before, command = [file.training[name] for name in ("epoch", "batch")], shlex.split(printed)
    assert command[0] == "neuronet"
    with pytest.MonkeyPatch.context() as patch:  # long before its 10,000 epochs
        patch.setattr("neuronet.cli.interrupt.Interrupt.__call__", lambda _: True)
        result = run(*command[1:])
    assert result.exit_code == 130, result.output
    assert [read_model(path).training[name] for name in ("epoch", "batch")] > before
