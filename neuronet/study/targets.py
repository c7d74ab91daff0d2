"""Targets of actor and critic: what an action earned, how much it is worth imitating, and what was best."""

from __future__ import annotations

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from neuronet.bars.bars import Bars, Floats
from neuronet.market.orders import Actions
from neuronet.market.records import Records
from neuronet.market.rules import CENTS, Rules

HELD = np.array([-1.0, 0.0, 1.0])
STEEPEST = 3.0  # standard deviations beyond which returns weigh imitation no more, or no less


def change_cost(rules: Rules, price: float) -> float:
    """What changing the position by 1 costs, as a share of the price: half a spread and one commission."""
    fee = rules.commission / (rules.contract * rules.quote_value)
    return (0.5 * rules.spread * rules.point + fee) / price


def positions_taken(records: Records, lots: float, lot_step: float) -> NDArray[np.float32]:
    """What actions wanted, [...] in [-1, 1] of ``lots``: (buy - sell) / lots; what is held where all stays.

    Take-profit and stop-loss of an action are no part of it: to the critic they are chance.
    """
    actions: Actions = records.action
    wanted = (actions[..., 0] - actions[..., 3]).astype(np.float64)
    kept = np.isnan(actions).any(axis=-1)
    wanted = np.where(kept, records.volume * lot_step, wanted) / lots
    return np.clip(wanted, -1.0, 1.0).astype(np.float32)


def earned(records: Records, bars: Bars, rules: Rules, *, lots: float, unit: float) -> NDArray[np.float32]:
    """Rewards [..., states - 1] of the actions: growth of equity until the next close, after all costs.

    bars  those of the states
    lots  of a position of 1, whose value is the stake
    unit  share of the stake that counts as 1: the standard deviation of a bar's return

    The articles' reward of equity, equity / balance - 1, is the whole open profit and counts it again at
    every bar; its change is what an action has earned.
    """
    stake = lots * rules.contract * rules.quote_value * bars.close[:-1]
    gained = np.diff(records.equity, axis=-1) / CENTS / stake
    return (gained / unit).astype(np.float32)


def gains(rewards: NDArray[np.float32], discount: float, horizon: int) -> NDArray[np.float32]:
    """Discounted sums [..., n] of the next ``horizon`` rewards [..., n], fewer at the end."""
    padding = [(0, 0)] * (rewards.ndim - 1) + [(0, horizon - 1)]
    ahead = sliding_window_view(np.pad(rewards, padding), horizon, axis=-1)
    powers = (discount ** np.arange(horizon)).astype(np.float32)
    return np.asarray(ahead @ powers, np.float32)


def imitation_weights(gain: NDArray[np.float32], mean: float, deviation: float) -> NDArray[np.float32]:
    """How much actions are worth imitating: exp((gain - mean) / deviation), with the exponent within +-3.

    Reward-weighted regression: Peters & Schaal 2007; as advantage-weighted: Peng et al., arXiv:1910.00177.
    """
    exponent = np.clip((gain - mean) / max(deviation, 1e-12), -STEEPEST, STEEPEST)
    return np.asarray(np.exp(exponent), np.float32)


def ideal_positions(returns: Floats, cost: float, horizon: int) -> NDArray[np.float32]:
    """The best first position [n] of -1, 0, 1 for whoever knows the next ``horizon`` returns and is flat.

    returns  [n] what holding 1 gains: at t from the decision of bar t to that of t + 1
    cost     of changing the position by 1; it ends flat, so a trade pays twice

    Exact, by dynamic programming over the three positions; flat wins ties. NaN where less is known. The
    articles add up the next bars' moves and enter at once, also where waiting was better.
    """
    found = np.full(len(returns), np.nan, np.float32)
    if len(returns) < horizon:
        return found
    ahead = sliding_window_view(np.asarray(returns, np.float64), horizon)
    change = cost * np.abs(HELD[:, None] - HELD)  # [from, to]
    value = np.repeat(-cost * np.abs(HELD)[None], len(ahead), axis=0)  # of holding each at the end
    for k in range(horizon - 1, -1, -1):
        worth = HELD * ahead[:, k, None] + value  # of going on with each position
        value = (worth[:, None, :] - change).max(axis=2)
    first = worth - change[1]
    best = np.where(first[:, 2] > first[:, 0], 1.0, -1.0)
    best[first[:, 1] >= first.max(axis=1)] = 0.0
    found[: len(ahead)] = np.where(np.isnan(first).any(axis=1), np.nan, best)
    return found
