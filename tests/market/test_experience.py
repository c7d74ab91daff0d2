"""Experience: states, rewards and returns by hand; cap, file, sampling."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from neuronet.bars.bars import Bars
from neuronet.bars.store import write_bars
from neuronet.bars.synthetic import make_bars
from neuronet.errors import DataError, FileFormatError, SpecError
from neuronet.market.actors import Fixed, RandomAgents
from neuronet.market.experience import Experience, Trajectory, trajectories_of
from neuronet.market.experience_file import read_experience, write_experience
from neuronet.market.records import STATE_BYTES, Records
from neuronet.market.rewards import discounted, idle_costs
from neuronet.market.rules import Rules, find_point
from neuronet.market.sampling import Sampler, probabilities
from neuronet.market.simulator import Simulation, simulate
from neuronet.market.state import ACCOUNT, STATE, TIME

HOUR = 3_600 * 10**9
RULES = Rules(point=0.01, contract=100.0, lot_step=0.1, min_lot=0.1)
ROWS = ("balance", "equity", "volume", "entry", "action")


def flat_bars(closes: list[float]) -> Bars:
    o = np.array([closes[0], *closes[:-1]])
    c = np.array(closes)
    time = np.datetime64("2024-01-01", "ns").astype(np.int64) + np.arange(len(c)) * HOUR
    return Bars(time, o, np.maximum(o, c), np.minimum(o, c), c, np.zeros(len(c)), "TEST", HOUR)


def one(closes: list[float], actions: list[tuple[float, ...]]) -> Trajectory:
    done = simulate(flat_bars(closes), RULES, Fixed(actions))
    return trajectories_of(done)[0]


@pytest.fixture(scope="module")
def collected() -> Simulation:
    bars = make_bars(300, seed=2)
    rules = Rules(point=find_point(bars), spread=5, commission=3.5)
    return simulate(bars, rules, RandomAgents(12, lots=0.3, seed=3), agents=12)


def test_states_by_hand() -> None:
    """Bought 2 lots at 100 in bar 1; closes 101 (+200), 99 (-200); then one short at 99, close 98 (+100)."""
    buy, sell = (2.0, 0, 0, 0, 0, 0), (0, 0, 0, 1.0, 0, 0)
    trajectory = one([100, 101, 99, 98], [buy, buy, sell, sell])
    assert list(trajectory.records.balance) == [1_000_000, 1_000_000, 1_000_000, 980_000]
    assert list(trajectory.records.equity) == [1_000_000, 1_020_000, 980_000, 990_000]
    states = trajectory.states()
    assert states.shape == (4, 16)
    assert len(ACCOUNT) + len(TIME) == len(STATE) == 16
    # balance change, equity share, equity change, lots, profits, profit less 1/10 of it for each hour held
    np.testing.assert_allclose(states[0, :8], [0, 1, 0, 0, 0, 0, 0, 0], atol=1e-7)
    np.testing.assert_allclose(states[1, :8], [0, 1.02, 0.02, 2, 0, 0.02, 0, 0.02 - 0.1 * 0.02], rtol=1e-6)
    aged = -0.02 - 0.2 * 0.02
    np.testing.assert_allclose(states[2, :8], [0, 0.98, -40 / 1_020, 2, 0, -0.02, 0, aged], rtol=1e-6)
    want = [-0.02, 0.99, 1 / 98, 0, 1, 0, 0.01, 0.01 - 0.1 * 0.01]
    np.testing.assert_allclose(states[3, :8], want, rtol=1e-6)
    np.testing.assert_allclose(
        states[3, 8:10], [np.sin(np.pi / 4), np.cos(np.pi / 4)], rtol=1e-6
    )  # 3 of 24 h


def test_h3_time_is_whole_to_the_end() -> None:
    """In float32 a time of today is 128 s coarse; two minutes apart must differ as the circle says."""
    bars = flat_bars([100.0] * 3)
    late = replace(bars, time=bars.time[0] + np.array([0, 120, 240]) * 10**9)
    done = simulate(late, RULES, Fixed(np.zeros((3, 6))))
    states = trajectories_of(done)[0].states()
    np.testing.assert_allclose(states[:, 8], np.sin(2 * np.pi * np.array([0, 120, 240]) / 86_400), atol=1e-7)


def test_h6_each_period_has_sine_and_cosine() -> None:
    """With the sine alone 03:00 and 09:00 are one state."""
    states = one([100.0] * 10, [(0.0,) * 6] * 10).states()
    assert states[3, 8] == pytest.approx(states[9, 8])
    assert abs(states[3, 9] - states[9, 9]) > 1.4


def test_h7_the_year_is_the_calendar_s() -> None:
    """A year of 365 days is three days off after twelve years; New Year is where the circle begins."""
    bars = flat_bars([100.0, 100.0])
    time = np.array(["2012-01-01", "2024-01-01"], "datetime64[ns]").astype(np.int64)
    done = simulate(replace(bars, time=time), RULES, Fixed(np.zeros((2, 6))))
    np.testing.assert_allclose(trajectories_of(done)[0].states()[:, -2:], [[0, 1], [0, 1]], atol=1e-7)


def test_rewards_by_hand() -> None:
    buy, sell = (2.0, 0, 0, 0, 0, 0), (0, 0, 0, 1.0, 0, 0)
    rewards = one([100, 101, 99, 98], [buy, buy, sell, sell]).rewards()
    np.testing.assert_allclose(rewards[:, 0], [0, 0, 0, -0.02], atol=1e-12)
    np.testing.assert_allclose(rewards[:, 1], [0, 0.02, -0.02, -0.01], atol=1e-12)
    assert np.all(rewards[:, 2] == 0.0)  # fewer bars than the range needs


def test_a_gain_is_rewarded_and_a_loss_is_not() -> None:
    """The articles' 1 - equity / balance before is positive for losses."""
    buy = (1.0, 0, 0, 0, 0, 0)
    assert one([100, 101, 102], [buy] * 3).rewards()[1:, 1].min() > 0
    assert one([100, 99, 98], [buy] * 3).rewards()[1:, 1].max() < 0


