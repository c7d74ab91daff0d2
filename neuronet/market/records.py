"""Records: the account and action of every agent at every close, in 48 bytes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from neuronet.market.account import Account
from neuronet.market.orders import ACTION, Actions
from neuronet.market.rules import Ints

COLUMNS = {  # name -> dtype, values a state
    "balance": (np.int64, 1),
    "equity": (np.int64, 1),
    "volume": (np.int32, 1),
    "entry": (np.int32, 1),
    "action": (np.float32, len(ACTION)),
}
STATE_BYTES = sum(np.dtype(dtype).itemsize * size for dtype, size in COLUMNS.values())


@dataclass(frozen=True, eq=False)
class Records:
    """Accounts at closes, [agents, bars] each.

    cash      start capital, cents
    balance   int64 cents; equity int64 cents. Their difference is the profit of the open position
    volume    int32 lot steps held, negative for short
    entry     int32 bar of the position's first fill, -1 when flat
    action    [agents, bars, 6] float32, decided at this close; that of the last bar is never traded
    """

    cash: int
    balance: Ints
    equity: Ints
    volume: NDArray[np.int32]
    entry: NDArray[np.int32]
    action: NDArray[np.float32]

    @classmethod
    def empty(cls, agents: int, bars: int, cash: int) -> Records:
        """Room for records."""
        arrays = {
            name: np.zeros((agents, bars) if size == 1 else (agents, bars, size), dtype)
            for name, (dtype, size) in COLUMNS.items()
        }
        return cls(cash, **arrays)

    def write(self, t: int, account: Account, actions: Actions) -> None:
        """Keep bar t."""
        self.balance[:, t] = account.balance
        self.equity[:, t] = account.equity
        self.volume[:, t] = account.side * account.volume
        self.entry[:, t] = account.entry
        self.action[:, t] = actions
