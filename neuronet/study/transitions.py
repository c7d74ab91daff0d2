"""Transitions: states that agents lived through, as columns to draw batches from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


@dataclass(frozen=True)
class Batch:
    """n transitions: what actor and critic learn from in a step.

    latent, state          [n, latents] the encoder's view of the bars, [n, 16] account and time, scaled
    action, reward         [n] the position wanted in [-1, 1]; what it earned until the next close
    next_latent, next_state, ends   where that led; ends [n]: to ruin, behind which nothing comes
    weight, ideal          [n] how much the action is worth imitating; the position that was best
    """

    latent: Array
    state: Array
    action: Array
    reward: Array
    next_latent: Array
    next_state: Array
    ends: Array
    weight: Array
    ideal: Array


@dataclass(frozen=True, eq=False)
class Transitions:
    """Columns of m states; the reward of a state is that of its action.

    bar        [m] row of the state's bar; following [m] the row of the next state in these columns
    account    [m, 8] scaled; times [bars, 8] scaled
    latents    [bars, latents]; ideal [bars]
    """

    latents: Array
    times: Array
    ideal: Array
    bar: Array
    account: Array
    action: Array
    reward: Array
    weight: Array
    following: Array
    ends: Array

    def batch(self, rows: Array) -> Batch:
        """The transitions at ``rows`` [n]; each must have a state behind it."""
        after = self.following[rows]
        return Batch(
            latent=self.latents[self.bar[rows]],
            state=self.states(rows),
            action=self.action[rows],
            reward=self.reward[rows],
            next_latent=self.latents[self.bar[after]],
            next_state=self.states(after),
            ends=self.ends[rows],
            weight=self.weight[rows],
            ideal=self.ideal[self.bar[rows]],
        )

    def states(self, rows: Array) -> Array:
        """Account and time of ``rows``, [n, 16]."""
        return np.concatenate([self.account[rows], self.times[self.bar[rows]]], axis=1)
