"""simulate: many agents trade one series of bars with a broker's rules, in whole points and cents.

What happens in bar t, in this order; docs/simulator.md says it at length:

    1 night     swap of the midnights since bar t-1 is booked
    2 open      stops and targets that the open has reached or jumped over are filled at the open; so is a
                stop-out. Seen together, the stop comes before the target
    3 order     the action decided at the close of t-1 is filled at the open: opposite lots netted, the rest
                closed, reduced or added to; an order that the margin does not allow is refused
    4 range     stop-loss or stop-out, whichever is nearer, at its price if the bar reaches it; else the
                take-profit at its price. A bar that reaches both is taken to have gone to the stop first
    5 close     equity is marked; the actor decides for the open of t+1
    end         after the last close positions are closed there, if asked for

A buy pays the ask (bid + spread) and a sale gets the bid, so long positions are stopped by bids, short ones
by asks.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from neuronet.bars.bars import Bars
from neuronet.errors import SpecError
from neuronet.market.account import FAR, Account, Index
from neuronet.market.ledger import AT_CLOSE, AT_OPEN, INSIDE, Ledger, Writer
from neuronet.market.orders import Actions, Orders, checked_actions
from neuronet.market.quotes import Quotes
from neuronet.market.records import Records
from neuronet.market.rules import LIMIT, Ints, Rules, cents, rounded
from neuronet.market.trades import DECISION, END, STOP_LOSS, STOP_OUT, TAKE_PROFIT

log = logging.getLogger(__name__)


class Actor(Protocol):
    """Decides for all agents at the close of bar ``t``: actions [agents, 6], see orders.py.

    Rows of bars after t must not be looked at. ``account`` is as marked at that close.
    """

    def __call__(self, t: int, account: Account) -> Actions: ...


@dataclass(frozen=True, eq=False)
class Simulation:
    """What happened.

    cash      start capital of each agent, cents
    balance   [agents] cents at the end; equity [agents] at the last close, after closing if asked for
    trades    all that ended; balance == cash + sums of their net, to the cent, when no position is left
    records   the account of every agent at every close, and its action; None when not asked for
    refused   [agents] orders that the margin did not allow
    """

    bars: Bars
    rules: Rules
    cash: int
    balance: Ints
    equity: Ints
    trades: Ledger
    records: Records | None
    refused: Ints
    account: Account = field(repr=False)


def simulate(
    bars: Bars,
    rules: Rules,
    actor: Actor,
    *,
    agents: int = 1,
    cash: float = 10_000.0,
    close_at_end: bool = True,
    record: bool = True,
) -> Simulation:
    """Let ``actor`` trade for ``agents`` accounts of ``cash`` each, by the rules at the top of this file.

    close_at_end  close what is held at the last close, with its costs; else it is only marked
    record        keep accounts and actions of every bar: 48 bytes an agent and bar

    The same actions give the same cents, and cutting the bars never changes what happened before the cut.
    Raises DataError and SpecError as Quotes.of does, ShapeError and DataError for wrong actions.
    """
    if agents < 1:
        raise SpecError(f"{agents} agents cannot trade", where="simulate", fix="choose 1 or more")
    start = cents(cash)
    if start * max(rules.step_point.denominator, 100) * 2 >= LIMIT:
        raise SpecError(f"the start capital {cash:g} is more than int64 holds", where="--cash", fix="less")
    quotes = Quotes.of(bars, rules)
    engine = _Engine(quotes, rules, Account.start(agents, start))
    account = engine.account
    records = Records.empty(agents, len(bars), start) if record else None
    actions: Actions | None = None
    for t in range(len(bars)):
        engine.bar(t, actions)
        actions = checked_actions(actor(t, account), agents, t)
        if records is not None:
            records.write(t, account, actions)
    if close_at_end:
        engine.end(len(bars) - 1)
    return Simulation(
        bars, rules, start, account.balance, account.equity, engine.trades.ledger(), records,
        account.refused, account,
    )  # fmt: skip


class _Engine:
    """One bar after the other."""

    def __init__(self, quotes: Quotes, rules: Rules, account: Account) -> None:
        self.quotes, self.rules, self.account = quotes, rules, account
        self.trades = Writer()

    def bar(self, t: int, actions: Actions | None) -> None:
        """Steps 1 to 5 of bar t; ``actions`` were decided at the close before."""
        account, quotes, rules = self.account, self.quotes, self.rules
        opened = int(quotes.open[t])
        account.charge_swap(int(quotes.nights[t]), rules)
        at_open = account.seen(opened, rules.spread)
        self._reached(t, at_open, at_open, at_open, AT_OPEN)
        if actions is not None:
            self._order(t, opened, Orders.of(actions, rules))
        at_open = account.seen(opened, rules.spread)
        long = account.side > 0
        high, low = int(quotes.high[t]), int(quotes.low[t])
        worst = np.where(long, low, -(high + rules.spread))
        best = np.where(long, high, -(low + rules.spread))
        self._reached(t, worst, best, at_open, INSIDE)
        account.mark(account.seen(int(quotes.close[t]), rules.spread), rules)

    def end(self, t: int) -> None:
        """Close everything at the close of bar t."""
        y = self.account.seen(int(self.quotes.close[t]), self.rules.spread)
        self._close(np.flatnonzero(self.account.side), y, t, END, AT_CLOSE)
        self.account.mark(y, self.rules)

    def _reached(self, t: int, worst: Ints, best: Ints, opened: Ints, moment: int) -> None:
        """Close positions whose stop is at ``worst`` or above, or else their target at ``best`` or below.

        A price that the open has passed is filled at the open.
        """
        account = self.account
        broker = account.stop_out(self.rules)
        stop = np.maximum(account.stop, broker)
        held = account.side != 0
        stopped = held & (worst <= stop)
        taken = held & (best >= account.take) & ~stopped
        if not (stopped | taken).any():
            return
        y = np.where(stopped, np.minimum(stop, opened), np.maximum(account.take, opened))
        reason = np.where(taken, TAKE_PROFIT, np.where(broker > account.stop, STOP_OUT, STOP_LOSS))
        who = np.flatnonzero(stopped | taken)
        self._close(who, y, t, reason[who], moment)

    def _order(self, t: int, bid: int, orders: Orders) -> None:
        """Step 3: fill orders at the open."""
        account, rules = self.account, self.rules
        act = ~orders.keep
        y = account.seen(bid, rules.spread)
        self._close(
            np.flatnonzero(act & (account.side != 0) & (account.side != orders.side)), y, t, DECISION, AT_OPEN
        )
        act &= orders.side != 0
        less = np.flatnonzero(act & (account.volume > orders.steps))
        if len(less):
            account.reduce(less, account.volume[less] - orders.steps[less], y[less], rules)
        entry = np.where(orders.side > 0, bid + rules.spread, -bid)
        more = act & (account.volume < orders.steps)
        if more.any():
            self._add(t, bid, np.flatnonzero(more), orders, entry)
        held = act & (account.side != 0)  # an order may have been refused
        stop = np.where(orders.sl > 0, entry - orders.sl, -FAR)
        account.stop = np.where(held, np.maximum(account.stop, stop), account.stop)
        take = np.where(orders.tp > 0, entry + orders.tp, FAR)
        account.take = np.where(held, take, account.take)

    def _add(self, t: int, bid: int, who: Index, orders: Orders, entry: Ints) -> None:
        """Add to the positions of ``who``, or open them, where equity after it covers the margin."""
        account, rules = self.account, self.rules
        side, steps = orders.side[who], orders.steps[who] - account.volume[who]
        cost = account.cost[who] + steps * entry[who]
        exit_y = np.where(side > 0, bid, -(bid + rules.spread))
        after = account.balance[who] - rounded(steps, rules.step_commission)
        after += rounded(orders.steps[who] * exit_y - cost, rules.step_point)
        allowed = (after > 0) & (after * 100 >= account.margin(rules, cost) * rules.margin_call)
        account.refused[who[~allowed]] += 1
        some = who[allowed]
        account.add(some, side[allowed], steps[allowed], entry[some], t, rules)

    def _close(self, who: Index, y: Ints, t: int, reason: Ints | int, moment: int) -> None:
        if len(who):
            self.account.reduce(who, self.account.volume[who], y[who], self.rules)
            self.trades.add(self.account, who, t, reason, moment)
            self.account.forget(who)
