"""Ledger: the trades of many agents as columns, one row from the first step held until none is."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from neuronet.market.account import Account, Index
from neuronet.market.rules import Ints

AT_OPEN, INSIDE, AT_CLOSE = range(3)
# columns that are fields of the account
OWN = (
    *("entry", "side", "most", "bought", "bought_value"),
    *("sold", "sold_value", "gross", "commission", "swap"),
)
COLUMNS = ("agent", "exit", "moment", "reason", *OWN)


@dataclass(frozen=True, eq=False)
class Ledger:
    """Columns [trades] int64, in order of exit.

    agent, entry, exit   whose, and the bars of its first and last fill
    moment               of the last fill in its bar: AT_OPEN, INSIDE, AT_CLOSE
    reason               position in EXITS
    side, most           1 long, -1 short; most lot steps held at once
    bought, bought_value steps of all entries, and sum of steps * y at them; sold, sold_value of all exits.
                         y is the quote of the fill in points, negative for short positions
    gross                cents: what the fills' quotes made, spread included
    commission, swap     cents: commission is paid, swap is added (negative when paid)
    """

    agent: Ints
    entry: Ints
    exit: Ints
    moment: Ints
    reason: Ints
    side: Ints
    most: Ints
    bought: Ints
    bought_value: Ints
    sold: Ints
    sold_value: Ints
    gross: Ints
    commission: Ints
    swap: Ints

    @property
    def net(self) -> Ints:
        """Cents earned after costs."""
        return self.gross - self.commission + self.swap

    def __len__(self) -> int:
        return len(self.agent)

    def of(self, agent: int) -> Ledger:
        """The trades of one agent."""
        rows = self.agent == agent
        return Ledger(**{f.name: getattr(self, f.name)[rows] for f in fields(self)})


class Writer:
    """Collects trades while a simulation runs."""

    def __init__(self) -> None:
        self._rows: list[Ints] = []  # [columns, trades] each, in order of COLUMNS

    def add(self, account: Account, who: Index, bar: int, reason: Ints | int, moment: int) -> None:
        """Note the trades of agents ``who``, whose volume has just become 0."""
        row = np.empty((len(COLUMNS), len(who)), np.int64)
        row[0], row[1], row[2], row[3] = who, bar, moment, reason
        for i, name in enumerate(OWN, 4):
            row[i] = getattr(account, name)[who]
        self._rows.append(row)

    def ledger(self) -> Ledger:
        """All of them."""
        every = np.concatenate([np.zeros((len(COLUMNS), 0), np.int64), *self._rows], axis=1)
        return Ledger(**dict(zip(COLUMNS, every, strict=True)))
