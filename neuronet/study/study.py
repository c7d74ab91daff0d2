"""study: from experience to an actor: the encoder forecasts, critic and actor learn from what agents did."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neuronet.bars.scaling import Scaler
from neuronet.bars.targets import policy_targets
from neuronet.device.base import Device
from neuronet.device.find import find_device
from neuronet.fitting.fit import fit
from neuronet.fitting.state import TrainingState
from neuronet.market.experience import Experience, Market
from neuronet.net import CNet
from neuronet.storage.hdf5 import write_test
from neuronet.study import targets
from neuronet.study.file import Studied
from neuronet.study.latents import latents_of
from neuronet.study.lived import lived, only_market
from neuronet.study.networks import Networks, split_off_head
from neuronet.study.settings import StudySettings
from neuronet.train import blend
from neuronet.train.contract import Contract, fingerprint
from neuronet.train.default_net import default_net
from neuronet.train.policy import follows, policy_scores
from neuronet.train.prepare import Prepared, prepare
from neuronet.train.second_input import second_input

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Look:
    """How an actor does on the validation part after ``step`` steps: net, gross and more of policy_scores."""

    step: int
    critic_loss: float
    scores: dict[str, Any]


def study(
    experience: Experience,
    output: str | Path,
    settings: StudySettings | None = None,
    *,
    device: Device | None = None,
    on_start: Callable[[Prepared, CNet], None] | None = None,
    on_epoch: Callable[[TrainingState], None] | None = None,
    on_batch: Callable[[int, int, float], None] | None = None,
    on_look: Callable[[Look], None] | None = None,
    stop: Callable[[], bool] | None = None,
) -> tuple[Studied, list[Look]]:
    """Learn from experience, and write the actor that earned most on the validation part to ``output``.

    on_start, on_epoch, on_batch  of the encoder's training, as in ``train``
    on_look  called with each look at the validation part
    stop     asked between steps; True ends with what has been learned

    Bars behind the training part are used to pick the best actor only. Raises DataError for experience of
    several markets, and as prepare, fit and write_model do.
    """
    write_test(output)
    settings, device = settings or StudySettings(), device or find_device()
    market = only_market(experience)
    prepared, policy = _prepared(market, settings)
    batch = min(settings.batch, len(prepared.split.train))  # a larger one would only take memory
    encoder = default_net(replace(prepared.settings, batch=batch), len(prepared.features.names))
    prepared = replace(prepared, second=second_input(encoder, prepared.bars))
    encoder.build(device, seed=settings.seed)
    if on_start is not None:
        on_start(prepared, encoder)
    split, s = prepared.split, prepared.settings
    fit(
        encoder, prepared.source(split.train), epochs=s.epochs, patience=s.patience, seed=s.seed,
        validation=prepared.source(split.validation), on_epoch=on_epoch, on_batch=on_batch, stop=stop,
    )  # fmt: skip
    networks = Networks(*split_off_head(encoder, settings), settings, device)
    latents = latents_of(networks.encoder, prepared.values, settings.history, prepared.second)
    transitions, units, sampler = lived(experience, prepared, policy, latents, settings)
    rows = prepared.last_bars(split.validation)
    judge = _Judge(latents[rows], policy.targets[rows, 0], policy.settings.cost, follows(split.validation))
    looks: list[Look] = []
    best, stopped = networks.arrays(), False
    for step in range(1, settings.steps + 1):
        which, state = sampler.draw(settings.batch)
        loss, _ = networks.learn(transitions.batch(sampler.starts[which] + state))
        stopped = stop is not None and stop()
        if step % settings.every == 0 or step == settings.steps or stopped:
            look = Look(step, loss, judge.scores(networks.positions(judge.latents)))
            if not looks or look.scores["net"] > max(one.scores["net"] for one in looks):
                best = networks.arrays()
            looks.append(look)
            if on_look is not None:
                on_look(look)
        if stopped:
            break
    networks.set_arrays(best, "study")
    share = blend.of_positions(networks.positions(judge.latents), judge.returns, judge.cost, judge.after)
    if not share:
        log.warning("the validation part shows nothing learned: the model stays flat")
    contract = Contract.of(policy, fingerprint(market.bars), device.name)
    # The encoder's targets reach further than those of a policy, and picked its best epoch.
    contract = replace(contract, blend=share, test_begins=Contract.of(prepared, "", "").test_begins)
    progress = {"looks": [{"step": one.step, **one.scores} for one in looks], "stopped": stopped}
    found = Studied(networks, contract, units, progress, {})
    found.write(output)
    return found, looks


def _prepared(market: Market, settings: StudySettings) -> tuple[Prepared, Prepared]:
    """The market's bars for the encoder's task and, in the same parts and scales, for the task policy."""
    prepared = prepare(market.bars, settings.encoder())
    bars = prepared.bars
    cost = targets.change_cost(market.rules, float(bars.close.mean()))
    moves = policy_targets(bars)
    train = prepared.last_bars(prepared.split.train)
    scale = np.array([float(np.sqrt(np.mean(moves[train] ** 2)))])
    scaler = Scaler(("open+2",), np.zeros(1), scale)
    own = replace(prepared.settings, task="policy", cost=cost)
    return prepared, replace(prepared, settings=own, targets=moves, target=scaler)


@dataclass(frozen=True, eq=False)
class _Judge:
    """The validation part."""

    latents: NDArray[Any]
    returns: NDArray[np.float64]
    cost: float
    after: NDArray[np.bool_]

    def scores(self, positions: NDArray[np.float64]) -> dict[str, Any]:
        return policy_scores(positions, self.returns, self.cost, self.after)
