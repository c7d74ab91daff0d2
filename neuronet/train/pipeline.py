"""train: from bars to a model file, with everything in between; the library function behind the command."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from neuronet.bars.bars import Bars
from neuronet.device.base import Device
from neuronet.device.find import find_device
from neuronet.errors import SpecError
from neuronet.fitting.checkpoint import from_file, to_file
from neuronet.fitting.fit import fit
from neuronet.fitting.state import TrainingState
from neuronet.net import CNet
from neuronet.storage.hdf5 import read_model, write_model, write_test
from neuronet.train import blend
from neuronet.train.contract import Contract, fingerprint, softmax
from neuronet.train.default_net import default_net
from neuronet.train.evaluate import Evaluation, score
from neuronet.train.outputs import outputs_of, reads_bars_once
from neuronet.train.policy import follows, positions
from neuronet.train.prepare import Prepared, prepare
from neuronet.train.second_input import second_input, second_shape
from neuronet.train.settings import Settings

log = logging.getLogger(__name__)

MAY_CHANGE = ("epochs", "patience")  # settings that a resumed training may have of its own


@dataclass(frozen=True, eq=False)
class TrainResult:
    """The net with its best weights; evaluations are of the validation and test part, none if interrupted."""

    net: CNet
    state: TrainingState
    contract: Contract
    evaluations: list[Evaluation]


def train(
    bars: Bars,
    output: str | Path,
    settings: Settings | None = None,
    *,
    net: Mapping[str, Any] | None = None,
    device: Device | None = None,
    on_start: Callable[[Prepared, CNet], None] | None = None,
    on_epoch: Callable[[TrainingState], None] | None = None,
    on_batch: Callable[[int, int, float], None] | None = None,
    stop: Callable[[], bool] | None = None,
    resume: bool = False,
    force: bool = False,
) -> TrainResult:
    """Train on bars and keep the best model in ``output``, from the first epoch that is the best so far.

    net       a net's spec without input_shape: layers, and loss, optimizer, batch where they are not the
              settings'; None: default_net
    on_start  called once before the first step; on_epoch, on_batch, stop: as in fit
    resume    go on with the training in ``output``, bit for bit; other bars, net or settings than
              ``epochs`` and ``patience`` are refused unless ``force``

    Raises what prepare, fit and write_model raise; ``output`` then keeps its last good model.
    """
    write_test(output)
    settings, device = settings or Settings(), device or find_device()
    prepared = prepare(bars, settings)
    contract = Contract.of(prepared, fingerprint(bars), device.name)
    windows = max(1, len(prepared.split.train))  # a larger batch would only take memory
    model = declared_net(
        replace(settings, batch=min(settings.batch, windows)), len(prepared.features.names), net
    )
    prepared = replace(prepared, second=second_input(model, prepared.bars))
    state = None
    if resume:
        model, state, contract = _resumed(model, contract, Path(output), device, force)
    else:
        model.build(device, seed=settings.seed)
    if on_start is not None:
        on_start(prepared, model)
    keeper = _Keeper(model, prepared, contract, Path(output), on_epoch)
    split = prepared.split
    judge = prepared.source(split.validation) if len(split.validation) else None
    state = fit(
        model,
        prepared.source(split.train),
        epochs=settings.epochs,
        validation=judge,
        answers=outputs_of if judge is not None and reads_bars_once(model, judge) else None,
        patience=settings.patience,
        seed=settings.seed,
        state=state,
        on_epoch=keeper.epoch_done,
        on_batch=on_batch,
        stop=stop,
    )
    evaluations: list[Evaluation] = []
    if state.stopped != "interrupted":
        for part, starts in (("validation", split.validation), ("test", split.test)):
            if len(starts):
                outputs = outputs_of(model, prepared.source(starts))
                evaluations.append(
                    score(keeper.contract, prepared.bars, prepared.targets, starts, outputs, part=part)
                )
        scores = {one.part: one.to_dict() for one in evaluations}
        keeper.contract = replace(keeper.contract, scores=scores)
    keeper.save(state)
    return TrainResult(model, state, keeper.contract, evaluations)


def stored_settings(output: str | Path) -> dict[str, Any]:
    """The settings of the training in a model file."""
    return Contract.from_dict(read_model(output).bars, str(output)).settings.to_dict()


def declared_net(settings: Settings, n_features: int, net: Mapping[str, Any] | None) -> CNet:
    """The default net, or the net of a spec with what it leaves out taken from the settings. Not built."""
    default = default_net(settings, n_features)
    if net is None:
        return default
    spec = {**default.spec(), **net}
    if any(layer.get("given") for layer in spec["layers"]):
        raise SpecError(
            "given=true asks for scenarios with every window, which bars do not have",
            where="net",
            fix="set given = false; in Python nn.models.STCA(given=True) takes scenarios",
        )
    return CNet.from_spec(spec | {"second_shape": second_shape(spec["layers"], settings.history)})


class _Keeper:
    """Writes the output file, and finds the blend of each best epoch."""

    def __init__(
        self,
        net: CNet,
        prepared: Prepared,
        contract: Contract,
        output: Path,
        on_epoch: Callable[[TrainingState], None] | None,
    ) -> None:
        self.net, self.prepared, self.contract, self.output = net, prepared, contract, output
        self._on_epoch, self._seen = on_epoch, _stamp(output)

    def epoch_done(self, state: TrainingState) -> None:
        if state.best_epoch == state.epoch:
            self.contract = self._blended()
            self.save(state)
        if self._on_epoch is not None:
            self._on_epoch(state)

    def save(self, state: TrainingState) -> None:
        if _stamp(self.output) != self._seen:
            log.warning("%s was changed by another program since; it is replaced", self.output)
        write_model(self.output, to_file(self.net, state, self.contract.to_dict()))
        self._seen = _stamp(self.output)

    def _blended(self) -> Contract:
        """The contract with what the validation part says of the net; as it is without that part."""
        prepared, contract, starts = self.prepared, self.contract, self.prepared.split.validation
        if not len(starts):
            return contract
        settings, target = prepared.settings, prepared.target
        outputs = outputs_of(self.net, prepared.source(starts))
        truth = prepared.targets[prepared.last_bars(starts)]
        classes = prepared.classes(starts)
        if classes is not None:
            base, p = np.array(contract.reference.shares), softmax(outputs[:, : len(settings.classes)])
            contract = replace(contract, blend=blend.of_probabilities(p, base, classes, settings.horizon))
        if settings.task == "action" and target is not None:
            moves, came = outputs[:, len(settings.classes) :], target.transform(truth[:, 1:])
            return replace(contract, blend_moves=blend.of_returns(moves, came, settings.horizon))
        if settings.task == "policy":
            held, after = positions(outputs), follows(starts)
            share = blend.of_positions(held, truth[:, 0], settings.cost, after)
            return replace(contract, blend=share)
        if target is not None:
            return replace(contract, blend=blend.of_returns(outputs, target.transform(truth)))
        return contract


def _resumed(
    net: CNet, contract: Contract, output: Path, device: Device, force: bool
) -> tuple[CNet, TrainingState, Contract]:
    """The net, state and contract of a training to go on with. SpecError when it is another training."""
    file = read_model(output)
    kept = Contract.from_dict(file.bars, str(output))
    settings = contract.settings
    differences = [
        f"{name} was {old}, is {new}"
        for name, old, new in _pairs(kept.settings.to_dict(), settings.to_dict())
        if name not in MAY_CHANGE
    ]
    if kept.fingerprint != contract.fingerprint:
        differences.append("the bars are others")
    if file.spec != net.spec():
        differences.append("the net is another")
    if differences and not force:
        raise SpecError(
            f"is another training: {'; '.join(differences)}",
            where=f"--resume {output}",
            fix="train without --resume, or go on with --force",
        )
    if differences:
        log.warning("going on although %s", "; ".join(differences))
        file.spec = net.spec()
    net, state = from_file(file, device, where=str(output))
    if state.epoch >= settings.epochs or state.epochs_since_best >= settings.patience:
        why = "epochs" if state.epoch >= settings.epochs else "patience"
        raise SpecError(
            f"has come to its end after {state.epoch} epochs (best: {state.best_epoch})",
            where=f"--resume {output}",
            fix=f"give more --{why} than {getattr(settings, why)}",
        )
    return net, state, replace(contract, blend=kept.blend, blend_moves=kept.blend_moves)


def _pairs(old: dict[str, Any], new: dict[str, Any]) -> list[tuple[str, Any, Any]]:
    return [(name, old[name], new[name]) for name in new if old[name] != new[name]]


def _stamp(path: Path) -> tuple[int, int, int] | None:
    """What tells whether a file was replaced; None when there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino
