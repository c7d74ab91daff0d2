"""``neuronet backtest``."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from neuronet.bars.bars import Bars, counted, stamp
from neuronet.cli import backtest_plot, console, forecast_plot
from neuronet.cli.bar_options import read, reading_options
from neuronet.cli.broker_options import BROKER, broker_options, chosen_of, rules_of
from neuronet.cli.given import check_model
from neuronet.cli.options import device_option, json_option
from neuronet.cli.output import check_outputs, print_json
from neuronet.device.find import find_device
from neuronet.market.actors import actions_of
from neuronet.market.backtest import Backtest, backtest, buy_and_hold, default_max_gap
from neuronet.market.chance import Chance, chance
from neuronet.market.lots import Rotated, backtest_lots, hold_lots, profits_of
from neuronet.market.orders import Actions
from neuronet.market.report import Report, drawdown, report
from neuronet.market.rules import Rules
from neuronet.market.signals import read_positions
from neuronet.series import table
from neuronet.storage.atomic import replace_file
from neuronet.train.collect import model_actions
from neuronet.train.positions import date_ns, positions_of, row_from, unseen_from
from neuronet.train.settings import Settings

log = logging.getLogger(__name__)

LINES_AT_ONCE = 100_000


@click.command()
@click.argument("model_and_bars", nargs=-1, required=True, metavar="[MODEL] BARS", type=click.Path())
@click.option(
    "--signals", type=click.Path(path_type=Path), help="CSV of time and position, instead of a model."
)
@click.option("--spread", type=float, metavar="PRICE", help="Ask - bid, in units of price, as in 0.0001.")
@click.option("--commission", type=float, metavar="SHARE", help="Of the value of each fill, as in 0.0001.")
@click.option("--slippage", type=float, metavar="PRICE", help="Of each fill, in units of price.")
@click.option(
    "--max-gap", metavar="SPAN", help="Hold nothing over longer gaps. Default: 4d, or two bars if longer."
)
@click.option("--carry-gaps", is_flag=True, help="Hold over gaps of any length.")
@click.option(
    "--from",
    "since",
    metavar="DATE",
    help="Trade from this date on. Default: the bars that the model's training never saw.",
)
@click.option(
    "--lots",
    type=float,
    help="Trade a broker's lots, this many for a position of 1: with the model's stops, margin and swap.",
)
@click.option("--cash", type=float, default=10_000.0, help="Start capital. Default: 10000.")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="CSV file of trades to write.")
@click.option("--equity", type=click.Path(path_type=Path), help="CSV file with a line a bar to write.")
@click.option(
    "--plot", type=click.Path(path_type=Path), help='PNG to draw; needs pip install "neuronet[plot]".'
)
@broker_options
@reading_options
@device_option
@json_option
def command(
    model_and_bars: tuple[str, ...],
    signals: Path | None,
    spread: float | None,
    commission: float | None,
    slippage: float | None,
    max_gap: str | None,
    carry_gaps: bool,
    since: str | None,
    lots: float | None,
    cash: float,
    output: Path | None,
    equity: Path | None,
    plot: Path | None,
    device: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Trade what the model in the file MODEL says at each bar of BARS, and print what was earned after costs.

    A position decided at a bar's close is taken at the next bar's open. With --signals FILE instead of MODEL
    the positions, from -1 to 1, come from a file. docs/backtest.md defines every rule and number.

    With --lots a broker is simulated: --point to --stops-level are for that, see docs/simulator.md.
    """
    _check_rules(lots, (commission, slippage, max_gap, carry_gaps or None), options)
    if len(model_and_bars) != (wanted := 1 if signals else 2):
        usage = "BARS alone with --signals" if signals else "MODEL BARS, or BARS with --signals FILE"
        raise click.UsageError(f"got {counted(len(model_and_bars), 'file')}, need {wanted}: give {usage}")
    check_outputs((output, equity, plot), (*model_and_bars, signals))
    if plot is not None:
        forecast_plot.require_matplotlib(plot)
    if signals is None:
        check_model(Path(model_and_bars[0]))
    longest = Settings(max_gap=max_gap).max_gap_ns
    texts = {name: options[name] for name in ("date_format", "decimal") if options[name] is not None}
    bars = read(Path(model_and_bars[-1]), options)
    if signals is not None:
        begins = int(bars.time[0]) if since is None else date_ns(since)
    else:
        begins = unseen_from(model_and_bars[0], since)
    row = row_from(bars, begins)
    where = find_device(device) if signals is None else None

    def positions() -> NDArray[np.float64]:
        if signals is None:
            return positions_of(model_and_bars[0], bars, where)[row:]
        with console.held_back(table.__name__):  # positions need not be regular
            return read_positions(signals, bars, **texts)[row:]

    rules: dict[str, Any]
    if lots is not None:
        broker = rules_of(bars, spread, options)
        if signals is None:
            actions = model_actions(model_and_bars[0], bars, broker, lots=lots, device=where)[row:]
        else:
            broker.check_lots(lots)
            actions = actions_of(positions(), broker, lots=lots)
        costly = bool(broker.spread or broker.commission) or spread is not None
        strategy, hold, random = _broker(bars[row:], actions, broker, lots, cash)
        rules = {"lots": lots, "rules": broker.to_dict()}
    else:
        costs = {"spread": spread or 0.0, "commission": commission or 0.0, "slippage": slippage or 0.0}
        costly = not (spread is None and commission is None and slippage is None)
        gaps = {"max_gap": longest or default_max_gap(bars[row:]), "carry_gaps": carry_gaps}
        strategy, hold, random = _shares(bars[row:], positions(), costs, gaps, cash)
        rules = {**costs, "max_gap_ns": gaps["max_gap"], "carry_gaps": carry_gaps}
    if not costly:
        fees = "--commission, --slippage" if lots is None else "--commission-lot"
        log.warning("no costs are counted, so this cannot be earned: give --spread, %s", fees)
    if output is not None:
        replace_file(output, map(str.encode, strategy.trades.csv()))
    if equity is not None:
        replace_file(equity, map(str.encode, _equity_csv(strategy, hold)))
    if plot is not None:
        backtest_plot.draw(plot, strategy, hold)
    tests = {"strategy": strategy, "buy and hold": hold, "random": random.median}
    columns = {name: Report.of(test) for name, test in tests.items()}
    if as_json:
        found = {name.replace(" ", "_"): one.to_dict() for name, one in columns.items()}
        chances = {"random_agents": random.agents, "random_beaten": random.beaten}
        print_json({"symbol": bars.symbol} | rules | found | chances)
    else:
        stakes = {} if lots is None else {"stakes": "trades are lots, nothing is compounded"}
        notes = [random.note()]
        if not random.agents:
            del columns["random"]
        click.echo("\n".join(report(columns, symbol=bars.symbol, step=bars.step, notes=notes, **stakes)))


