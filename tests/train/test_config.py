"""Config files: read, merged in the right order, and printed so that they read back equal."""

from __future__ import annotations

from pathlib import Path

import pytest

from neuronet.errors import SpecError
from neuronet.train.config import effective, read_config, to_toml
from neuronet.train.default_net import default_net
from neuronet.train.pipeline import declared_net
from neuronet.train.settings import Settings

TEXT = """
batch = 16
[train]
history = 30
horizon = 3
[optimizer]
class = "SGD"
lr = 0.05
momentum = 0.5
[[layers]]
class = "CNeuronDenseOCL"
neurons = 3
activation = "TANH"
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "net ü.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_net_and_settings(tmp_path: Path) -> None:
    settings, net = effective(read_config(write(tmp_path, TEXT)), {})
    assert (settings.history, settings.horizon, settings.batch, settings.lr) == (30, 3, 16, 0.05)
    spec = declared_net(settings, 5, net).spec()
    assert spec["input_shape"] == [30, 5]
    assert spec["batch"] == 16
    assert spec["optimizer"]["class"] == "SGD"
    assert [layer["class"] for layer in spec["layers"]] == ["CNeuronDenseOCL"]


def test_options_win_over_the_file(tmp_path: Path) -> None:
    chosen = {"lr": 0.5, "batch": 8, "history": 40}
    settings, net = effective(read_config(write(tmp_path, TEXT)), chosen)
    spec = declared_net(settings, 5, net).spec()
    assert (settings.history, settings.horizon) == (40, 3)
    assert (spec["batch"], spec["optimizer"]["lr"], spec["optimizer"]["momentum"]) == (8, 0.5, 0.5)


def test_without_a_file_options_win_over_defaults() -> None:
    assert effective(({}, {}), {"epochs": 2}) == (Settings(epochs=2), None)


def test_what_is_printed_reads_back_equal(tmp_path: Path) -> None:
    settings = Settings(lr=0.125, l2=0.5, features="returns,time", max_gap="4d", clip_norm=1.5, batch=7)
    spec = default_net(settings, 13).spec()
    again, net = effective(read_config(write(tmp_path, to_toml(settings, spec))), {})
    assert again == settings
    assert declared_net(again, 13, net).spec() == spec


def test_a_schedule_survives_printing(tmp_path: Path) -> None:
    text = '[optimizer]\nclass = "Adam"\nlr = { class = "StepDecay", lr = 0.01, every = 100 }\n'
    settings, net = effective(read_config(write(tmp_path, text)), {})
    spec = declared_net(settings, 5, net).spec()
    assert spec["optimizer"]["lr"] == {"class": "StepDecay", "lr": 0.01, "every": 100, "factor": 0.5}
    again, net = effective(read_config(write(tmp_path, to_toml(settings, spec))), {})
    assert declared_net(again, 5, net).spec() == spec


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("history = = 3", "is not TOML"),
        ("train = 3", "train is not a table"),
        ("[train]\nwindow = 3", "unknown setting 'window'"),
        ("[train]\nhistory = 0", "--history"),
    ],
)
def test_faults_are_named(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        effective(read_config(write(tmp_path, text)), {})


def test_unknown_layer_and_missing_file(tmp_path: Path) -> None:
    settings, net = effective(read_config(write(tmp_path, '[[layers]]\nclass = "CNeuronMagic"')), {})
    with pytest.raises(SpecError, match="unknown layer 'CNeuronMagic'"):
        declared_net(settings, 5, net)
    with pytest.raises(SpecError, match=r"none\.toml: cannot be read"):
        read_config(tmp_path / "none.toml")
    for text in ("", "# nothing\n"):
        with pytest.raises(SpecError, match="declares nothing\nFix: write settings under"):
            read_config(write(tmp_path, text))


def test_a_net_in_the_file_and_another_model_are_refused(tmp_path: Path) -> None:
    settings = Settings(model="dfft", history=8)
    text = to_toml(settings, declared_net(settings, 5, None).spec())
    again, net = effective(read_config(write(tmp_path, text)), {"model": "dfft"})
    assert again.model == "dfft"
    assert net is not None
    with pytest.raises(SpecError, match="--model conv cannot replace"):
        effective(read_config(write(tmp_path, text)), {"model": "conv"})
