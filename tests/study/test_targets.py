"""Targets: rewards, gains, weights and near-ideal positions, by hand and by trying all."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from neuronet.bars.synthetic import random_walk
from neuronet.market.actors import Fixed
from neuronet.market.records import Records
from neuronet.market.rules import Rules
from neuronet.market.simulator import simulate
from neuronet.study import targets


def test_a_change_costs_half_a_spread_and_a_commission() -> None:
    rules = Rules(spread=10, commission=3.5)
    assert targets.change_cost(rules, 1.25) == pytest.approx((0.00005 + 0.000035) / 1.25, rel=1e-12)


def test_positions_are_net_lots_and_stay_where_an_action_is_nan() -> None:
    records = Records.empty(1, 4, 100)
    records.action[0, :, 0] = [0.5, 0.0, np.nan, 2.0]
    records.action[0, :, 3] = [0.1, 0.25, 0.0, 0.0]
    records.volume[0] = [0, 40, -25, 0]
    found = targets.positions_taken(records, 0.5, 0.01)
    np.testing.assert_allclose(found, [[0.8, -0.5, -0.5, 1.0]], rtol=1e-6)  # more than all is all


def test_a_reward_is_what_equity_gained_of_the_stake() -> None:
    """A buy decided at the close of bar 1 earns close 2 - open 2 less the costs, then close to close."""
    bars = random_walk(60, seed=1)
    rules = Rules(point=1e-5, spread=10, commission=3.5)
    actions = np.full((60, 6), np.nan)
    actions[1] = [0.5, 0, 0, 0, 0, 0]
    done = simulate(bars, rules, Fixed(actions), close_at_end=False)
    assert done.records is not None
    found = targets.earned(done.records, bars, rules, lots=0.5, unit=0.01)[0]
    assert found.shape == (59,)
    assert found[0] == 0.0
    opened, close = bars.open[2], bars.close
    first = (close[2] - opened - 0.0001) * 50_000 - 0.5 * 3.5
    assert found[1] == pytest.approx(first / (50_000 * close[1]) / 0.01, abs=1e-4)
    assert found[5] == pytest.approx((close[6] - close[5]) / close[5] / 0.01, abs=1e-4)


def test_gains_are_discounted_sums() -> None:
    rewards = np.array([[1.0, 2.0, 4.0, 8.0]], np.float32)
    np.testing.assert_array_equal(targets.gains(rewards, 0.5, 2), [[2.0, 4.0, 8.0, 8.0]])
    np.testing.assert_array_equal(targets.gains(rewards, 0.9, 1), rewards)


def test_what_earned_more_is_imitated_more() -> None:
    found = targets.imitation_weights(np.array([-9.0, 1.0, 3.0, 99.0], np.float32), 1.0, 2.0)
    np.testing.assert_allclose(found, np.exp([-3.0, 0.0, 1.0, 3.0]), rtol=1e-6)


@pytest.mark.parametrize("cost", [0.0, 0.3, 1.5])
def test_the_ideal_position_is_the_best_of_all(cost: float) -> None:
    rng = np.random.default_rng(3)
    returns, horizon = rng.standard_normal(40), 4
    found = targets.ideal_positions(returns, cost, horizon)
    assert np.isnan(found[37:]).all()
    for t in range(37):
        worth = {
            p: np.dot(p, returns[t : t + horizon]) - cost * np.abs(np.diff(p, prepend=0.0, append=0.0)).sum()
            for p in product((-1.0, 0.0, 1.0), repeat=horizon)
        }
        best = max(worth.values())
        firsts = {p[0] for p, value in worth.items() if value > best - 1e-12}
        assert found[t] in firsts
    if cost == 0.0:
        np.testing.assert_array_equal(found[:37], np.sign(returns[:37]))
    else:
        assert 0 < (found[:37] == 0.0).sum() < 37


def test_hindsight_waits_where_the_articles_enter_at_once() -> None:
    """The next moves add up to a rise, but it falls first."""
    returns = np.array([-1.0, 3.0, 0.0])
    assert returns.sum() > 0.0
    assert targets.ideal_positions(returns, 0.1, 3)[0] == -1.0
    assert targets.ideal_positions(returns, 0.6, 3)[0] == 0.0


def test_hindsight_sees_no_further_than_its_horizon() -> None:
    returns = np.random.default_rng(0).standard_normal(30)
    whole, part = (targets.ideal_positions(r, 0.2, 5) for r in (returns, returns[:20]))
    np.testing.assert_array_equal(whole[:16], part[:16])
    assert np.isnan(part[16:]).all()
    assert np.isnan(targets.ideal_positions(np.append(returns[:10], np.nan), 0.2, 5)[6])
