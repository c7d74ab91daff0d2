"""Pretraining: repeatable, resumable to the bit, and a finished file that holds a forecaster alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from neuronet.bars.bars import Bars
from neuronet.device.numpy import NumpyDevice
from neuronet.errors import FileFormatError, SpecError
from neuronet.fitting import fit as fit_module
from neuronet.fitting.state import TrainingState
from neuronet.models import mamba4cast_data
from neuronet.models.mamba4cast import Mamba4Cast
from neuronet.prior.draw import draw
from neuronet.prior.settings import Prior
from neuronet.series.metrics import mase, seasonal_naive
from neuronet.storage.hdf5 import read_model
from neuronet.train import pretrain as module
from neuronet.train.pipeline import TrainResult
from neuronet.train.pretrain import Pretraining, pretrain, stored_settings, synthetic_scores

QUICK = Pretraining(epochs=3, samples=70, batch=16, lr=1e-2, seed=5)  # 5 batches an epoch, the last of 6


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few series to judge by, and ``stop`` asked after every batch."""
    for where in (mamba4cast_data, module):
        monkeypatch.setattr(where, "VALIDATION", 64)
    monkeypatch.setattr(module, "SCORED", 64)
    monkeypatch.setattr(fit_module, "SYNC_SECONDS", 0.0)


def tiny(**changes: Any) -> Mamba4Cast:
    sizes = {"context": 20, "horizon": 4, "width": 8, "depth": 1, "heads": 1, "state_size": 2}
    return Mamba4Cast(**{**sizes, "levels": (0.1, 0.5, 0.9), "periods": (3_600, 86_400), **changes})


def run(path: Path, **extra: Any) -> module.PretrainResult:
    return pretrain(path, tiny(), QUICK, device=NumpyDevice(), **extra)


def after(calls: int) -> Callable[[], bool]:
    counter = iter(range(10**6))
    return lambda: next(counter) >= calls


def arrays(path: Path) -> dict[str, bytes]:
    return {name: values.tobytes() for name, values in read_model(path).arrays.items()}


def rows(state: TrainingState) -> list[dict[str, Any]]:
    return [{k: v for k, v in row.items() if k != "seconds"} for row in state.history]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, module.PretrainResult]:
    """A training that was never interrupted."""
    path = tmp_path_factory.mktemp("whole") / "w.h5"
    with pytest.MonkeyPatch.context() as patch:
        for where in (mamba4cast_data, module):
            patch.setattr(where, "VALIDATION", 64)
        patch.setattr(module, "SCORED", 64)
        return path, run(path)


Whole = tuple[Path, module.PretrainResult]


# --- the finished file --------------------------------------------------------------------------------


def test_a_finished_file_holds_the_best_weights_alone(whole: Whole) -> None:
    path, result = whole
    file = read_model(path)
    assert {name.split("/")[0] for name in file.arrays} <= {"parameters", "state"}
    assert {name for name in file.arrays if name.startswith("parameters/")} == {
        f"parameters/{i}/{p.name}" for i, one in enumerate(result.model.net.layers) for p in one.parameters
    }
    assert file.training["stopped"] == "epochs"
    assert Pretraining.from_dict(file.training["pretraining"]) == QUICK
    assert file.training["mase"] == {
        "model": list(result.score or ()), "seasonal naive": list(result.naive or ()),
    }  # fmt: skip
    scores = [row["validation"] for row in result.state.history]
    assert len(scores) == 3
    assert result.state.best_epoch == int(np.argmin(scores)) + 1
    loaded = Mamba4Cast.load(path, NumpyDevice())
    times = np.datetime64("2024-01-01") + np.arange(30) * np.timedelta64(1, "D")
    history = np.random.default_rng(0).standard_normal(30)
    got = loaded.forecast(history, times, 4, (0.1, 0.5, 0.9))
    assert got.shape == (4, 3)
    np.testing.assert_array_equal(got, result.model.forecast(history, times, 4, (0.1, 0.5, 0.9)))


