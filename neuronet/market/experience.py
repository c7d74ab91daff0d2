"""Experience: trajectories of agents. Bars are kept once; a state is 48 bytes and an index into them.

Rewards, returns and state vectors follow from what is kept and are made when asked for.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from neuronet.bars.bars import PRICES, Bars, Floats
from neuronet.bars.features import make_features
from neuronet.errors import SpecError
from neuronet.market.records import STATE_BYTES, Records
from neuronet.market.rewards import DISCOUNT, discounted, idle_costs, rewards
from neuronet.market.rules import Rules
from neuronet.market.simulator import Simulation
from neuronet.market.state import account_vectors, time_vectors

FEATURES = ("neuronet9",)
CAP = 500


@dataclass(frozen=True, eq=False)
class Market:
    """Bars and the rules under which they were traded; features of the bars follow from them."""

    bars: Bars
    rules: Rules

    @cached_property
    def key(self) -> tuple[str, Rules]:
        """Equal for the same bars under the same rules."""
        digest = hashlib.sha256()
        for name in ("time", *PRICES, "volume"):
            digest.update(np.ascontiguousarray(getattr(self.bars, name)).data)
        return digest.hexdigest(), self.rules

    @cached_property
    def features(self) -> Floats:
        """NeuroNet's nine numbers of each bar, [bars, 9]; the first 33 rows are not defined (NaN)."""
        return make_features(self.bars, FEATURES).values

    @cached_property
    def idle(self) -> Floats:
        """See ``idle_costs``."""
        return idle_costs(self.bars)

    @cached_property
    def times(self) -> Floats:
        """See ``time_vectors``."""
        return time_vectors(self.bars)


@dataclass(frozen=True, eq=False)
class Trajectory:
    """One agent's states: bar ``first + i`` of a market at state i; records [states].

    It ends with the bar at whose close balance or equity is 0 or less.
    """

    market: Market
    first: int
    records: Records

    def __len__(self) -> int:
        return len(self.records.balance)

    @property
    def profit(self) -> float:
        """Equity at the last close / start capital - 1."""
        return float(self.records.equity[-1]) / self.records.cash - 1.0

    @property
    def bars(self) -> Bars:
        """The bars of its states."""
        return self.market.bars[self._rows]

    def rewards(self) -> Floats:
        """[states, 3], see rewards.py."""
        return rewards(self.records, self.market.idle[self._rows])

    def returns(self, discount: float = DISCOUNT) -> Floats:
        """Discounted rewards [states, 3] from each state on."""
        return discounted(self.rewards(), discount)

    def states(self) -> NDArray[np.float32]:
        """Account and time [states, 16] in the order of STATE; the bars' features are in ``market``."""
        account = account_vectors(self.records, self.bars, self.market.rules, self.first)
        return np.concatenate([account, self.market.times[self._rows]], axis=1).astype(np.float32)

    @property
    def _rows(self) -> slice:
        return slice(self.first, self.first + len(self))


@dataclass(eq=False)
class Experience:
    """Trajectories in the order in which they were added, at most ``cap`` of them.

    ``add`` drops the least profitable ones when there are too many; of equals the earlier stays.
    """

    trajectories: list[Trajectory] = field(default_factory=list)
    cap: int = CAP

    def __post_init__(self) -> None:
        if self.cap < 1:
            raise SpecError(f"{self.cap} trajectories hold nothing", where="--cap", fix="choose 1 or more")
        self.add([])

    def __len__(self) -> int:
        return len(self.trajectories)

    @property
    def states(self) -> int:
        """How many states there are."""
        return sum(map(len, self.trajectories))

    @property
    def nbytes(self) -> int:
        """Bytes of all states and bars."""
        return STATE_BYTES * self.states + sum(48 * len(market.bars) for market in self.markets)

    @property
    def markets(self) -> list[Market]:
        """Each market once, in order of its first trajectory."""
        return list(dict.fromkeys(one.market for one in self.trajectories))

    @property
    def profits(self) -> Floats:
        """[trajectories], see Trajectory.profit."""
        return np.array([one.profit for one in self.trajectories])

    def add(self, trajectories: Iterable[Trajectory]) -> int:
        """Append trajectories and keep the best ``cap``, in their order; return how many were dropped.

        Trajectories on bars that are here already share them.
        """
        known = {one.key: one for one in self.markets}
        for one in trajectories:
            market = known.setdefault(one.market.key, one.market)
            self.trajectories.append(Trajectory(market, one.first, one.records))
        dropped = max(0, len(self) - self.cap)
        if dropped:
            best = np.argsort(-self.profits, kind="stable")[: self.cap]
            self.trajectories = [self.trajectories[i] for i in np.sort(best)]
        return dropped


def trajectories_of(simulation: Simulation, *, min_profit: float | None = None) -> list[Trajectory]:
    """The trajectories of a simulation, a view of its records each, cut where an agent is ruined.

    min_profit  leave out agents whose final equity is less than start capital + this much money
    """
    records = simulation.records
    if records is None:
        raise SpecError("was run without record", where="simulation", fix="call simulate(record=True)")
    market = Market(simulation.bars, simulation.rules)
    lost = (records.balance <= 0) | (records.equity <= 0)
    ends = np.where(lost.any(axis=1), lost.argmax(axis=1) + 1, lost.shape[1])
    found = []
    for i, end in enumerate(ends):
        columns = {
            name: getattr(records, name)[i, :end]
            for name in ("balance", "equity", "volume", "entry", "action")
        }
        one = Trajectory(market, 0, Records(records.cash, **columns))
        gained = (int(one.records.equity[-1]) - records.cash) / 100
        if min_profit is None or gained >= min_profit:
            found.append(one)
    return found
