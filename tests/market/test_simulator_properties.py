"""Properties of simulations: money is conserved, nothing sees the future, and a second program agrees."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from neuronet.bars.bars import Bars
from neuronet.market.actors import Fixed, RandomAgents
from neuronet.market.ledger import AT_CLOSE
from neuronet.market.rules import Rules
from neuronet.market.simulator import Simulation, simulate
from neuronet.market.trades import EXITS

HOUR = 3_600 * 10**9
FRIDAY = int(np.datetime64("2024-01-05T12:00", "ns").astype(np.int64))


def random_bars(random: np.random.Generator, bars: int) -> Bars:
    """A rough walk from 100 with gaps at opens, an hour apart or over a night or weekend."""
    hours = np.cumsum(random.choice([1, 1, 1, 1, 8, 50], bars))
    steps = np.round(random.normal(0, [0.3, 0.6], (bars, 2)), 2)
    path = np.maximum(60, 100 + np.cumsum(steps.ravel()).reshape(bars, 2))
    o, c = np.round(path.T, 2)
    reach = np.round(np.abs(random.normal(0, 0.4, (2, bars))), 2)
    high, low = np.maximum(o, c) + reach[0], np.minimum(o, c) - reach[1]
    return Bars(FRIDAY + hours * HOUR, o, high, low, c, np.zeros(bars), "TEST", HOUR)


def random_rules(random: np.random.Generator) -> Rules:
    return Rules(
        point=0.01,
        contract=float(random.choice([100, 50, 33])),
        lot_step=float(random.choice([0.1, 0.01])),
        min_lot=0.1,
        spread=int(random.integers(0, 12)),
        commission=float(random.choice([0, 3.5, 1.234])),
        swap_long=float(random.choice([0, -7.25, 3.1])),
        swap_short=float(random.choice([0, -2.5, 4.4])),
        leverage=float(random.choice([1, 20, 100])),
        stop_out=int(random.choice([0, 20, 50, 100])),
        margin_call=int(random.choice([100, 120])),
        stops_level=int(random.choice([0, 5])),
        stops_required=bool(random.integers(2)),
        max_tp=150,
        max_sl=150,
        quote_value=float(random.choice([1, 0.9137])),
    )


def random_actions(random: np.random.Generator, bars: int, agents: int) -> np.ndarray:
    """Mostly one side with stops, sometimes both sides, sometimes NaN or flat."""
    actions = random.random((bars, agents, 6)).astype(np.float32)
    actions[..., [0, 3]] *= 4.0
    kind = random.integers(0, 8, (bars, agents))
    actions[kind < 3, :3] = 0.0
    actions[(kind >= 3) & (kind < 6), 3:] = 0.0
    actions[kind == 6] = np.nan
    actions[(kind == 7) & (random.random((bars, agents)) < 0.7)] = 0.0
    actions[..., [1, 2, 4, 5]] *= random.random((bars, agents, 4)) > 0.25
    return actions


def run(seed: int, bars: int = 40, agents: int = 500, **changes: Any) -> Simulation:
    random = np.random.Generator(np.random.PCG64(seed))
    given, rules = random_bars(random, bars), random_rules(random)
    cash = float(random.choice([100, 400, 10_000]))
    return simulate(
        given, rules, Fixed(random_actions(random, bars, agents)), agents=agents, cash=cash, **changes
    )


def test_money_is_conserved_in_10_000_runs() -> None:
    """20 markets and rules, 500 agents each: balance = start + gross - commission + swap, in whole cents."""
    seen = np.zeros(len(EXITS), np.int64)
    for seed in range(20):
        done = run(seed)
        t = done.trades
        sums = np.zeros(500, np.int64)
        np.add.at(sums, t.agent, t.gross - t.commission + t.swap)
        np.testing.assert_array_equal(done.balance, done.cash + sums)
        np.testing.assert_array_equal(done.equity, done.balance)  # nothing is held at the end
        np.testing.assert_array_equal(t.bought, t.sold)
        exact = done.rules.step_point  # what the fills' quotes make, against what was booked part by part
        value = (t.sold_value - t.bought_value).astype(object) * exact.numerator
        off = np.abs(value - t.gross.astype(object) * exact.denominator)
        parts = t.exit - t.entry + 1
        assert np.all(off <= (parts + 1) * max(exact.denominator, exact.numerator))
        assert np.all(t.most >= done.rules.min_steps)
        assert done.records is not None
        flat = done.records.volume == 0
        assert np.all((done.records.equity == done.records.balance)[flat])
        assert np.all((done.records.entry == -1) == flat)
        seen += np.bincount(t.reason, minlength=len(EXITS))
    reasons = {name: int(count) for name, count in zip(EXITS, seen, strict=True) if count}
    assert set(reasons) == {"decision", "end", "take profit", "stop loss", "stop out"}
    assert min(reasons.values()) > 100


@pytest.mark.parametrize("seed", range(5))
def test_cutting_the_bars_changes_no_earlier_state(seed: int) -> None:
    random = np.random.Generator(np.random.PCG64(seed))
    bars, rules = random_bars(random, 60), random_rules(random)
    whole = simulate(bars, rules, RandomAgents(50, lots=2, seed=seed), agents=50)
    for end in (1, 2, 17, 59):
        part = simulate(bars[:end], rules, RandomAgents(50, lots=2, seed=seed), agents=50)
        assert part.records is not None
        assert whole.records is not None
        for name in ("balance", "equity", "volume", "entry", "action"):
            np.testing.assert_array_equal(getattr(part.records, name), getattr(whole.records, name)[:, :end])
        early, all_early = part.trades.moment < AT_CLOSE, whole.trades.exit < end
        for name in ("agent", "entry", "exit", "reason", "gross", "commission", "swap"):
            kept = getattr(whole.trades, name)[all_early]
            np.testing.assert_array_equal(getattr(part.trades, name)[early], kept)


def test_recorded_actions_replay_to_the_cent() -> None:
    first = run(3, record=True)
    assert first.records is not None
    actions = first.records.action.transpose(1, 0, 2)
    again = simulate(first.bars, first.rules, Fixed(actions), agents=500, cash=first.cash / 100)
    np.testing.assert_array_equal(again.balance, first.balance)


def test_random_agents_are_many_kinds() -> None:
    bars = random_bars(np.random.Generator(np.random.PCG64(1)), 400)
    done = simulate(bars, Rules(point=0.01, contract=100), RandomAgents(200, lots=0.5, seed=4), agents=200)
    assert done.records is not None
    actions = done.records.action
    changes = np.any(actions[:, 1:] != actions[:, :-1], axis=2).mean(axis=1)
    assert changes.min() < 0.04 < 0.15 < changes.max() < 0.35
    long, short = (actions[:, :, 0] > 0).mean(), (actions[:, :, 3] > 0).mean()
    assert abs(long - 1 / 3) < 0.03
    assert abs(short - 1 / 3) < 0.03
    assert actions[..., [0, 3]].max() <= 0.5


class Plain:
    """The rules once more: one agent, prices as they are, fractions instead of whole numbers."""

    def __init__(self, rules: Rules, cash: int) -> None:
        self.r, self.balance = rules, cash
        self.v, self.cost = 0, Fraction(0)  # signed steps; sum of steps * price
        self.sl: int | None = None
        self.tp: int | None = None
        self.value = rules.step_point

    @staticmethod
    def cents(x: Fraction) -> int:
        return int(abs(x) + Fraction(1, 2)) * (1 if x >= 0 else -1)

    def quote(self, bid: int) -> int:
        return bid if self.v > 0 else bid + self.r.spread

    def equity(self, price: int) -> Fraction:
        return self.balance + (self.v * price - self.cost) * self.value

    def margin(self, cost: Fraction) -> int:
        return self.cents(abs(cost) * self.value / Fraction(repr(self.r.leverage)))

    def fee(self, steps: int) -> None:
        self.balance -= self.cents(steps * self.r.step_commission)

    def give_up(self, steps: int, price: int) -> None:
        self.fee(steps)
        side = 1 if self.v > 0 else -1
        part = side * self.cents(abs(self.cost) * steps / abs(self.v))
        self.balance += self.cents((side * steps * price - part) * self.value)
        self.v -= side * steps
        self.cost -= part
        if self.v == 0:
            self.sl = self.tp = None

    def broke(self, price: int) -> bool:
        level = self.margin(self.cost) * self.r.stop_out // 100
        return self.equity(price) <= level

    def close_if_reached(self, opened: int, low: int, high: int) -> None:
        """Walk the prices from the open to the worse end point by point, then to the better one."""
        if self.v == 0:
            return
        side = 1 if self.v > 0 else -1
        extra = 0 if side > 0 else self.r.spread
        worst, best = (low, high) if side > 0 else (high + extra, low + extra)
        start = opened + extra
        for price in range(start, worst - side, -side):
            if self.broke(price) or (self.sl is not None and side * price <= side * self.sl):
                return self.give_up(abs(self.v), price)
        if self.tp is not None and side * best >= side * self.tp:
            price = self.tp if side * self.tp > side * start else start
            return self.give_up(abs(self.v), price)
        return None

    def order(self, a: np.ndarray, bid: int) -> None:
        r = self.r
        if np.isnan(a).any():
            return
        lots = float(a[0]) - float(a[3])
        side = 1 if lots > 0 else -1
        tp, sl = (float(a[1]), float(a[2])) if side > 0 else (float(a[4]), float(a[5]))
        steps = min(int(abs(lots) / r.lot_step + 0.5 + 1e-6), r.max_steps)
        tp_points = max(round(tp * r.max_tp), 1) if tp > 0 else 0
        sl_points = max(round(sl * r.max_sl), 1) if sl > 0 else 0
        none = abs(lots) < r.min_lot * (1 - 1e-6)
        none |= 0 < tp_points <= r.stops_level or 0 < sl_points <= r.stops_level + r.spread
        none |= r.stops_required and not (tp_points and sl_points)
        wanted = 0 if none else side * steps
        if self.v and (wanted == 0 or wanted * self.v < 0):
            self.give_up(abs(self.v), self.quote(bid))
        if wanted == 0:
            return
        entry = bid + r.spread if side > 0 else bid
        if self.v and steps < abs(self.v):
            self.give_up(abs(self.v) - steps, self.quote(bid))
        elif steps > abs(self.v):
            more = steps - abs(self.v)
            cost = self.cost + side * more * entry
            exit_price = bid if side > 0 else bid + r.spread
            value = self.cents((wanted * exit_price - cost) * self.value)
            after = self.balance - self.cents(more * r.step_commission) + value
            if after > 0 and after * 100 >= self.margin(cost) * r.margin_call:
                self.fee(more)
                self.v, self.cost = wanted, cost
        if self.v:
            new = entry - side * sl_points
            if sl_points and (self.sl is None or side * new > side * self.sl):
                self.sl = new
            self.tp = entry + side * tp_points if tp_points else None

    def nights(self, before: int, now: int) -> int:
        count = 0
        for day in range(before // (24 * HOUR), now // (24 * HOUR)):
            weekday = (day + 3) % 7
            count += 0 if weekday > 4 else 3 if weekday == self.r.triple_day else 1
        return count


@pytest.mark.parametrize("seed", range(40))
def test_a_plain_program_says_the_same(seed: int) -> None:
    agents, bars = 6, 40
    done = run(seed, bars, agents)
    assert done.records is not None
    price = [np.rint(getattr(done.bars, name) * 100).astype(int) for name in ("open", "high", "low", "close")]
    for agent in range(agents):
        plain = Plain(done.rules, done.cash)
        for t, (o, h, low, c) in enumerate(zip(*(p.tolist() for p in price), strict=True)):
            if t and plain.v:
                nights = plain.nights(int(done.bars.time[t - 1]), int(done.bars.time[t]))
                plain.balance += plain.cents(abs(plain.v) * nights * done.rules.swap(plain.v))
            plain.close_if_reached(o, o, o)
            if t:
                plain.order(done.records.action[agent, t - 1], o)
            plain.close_if_reached(o, low, h)
            got = (done.records.balance[agent, t], done.records.volume[agent, t])
            assert got == (plain.balance, plain.v), (agent, t)
            marked = plain.balance + plain.cents((plain.v * plain.quote(c) - plain.cost) * plain.value)
            assert done.records.equity[agent, t] == marked
