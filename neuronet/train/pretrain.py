"""pretrain: Mamba4Cast on synthetic series, into a file of weights; what the command calls."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from neuronet.bars.bars import counted
from neuronet.declared import check_fields
from neuronet.device.base import Device
from neuronet.device.find import find_device
from neuronet.errors import SpecError
from neuronet.fitting.checkpoint import from_file, to_file
from neuronet.fitting.state import TrainingState
from neuronet.models.mamba4cast import Mamba4Cast
from neuronet.models.mamba4cast_data import UNSEEN, VALIDATION
from neuronet.net import CNet
from neuronet.prior.draw import draw
from neuronet.prior.settings import Prior
from neuronet.series.series import Series
from neuronet.series.zero_shot import zero_shot
from neuronet.storage.hdf5 import ModelFile, read_model, write_model, write_test

SCORED = 512  # synthetic series behind those of the validation


@dataclass(frozen=True, kw_only=True)
class Pretraining:
    """How long and how fast to train. SpecError names a bad one.

    The prior is the published one but for trends, whose slope is per step: per day they drown every season
    of monthly and quarterly series; and but for a tenth of random walks, without which rates and prices are
    foretold worse than by no change.
    """

    epochs: int = 36
    samples: int = 4096
    batch: int = 32
    lr: float = 2e-3
    seed: int = 0
    prior: Prior = dataclasses.field(default_factory=lambda: Prior(trend_per="step", walk_share=0.1))

    def __post_init__(self) -> None:
        check_fields(self)
        for name in ("epochs", "samples", "batch"):
            if getattr(self, name) < 1:
                raise SpecError(
                    f"{name} cannot be {getattr(self, name)}", where=f"--{name}", fix="give 1 or more"
                )
        if not 0.0 < self.lr <= float(np.finfo(np.float32).max):
            raise SpecError(f"lr cannot be {self.lr}", where="--lr", fix="try 0.002")
        if self.seed < 0:
            raise SpecError(f"seed cannot be {self.seed}", where="--seed", fix="give 0 or more")

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON data; ``from_dict`` gives an equal object."""
        return {**dataclasses.asdict(self), "prior": self.prior.to_dict()}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Pretraining:
        return cls(**{**data, "prior": Prior.from_dict(data["prior"])})


@dataclass(frozen=True)
class PretrainResult:
    """The model with its best weights; (median, mean) MASE on unseen series, None if interrupted."""

    model: Mamba4Cast
    state: TrainingState
    score: tuple[float, float] | None
    naive: tuple[float, float] | None


def pretrain(
    output: str | Path,
    model: Mamba4Cast | None = None,
    settings: Pretraining | None = None,
    *,
    device: Device | None = None,
    processes: int = 1,
    resume: bool = False,
    on_start: Callable[[CNet], None] | None = None,
    on_epoch: Callable[[TrainingState], None] | None = None,
    on_batch: Callable[[int, int, float], None] | None = None,
    stop: Callable[[], bool] | None = None,
) -> PretrainResult:
    """Train ``model`` on series of the prior; ``output`` holds its best weights after every epoch.

    processes  that draw series beside the training; their number changes no bit
    resume     go on with the training in ``output``, bit for bit; model and settings are the file's
    on_start, on_epoch, on_batch, stop  as in fit

    A finished file holds the weights alone; until then it also holds what resuming needs.
    """
    write_test(output)
    device, state = device or find_device(), None
    if resume:
        model, settings, state = _resumed(Path(output), device)
    model, settings = model or Mamba4Cast(), settings or Pretraining()
    chosen, found = settings.to_dict(), model

    def keep(now: TrainingState) -> None:
        file = to_file(found.net, now, {})
        file.training["pretraining"] = chosen
        write_model(output, file)
        if on_epoch is not None and now.stopped != "interrupted":
            on_epoch(now)

    state = model.fit(
        settings.prior,
        epochs=settings.epochs,
        samples=settings.samples,
        lr=settings.lr,
        batch=settings.batch,
        seed=settings.seed,
        device=device,
        processes=processes,
        state=state,
        on_start=on_start,
        on_epoch=keep,
        on_batch=on_batch,
        stop=stop,
    )
    if state.stopped == "interrupted":
        keep(state)
        return PretrainResult(model, state, None, None)
    score, naive = synthetic_scores(model, settings.prior, seed=settings.seed)
    training = state.document() | {"pretraining": chosen, "mase": {"model": score, "seasonal naive": naive}}
    write_model(output, model.file(training))
    return PretrainResult(model, state, score, naive)


def synthetic_scores(
    model: Mamba4Cast, prior: Prior, *, seed: int = 0, count: int = SCORED
) -> tuple[tuple[float, float], tuple[float, float]]:
    """MASE of the model and of seasonal naive on ``count`` series of the prior that training never sees.

    (median, mean) of each, over series that have a MASE. Every series has ``context`` values and ``horizon``
    to be forecast; its season is its frequency's, or 1 where two seasons do not fit into the context. The
    mean is ruled by a few series that hardly move before they are to be forecast.
    """
    drawn = draw(prior, count, model.context + model.horizon, seed + UNSEEN, first=VALIDATION)
    groups: dict[int, list[Series]] = {}
    for values, times, frequency in zip(drawn.values, drawn.times, drawn.frequencies, strict=True):
        season = frequency.season if 2 * frequency.season <= model.context else 1
        groups.setdefault(season, []).append(Series("synthetic", values.astype(np.float64), times, frequency))
    tables = [zero_shot(group, model.horizon, s, model.forecast_many) for s, group in groups.items()]
    scores = np.concatenate([table.scores for table in tables])
    scores = scores[~np.isnan(scores).any(axis=1)]
    naive, own = ((float(np.median(column)), float(column.mean())) for column in scores.T)
    return own, naive


def stored_settings(output: str | Path) -> dict[str, Any]:
    """Fields of the model and of the Pretraining in a file. SpecError when it holds another model."""
    file = read_model(output)
    settings = _settings(file, f"--resume {output}")
    return {**file.spec["builder"], **settings.to_dict()}


def _settings(file: ModelFile, where: str) -> Pretraining:
    if "pretraining" not in file.training:
        raise SpecError("is no pretraining", where=where, fix="pretrain without --resume")
    return Pretraining.from_dict(file.training["pretraining"])


def _resumed(output: Path, device: Device) -> tuple[Mamba4Cast, Pretraining, TrainingState]:
    file = read_model(output)
    where = f"--resume {output}"
    settings = _settings(file, where)
    if file.training.get("stopped") == "epochs":
        raise SpecError(
            f"has come to its end after {counted(settings.epochs, 'epoch')}",
            where=where,
            fix="pretrain without --resume",
        )
    model = Mamba4Cast.from_file(file, device, where=str(output))
    model.net, state = from_file(file, device, where=str(output))
    return model, settings, state