def test_the_best_epoch_is_kept_not_the_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The validation loss is made to be smallest in the second of four epochs."""
    losses, kept, model = iter([3.0, 1.0, 4.0, 2.0]), list[dict[str, np.ndarray]](), tiny()
    monkeypatch.setattr(fit_module, "_mean_loss", lambda *_: next(losses))
    path, settings = tmp_path / "w.h5", replace(QUICK, epochs=4)

    def keep(state: TrainingState) -> None:
        kept.append(model.weights())
        best = min(state.epoch, 2) - 1  # the file is a forecaster of the best epoch after every epoch
        held = read_model(path).arrays
        assert all(np.array_equal(held[name], values) for name, values in kept[best].items())

    result = pretrain(path, model, settings, device=NumpyDevice(), on_epoch=keep)
    assert result.state.best_epoch == 2
    held = read_model(path).arrays
    assert held.keys() == kept[1].keys()
    for name, values in kept[1].items():
        np.testing.assert_array_equal(held[name], values, err_msg=name)
        assert not np.array_equal(kept[3][name], values) or name.startswith("state/")


def test_the_seed_names_the_weights(whole: Whole, tmp_path: Path) -> None:
    run(tmp_path / "again.h5")
    assert arrays(tmp_path / "again.h5") == arrays(whole[0])
    pretrain(tmp_path / "other.h5", tiny(), replace(QUICK, seed=6), device=NumpyDevice())
    assert arrays(tmp_path / "other.h5") != arrays(whole[0])


def test_two_processes_give_the_same_bits(whole: Whole, tmp_path: Path) -> None:
    result = run(tmp_path / "two.h5", processes=2)
    assert arrays(tmp_path / "two.h5") == arrays(whole[0])
    assert rows(result.state) == rows(whole[1].state)


# --- resuming -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("calls", [2, 4, 7, 13], ids=lambda n: f"after {n} batches")
def test_interrupted_and_resumed_gives_the_same_bits(whole: Whole, tmp_path: Path, calls: int) -> None:
    """Within the first epoch, at its end, and within the second and third."""
    path = tmp_path / "w.h5"
    first = run(path, stop=after(calls))
    assert first.state.stopped == "interrupted"
    assert (first.score, first.naive) == (None, None)
    assert stored_settings(path) == {**tiny().spec(), **QUICK.to_dict()}
    times = np.arange(9) * 3_600 * 10**9
    assert np.isfinite(Mamba4Cast.load(path, NumpyDevice()).forecast(np.arange(9.0), times, 4)).all()
    result = pretrain(path, device=NumpyDevice(), resume=True)
    assert arrays(path) == arrays(whole[0])
    assert rows(result.state) == rows(whole[1].state)
    assert (result.score, result.naive) == (whole[1].score, whole[1].naive)


def test_interrupted_twice(whole: Whole, tmp_path: Path) -> None:
    path = tmp_path / "w.h5"
    run(path, stop=after(3))
    assert pretrain(path, device=NumpyDevice(), resume=True, stop=after(6)).score is None
    pretrain(path, device=NumpyDevice(), resume=True)
    assert arrays(path) == arrays(whole[0])


def test_a_program_that_dies_after_an_epoch_can_go_on(whole: Whole, tmp_path: Path) -> None:
    path = tmp_path / "w.h5"

    def die(state: TrainingState) -> None:
        if state.epoch == 2:
            raise RuntimeError("power cut")

    with pytest.raises(RuntimeError, match="power cut"):
        run(path, on_epoch=die)
    assert read_model(path).training["epoch"] == 2
    pretrain(path, device=NumpyDevice(), resume=True)
    assert arrays(path) == arrays(whole[0])


def test_epochs_are_told_of_once(tmp_path: Path) -> None:
    told: list[int] = []
    path = tmp_path / "w.h5"
    run(path, on_epoch=lambda s: told.append(s.epoch), stop=after(7))
    assert told == [1]
    pretrain(path, device=NumpyDevice(), resume=True, on_epoch=lambda s: told.append(s.epoch))
    assert told == [1, 2, 3]


def test_resume_of_a_finished_or_a_foreign_file_says_what_helps(
    whole: Whole, trained: tuple[Path, TrainResult], tmp_path: Path, bars: Bars
) -> None:
    before = whole[0].read_bytes()
    with pytest.raises(
        SpecError, match=r"has come to its end after 3 epochs\nFix: pretrain without --resume"
    ):
        pretrain(whole[0], device=NumpyDevice(), resume=True)
    assert whole[0].read_bytes() == before
    with pytest.raises(SpecError, match=r"model.h5: is no pretraining\nFix: pretrain without --resume"):
        pretrain(trained[0], device=NumpyDevice(), resume=True)
    with pytest.raises(SpecError, match="is no pretraining"):
        stored_settings(trained[0])
    with pytest.raises(FileFormatError, match="no such file"):
        pretrain(tmp_path / "none.h5", device=NumpyDevice(), resume=True)
    assert list(tmp_path.iterdir()) == []


def test_an_impossible_output_is_refused_before_any_work(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="there is no folder"):
        run(tmp_path / "none" / "w.h5")


# --- settings and scores ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"epochs": 0}, "--epochs: epochs cannot be 0"),
        ({"samples": 0}, "--samples: samples cannot be 0"),
        ({"batch": -1}, "--batch: batch cannot be -1"),
        ({"lr": 0.0}, "--lr: lr cannot be 0"),
        ({"lr": float("nan")}, "--lr: lr cannot be nan"),
        ({"seed": -1}, "--seed: seed cannot be -1"),
        ({"epochs": 1.5}, "epochs must be a whole number"),
    ],
)
def test_settings_that_make_no_sense_are_refused(change: dict[str, Any], what: str) -> None:
    with pytest.raises(SpecError, match=what):
        Pretraining(**change)


def test_settings_survive_a_file() -> None:
    settings = Pretraining(epochs=2, lr=0.5, prior=Prior(gaussian_share=0.25, spikes=0.5))
    assert Pretraining.from_dict(settings.to_dict()) == settings


def test_scores_are_mase_on_series_that_training_never_sees(whole: Whole) -> None:
    """Worked out one by one from the prior's sequence, behind the series of the validation."""
    model, count = whole[1].model, 40
    own, naive = synthetic_scores(model, Prior(), seed=5, count=count)
    drawn = draw(Prior(), count, 24, 5 + mamba4cast_data.UNSEEN, first=64)
    found = []
    for values, times, frequency in zip(
        drawn.values.astype(float), drawn.times, drawn.frequencies, strict=True
    ):
        season = frequency.season if 2 * frequency.season <= 20 else 1
        past, actual = values[:20], values[20:]
        scale = np.abs(past[season:] - past[:-season]).mean()
        if scale == 0.0:
            continue
        made = model.forecast(past, times[:20], 4)
        found.append([np.abs(f - actual).mean() / scale for f in (made, seasonal_naive(past, season, 4))])
        assert mase(made, actual, past, season).value == pytest.approx(found[-1][0], rel=1e-9)
    table = np.array(found)
    assert own == pytest.approx((np.median(table[:, 0]), table[:, 0].mean()), rel=1e-5)
    assert naive == pytest.approx((np.median(table[:, 1]), table[:, 1].mean()), rel=1e-9)