def test_h5_idleness_is_blamed_once_a_bar() -> None:
    closes = [100.0 + (i % 2) for i in range(30)]
    trajectory = one(closes, [(0.0,) * 6] * 30)
    atr = idle_costs(trajectory.bars)
    assert np.all(atr[:14] == 0)
    np.testing.assert_allclose(atr[14:], 1.0)
    np.testing.assert_allclose(trajectory.rewards()[14:, 2], -1.0 / 10_000)  # not 2, 3, 4 ... times that


def test_returns_are_discounted_sums() -> None:
    values = np.array([[1.0, 0, 2], [2.0, 1, 0], [4.0, -1, 1]])
    np.testing.assert_allclose(discounted(values, 0.5), [[3, 0.25, 2.25], [4, 0.5, 0.5], [4, -1, 1]])
    trajectory = one([100, 101, 99, 98], [(2.0, 0, 0, 0, 0, 0)] * 4)
    rewards = trajectory.rewards()
    want = rewards[1] + 0.99 * rewards[2] + 0.99**2 * rewards[3]
    np.testing.assert_allclose(trajectory.returns()[1], want)


def test_a_trajectory_ends_at_ruin() -> None:
    done = simulate(flat_bars([100, 100, 80, 79, 78]), RULES, Fixed([(100.0, 0, 0, 0, 0, 0)] * 5), cash=150.0)
    assert done.refused[0]
    lost = simulate(flat_bars([100, 100, 80, 79, 78]), RULES, Fixed([(1.0, 0, 0, 0, 0, 0)] * 5), cash=150.0)
    (trajectory,) = trajectories_of(lost)
    assert len(trajectory) == 5  # stopped out at half the margin: 50 are left
    gap = replace(flat_bars([100, 100, 80, 79, 78]), open=np.array([100, 100, 80, 80, 79.0]))
    (trajectory,) = trajectories_of(simulate(gap, RULES, Fixed([(1.0, 0, 0, 0, 0, 0)] * 5), cash=150.0))
    assert list(trajectory.records.equity) == [15_000, 15_000, -185_000]
    assert np.isfinite(trajectory.states()).all()


def test_the_cap_drops_the_worst(collected: Simulation) -> None:
    every = trajectories_of(collected)
    profits = np.array([t.profit for t in every])
    experience = Experience(cap=5)
    assert experience.add(every[:4]) == 0
    assert experience.add(every[4:]) == 7
    kept = np.sort(np.argsort(-profits, kind="stable")[:5])
    np.testing.assert_array_equal(experience.profits, profits[kept])
    assert experience.add([every[int(np.argmin(profits))]]) == 1
    np.testing.assert_array_equal(experience.profits, profits[kept])
    with pytest.raises(SpecError, match="--cap"):
        Experience(cap=0)


def test_min_profit(collected: Simulation) -> None:
    gained = (collected.records.equity[:, -1] - collected.cash) / 100  # type: ignore[union-attr]
    limit = float(np.median(gained))
    assert len(trajectories_of(collected, min_profit=limit)) == int(np.sum(gained >= limit))


def test_a_state_is_small_and_bars_are_kept_once(collected: Simulation) -> None:
    experience = Experience(trajectories_of(collected))
    assert STATE_BYTES == 48
    assert experience.nbytes == 12 * 300 * 48 + 300 * 48
    again = simulate(collected.bars, collected.rules, RandomAgents(3, lots=0.3), agents=3)
    experience.add(trajectories_of(again))
    assert len(experience.markets) == 1
    other = simulate(collected.bars[:200], collected.rules, RandomAgents(3, lots=0.3), agents=3)
    experience.add(trajectories_of(other))
    assert len(experience.markets) == 2


