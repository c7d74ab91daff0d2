"""Account: balance, position and stops of many agents as int64 arrays, and what a fill does to them.

Prices are in points and *seen from the position*: y = bid for a long one, y = -ask for a short one, so more
is always better, a stop-loss is always below, and one line of arithmetic serves both sides. One account has
one net position. Its value is

    volume * y - cost         cost = sum of volume * y at entry, in step points (one lot step times one point)

which stays whole. Cents are step points times ``Rules.step_point``, rounded when they are booked.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from neuronet.market.rules import Ints, Rules, rounded

FAR = 2**60  # a stop or a target that is not there

Index = NDArray[np.intp]


@dataclass(eq=False)
class Account:
    """State of agents, each field [agents] int64.

    balance   cents, what is booked
    side      1 long, -1 short, 0 flat; volume in lot steps, from 0 on
    cost      volume * y at entry, in step points
    stop      y at which the loss is stopped, -FAR where nothing stops it; take: y of the profit, FAR
    entry     bar of the first fill of the position, -1 when flat
    equity    cents, at the quotes at which it was last marked

    Sums over the trade that is open, for its record: most (volume held at once), bought and bought_value
    (steps and step points of all entries), sold and sold_value (of all exits); gross, commission and swap in
    cents. ``refused`` counts the orders that the margin did not allow.
    """

    balance: Ints
    side: Ints
    volume: Ints
    cost: Ints
    stop: Ints
    take: Ints
    entry: Ints
    equity: Ints
    most: Ints
    bought: Ints
    bought_value: Ints
    sold: Ints
    sold_value: Ints
    gross: Ints
    commission: Ints
    swap: Ints
    refused: Ints

    @classmethod
    def start(cls, agents: int, cash: int) -> Account:
        """Flat accounts with ``cash`` cents each."""
        account = cls(*(np.zeros(agents, np.int64) for _ in fields(cls)))
        account.balance += cash
        account.equity += cash
        account.entry -= 1
        account.stop -= FAR
        account.take += FAR
        return account

    def __len__(self) -> int:
        return len(self.balance)

    def seen(self, bid: int, spread: int) -> Ints:
        """The price y at which each position would be closed."""
        y: Ints = np.where(self.side < 0, -(bid + spread), bid)
        return y

    def mark(self, y: Ints, rules: Rules) -> None:
        """Set equity: the balance and the value of the position at y."""
        self.equity = self.balance + rounded(self.volume * y - self.cost, rules.step_point)

    def margin(self, rules: Rules, cost: Ints | None = None) -> Ints:
        """Cents that the broker asks for positions: their value at entry / leverage."""
        return rounded(np.abs(self.cost if cost is None else cost), rules.margin_rate)

    def stop_out(self, rules: Rules) -> Ints:
        """The highest y at which equity is at or below the stop-out level; -FAR when flat.

        Equity counts exactly here: from balance * denominator + value * numerator <= level * denominator.
        """
        level = self.margin(rules) * rules.stop_out // 100 - self.balance
        value = rules.step_point
        room = level * value.denominator // value.numerator + self.cost
        y: Ints = np.where(self.volume > 0, room // np.maximum(self.volume, 1), -FAR)
        return y

    def charge_swap(self, nights: int, rules: Rules) -> None:
        """Book the nights on the balance."""
        if not nights:
            return
        for side in (1, -1):
            if per_night := rules.swap(side):
                amount = rounded(np.where(self.side == side, self.volume, 0) * nights, per_night)
                self.balance += amount
                self.swap += amount

    def add(self, who: Index, side: Ints, steps: Ints, y: Ints, bar: int, rules: Rules) -> None:
        """Buy (or sell short) ``steps`` more at y, which is the entry's: ask, or -bid."""
        self._pay(who, steps, rules)
        self.side[who] = side
        self.volume[who] += steps
        self.cost[who] += steps * y
        self.entry[who] = np.where(self.entry[who] < 0, bar, self.entry[who])
        self.most[who] = np.maximum(self.most[who], self.volume[who])
        self.bought[who] += steps
        self.bought_value[who] += steps * y

    def reduce(self, who: Index, steps: Ints, y: Ints, rules: Rules) -> None:
        """Give up ``steps`` of each position at y. The part of the cost that goes is rounded to whole step
        points and the rest stays with the position, so nothing is lost between the two.
        """
        self._pay(who, steps, rules)
        volume, cost = self.volume[who], self.cost[who]
        whole, rest = np.divmod(np.abs(cost), volume)  # cost * steps could leave int64
        part = np.sign(cost) * (whole * steps + (2 * rest * steps + volume) // (2 * volume))
        profit = rounded(steps * y - part, rules.step_point)
        self.balance[who] += profit
        self.gross[who] += profit
        self.sold[who] += steps
        self.sold_value[who] += steps * y
        self.cost[who] = cost - part
        self.volume[who] = volume - steps

    def forget(self, who: Index) -> None:
        """Clear the stops and sums of positions that are closed."""
        self.side[who] = 0
        self.entry[who] = -1
        self.stop[who], self.take[who] = -FAR, FAR
        for name in ("most", "bought", "bought_value", "sold", "sold_value", "gross", "commission", "swap"):
            getattr(self, name)[who] = 0

    def _pay(self, who: Index, steps: Ints, rules: Rules) -> None:
        paid = rounded(steps, rules.step_commission)
        self.balance[who] -= paid
        self.commission[who] += paid
