"""train: repeatable, resumable, honest on noise, and never a worse file than before."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from neuronet.bars.bars import Bars
from neuronet.bars.synthetic import make_bars, random_walk
from neuronet.device.numpy import NumpyDevice
from neuronet.errors import FileFormatError, SpecError, TrainingError
from neuronet.fitting.state import TrainingState
from neuronet.storage.hdf5 import read_model
from neuronet.train.pipeline import TrainResult, train
from neuronet.train.settings import Settings

Small = Callable[..., Settings]


def arrays(path: Path) -> dict[str, bytes]:
    return {name: values.tobytes() for name, values in read_model(path).arrays.items()}


def test_same_seed_same_bits_another_seed_others(bars: Bars, small: Small, tmp_path: Path) -> None:
    for name, seed in (("a", 5), ("b", 5), ("c", 6)):
        train(bars, tmp_path / name, small(seed=seed), device=NumpyDevice())
    assert arrays(tmp_path / "a") == arrays(tmp_path / "b")
    assert arrays(tmp_path / "a") != arrays(tmp_path / "c")


def test_the_small_trainings_of_these_tests_learn_something(
    trained: tuple[Path, TrainResult], trained_direction: tuple[Path, TrainResult]
) -> None:
    assert trained[1].contract.blend > 0.5
    assert trained[1].evaluations[1].scores["model"]["skill"] > 0.3
    assert trained_direction[1].contract.blend > 0.3
    classes = trained_direction[1].evaluations[1].scores
    assert classes["model"]["log_loss"] < classes["training shares"]["log_loss"] - 0.1


def test_two_and_two_epochs_are_four(bars: Bars, small: Small, tmp_path: Path) -> None:
    whole, parts = tmp_path / "whole.h5", tmp_path / "parts.h5"
    train(bars, whole, small(epochs=4), device=NumpyDevice())
    train(bars, parts, small(epochs=2), device=NumpyDevice())
    result = train(bars, parts, small(epochs=4), device=NumpyDevice(), resume=True)
    assert arrays(whole) == arrays(parts)
    assert [e["epoch"] for e in result.state.history] == [1, 2, 3, 4]
    assert read_model(whole).bars["scores"] == read_model(parts).bars["scores"]


def test_a_net_that_sees_times_resumes_to_the_same_bits(bars: Bars, small: Small, tmp_path: Path) -> None:
    """--model mamba4cast: its second input is made again, and its net is the file's."""
    whole, parts = tmp_path / "whole.h5", tmp_path / "parts.h5"
    timed = {"model": "mamba4cast", "batch": 60}
    first = train(bars, whole, small(epochs=3, **timed), device=NumpyDevice())
    assert first.evaluations[1].scores["model"]["skill"] > 0.3
    train(bars, parts, small(epochs=1, **timed), device=NumpyDevice())
    train(bars, parts, small(epochs=3, **timed), device=NumpyDevice(), resume=True)
    assert arrays(whole) == arrays(parts)
    assert read_model(whole).bars["scores"] == read_model(parts).bars["scores"]
    with pytest.raises(SpecError, match=r"model was mamba4cast, is conv.*the net is another"):
        train(bars, parts, small(epochs=4, batch=60), device=NumpyDevice(), resume=True)


def test_a_net_of_ones_own_may_see_times(bars: Bars, small: Small, tmp_path: Path) -> None:
    encoder = {"class": "CNeuronTSPositionEncoder", "periods": [86_400], "freqs": 2}
    dense = {"class": "CNeuronDenseOCL", "neurons": 4}
    net = {"layers": [encoder, dense]}
    result = train(bars, tmp_path / "m.h5", small(), net=net, device=NumpyDevice())
    assert result.net.second_shape == (24, 1)
    assert result.evaluations[1].scores["model"]["skill"] > 0.1


