"""Chance: what random agents earn that hold as much, as long and on the same side as a strategy.

Such an agent does what the strategy does, but later: by a random number of bars, the end coming first. So it
has the strategy's exposure, turnover and costs, and no idea of when; a strategy is as good as its place among
them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from neuronet.market.backtest import Backtest

MOST, LEAST = 99, 9  # agents; odd, so that one is in the middle
WORK = 20_000_000  # bars of all of them


@dataclass(frozen=True, eq=False)
class Chance:
    """The random agent in the middle, how many there were, and the share of them that earned less.

    Where the strategy made no trade there is nothing to do at other times: no agents, ``beaten`` is None, and
    ``median`` is the strategy itself.
    """

    median: Backtest
    agents: int
    beaten: float | None

    def note(self) -> str:
        """A line for the report."""
        if self.beaten is None:
            return "random      agents that do the same at other times: none, as the strategy made no trade"
        return (
            f"random      {self.agents} agents that do the same at other times, the median one shown; the "
            f"strategy earned more than {self.beaten:.0%} of them"
        )


def chance(
    strategy: Backtest,
    run: Callable[[int], Backtest],
    *,
    profits: Callable[[list[int]], list[float]] | None = None,
    seed: int = 0,
) -> Chance:
    """Run random agents on the bars of ``strategy``.

    run      the strategy so many bars late, as a backtest
    profits  the profit of many of them at once, where that is faster
    """
    if not len(strategy.trades):
        return Chance(strategy, 0, None)
    bars = len(strategy.bars)
    agents = int(np.clip(WORK // bars, LEAST, MOST)) | 1
    random = np.random.Generator(np.random.PCG64(seed))
    late = random.integers(1, max(bars, 2), agents).tolist()
    if profits is None:
        earned = [float((test := run(bars)).equity[-1]) - test.cash for bars in late]
    else:
        earned = profits(late)
    middle = int(np.argsort(earned, kind="stable")[agents // 2])
    beaten = float(np.mean(np.array(earned) < strategy.equity[-1] - strategy.cash))
    return Chance(run(late[middle]), agents, beaten)
