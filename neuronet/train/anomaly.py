"""train_anomaly: from channels to a model file that finds anomalies; what the command calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from neuronet.anomaly.threshold import RATE, Threshold
from neuronet.bars.bars import counted
from neuronet.device.base import Device
from neuronet.device.find import find_device
from neuronet.errors import DataError, SpecError, TooFewError
from neuronet.fitting.checkpoint import from_file, to_file
from neuronet.fitting.state import TrainingState
from neuronet.models.catch import Catch, Floats
from neuronet.net import CNet
from neuronet.series.channels import Channels
from neuronet.storage.hdf5 import read_model, write_model, write_test
from neuronet.storage.model import ModelFile
from neuronet.train.alarms import NoThresholdError, threshold_of
from neuronet.train.channels_contract import KEY, ChannelsContract, ChannelSettings, test_rows

RATES = (0.01, RATE)  # of the thresholds in the report


@dataclass(frozen=True)
class Part:
    """Scores of a part that the training did not learn from: how many are above a threshold, and where."""

    name: str
    rows: int
    median: float
    largest: float
    above: tuple[float | None, ...]  # share of rows above the threshold of each of RATES


@dataclass(frozen=True)
class AnomalyResult:
    """The model with its best weights. thresholds, one for each of RATES (None with its reason in ``why``),
    and parts are empty if the training was interrupted.
    """

    model: Catch
    state: TrainingState
    contract: ChannelsContract
    thresholds: tuple[Threshold | None, ...] = ()
    why: str = ""
    parts: tuple[Part, ...] = ()


def train_anomaly(
    channels: Channels,
    output: str | Path,
    settings: ChannelSettings | None = None,
    *,
    reading: Mapping[str, Any] | None = None,
    device: Device | None = None,
    resume: bool = False,
    on_start: Callable[[CNet], None] | None = None,
    on_epoch: Callable[[TrainingState], None] | None = None,
    on_batch: Callable[[int, int, float], None] | None = None,
    stop: Callable[[], bool] | None = None,
) -> AnomalyResult:
    """Train ``Catch`` on the rows before the test part; ``output`` holds the best weights after every epoch.

    channels  as read with the settings' changes and missing, and with the options ``reading`` for bars
    resume    go on with the training in ``output``, bit for bit; settings are the file's, and the rows of
              training have to be the same
    on_start, on_epoch, on_batch, stop  as in fit

    A finished file holds what scores need; until then it also holds what resuming needs, and no scores can
    be had of it. Raises what Catch.fit and write_model raise.
    """
    write_test(output)
    device, state = device or find_device(), None
    settings = stored_settings(output) if resume else (settings or ChannelSettings()).resolved(channels)
    assert settings.epochs is not None and settings.lr is not None  # noqa: PT018  # resolved
    tested = test_rows(channels, settings)
    train = channels[: len(channels) - tested]
    contract = ChannelsContract.of(train, settings, device.name, reading or {})
    model = settings.model()
    if resume:
        model, state = _resumed(Path(output), contract, device)

    def keep(now: TrainingState) -> None:
        write_model(output, to_file(model.net, now, contract.to_dict()))
        if on_epoch is not None and now.stopped != "interrupted":
            on_epoch(now)

    try:
        state = model.fit(
            train.values,
            epochs=settings.epochs,
            stride=settings.stride,
            lr=settings.lr,
            batch=settings.batch,
            seed=settings.seed,
            device=device,
            state=state,
            on_start=on_start,
            on_epoch=keep,
            on_batch=on_batch,
            stop=stop,
        )
    except TooFewError as error:
        least = f"give {3 * model.context:,} rows or more before the test part, or a shorter --history"
        raise DataError(error.what, where="--history", fix=least) from None
    if state.stopped == "interrupted":
        keep(state)
        return AnomalyResult(model, state, contract)
    file = model.file(state.document())
    file.bars = contract.to_dict()
    write_model(output, file)
    thresholds, why = _thresholds(model, str(output))
    parts = [_part("held back", model.normal, thresholds)]
    if tested >= model.context:
        parts.append(_part("test", model.score(channels.values[-tested:]), thresholds))
    return AnomalyResult(model, state, contract, thresholds, why, tuple(parts))


def is_anomaly_file(path: str | Path) -> bool:
    """Whether a model file is one of ``train_anomaly``, finished or not."""
    return KEY in read_model(path).bars


def stored_settings(output: str | Path) -> ChannelSettings:
    """The settings of the training in a model file. SpecError when it is another kind of training."""
    return ChannelsContract.from_dict(_trained(Path(output)).bars, str(output)).settings


def _trained(output: Path) -> ModelFile:
    file = read_model(output)
    if KEY not in file.bars:
        what = "is no training of --model catch"
        raise SpecError(what, where=f"--resume {output}", fix="leave out --model catch, or --resume")
    return file


def _resumed(output: Path, now: ChannelsContract, device: Device) -> tuple[Catch, TrainingState]:
    file, where = _trained(output), f"--resume {output}"
    kept = ChannelsContract.from_dict(file.bars, str(output))
    if file.training.get("stopped") == "epochs":
        what = f"has come to its end after {counted(kept.settings.epochs or 0, 'epoch')}"
        raise SpecError(what, where=where, fix="train without --resume")
    if kept.fingerprint != now.fingerprint:
        what = f"is another training: it has {kept.rows} other rows of {', '.join(kept.names)}"
        raise SpecError(what, where=where, fix="give the same files, or train without --resume")
    model = Catch(**{k: v for k, v in file.spec["builder"].items() if k != "class"})
    model.net, state = from_file(file, device, where=str(output))
    return model, state


def _thresholds(model: Catch, where: str) -> tuple[tuple[Threshold | None, ...], str]:
    found: list[Threshold | None] = []
    why = ""
    for rate in RATES:
        try:
            found.append(threshold_of(model, rate, "pot", where=where))
        except NoThresholdError as error:
            found.append(None)
            why = str(error)
    return tuple(found), why


def _part(name: str, scores: Floats, thresholds: tuple[Threshold | None, ...]) -> Part:
    above = tuple(None if t is None else float(np.mean(t.above(scores))) for t in thresholds)
    return Part(name, len(scores), float(np.median(scores)), float(scores.max()), above)
