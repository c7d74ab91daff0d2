"""collect: let blocks of agents trade and keep their trajectories in a file, block by block."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from neuronet.bars.bars import Bars, counted
from neuronet.errors import DataError, SpecError
from neuronet.market.actors import RandomAgents
from neuronet.market.experience import Experience, trajectories_of
from neuronet.market.experience_file import write_experience
from neuronet.market.rules import CENTS, Rules
from neuronet.market.simulator import Actor, simulate

log = logging.getLogger(__name__)

BLOCK = 250  # agents that trade at once


@dataclass(frozen=True)
class Collected:
    """How it went: new trajectories, those below the least profit, those that the cap dropped; trades and
    orders that the margin refused; the best, median and worst profit of the new agents, in money.
    """

    new: int
    below_min_profit: int
    dropped: int
    trades: int
    refused: int
    best: float
    median: float
    worst: float


def collect(
    bars: Bars,
    rules: Rules,
    actors: Iterable[tuple[Actor, int]],
    experience: Experience,
    path: str | Path,
    *,
    cash: float = 10_000.0,
    min_profit: float | None = None,
    on_progress: Callable[[int], None] = lambda agents: None,
) -> Collected:
    """Simulate each block of agents, add what they lived through to ``experience``, and save it to ``path``.

    actors      an actor and the number of its agents, for each block
    min_profit  money that an agent must have earned to be kept

    The file is written after each block, so what stops the program costs one block and never the collection.
    Raises DataError when nothing is there to save, and as ``simulate`` and ``write_experience`` do.
    """
    new = dropped = trades = refused = 0
    profits: list[float] = []
    for actor, agents in actors:
        done = simulate(bars, rules, actor, agents=agents, cash=cash)
        found = trajectories_of(done, min_profit=min_profit)
        new, dropped = new + len(found), dropped + experience.add(found)
        trades, refused = trades + len(done.trades), refused + int(done.refused.sum())
        profits += ((done.balance - done.cash) / CENTS).tolist()
        del done  # its trades, before those of the next block
        if len(experience):
            write_experience(path, experience)
        on_progress(len(profits))
    if not trades:
        why = f": the margin allowed none of {refused:,} orders" if refused else ""
        log.warning("nothing was traded%s; see --lots, --contract and --leverage", why)
    if not len(experience):
        raise DataError(
            f"none of {counted(len(profits), 'agent')} earned {min_profit or 0.0:,.2f}; "
            f"the best {max(profits):+,.2f}",
            where=str(path),
            fix="collect more agents, or choose a lower --min-profit",
        )
    spread = (max(profits), float(np.median(profits)), min(profits))
    return Collected(new, len(profits) - new, dropped, trades, refused, *spread)


def random_blocks(agents: int, *, lots: float, seed: int = 0) -> Iterator[tuple[Actor, int]]:
    """Random agents in blocks; those of a block are the same whatever comes after it."""
    if seed < 0:
        raise SpecError(f"seed cannot be {seed}", where="--seed", fix="choose 0 or more")
    for begin in range(0, agents, BLOCK):
        size = min(BLOCK, agents - begin)
        yield RandomAgents(size, lots=lots, seed=(seed, begin // BLOCK)), size
