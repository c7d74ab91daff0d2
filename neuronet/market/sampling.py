"""Sampling of experience: which trajectory by its profit, which state of it evenly."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from neuronet.bars.bars import Floats
from neuronet.errors import DataError
from neuronet.market.experience import Experience

LAMBDA = 0.9
Places = NDArray[np.int64]


def probabilities(profits: ArrayLike, *, flatness: float = LAMBDA) -> Floats:
    """How likely each trajectory [n] is drawn, by its profit r: the articles' GetProbTrajectories.

        low  = min r - 0.1 |max r|            place = (r - low) / (max r - low), from 0 to 1
        k    = max r - 80th percentile of r   (1 when that is 0)
        p    ~ place / (place + flatness) * exp(-(max r - r) / k)

    So the best are drawn most, and one that is k below the best about e times less often. r is the profit
    here; the articles take the first state's discounted rewards, of which 0.99^100 = 1/3 is left after 100
    bars. Profits that are all the same are drawn evenly. Raises DataError for none and for NaN.
    """
    r = np.asarray(profits, np.float64)
    if r.ndim != 1 or not len(r) or not np.isfinite(r).all():
        raise DataError(
            f"cannot sample by {r.size} profits, {int(np.sum(~np.isfinite(r)))} of them no numbers",
            where="probabilities",
            fix="give experience with at least one trajectory, all profits finite",
        )
    high = float(r.max())
    low = float(r.min()) - 0.1 * abs(high)
    if high == low:
        return np.full(len(r), 1.0 / len(r))
    place = (r - low) / (high - low)
    scale = high - float(np.percentile(r, 80)) or 1.0
    weight: Floats = place / (place + flatness) * np.exp(-(high - r) / scale)
    weight /= weight.sum()
    return weight


class Sampler:
    """Draws states: a trajectory with ``probabilities`` of its profit, then one of its states, all alike.

    history  bars that a state looks back on, itself included; with the features' warm-up they must exist
    ahead    states that must follow in the trajectory

    The articles draw the state with a product of two uniform numbers, which favours the beginning; here
    every state of a trajectory has the same chance. Raises DataError when no trajectory is long enough.
    """

    def __init__(
        self, experience: Experience, *, history: int = 1, ahead: int = 0, warmup: int = 33, seed: int = 0
    ) -> None:
        self.experience = experience
        self.random = np.random.Generator(np.random.PCG64(seed))
        size = np.array([len(one) for one in experience.trajectories], np.int64)
        first = np.array([one.first for one in experience.trajectories], np.int64)
        self.begin = np.maximum(0, warmup + history - 1 - first)  # first state with a whole window
        self.count = size - ahead - self.begin
        self.usable = np.flatnonzero(self.count > 0)
        if not len(self.usable):
            raise DataError(
                f"none of {len(size)} trajectories has a state with {history} bars of features before it "
                f"and {ahead} states after it",
                where="experience",
                fix="collect on more bars, or choose a shorter history",
            )
        self.probabilities = probabilities(experience.profits[self.usable])

    def draw(self, count: int) -> tuple[Places, Places]:
        """``count`` draws with replacement: the trajectory [count] and the state in it [count]."""
        trajectory = self.random.choice(self.usable, size=count, p=self.probabilities)
        state = self.begin[trajectory] + self.random.integers(self.count[trajectory])
        return trajectory.astype(np.int64), state.astype(np.int64)
