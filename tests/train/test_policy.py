"""The task policy: scores by hand, a market with a pattern, and one without."""

from __future__ import annotations

import importlib.util
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from neuronet.bars.bars import Bars
from neuronet.bars.synthetic import random_walk
from neuronet.bars.targets import policy_targets
from neuronet.device.base import Device
from neuronet.device.numpy import NumpyDevice
from neuronet.errors import DataError, SpecError
from neuronet.train import blend
from neuronet.train.pipeline import TrainResult, train
from neuronet.train.policy import follows, loss_rows, policy_scores, positions
from neuronet.train.predict import predict
from neuronet.train.report import report
from neuronet.train.settings import Settings


def _planted() -> ModuleType:
    spec = importlib.util.spec_from_file_location("planted", Path(__file__).with_name("planted.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


PLANTED = _planted()


def test_a_target_is_the_return_from_the_next_open_to_the_one_after(bars: Bars) -> None:
    targets = policy_targets(bars)
    assert targets.shape == (900, 1)
    assert targets[10, 0] == pytest.approx(np.log(bars.open[12] / bars.open[11]))
    assert np.isnan(targets[-2:]).all()
    assert np.isfinite(targets[:-2]).all()
    with pytest.raises(DataError, match="open at 1"):
        policy_targets(replace(bars, open=np.ones(900), low=np.full(900, 0.5), high=np.full(900, 2.0)))


def test_scores_by_hand() -> None:
    """In at 1, out at the gap, in short at 0.5, turned to 1, out: turnover 1 + 1 + 0.5 + 1.5 + 1."""
    p, returns = np.array([1.0, -0.5, 1.0]), np.array([0.02, 0.01, -0.03])
    after = np.array([False, False, True])
    scores = policy_scores(p, returns, 0.001, after)
    net = np.array([0.02 - 0.002, -0.005 - 0.0005, -0.03 - 0.0015 - 0.001])
    assert scores["gross"] == pytest.approx(0.02 - 0.005 - 0.03)
    assert scores["turnover"] == pytest.approx(5.0)
    assert scores["costs"] == pytest.approx(0.005)
    assert scores["net"] == pytest.approx(net.sum())
    assert scores["exposure"] == pytest.approx(2.5 / 3)
    assert scores["t"] == pytest.approx(net.mean() / net.std(ddof=1) * np.sqrt(3))
    assert policy_scores(0 * p, returns, 0.001, after)["t"] is None


def test_rows_of_the_loss() -> None:
    after = follows(np.array([3, 4, 6, 7]))
    np.testing.assert_array_equal(after, [False, True, False, True])
    rows = loss_rows(np.arange(10.0)[:, None], 0.5, np.array([5, 6, 8, 9]), after)
    np.testing.assert_array_equal(rows[:, 0], np.arange(10.0))
    np.testing.assert_array_equal(rows[:, 1], 0.5)
    np.testing.assert_array_equal(np.flatnonzero(rows[:, 2]), [6, 9])
    np.testing.assert_allclose(positions(np.array([[0.0], [1.0]], np.float32)), [0.0, np.tanh(1.0)])


def test_blend_is_all_or_nothing() -> None:
    rng = np.random.default_rng(0)
    returns = rng.standard_normal(400)
    after = np.arange(400) > 0
    assert blend.of_positions(np.sign(returns), returns, 0.01, after) == 1.0
    assert blend.of_positions(np.sign(returns), returns, 1.0, after) == 0.0  # costs eat the gains
    assert blend.of_positions(np.sign(rng.standard_normal(400)), returns, 0.1, after) == 0.0


def _train(bars: Bars, path: Path, **changes: object) -> TrainResult:
    settings = Settings.from_dict(
        {"task": "policy", "history": 24, "epochs": 60, "patience": 20, "lr": 0.003, "l2": 0.1, **changes}
    )
    return train(bars, path, settings, device=NumpyDevice())


@pytest.mark.parametrize("seed", [0, 1])
def test_it_finds_a_planted_pattern(seed: int, tmp_path: Path) -> None:
    """On bars that it never saw at least 70 % of what the oracle earns after costs."""
    bars, expected = PLANTED.planted_market(20_000, seed)
    result = _train(bars, tmp_path / "m.h5", cost=PLANTED.COST)
    test = result.evaluations[1]
    last = np.arange(len(bars) - 2 - test.windows, len(bars) - 2)
    oracle = PLANTED.oracle_net(expected[last], policy_targets(bars)[last, 0], PLANTED.COST)
    assert oracle > 0.3
    assert test.scores["model"]["net"] > 0.7 * oracle
    assert "net" in report(result.evaluations)[3]


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_random_walk_earns_nothing(seed: int, tmp_path: Path) -> None:
    """Gains before costs are not distinguishable from 0: the net result is not from minus the costs."""
    scores = _train(random_walk(4000, seed=seed), tmp_path / "m.h5", epochs=5).evaluations[1].scores
    model = scores["model"]
    spread = abs(scores["buy and hold"]["net"] / (scores["buy and hold"]["t"] or 1.0)) * model["exposure"]
    assert abs(model["gross"]) <= 2.6 * spread
    assert model["net"] == pytest.approx(model["gross"] - model["costs"])


def test_a_position_uses_no_later_bar(device: Device, tmp_path: Path) -> None:
    bars, _ = PLANTED.planted_market(3000, 0)
    _train(bars, tmp_path / "m.h5", epochs=3)
    whole = predict(tmp_path / "m.h5", bars, device=device).columns["position"]
    part = predict(tmp_path / "m.h5", bars[:2000], device=device).columns["position"]
    np.testing.assert_array_equal(whole[: len(part)], part)
    assert np.abs(whole).max() <= 1.0


def test_a_bad_cost_is_refused() -> None:
    with pytest.raises(SpecError, match="--cost: cost cannot be -1"):
        Settings(cost=-1.0)
