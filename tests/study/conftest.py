"""What tests of study share: planted markets, random experience, and an actor that has learned from it."""

from __future__ import annotations

import importlib.util
from dataclasses import replace
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

from neuronet.bars.bars import PRICES, Bars
from neuronet.device.numpy import NumpyDevice
from neuronet.market.collect import random_blocks
from neuronet.market.experience import Experience, trajectories_of
from neuronet.market.rules import Rules
from neuronet.market.simulator import simulate
from neuronet.study.settings import StudySettings
from neuronet.study.study import study

RULES = Rules(point=1e-5, spread=22)  # about the cost of the planted market's oracle, 0.0001 a change
KNOWN, UNSEEN, FLIPPED = 16_000, 400, 1_700  # bars: to study, to begin online, with the other sign


def _planted() -> ModuleType:
    path = Path(__file__).parents[1] / "train" / "planted.py"
    spec = importlib.util.spec_from_file_location("planted", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def rounded(bars: Bars) -> Bars:
    """Bars with five decimals, as a broker's."""
    return replace(bars, **{name: np.round(getattr(bars, name), 5) for name in PRICES})


def agents_on(bars: Bars, agents: int = 30, seed: int = 0) -> Experience:
    """What random agents live through on bars."""
    experience = Experience()
    for actor, count in random_blocks(agents, lots=0.1, seed=seed):
        experience.add(trajectories_of(simulate(bars, RULES, actor, agents=count)))
    return experience


def small(**changes: object) -> StudySettings:
    """Settings that suit the planted market and take seconds."""
    chosen = {"history": 24, "horizon": 2, "steps": 1000, "lr": 0.002, "epochs": 50, "patience": 12}
    return StudySettings.from_dict({**chosen, **changes})


def flipping_market(seed: int) -> tuple[Bars, np.ndarray]:
    """A planted market whose pattern changes its sign behind KNOWN + UNSEEN bars; and what it expects."""
    planted = _planted()
    first, expected = planted.planted_market(KNOWN + UNSEEN, seed)
    second, other = planted.planted_market(FLIPPED, seed + 50, drift=-planted.DRIFT)
    factor = first.close[-1] / second.open[0]
    prices = {name: np.concatenate([getattr(first, name), getattr(second, name) * factor]) for name in PRICES}
    n = KNOWN + UNSEEN + FLIPPED
    time = first.time[0] + first.step * np.arange(n)
    bars = Bars(time, volume=np.full(n, 100.0), symbol="PLANTED", step=first.step, **prices)
    return rounded(bars), np.concatenate([expected, other])


@pytest.fixture(scope="session")
def tools() -> SimpleNamespace:
    """The functions above, and ``planted``, the module of the planted market."""
    return SimpleNamespace(
        planted=_planted(), rounded=rounded, agents_on=agents_on, small=small, rules=RULES, known=KNOWN,
        unseen=UNSEEN,
    )  # fmt: skip


@pytest.fixture(scope="session")
def studied(tmp_path_factory: pytest.TempPathFactory) -> SimpleNamespace:
    """``model``, a file of an actor that has studied the first KNOWN bars of ``bars``; ``expected``."""
    bars, expected = flipping_market(0)
    model = tmp_path_factory.mktemp("studied") / "model.h5"
    study(agents_on(bars[:KNOWN]), model, small(), device=NumpyDevice())
    return SimpleNamespace(model=model, bars=bars, expected=expected)