def test_resuming_goes_on_from_the_last_weights_not_the_best(
    bars: Bars, small: Small, tmp_path: Path
) -> None:
    whole, parts = tmp_path / "whole.h5", tmp_path / "parts.h5"
    walk, slow = random_walk(900, seed=1), {"patience": 99, "lr": 0.03}
    train(walk, whole, small(epochs=8, **slow), device=NumpyDevice())
    first = train(walk, parts, small(epochs=6, **slow), device=NumpyDevice())
    assert first.state.best_epoch < 6
    train(walk, parts, small(epochs=8, **slow), device=NumpyDevice(), resume=True)
    assert arrays(whole) == arrays(parts)


def test_stopped_within_an_epoch_and_resumed(
    bars: Bars, small: Small, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("neuronet.fitting.fit.SYNC_SECONDS", 0.0)
    whole, parts = tmp_path / "whole.h5", tmp_path / "parts.h5"
    train(bars, whole, small(), device=NumpyDevice())
    calls = iter(range(1000))
    result = train(bars, parts, small(), device=NumpyDevice(), stop=lambda: next(calls) == 15)
    assert result.state.stopped == "interrupted"
    assert result.state.batch > 0
    assert not result.evaluations
    assert read_model(parts).bars["scores"] == {}
    train(bars, parts, small(), device=NumpyDevice(), resume=True)
    assert arrays(whole) == arrays(parts)


def test_what_comes_after_the_training_part_moves_no_training_loss(
    bars: Bars, small: Small, tmp_path: Path
) -> None:
    first = train(bars, tmp_path / "a", small(patience=9), device=NumpyDevice())
    end = (
        int(np.searchsorted(bars.time, np.datetime64(first.contract.parts["train"][1], "ns").astype(int))) + 1
    )
    factor = np.where(np.arange(len(bars)) < end, 1.0, np.random.default_rng(0).uniform(0.9, 1.1, len(bars)))
    changed = {n: getattr(bars, n) * factor for n in ("open", "high", "low", "close", "volume")}
    second = train(replace(bars, **changed), tmp_path / "b", small(patience=9), device=NumpyDevice())
    assert [e["loss"] for e in second.state.history] == [e["loss"] for e in first.state.history]
    assert second.contract.features.to_dict() == first.contract.features.to_dict()
    assert second.state.history[0]["validation"] != first.state.history[0]["validation"]


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_random_walk_shows_no_skill(seed: int, tmp_path: Path) -> None:
    settings = Settings(epochs=8, history=60, horizon=6)
    result = train(random_walk(4000, seed=seed), tmp_path / "m.h5", settings, device=NumpyDevice())
    test = result.evaluations[1]
    assert abs(test.scores["model"]["skill"]) < 0.01
    sign = test.scores["model"]["direction"]
    assert sign is None or sign["low"] < 0.5 < sign["high"]


def test_what_can_be_foretold_is_found(tmp_path: Path) -> None:
    settings = Settings(history=60, horizon=6, lr=1e-3, epochs=15)
    result = train(make_bars(8000, seed=1), tmp_path / "m.h5", settings, device=NumpyDevice())
    for one in result.evaluations:
        assert one.scores["model"]["skill"] > 0.02


def test_a_net_of_ones_own(bars: Bars, small: Small, tmp_path: Path) -> None:
    net = {"layers": [{"class": "CNeuronDenseOCL", "neurons": 4}], "loss": "mae"}
    result = train(bars, tmp_path / "m.h5", small(), net=net, device=NumpyDevice())
    spec = read_model(tmp_path / "m.h5").spec
    assert [layer["class"] for layer in spec["layers"]] == ["CNeuronDenseOCL"]
    assert (spec["input_shape"], spec["batch"], spec["loss"]["class"]) == ([24, 5], 50, "Mae")
    assert result.net.output_shape == (4,)


def test_resume_refuses_another_training(
    trained: tuple[Path, TrainResult],
    bars: Bars,
    small: Small,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    path = tmp_path / "m.h5"
    path.write_bytes(trained[0].read_bytes())
    other = replace(bars, volume=bars.volume + 1)
    dense = {"layers": [{"class": "CNeuronDenseOCL", "neurons": 4}]}
    for message, change in {
        "the bars are others": (other, small(epochs=4), None),
        "lr was 0.003, is 0.5.*net is another": (bars, small(epochs=4, lr=0.5), None),
        "history was 24, is 25": (bars, small(epochs=4, history=25), None),
        "the net is another": (bars, small(epochs=4), dense),
    }.items():
        with pytest.raises(SpecError, match=message):
            train(change[0], path, change[1], net=change[2], device=NumpyDevice(), resume=True)
    assert path.read_bytes() == trained[0].read_bytes()
    with caplog.at_level(logging.WARNING, logger="neuronet"):
        result = train(other, path, small(epochs=4, lr=0.5), device=NumpyDevice(), resume=True, force=True)
    assert "going on although" in caplog.text
    assert (result.state.epoch, result.state.history[-1]["lr"]) == (4, 0.5)
    with pytest.raises(FileFormatError, match=r"is missing|has shape"):
        train(bars, path, small(epochs=5), net=dense, device=NumpyDevice(), resume=True, force=True)


def test_resume_of_a_finished_training_says_what_helps(
    trained: tuple[Path, TrainResult], bars: Bars, small: Small
) -> None:
    with pytest.raises(SpecError, match=r"come to its end after 3 epochs.*\nFix: give more --epochs than 3"):
        train(bars, trained[0], small(), device=NumpyDevice(), resume=True)
    with pytest.raises(FileFormatError, match="no such file"):
        train(bars, trained[0].with_name("none.h5"), small(), device=NumpyDevice(), resume=True)


def test_a_loss_that_explodes_keeps_the_last_good_file(
    trained: tuple[Path, TrainResult], bars: Bars, small: Small, tmp_path: Path
) -> None:
    path = tmp_path / "m.h5"
    path.write_bytes(trained[0].read_bytes())
    layers = [{"class": "CNeuronDenseOCL", "neurons": 4}]
    net = {"layers": layers, "loss": "mse", "optimizer": {"class": "SGD", "lr": 1e6}}
    with np.errstate(all="ignore"), pytest.raises(TrainingError, match=r"not finite in epoch \d+, batch \d+"):
        train(bars, path, small(), net=net, device=NumpyDevice())
    assert path.read_bytes() == trained[0].read_bytes()


def test_a_file_that_changes_meanwhile_is_warned_of_and_replaced(
    bars: Bars, small: Small, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "m.h5"

    def meddle(_state: TrainingState) -> None:
        path.write_bytes(b"another program was here")

    with caplog.at_level(logging.WARNING, logger="neuronet"):
        train(bars, path, small(), device=NumpyDevice(), on_epoch=meddle)
    assert "was changed by another program" in caplog.text
    assert read_model(path).training["epoch"] == 3
    assert [p.name for p in tmp_path.iterdir()] == ["m.h5"]


def test_an_impossible_output_is_refused_before_any_work(bars: Bars, small: Small, tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="there is no folder"):
        train(bars, tmp_path / "none" / "m.h5", small(), device=NumpyDevice())
    with pytest.raises(FileFormatError, match="is a folder"):
        train(bars, tmp_path, small(), device=NumpyDevice())


def test_without_validation_and_test(bars: Bars, small: Small, tmp_path: Path) -> None:
    result = train(bars, tmp_path / "m.h5", small(validation=0.0, test=0.0), device=NumpyDevice())
    assert result.evaluations == []
    assert result.contract.blend == 1.0
    assert result.state.best_epoch == 3


def test_a_batch_larger_than_the_windows_takes_no_more_memory(
    bars: Bars, small: Small, tmp_path: Path
) -> None:
    found = train(bars, tmp_path / "m.h5", small(batch=10**9, epochs=1), device=NumpyDevice())
    assert found.net.batch < len(bars)
    assert found.contract.settings.batch == 10**9