def test_a_file_gives_everything_back(collected: Simulation, tmp_path: Path) -> None:
    experience = Experience(trajectories_of(collected), cap=77)
    other = simulate(flat_bars([100, 101, 99]), RULES, Fixed([(1.0, 0, 0, 0, 0, 0)] * 3))
    experience.add(trajectories_of(other))
    path = tmp_path / "experience ü.h5"
    write_experience(path, experience)
    assert path.stat().st_size < experience.nbytes + 20_000
    found = read_experience(path)
    assert (len(found), found.cap, len(found.markets)) == (13, 77, 2)
    for a, b in zip(experience.trajectories, found.trajectories, strict=True):
        for name in ROWS:
            np.testing.assert_array_equal(getattr(a.records, name), getattr(b.records, name))
            assert getattr(a.records, name).dtype == getattr(b.records, name).dtype
        assert (a.first, a.records.cash, a.market.key) == (b.first, b.records.cash, b.market.key)
        np.testing.assert_array_equal(a.returns(), b.returns())
    assert found.markets[0].bars.symbol == collected.bars.symbol
    before = path.read_bytes()
    write_experience(path, found)
    assert path.read_bytes() == before
    assert len(read_experience(path, cap=4)) == 4


def test_other_files_are_refused(collected: Simulation, tmp_path: Path) -> None:
    path = tmp_path / "e.h5"
    write_experience(path, Experience(trajectories_of(collected)))
    data = bytearray(path.read_bytes())
    for at in (600, len(data) // 2, len(data) - 200):
        damaged = bytearray(data)
        damaged[at] ^= 1
        path.write_bytes(damaged)
        with pytest.raises(FileFormatError, match="do not fit the checksum"):
            read_experience(path)
    path.write_bytes(data[:-1000])
    with pytest.raises(FileFormatError, match="damaged"):
        read_experience(path)
    write_bars(path, collected.bars)
    with pytest.raises(FileFormatError, match="holds bars, not experience"):
        read_experience(path)
    path.write_text("time,open\n1,2\n", encoding="ascii")
    with pytest.raises(FileFormatError, match="is text"):
        read_experience(path)
    with pytest.raises(FileFormatError, match="no such file"):
        read_experience(tmp_path / "none.h5")
    with pytest.raises(SpecError, match="no trajectory"):
        write_experience(path, Experience())


def test_probabilities_are_the_stated_ones() -> None:
    r = np.array([-0.2, 0.0, 0.1, 0.3, 0.5])
    low, k = -0.2 - 0.05, 0.5 - np.percentile(r, 80)
    place = (r - low) / (0.5 - low)
    want = place / (place + 0.9) * np.exp(-(0.5 - r) / k)
    p = probabilities(r)
    np.testing.assert_allclose(p, want / want.sum())
    assert np.all(np.diff(p) > 0)
    np.testing.assert_allclose(probabilities([0.1, 0.1]), [0.5, 0.5])
    np.testing.assert_allclose(probabilities([0.0, 0.0, 0.0]), [1 / 3] * 3)
    for wrong in ([], [0.1, float("nan")]):
        with pytest.raises(DataError, match="cannot sample"):
            probabilities(wrong)


def test_h4_states_are_drawn_evenly_and_trajectories_by_profit(collected: Simulation) -> None:
    experience = Experience(trajectories_of(collected))
    sampler = Sampler(experience, history=20, ahead=2, seed=1)
    which, state = sampler.draw(40_000)
    np.testing.assert_allclose(
        np.bincount(which, minlength=12) / 40_000, probabilities(experience.profits), atol=0.01
    )
    assert (state.min(), state.max()) == (33 + 19, 300 - 2 - 1)
    mean, width = state.mean(), 300 - 2 - 52
    assert abs(mean - (52 + (width - 1) / 2)) < 4 * width / np.sqrt(12 * 40_000)  # not a quarter of the way
    again = Sampler(experience, history=20, ahead=2, seed=1).draw(40_000)
    np.testing.assert_array_equal(again[1], state)
    with pytest.raises(DataError, match="none of 12 trajectories"):
        Sampler(experience, history=290)


def test_h1_h2_features_are_of_the_same_finished_bar(collected: Simulation) -> None:
    """A cut after bar 200 leaves rows 33 to 200 as they are, each with a value, and none from another bar."""
    market = Experience(trajectories_of(collected)).markets[0]
    part = simulate(collected.bars[:201], collected.rules, RandomAgents(1, lots=0.3))
    short = Experience(trajectories_of(part)).markets[0].features
    np.testing.assert_array_equal(short[33:], market.features[33:201])
    assert np.isfinite(market.features[33:]).all()
    closes = market.bars.close
    np.testing.assert_array_equal(market.features[40, 0], closes[40] - market.bars.open[40])


def test_records_take_their_room_once() -> None:
    assert Records.empty(3, 7, 100).action.shape == (3, 7, 6)
    assert sum(getattr(Records.empty(3, 7, 100), name).nbytes for name in ROWS) == 3 * 7 * STATE_BYTES
