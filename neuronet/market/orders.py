"""Orders: the six numbers of an action as a volume and two distances, in whole steps and points.

An action is (buy lots, buy take-profit, buy stop-loss, sell lots, sell take-profit, sell stop-loss), the
distances in shares of ``Rules.max_tp`` and ``max_sl`` points. A row with NaN leaves position and stops alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from neuronet.errors import DataError, ShapeError
from neuronet.market.rules import Ints, Rules

ACTION = ("buy_lots", "buy_tp", "buy_sl", "sell_lots", "sell_tp", "sell_sl")
NEAR = 1e-6  # of a step: what lots in float32 may be off
FARTHEST = 2**40  # points; further away is no stop at all

Actions = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Orders:
    """What agents want to hold after the next open, [agents] each.

    side     1, -1, or 0 for flat; steps lot steps, 0 when flat
    tp, sl   points from the entry's quote; 0 for none
    keep     leave all as it is
    """

    side: Ints
    steps: Ints
    tp: Ints
    sl: Ints
    keep: NDArray[np.bool_]

    @classmethod
    def of(cls, actions: Actions, rules: Rules) -> Orders:
        """Read actions [agents, 6]: opposite lots are netted, lots rounded to steps, distances to points.

        A direction whose stops are too near, or missing though required, is not wanted: flat.
        """
        keep: NDArray[np.bool_] = np.asarray(np.isnan(actions).any(axis=1))
        a = np.where(keep[:, None], 0.0, actions.astype(np.float64))
        lots = a[:, 0] - a[:, 3]
        long = lots > 0.0
        size = np.abs(lots) / rules.lot_step
        steps = np.minimum(np.floor(size + 0.5 + NEAR), rules.max_steps).astype(np.int64)
        wanted = (size > rules.min_steps * (1.0 - NEAR)) & (steps > 0)
        tp = _points(np.where(long, a[:, 1], a[:, 4]), rules.max_tp)
        sl = _points(np.where(long, a[:, 2], a[:, 5]), rules.max_sl)
        least = np.where(tp > 0, tp, FARTHEST if not rules.stops_required else 0)
        wanted &= least > rules.stops_level
        least = np.where(sl > 0, sl, FARTHEST if not rules.stops_required else 0)
        wanted &= least > rules.stops_level + rules.spread
        side = np.where(wanted, np.where(long, 1, -1), 0)
        return cls(side, np.where(wanted, np.maximum(steps, rules.min_steps), 0), tp, sl, keep)


def checked_actions(actions: object, agents: int, bar: int) -> Actions:
    """Actions as float32 [agents, 6], as they are stored and traded.

    Raises ShapeError for another shape, DataError for a negative or infinite number.
    """
    found = np.asarray(actions, np.float32)
    if found.shape != (agents, len(ACTION)):
        raise ShapeError(
            f"actions have shape {found.shape}, expected ({agents}, {len(ACTION)})",
            where=f"bar {bar}",
            fix=f"give {', '.join(ACTION)} for each agent",
        )
    wrong = (found < 0.0) | np.isinf(found)
    if wrong.any():
        agent, column = (int(i) for i in np.argwhere(wrong)[0])
        raise DataError(
            f"{ACTION[column]} of agent {agent} is {found[agent, column]:g}",
            where=f"bar {bar}",
            fix="give lots and distances of 0 or more; NaN leaves the position as it is",
        )
    return found


def _points(share: NDArray[np.float64], most: int) -> Ints:
    """Whole points of a share; a share above 0 is at least one point."""
    points = np.minimum(np.rint(share * most), FARTHEST)
    return np.where(share > 0.0, np.maximum(points, 1), 0).astype(np.int64)
