"""Study: on a planted market most of the oracle's profit, on a random walk none; nothing sees the future."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from neuronet.bars.bars import Bars
from neuronet.bars.synthetic import random_walk
from neuronet.bars.targets import policy_targets
from neuronet.device.numpy import NumpyDevice
from neuronet.errors import DataError, FileFormatError
from neuronet.market.experience import Experience, Market, Trajectory, trajectories_of
from neuronet.market.records import Records
from neuronet.market.simulator import simulate
from neuronet.storage.hdf5 import read_model, write_model
from neuronet.study.file import Studied
from neuronet.study.lived import lived
from neuronet.study.study import _prepared, study
from neuronet.train.collect import model_actions
from neuronet.train.policy import policy_scores
from neuronet.train.predict import predict

DEVICE = NumpyDevice()


def earned(model: Path, bars: Bars, begin: int, end: int, cost: float) -> dict[str, Any]:
    """Scores of the positions that a model says for the decisions at bars begin to end."""
    found = predict(model, bars, device=DEVICE)
    at = np.searchsorted(found.time, bars.time[begin:end])
    returns = policy_targets(bars)[begin:end, 0]
    return policy_scores(found.columns["position"][at], returns, cost, np.arange(end - begin) > 0)


def test_it_earns_most_of_the_oracle_s_profit_on_unseen_bars(
    studied: SimpleNamespace, tools: SimpleNamespace
) -> None:
    """Random experience of a market with a pattern: at least 60 % of what the oracle earns after costs."""
    bars, expected = tools.planted.planted_market(
        20_000, 0
    )  # the market that was studied, and how it goes on
    bars, known, cost = tools.rounded(bars), tools.known, tools.planted.COST
    np.testing.assert_array_equal(bars.close[:known], studied.bars.close[:known])
    scores = earned(studied.model, bars, known, 19_998, cost)
    part = slice(known, 19_998)
    oracle = tools.planted.oracle_net(expected[part], policy_targets(bars)[part, 0], cost)
    assert oracle > 0.4
    assert scores["net"] >= 0.6 * oracle
    flipped = slice(tools.known + tools.unseen, len(studied.bars) - 2)  # where the pattern's sign has changed
    assert earned(studied.model, studied.bars, flipped.start, flipped.stop, cost)["gross"] < 0.0


def test_a_random_walk_teaches_nothing(tools: SimpleNamespace, tmp_path: Path) -> None:
    """The gains on unseen bars are noise, whether or not the validation part lets the actor trade."""
    bars, known = tools.rounded(random_walk(6_000, seed=1)), 4_000
    settings = tools.small(steps=400, epochs=5)
    found, _ = study(tools.agents_on(bars[:known], 10), tmp_path / "m.h5", settings, device=DEVICE)
    file = read_model(tmp_path / "m.h5")
    write_model(tmp_path / "m.h5", replace(file, bars={**file.bars, "blend": 1.0}))
    scores = earned(tmp_path / "m.h5", bars, known, 5_998, 0.0)
    assert scores["exposure"] > 0.001
    assert abs(scores["t"]) < 2.6
    assert found.contract.blend in (0.0, 1.0)
    assert found.contract.test_begins == bars.time[known - 1] + 1  # behind all bars of the experience


def test_the_same_seed_gives_the_same_file_and_the_cut_changes_nothing(
    tools: SimpleNamespace, tmp_path: Path
) -> None:
    bars = tools.rounded(random_walk(1_500, seed=2))
    settings = tools.small(steps=20, every=10, epochs=2)
    for name in ("a.h5", "b.h5"):
        study(tools.agents_on(bars[:1_000], 5), tmp_path / name, settings, device=DEVICE)
    assert (tmp_path / "a.h5").read_bytes() == (tmp_path / "b.h5").read_bytes()
    whole, part = (
        model_actions(tmp_path / "a.h5", b, tools.rules, lots=1.0, device=DEVICE)
        for b in (bars, bars[:1_200])
    )
    np.testing.assert_array_equal(whole[:1_200], part)
    study(tools.agents_on(bars[:1_000], 5), tmp_path / "b.h5", replace(settings, seed=1), device=DEVICE)
    assert (tmp_path / "a.h5").read_bytes() != (tmp_path / "b.h5").read_bytes()


@pytest.mark.parametrize("model", ["dfft", "mamba4cast", "stca"])
def test_other_encoders(model: str, tools: SimpleNamespace, tmp_path: Path) -> None:
    bars = tools.rounded(random_walk(160, seed=3))
    features = ["returns", "neuronet9"]
    settings = tools.small(model=model, features=features, history=8, steps=4, every=2, epochs=1)
    found, looks = study(tools.agents_on(bars, 3), tmp_path / "m.h5", settings, device=DEVICE)
    assert [one.step for one in looks] == [2, 4]
    again = Studied.read(tmp_path / "m.h5", DEVICE)
    for name, array in found.networks.arrays().items():
        np.testing.assert_array_equal(again.networks.arrays()[name], array)
    said = predict(tmp_path / "m.h5", bars, device=DEVICE).columns["position"]
    assert np.isfinite(said).all()


def test_the_file_s_net_is_encoder_and_actor(tools: SimpleNamespace, studied: SimpleNamespace) -> None:
    """What 'predict' says with the joined net is what the nets say one after the other."""
    found = Studied.read(studied.model, DEVICE)
    assert found.contract.blend == 1.0
    bars = studied.bars[:3_000]
    said = predict(studied.model, bars, device=DEVICE).columns["position"]
    from neuronet.study.latents import latents_of
    from neuronet.train.prepare import known_rows

    _, values = known_rows(bars, found.contract.settings, found.contract.features)
    latents = latents_of(found.networks.encoder, values, 24, None)
    assert np.isnan(latents[:23]).all()
    np.testing.assert_allclose(found.networks.positions(latents[23:]), said, atol=1e-6)


def test_nothing_behind_the_training_part_is_learned_from(tools: SimpleNamespace) -> None:
    """Other bars behind it, and other accounts, give the same transitions, weights and ideals."""
    bars = tools.rounded(random_walk(1_200, seed=4))
    settings = tools.small(horizon=5)
    experience = tools.agents_on(bars, 4)
    split = _prepared(experience.markets[0], settings)[0]
    skipped = len(bars) - len(split.bars)
    end = skipped + int(split.split.validation[0])
    noise = 1.0 + 0.01 * np.random.default_rng(0).random(1_200)
    noise[:end] = 1.0
    prices = {name: np.round(getattr(bars, name) * noise, 5) for name in ("open", "high", "low", "close")}
    parts = []
    for own in (bars, replace(bars, **prices)):
        one = tools.agents_on(own, 4)
        prepared, policy = _prepared(one.markets[0], settings)
        policy = replace(policy, settings=replace(policy.settings, cost=1e-4))
        latents = np.zeros((len(prepared.bars), 3), np.float32)
        found, units, sampler = lived(one, prepared, policy, latents, settings)
        rows = sampler.starts[0] + np.arange(sampler.begin[0], sampler.begin[0] + sampler.count[0])
        parts.append((found.batch(rows), units, rows, found.bar[rows]))
    (first, units, rows, last), (second, others, other_rows, _) = parts
    assert last.max() + settings.horizon + 1 < split.split.train[-1] + settings.history + settings.horizon
    np.testing.assert_array_equal(rows, other_rows)
    for name in ("state", "action", "reward", "next_state", "weight", "ideal"):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name), err_msg=name)
        assert np.isfinite(getattr(first, name)).all(), name
    assert units.to_dict() == others.to_dict()


def test_a_ruined_agent_s_last_transition_ends(tools: SimpleNamespace) -> None:
    bars = tools.rounded(random_walk(900, seed=5))
    whole = tools.agents_on(bars, 2).trajectories
    names = ("balance", "equity", "volume", "entry", "action")
    cut = {name: getattr(whole[0].records, name)[:300] for name in names}
    ruined = Trajectory(whole[0].market, 0, Records(whole[0].records.cash, **cut))
    experience = Experience([ruined, whole[1]])
    prepared, policy = _prepared(experience.markets[0], tools.small())
    latents = np.zeros((len(prepared.bars), 2), np.float32)
    found, _, sampler = lived(experience, prepared, policy, latents, tools.small())
    drawn = [sampler.draw(200) for _ in range(50)]
    rows = np.unique(np.concatenate([sampler.starts[which] + state for which, state in drawn]))
    assert found.ends[298]
    assert 298 in rows
    assert 299 not in rows
    assert found.ends[rows].sum() == 1


def test_what_cannot_be_studied(
    tools: SimpleNamespace, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    bars = tools.rounded(random_walk(900, seed=6))
    settings = tools.small(steps=2, epochs=1)
    one = tools.agents_on(bars, 2)
    other = Market(bars, replace(tools.rules, spread=5))
    two = Experience([*one.trajectories, *(replace(t, market=other) for t in one.trajectories)])
    with pytest.raises(DataError, match="is of 2 markets"):
        study(two, tmp_path / "m.h5", settings, device=DEVICE)
    idle = trajectories_of(simulate(bars, tools.rules, lambda t, a: np.zeros((2, 6), np.float32), agents=2))
    with pytest.raises(DataError, match="nobody traded in the training part"):
        study(Experience(idle), tmp_path / "m.h5", settings, device=DEVICE)
    assert not (tmp_path / "m.h5").exists()
    buy = np.zeros((2, 6), np.float32)
    buy[:, 0] = 50.0  # beyond the margin
    poor = trajectories_of(simulate(bars, tools.rules, lambda t, a: buy, agents=2))
    study(Experience(poor), tmp_path / "m.h5", settings, device=DEVICE)
    assert "only 0 % of the bars with an order have a position after it" in caplog.text
    net = read_model(tmp_path / "m.h5")
    write_model(tmp_path / "other.h5", replace(net, training={}))
    with pytest.raises(FileFormatError, match="holds no actor that learns"):
        Studied.read(tmp_path / "other.h5", DEVICE)


def test_it_stops_and_saves(tools: SimpleNamespace, tmp_path: Path) -> None:
    bars = tools.rounded(random_walk(900, seed=7))
    asked = iter([False] * 8)
    found, looks = study(
        tools.agents_on(bars, 2), tmp_path / "m.h5", tools.small(epochs=1), device=DEVICE,
        stop=lambda: next(asked, True),
    )  # fmt: skip
    assert found.progress["stopped"]
    assert len(looks) == 1
    assert looks[0].step < 10
    assert Studied.read(tmp_path / "m.h5", DEVICE).progress == found.progress
