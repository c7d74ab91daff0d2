from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from neuronet.device.numpy import NumpyDevice
from neuronet.fitting.checkpoint import to_file
from neuronet.fitting.fit import fit
from neuronet.layers.conv import CNeuronConvOCL
from neuronet.layers.dense import CNeuronDenseOCL
from neuronet.net import CNet
from neuronet.storage.hdf5 import read_model, write_model

BARS = {
    "features": ["open", "close"],
    "scaler": {"mean": [0.25, 1.5], "scale": [1.0, 2.0]},
    "history": 24,
    "symbol": "ÄÖ/€",
    "missing": float("nan"),
}


@pytest.fixture
def model(tmp_path: Path) -> Path:
    layers = [CNeuronConvOCL(window=6, step=3, window_out=4), CNeuronDenseOCL(neurons=5)]
    net = CNet(input_shape=(24, 3), layers=layers, batch=8).build(NumpyDevice(), seed=0)
    rng = np.random.default_rng(0)
    x, target = rng.standard_normal((20, 24, 3)), rng.standard_normal((20, 5))
    state = fit(net, x, target, epochs=2, validation=(x, target), seed=7)
    path = tmp_path / "модель.h5"
    write_model(path, to_file(net, state, BARS))
    return path


def test_layers_shapes_and_parameters_are_listed(run: Any, model: Path) -> None:
    result = run("info", model)
    assert result.exit_code == 0
    lines = [line.split() for line in result.stdout.splitlines()]
    assert lines[0] == ["#", "layer", "output", "parameters"]
    assert lines[1] == ["input", "[24,", "3]", "0"]
    assert lines[2][:2] == ["0", "CNeuronConvOCL(window=6,"]
    assert lines[2][-3:] == ["[23,", "4]", "28"]  # 4 filters of 6 weights and a bias
    assert lines[3][-2:] == ["[5]", "465"]  # 92 inputs and a bias, five times
    assert lines[4] == ["all", "493"]
    for words in (
        "loss Mse",
        "steps trained 6",
        "features open, close",
        "scaler.mean 0.25, 1.5",
        "history 24",
        "symbol ÄÖ/€",
        "seed 7",
        "best_epoch 2",
        "stopped epochs",
        "last epoch.epoch 2",
        "format 1",
        "written by neuronet 0.1.0",
    ):
        assert words.split() in lines, words


def test_scores_are_a_table_and_all_of_them_with_v(run: Any, model_file: Path) -> None:
    """A line for each part and baseline, the same numbers as after training."""
    short, long = (run("info", model_file, *options).stdout.splitlines() for options in ((), ("-v",)))
    begin = short.index("scores (all of them: -v)")
    table = short[begin + 1 : short.index("", begin + 1)]
    assert [line.split()[0] for line in table[:3]] == ["validation", "test", "part"]
    assert [line.split()[:2] for line in table[3:]] == [
        [part, name] for part in ("validation", "test") for name in ("model", "last", "drift", "seasonal")
    ]
    assert not any(".scores." in line for line in short)
    scores = read_model(model_file).bars["scores"]["test"]["scores"]["model"]
    row = next(line for line in table if line.startswith("  test        model"))
    assert f"{scores['mae_price']:.5g}" in row
    assert ["scores.test.scores.model.mae_price", f"{scores['mae_price']:.6g}"] in [s.split() for s in long]
    assert "scores (all of them: -v)" not in long
    assert len(short) < 95 < len(long)


def test_scores_of_another_form_are_listed_as_they_are(run: Any, model: Path) -> None:
    file = read_model(model)
    for scores in ({"test": {"mine": 1.5}}, {"test": 3}, [1], {}):
        file.bars = {"scores": scores, "test_begins": 1_675_998_000_000_000_001}
        write_model(model, file)
        result = run("info", model)
        assert result.exit_code == 0, result.output
        assert "  scores" in result.stdout
        assert "test_begins            after 2023-02-10 03:00:00" in result.stdout


def test_values_are_lines_not_python(run: Any, model: Path) -> None:
    """Of records the last, with -v all; lists in lists and schedules without brackets of Python's."""
    file = read_model(model)
    looks = [{"step": 250 * (i + 1), "net": 0.02068123 * i, "t": None, "begins": 1_675_998_000 * 10**9}
             for i in range(2)]  # fmt: skip
    file.bars = {"progress": {"looks": looks}, "pairs": [["min", [5, 15]], ["h", [3]]], "reading": {}}
    file.spec["optimizer"] = {
        "class": "Adam",
        "lr": {"class": "WarmupCosine", "lr": 0.002, "warmup": 1, "total": 9},
    }
    write_model(model, file)
    lines, all_lines = (
        [line.strip() for line in run("info", model, *options).stdout.splitlines()]
        for options in ((), ("-v",))
    )
    first, last = (
        f"progress.looks         step {step}, net {net}, t None, begins 2023-02-10 03:00:00"
        for step, net in ((250, "0"), (500, "0.0206812"))
    )
    assert [line for line in lines if "looks" in line] == [last]
    assert [line for line in all_lines if "looks" in line] == [first, last]
    for line in (
        "pairs                  min 5 15; h 3",
        "reading                -",
        "optimizer              Adam(lr=WarmupCosine(lr=0.002, warmup=1, total=9))",
    ):
        assert line in lines


def test_json_holds_all_of_it(run: Any, model: Path) -> None:
    result = run("info", model, "--json")
    assert result.exit_code == 0
    assert result.stdout.isascii()
    found = json.loads(result.stdout)
    assert [layer["parameters"] for layer in found["net"]["layers"]] == [28, 465]
    assert [layer["output_shape"] for layer in found["net"]["layers"]] == [[23, 4], [5]]
    assert found["net"]["layers"][0]["class"] == "CNeuronConvOCL"
    assert (found["net"]["parameters"], found["net"]["steps"]) == (493, 6)
    assert found["bars"] == BARS | {"missing": None}  # JSON has no NaN
    assert len(found["training"]["history"]) == 2
    assert found["training"]["seed"] == 7


def test_it_needs_no_opencl(python: Any, model: Path) -> None:
    code = "import sys; sys.modules['pyopencl'] = None; from neuronet.cli import main; main()"
    done = python("-c", code, "info", str(model))
    assert done.returncode == 0, done.stderr
    assert "493" in done.stdout
    assert done.stderr == ""


def test_what_is_no_model_ends_with_2_and_a_fix(run: Any, model: Path) -> None:
    damaged = bytearray(model.read_bytes())
    damaged[len(damaged) // 2] ^= 1
    model.write_bytes(damaged)
    for path in (model, model.with_name("missing.h5")):
        result = run("info", path)
        assert result.exit_code == 2
        assert result.stderr.startswith(f"error: {path}: ")
        assert "\nFix: " in result.stderr