def _check_rules(lots: float | None, shares: tuple[Any, ...], options: dict[str, Any]) -> None:
    """Options of the one kind of backtest do not go with the other."""
    if lots is None:
        given = chosen_of(options)
        if given:
            raise click.UsageError(f"{given[0]} is for --lots, which simulates a broker")
        for name in BROKER:
            options.pop(name)
    elif any(one is not None for one in shares):
        raise click.UsageError(
            "--commission, --slippage, --max-gap and --carry-gaps do not go with --lots: a broker takes "
            "--commission-lot and holds over gaps"
        )


def _shares(
    bars: Bars, positions: NDArray[np.float64], costs: dict[str, Any], gaps: dict[str, Any], cash: float
) -> tuple[Backtest, Backtest, Chance]:
    """Shares of the capital: the strategy, buy and hold, random agents."""
    strategy = backtest(bars, positions, **costs, **gaps, cash=cash)

    def run(late: int) -> Backtest:
        return backtest(bars, np.roll(positions, late), **costs, **gaps, cash=cash, warn=False)

    return strategy, buy_and_hold(bars, **costs, cash=cash), chance(strategy, run)


def _broker(
    bars: Bars, actions: Actions, rules: Rules, lots: float, cash: float
) -> tuple[Backtest, Backtest, Chance]:
    """Lots of a broker: the strategy, buy and hold, random agents."""
    strategy = backtest_lots(bars, actions, rules, cash=cash)

    def run(late: int) -> Backtest:
        return backtest_lots(bars, np.roll(actions, late, axis=0), rules, cash=cash)

    def profits(late: list[int]) -> list[float]:
        return profits_of(bars, Rotated(actions, late), rules, cash=cash)

    return strategy, hold_lots(bars, lots, rules, cash=cash), chance(strategy, run, profits=profits)


def _equity_csv(strategy: Backtest, hold: Backtest) -> Iterator[str]:
    """A header and a line a bar, in blocks of lines; numbers have 10 digits."""
    yield "time,close,units,equity,drawdown,buy_and_hold\n"
    values = (strategy.bars.close, strategy.units, strategy.equity)
    columns = [*values, drawdown(strategy.equity), hold.equity]
    for begin in range(0, len(strategy.bars), LINES_AT_ONCE):
        part = slice(begin, begin + LINES_AT_ONCE)
        clock = map(stamp, strategy.bars.time[part])
        cells = zip(clock, *(np.char.mod("%.10g", column[part]) for column in columns), strict=True)
        yield "".join(",".join(row) + "\n" for row in cells)
