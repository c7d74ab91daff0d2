"""Lived: what the training part of experience holds for actor and critic, and a sampler of its states."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neuronet.bars.scaling import Scaler
from neuronet.errors import DataError
from neuronet.market.experience import Experience, Market, Trajectory
from neuronet.market.records import Records
from neuronet.market.sampling import Sampler
from neuronet.market.state import ACCOUNT, STATE, account_vectors, time_vectors
from neuronet.study import targets
from neuronet.study.file import Units
from neuronet.study.settings import StudySettings
from neuronet.study.transitions import Transitions
from neuronet.train.prepare import Prepared

log = logging.getLogger(__name__)

Array = NDArray[Any]


class Drawn(Sampler):
    """A sampler that knows where each trajectory's states start among all."""

    def __init__(self, experience: Experience, **settings: Any) -> None:
        super().__init__(experience, **settings)
        sizes = [len(one) for one in experience.trajectories]
        self.starts = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)


def only_market(experience: Experience) -> Market:
    """The market that all trajectories share. DataError when there are several, or none."""
    markets = experience.markets
    if len(markets) != 1:
        raise DataError(
            f"is of {len(markets)} markets; study takes one: the same bars under the same rules",
            where="experience",
            fix="collect into a new file, with the same options each time",
        )
    return markets[0]


def lived(
    experience: Experience, prepared: Prepared, policy: Prepared, latents: Array, settings: StudySettings
) -> tuple[Transitions, Units, Drawn]:
    """The training part's transitions, the units found on it, and a sampler of its states.

    prepared, policy  the market's bars for the encoder's task and for the task policy; latents [bars, ...]

    No state is so late that hindsight would look behind the training part. Raises DataError when nobody
    traded there.
    """
    assert policy.target is not None
    assert prepared.target is not None
    market = only_market(experience)
    skipped = len(market.bars) - len(prepared.bars)
    used = int(prepared.last_bars(prepared.split.train)[-1]) + 1
    end = skipped + used - settings.horizon
    parts, ruined = [], []
    for one in experience.trajectories:
        if one.first < end:
            parts.append(first_bars(one, end))
            ruined.append(len(parts[-1]) == len(one) < len(market.bars) - one.first)
    lots = max((float(np.nan_to_num(one.records.action[:, [0, 3]]).max()) for one in parts), default=0.0)
    if not lots:
        raise DataError("nobody traded in the training part", where="experience", fix="collect other agents")
    _warn_of_refusals(parts, lots)
    unit = float(policy.target.scale[0])
    pieces = [
        _columns(one, ends, skipped, lots, unit, settings) for one, ends in zip(parts, ruined, strict=True)
    ]
    columns = {name: np.concatenate([piece[name] for piece in pieces]) for name in pieces[0]}
    gain, times = columns.pop("gain"), time_vectors(prepared.bars)
    of_account = Scaler.fit(columns["account"], ACCOUNT)
    of_time = Scaler.fit(times[:used], STATE[len(ACCOUNT) :])
    pairs = ((of_account.mean, of_time.mean), (of_account.scale, of_time.scale))
    state = Scaler(STATE, *map(np.concatenate, pairs))
    units = Units(state, prepared.target, unit, (float(gain.mean()), float(gain.std())), lots)
    columns["account"] = of_account.transform(columns["account"]).astype(np.float32)
    found = Transitions(
        latents=latents,
        times=of_time.transform(times).astype(np.float32),
        ideal=targets.ideal_positions(policy.targets[:used, 0], policy.settings.cost, settings.horizon),
        weight=targets.imitation_weights(gain, *units.gain),
        following=np.arange(1, len(gain) + 1),
        **columns,
    )
    sampler = Drawn(
        Experience(parts, cap=len(parts)),
        history=settings.history,
        ahead=1,
        warmup=skipped,
        seed=settings.seed,
    )
    return found, units, sampler


def _warn_of_refusals(parts: list[Trajectory], lots: float) -> None:
    """Warn when most orders led to no position: the critic then learns that nothing matters."""
    wanted = carried = 0
    for one in parts:
        asked = targets.positions_taken(one.records, lots, one.market.rules.lot_step)[:-1] != 0.0
        wanted += int(asked.sum())
        carried += int((asked & (one.records.volume[1:] != 0)).sum())
    if carried < 0.5 * wanted:
        log.warning(
            "only %.0f %% of the bars with an order have a position after it: agents without margin teach "
            "little; collect with fewer --lots",
            100.0 * carried / wanted,
        )


def first_bars(one: Trajectory, end: int) -> Trajectory:
    """A trajectory up to bar ``end`` of its market, which is behind its first."""
    names = ("balance", "equity", "volume", "entry", "action")
    kept = {name: getattr(one.records, name)[: end - one.first] for name in names}
    return Trajectory(one.market, one.first, Records(one.records.cash, **kept))


def _columns(
    one: Trajectory, ruined: bool, skipped: int, lots: float, unit: float, settings: StudySettings
) -> dict[str, Array]:
    """Columns of a trajectory; its last state has no reward and is never drawn."""
    records, bars, rules = one.records, one.bars, one.market.rules
    reward = targets.earned(records, bars, rules, lots=lots, unit=unit)
    reward = np.append(reward, np.float32(0.0))
    ends = np.zeros(len(one), bool)
    ends[-2:] = ruined
    return {
        "bar": one.first - skipped + np.arange(len(one)),
        "account": account_vectors(records, bars, rules, one.first).astype(np.float32),
        "action": targets.positions_taken(records, lots, rules.lot_step),
        "reward": reward,
        "gain": targets.gains(reward, settings.discount, settings.horizon),
        "ends": ends,
    }
