"""Actors: who decides. Fixed actions, random agents, and positions of a model or a file as lots."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from neuronet.errors import ShapeError, SpecError
from neuronet.market.account import Account
from neuronet.market.orders import ACTION, Actions
from neuronet.market.rules import Rules


class Fixed:
    """Actions known beforehand: [bars, 6] for every agent, or [bars, agents, 6]."""

    def __init__(self, actions: ArrayLike) -> None:
        self.actions = np.asarray(actions, np.float32)
        if self.actions.ndim not in (2, 3) or self.actions.shape[-1] != len(ACTION):
            raise ShapeError(
                f"actions have shape {self.actions.shape}",
                where="Fixed",
                fix="give [bars, 6] or [bars, agents, 6]",
            )

    def __call__(self, t: int, account: Account) -> Actions:
        row = self.actions[t]
        return row if row.ndim == 2 else np.broadcast_to(row, (len(account), len(ACTION)))


class RandomAgents:
    """Each agent draws an action now and then and repeats it until the next draw.

    An agent draws at a close with a chance of its own, from 1/4 to 1/64, so some trade often and some rarely.
    A draw is flat in a third of the cases; else lots up to ``lots``, long or short, and distances up to the
    largest ones. Draws depend on the seed, the number of agents and the bar's place alone.
    """

    def __init__(self, agents: int, *, lots: float, seed: int | tuple[int, ...] = 0) -> None:
        if not 0.0 < lots < np.inf:
            raise SpecError(f"lots cannot be {lots:g}", where="--lots", fix="choose more than 0")
        self.random = np.random.Generator(np.random.PCG64(seed))
        self.lots = lots
        self.chance = 0.25 ** (1.0 + 2.0 * self.random.random(agents))
        self.now = np.zeros((agents, len(ACTION)), np.float32)

    def __call__(self, t: int, account: Account) -> Actions:
        draw = self.random.random((len(self.chance), 5))
        side = (draw[:, 1] * 3.0).astype(np.int64)  # 0 flat, 1 long, 2 short
        fresh = np.zeros(self.now.shape, np.float32)
        values = np.column_stack([draw[:, 2] * self.lots, draw[:, 3], draw[:, 4]])
        fresh[:, :3] = np.where((side == 1)[:, None], values, 0.0)
        fresh[:, 3:] = np.where((side == 2)[:, None], values, 0.0)
        self.now = np.where((draw[:, 0] < self.chance)[:, None] | (t == 0), fresh, self.now)
        return self.now


def actions_of(
    positions: ArrayLike,
    rules: Rules,
    *,
    lots: float,
    tp: ArrayLike | float = np.nan,
    sl: ArrayLike | float = np.nan,
) -> Actions:
    """Actions [bars, 6] that hold ``positions`` [bars] in [-1, 1], of ``lots`` each; NaN is flat.

    tp, sl  [bars] or one number: distances in units of price from the entry's quote, NaN for none. One of 0
            or less is a point, which is mostly too near to be held, and never none
    """
    p = np.nan_to_num(np.asarray(positions, np.float64))
    actions = np.zeros((len(p), len(ACTION)), np.float32)
    values: list[NDArray[np.float64]] = [np.abs(p) * lots]
    for distance, most in ((tp, rules.max_tp), (sl, rules.max_sl)):
        points = np.broadcast_to(np.asarray(distance, np.float64), p.shape) / rules.point
        values.append(np.where(np.isnan(points), 0.0, np.maximum(points, 1.0) / most))
    for i, value in enumerate(values):
        actions[:, i] = np.where(p > 0.0, value, 0.0)
        actions[:, 3 + i] = np.where(p < 0.0, value, 0.0)
    return actions
