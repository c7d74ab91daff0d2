"""Live: an actor of the simulator that decides at each close, and then learns from what has become known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neuronet.bars.bars import Bars, Floats
from neuronet.market.account import Account
from neuronet.market.actors import RandomAgents, actions_of
from neuronet.market.orders import Actions
from neuronet.market.records import Records
from neuronet.market.rules import Rules
from neuronet.market.state import ACCOUNT, account_vectors
from neuronet.study import targets
from neuronet.study.file import Units
from neuronet.study.networks import Networks
from neuronet.study.transitions import Transitions
from neuronet.train import blend

Array = NDArray[Any]
KEPT = ("said", "position", "forecast")  # columns that cannot be computed again once the nets have learned


@dataclass(frozen=True, eq=False)
class Columns:
    """What is known of each bar, [bars, ...]; later rows are not looked at before their time.

    latents    of the window that ends there, NaN where there is none; times [bars, 8] scaled
    returns    what holding 1 gains from the decision there on, log; known two bars later
    ideal      the best position there; known horizon + 1 bars later
    ahead      [bars, horizon] scaled returns of the close; known horizon bars later
    """

    bars: Bars
    latents: Array
    times: Array
    returns: Floats
    ideal: Array
    ahead: Array


class Live:
    """Agent 0 is the actor; the others are random agents that trade the same bars, and are learned from.

    At the close of bar t, in this order: the forecast and the position are said; then the nets learn from
    states up to t - horizon - 1, all of whose targets are known by then.

    memory, updates  bars back that are learned from; steps at each bar
    said      [bars] what the actor says; position what is traded: the same while it would have earned more
              than one standard error after costs in the last ``memory`` bars, else flat
    forecast  [bars] log return of the close to the next one
    done      bars before which ``KEPT`` holds what was said: these are traded again and nothing is learned
    """

    def __init__(
        self, networks: Networks, units: Units, columns: Columns, rules: Rules, *,
        lots: float, shadows: int, memory: int, updates: int, seed: int, trust: float,
        cash: int, kept: dict[str, Array], after: Callable[[int], None],
    ) -> None:  # fmt: skip
        bars, agents = len(columns.bars), 1 + shadows
        self.networks, self.units, self.columns, self.rules = networks, units, columns, rules
        self.lots, self.memory, self.updates, self.seed = lots, memory, updates, seed
        self.first_trust = self.trust = trust
        self.after = after
        self.cost = targets.change_cost(rules, float(columns.bars.close[0]))
        self.shadows = RandomAgents(shadows, lots=lots, seed=(seed, 1))
        self.agents, self.records = agents, Records.empty(agents, bars, cash)
        self.done = len(kept.get(KEPT[0], ()))
        self.said, self.position, self.forecast = (np.full(bars, np.nan) for _ in KEPT)
        for name, values in kept.items():
            getattr(self, name)[: self.done] = values
        whole = np.flatnonzero(~np.isnan(columns.latents).any(axis=1))
        self.first = int(whole[0]) if len(whole) else bars
        self.alive = np.zeros((bars, agents), bool)
        m = bars * agents
        self.transitions = Transitions(
            latents=columns.latents, times=columns.times, ideal=columns.ideal,
            bar=np.repeat(np.arange(bars), agents), account=np.zeros((m, len(ACCOUNT)), np.float32),
            action=np.zeros(m, np.float32), reward=np.zeros(m, np.float32), weight=np.zeros(m, np.float32),
            following=np.arange(m) + agents, ends=np.zeros(m, bool),
        )  # fmt: skip

    def __call__(self, t: int, account: Account) -> Actions:
        again = t < self.done
        self.trust = self._trust(t)
        if not again:
            self._say(t)
        own = actions_of(self.position[t : t + 1], self.rules, lots=self.lots)
        actions: Actions = np.concatenate([own, self.shadows(t, account)])
        self.records.write(t, account, actions)
        self._remember(t)
        if not again:
            self._learn(t)
            self.done = t + 1
            self.after(t)
        return actions

    def kept(self) -> dict[str, Array]:
        """``KEPT`` up to ``done``."""
        return {name: getattr(self, name)[: self.done] for name in KEPT}

    def _say(self, t: int) -> None:
        latent = self.columns.latents[t : t + 1]
        if t < self.first:
            self.said[t] = self.position[t] = 0.0
            return
        self.said[t] = self.networks.positions(latent)[0]
        self.position[t] = self.said[t] if self.trust else 0.0
        scaled = float(self.networks.forecaster.predict(latent)[0, 0])
        self.forecast[t] = scaled * float(self.units.forecast.scale[0])

    def _trust(self, t: int) -> float:
        """1 while what was said in the last ``memory`` bars with known returns has earned, else 0."""
        end = t - 1  # the last return that is known is that of the decision at t - 2
        begin = end - self.memory
        if begin < self.first:
            return self.first_trust
        after = np.arange(self.memory) > 0
        returns = self.columns.returns[begin:end]
        return blend.of_positions(self.said[begin:end], returns, self.cost, after)

    def _remember(self, t: int) -> None:
        """The columns of bar t, and those of earlier bars that it makes known."""
        records, rows, n = self.records, self.transitions, self.agents
        self.alive[t] = (records.balance[:, t] > 0) & (records.equity[:, t] > 0)
        if t:
            self.alive[t] &= self.alive[t - 1]
        part = slice(max(0, t - 1), t + 1)
        two = _part(records, part)
        with np.errstate(all="ignore"):  # of agents that are ruined, whose rows are not drawn
            account = account_vectors(two, self.columns.bars[part], self.rules, part.start)[:, -1]
        scaler = self.units.state
        scaled = (account - scaler.mean[: len(ACCOUNT)]) / scaler.scale[: len(ACCOUNT)]
        rows.account[t * n : (t + 1) * n] = np.where(self.alive[t][:, None], scaled, 0.0)
        wanted = targets.positions_taken(_part(records, slice(t, t + 1)), self.lots, self.rules.lot_step)
        rows.action[t * n : (t + 1) * n] = wanted[:, 0]
        if not t:
            return
        before = slice((t - 1) * n, t * n)
        rows.reward[before] = targets.earned(
            two, self.columns.bars[part], self.rules, lots=self.lots, unit=self.units.unit
        )[:, 0]
        rows.ends[before] = ~self.alive[t]
        settings = self.networks.settings
        if (u := t - settings.horizon) >= 0:
            own = rows.reward.reshape(-1, n)[u:t].T
            gain = targets.gains(own, settings.discount, settings.horizon)[:, 0]
            rows.weight[u * n : (u + 1) * n] = targets.imitation_weights(gain, *self.units.gain)

    def _learn(self, t: int) -> None:
        """``updates`` steps on states up to t - horizon - 1."""
        networks, n = self.networks, self.agents
        end = t - networks.settings.horizon
        begin = max(self.first, end - self.memory)
        if end <= begin:
            return
        candidates = np.flatnonzero(self.alive[begin:end].ravel()) + begin * n
        for i in range(self.updates):
            rng = np.random.default_rng([self.seed, t, i])
            if len(candidates):
                batch = self.transitions.batch(rng.choice(candidates, networks.settings.batch))
                networks.learn(batch)
            bars = rng.integers(begin, end, networks.settings.batch)
            networks.learn_forecast(self.columns.latents[bars], self.columns.ahead[bars])


def _part(records: Records, part: slice) -> Records:
    """Some bars of records; what was before the first of them is not known to it."""
    return Records(
        records.cash,
        *(getattr(records, name)[:, part] for name in ("balance", "equity", "volume", "entry", "action")),
    )
