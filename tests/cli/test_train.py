"""``neuronet train``: output, configuration, resuming, and being interrupted."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

from neuronet.bars.synthetic import random_walk, write_mt5
from neuronet.cli import main
from neuronet.storage.hdf5 import read_model


def run(*arguments: object, **extra: object) -> Result:
    return CliRunner().invoke(main, [str(a) for a in arguments], **extra)  # type: ignore[arg-type]


def arrays(path: Path) -> dict[str, bytes]:
    return {name: values.tobytes() for name, values in read_model(path).arrays.items()}


def test_results_on_stdout_messages_on_stderr(bars_file: Path, small: list[str], tmp_path: Path) -> None:
    path = tmp_path / "m.h5"
    result = run("train", bars_file, "-o", path, *small)
    assert result.exit_code == 0, result.output
    assert "epoch   1/2  loss" in result.stderr
    assert "at most" not in result.stderr  # no bar without a terminal
    assert "epoch" not in result.stdout
    for words in ("validation  model", "test        model", "last value", "drift", "skill"):
        assert words in result.stdout
    assert [p.name for p in tmp_path.iterdir()] == ["m.h5"]


def test_quiet_says_nothing_but_the_result(bars_file: Path, small: list[str], tmp_path: Path) -> None:
    result = run("train", bars_file, "-o", tmp_path / "m.h5", *small, "-q")
    assert result.stderr == ""
    assert "test        model" in result.stdout


@pytest.mark.parametrize("task", ["direction", "action"])
def test_json(bars_file: Path, small: list[str], tmp_path: Path, task: str) -> None:
    result = run("train", bars_file, "-o", tmp_path / "m.h5", *small, "--task", task, "--json")
    data = json.loads(result.stdout)
    assert data["settings"]["history"] == 24
    assert data["device"].startswith("numpy")
    assert len(data["training"]["history"]) == 2
    assert [one["part"] for one in data["evaluations"]] == ["validation", "test"]
    assert set(data["evaluations"][1]["scores"]) == {"model", "training shares"}


def test_two_and_two_epochs_are_four(bars_file: Path, small: list[str], tmp_path: Path) -> None:
    whole, parts = tmp_path / "whole.h5", tmp_path / "parts.h5"
    assert run("train", bars_file, "-o", whole, *small, "--epochs", 4).exit_code == 0
    assert run("train", bars_file, "-o", parts, *small).exit_code == 0
    resumed = run("train", bars_file, "-o", parts, "--resume", "--epochs", 4, "--device", "numpy")
    assert resumed.exit_code == 0, resumed.output  # the other settings come from the file
    assert arrays(whole) == arrays(parts)


def test_resume_refuses_other_bars_and_other_settings(
    bars_file: Path, model_file: Path, tmp_path: Path
) -> None:
    path, other = tmp_path / "m.h5", tmp_path / "other.csv"
    path.write_bytes(model_file.read_bytes())
    write_mt5(random_walk(900, seed=4), other)
    for bars, extra, message in (
        (other, (), "the bars are others"),
        (bars_file, ("--history", 30), "history was 24, is 30"),
    ):
        result = run("train", bars, "-o", path, "--resume", "--epochs", 3, "--device", "numpy", *extra)
        assert result.exit_code == 2
        assert message in result.stderr
        assert "Fix: train without --resume" in result.stderr
    forced = run("train", other, "-o", path, "--resume", "--epochs", 3, "--device", "numpy", "--force")
    assert forced.exit_code == 0, forced.output
    assert "going on although the bars are others" in forced.stderr


CONFIG = """
[train]
history = 24
horizon = 4
epochs = 1
seed = 7
[[layers]]
class = "CNeuronDenseOCL"
neurons = 4
"""


def test_config_file_then_variables_then_options(bars_file: Path, tmp_path: Path) -> None:
    config, path = tmp_path / "net.toml", tmp_path / "m.h5"
    config.write_text(CONFIG, encoding="utf-8")
    arguments = ("train", bars_file, "-o", path, "--config", config, "--device", "numpy", "--seed", 9)
    result = run(*arguments, env={"NEURONET_EPOCHS": "2", "NEURONET_SEED": "8"})
    assert result.exit_code == 0, result.output
    file = read_model(path)
    settings = file.bars["settings"]
    assert (settings["history"], settings["epochs"], settings["seed"]) == (24, 2, 9)
    assert settings["batch"] == 64  # the default
    assert [layer["class"] for layer in file.spec["layers"]] == ["CNeuronDenseOCL"]


def test_printed_config_trains_the_same_model(bars_file: Path, small: list[str], tmp_path: Path) -> None:
    printed = run("train", bars_file, "-o", tmp_path / "none.h5", *small, "--print-config")
    assert printed.exit_code == 0, printed.output
    assert not (tmp_path / "none.h5").exists()
    (tmp_path / "net.toml").write_text(printed.stdout, encoding="utf-8")
    a, b = tmp_path / "a.h5", tmp_path / "b.h5"
    assert run("train", bars_file, "-o", a, *small).exit_code == 0
    again = run("train", bars_file, "-o", b, "--config", tmp_path / "net.toml", "--device", "numpy")
    assert again.exit_code == 0, again.output
    assert read_model(a).spec == read_model(b).spec
    assert arrays(a) == arrays(b)


@pytest.mark.parametrize(
    ("extra", "message", "code"),
    [
        (("--history", 0), "--history: history cannot be 0", 2),
        (("--history", "many"), "not a valid integer", 2),
        (("--history", 600, "--horizon", 300), "give 0 windows of 600+300", 2),
        (("--history", 400), "validation: 135 bars give 0 windows", 2),
        (("--features", "magic"), "choose from", 2),
        (("--config", "none.toml"), "cannot be read", 2),
        (("--columns", "close"), "write time=NAME", 2),
        (("--device", "warp drive"), "no usable device matches", 1),
    ],
)
def test_wrong_input_is_a_sentence(
    bars_file: Path, tmp_path: Path, extra: tuple[object, ...], message: str, code: int
) -> None:
    result = run("train", bars_file, "-o", tmp_path / "m.h5", "--device", "numpy", *extra)
    assert result.exit_code == code
    assert message in result.stderr
    assert "Traceback" not in result.output
    assert list(tmp_path.iterdir()) == []


def test_strict_refuses_bars_with_a_warning(bars_file: Path, small: list[str], tmp_path: Path) -> None:
    lines = bars_file.read_bytes().splitlines(keepends=True)
    double = tmp_path / "double.csv"
    double.write_bytes(b"".join([*lines, lines[-1]]))
    assert run("train", double, "-o", tmp_path / "m.h5", *small).exit_code == 0
    strict = run("train", double, "-o", tmp_path / "n.h5", *small, "--strict")
    assert strict.exit_code == 2
    assert "1 warning under --strict" in strict.stderr


def test_an_exploding_loss_ends_with_1_and_keeps_the_file(
    bars_file: Path, model_file: Path, tmp_path: Path
) -> None:
    path, config = tmp_path / "m.h5", tmp_path / "net.toml"
    path.write_bytes(model_file.read_bytes())
    config.write_text('loss = "mse"\n[optimizer]\nclass = "SGD"\nlr = 1e9\n', encoding="utf-8")
    with np.errstate(all="ignore"):
        result = run("train", bars_file, "-o", path, "--config", config, "--device", "numpy", "--history", 24)
    assert result.exit_code == 1, result.output
    assert "not finite in epoch 1, batch" in result.stderr
    assert path.read_bytes() == model_file.read_bytes()


# --- Ctrl-C ------------------------------------------------------------------------------------------


@contextmanager
def training(bars: Path, output: Path) -> Iterator[subprocess.Popen[str]]:
    """A training in a process of its own, after its first epoch and long before its last."""
    arguments = ["train", bars, "-o", output, "--device", "numpy", "--history", 24, "--batch", 1]
    process = subprocess.Popen(
        [sys.executable, "-m", "neuronet", *map(str, arguments), "--epochs", "10000", "--patience", "9999"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
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
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_saves_and_says_how_to_go_on(
    bars_file: Path, tmp_path: Path, number: signal.Signals
) -> None:
    path = tmp_path / "m 1.h5"
    with training(bars_file, path) as process:
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert out == ""
    assert "stopping after this batch" in err
    assert f"-o '{path}'" in err
    assert err.rstrip().endswith("--resume")
    assert "Traceback" not in err
    file = read_model(path)
    assert file.training["stopped"] == "interrupted"
    done = file.training["epoch"]
    result = run("train", bars_file, "-o", path, "--resume", "--epochs", done + 1, "--device", "numpy")
    assert result.exit_code == 0, result.output
    assert read_model(path).training["epoch"] == done + 1


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGINT for one process")
def test_many_signals_never_harm_the_file(bars_file: Path, tmp_path: Path) -> None:
    path = tmp_path / "m.h5"
    with training(bars_file, path) as process:
        for _ in range(5):
            process.send_signal(signal.SIGINT)
            time.sleep(0.01)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert "Traceback" not in err
    assert read_model(path).training["epoch"] >= 1
    assert [p.name for p in tmp_path.iterdir()] == ["m.h5"]


def test_the_bars_are_never_the_output(bars_file: Path) -> None:
    before = bars_file.read_bytes()
    result = run("train", bars_file, "-o", bars_file)
    assert result.exit_code == 2
    assert "is a file to read" in result.stderr
    assert bars_file.read_bytes() == before
