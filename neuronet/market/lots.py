"""Backtest of lots: one agent on the simulator, with stops, margin and swap, in the report of a backtest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from neuronet.bars.bars import Bars
from neuronet.errors import ShapeError
from neuronet.market.account import Account
from neuronet.market.actors import Fixed, actions_of
from neuronet.market.backtest import Backtest, why_idle
from neuronet.market.ledger import AT_OPEN, Ledger
from neuronet.market.orders import ACTION, Actions
from neuronet.market.rules import CENTS, Rules
from neuronet.market.simulator import Simulation, simulate
from neuronet.market.trades import Trades


def backtest_lots(bars: Bars, actions: ArrayLike, rules: Rules, *, cash: float = 10_000.0) -> Backtest:
    """Trade actions [bars, 6] with a broker's rules; what is held at the last close is closed there.

    In the result units are volume x contract. Prices of trades are bids, as in the bars; the spread is among
    the costs with commission and swap, so costs are below 0 where more swap is earned than all else costs.
    Costs and value of a trade stand in the bar of its exit. Raises as ``simulate`` does.
    """
    found = np.asarray(actions, np.float32)
    if found.shape != (len(bars), len(ACTION)):
        raise ShapeError(
            f"actions have shape {found.shape}, expected ({len(bars)}, {len(ACTION)})",
            where="backtest_lots",
            fix=f"give {', '.join(ACTION)} for each bar",
        )
    done = as_backtest(simulate(bars, rules, Fixed(found), cash=cash))
    if len(done.trades):
        return done
    wanted = found[:, 0] - found[:, 3] != 0.0  # what is NaN asks for nothing
    wanted &= ~np.isnan(found).any(axis=1)
    why = "the broker's rules of volume, stops and margin allowed none"
    return replace(done, idle=why_idle(wanted, why))


def hold_lots(bars: Bars, lots: float, rules: Rules, *, cash: float = 10_000.0) -> Backtest:
    """Buy ``lots`` at the second bar's open and hold them to the last close, under the same rules."""
    return backtest_lots(bars, actions_of(np.ones(len(bars)), rules, lots=lots), rules, cash=cash)


class Rotated:
    """One series of actions for many agents, each so many bars late; what falls off the end comes first."""

    def __init__(self, actions: Actions, late: Sequence[int]) -> None:
        self.actions, self.late = actions, np.asarray(late)

    def __call__(self, t: int, account: Account) -> Actions:
        rows: Actions = self.actions[(t - self.late) % len(self.actions)]
        return rows


def profits_of(bars: Bars, actor: Rotated, rules: Rules, *, cash: float) -> list[float]:
    """What each agent of ``actor`` earns."""
    done = simulate(bars, rules, actor, agents=len(actor.late), cash=cash, record=False)
    return [float(value) for value in (done.balance - done.cash) / CENTS]


def as_backtest(done: Simulation) -> Backtest:
    """The only agent of a simulation as a backtest."""
    bars, records = done.bars, done.records
    if records is None or len(done.balance) != 1:
        raise ShapeError("needs one agent and its record", where="as_backtest", fix="simulate(agents=1)")
    t, rules = done.trades, done.rules
    equity = records.equity[0] / CENTS
    equity[-1] = done.equity[0] / CENTS
    size = np.float64(rules.lot_step * rules.contract)
    units = records.volume[0] * size
    lasted = t.moment != AT_OPEN  # into the bar of its exit
    gone = lasted & (units[t.exit] == 0.0)
    units[t.exit[gone]] = (t.side * t.most)[gone] * size
    spread, costs, value = _money(t, rules)
    n = len(bars)
    ruin = np.flatnonzero(records.equity[0] <= 0)
    trades = Trades(
        entry_time=bars.time[t.entry],
        entry_price=(t.side * t.bought_value / t.bought - rules.spread * (t.side > 0)) * rules.point,
        exit_time=bars.time[t.exit],
        exit_price=(t.side * t.sold_value / t.sold - rules.spread * (t.side < 0)) * rules.point,
        exit=t.reason,
        side=t.side,
        size=np.asarray(t.most * size, np.float64),
        bars=t.exit - t.entry + lasted,
        gross=t.gross / CENTS + spread,
        costs=costs,
    )
    return Backtest(
        bars,
        done.cash / CENTS,
        equity,
        units,
        np.bincount(t.exit, costs, n).astype(np.float64),
        np.bincount(t.exit, value, n).astype(np.float64),
        trades,
        int(ruin[0]) if len(ruin) else None,
    )


def _money(t: Ledger, rules: Rules) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of each trade: the spread paid, all costs, and the value of its fills, in units of money."""
    cent = float(rules.step_point) / CENTS
    spread = t.bought * (rules.spread * cent)  # one fill of each step is at the ask
    costs = spread + (t.commission - t.swap) / CENTS
    return spread, costs, (np.abs(t.bought_value) + np.abs(t.sold_value)) * cent
