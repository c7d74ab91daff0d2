"""``neuronet backtest``."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import numpy as np

from neuronet.bars.bars import stamp
from neuronet.cli import backtest_plot, console, forecast_plot
from neuronet.cli.bar_options import read, reading_options
from neuronet.cli.options import device_option, json_option
from neuronet.cli.output import check_outputs, print_json
from neuronet.device.find import find_device
from neuronet.market.backtest import Backtest, backtest, buy_and_hold, default_max_gap
from neuronet.market.report import Report, drawdown, report
from neuronet.market.signals import read_positions
from neuronet.series import table
from neuronet.storage.atomic import replace_file
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
@click.option("--cash", type=float, default=10_000.0, help="Start capital. Default: 10000.")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="CSV file of trades to write.")
@click.option("--equity", type=click.Path(path_type=Path), help="CSV file with a line a bar to write.")
@click.option(
    "--plot", type=click.Path(path_type=Path), help='PNG to draw; needs pip install "neuronet[plot]".'
)
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
    """
    if len(model_and_bars) != (wanted := 1 if signals else 2):
        usage = "BARS alone with --signals" if signals else "MODEL BARS, or BARS with --signals FILE"
        raise click.UsageError(f"got {len(model_and_bars)} files, need {wanted}: give {usage}")
    check_outputs((output, equity, plot), (*model_and_bars, signals))
    if plot is not None:
        forecast_plot.require_matplotlib(plot)
    longest = Settings(max_gap=max_gap).max_gap_ns
    texts = {name: options[name] for name in ("date_format", "decimal") if options[name] is not None}
    bars = read(Path(model_and_bars[-1]), options)
    if signals is not None:
        with console.held_back(table.__name__):  # positions need not be regular
            positions = read_positions(signals, bars, **texts)
        begins = int(bars.time[0]) if since is None else date_ns(since)
    else:
        begins = unseen_from(model_and_bars[0], since)
        positions = positions_of(model_and_bars[0], bars, find_device(device))
    row = row_from(bars, begins)
    bars, positions = bars[row:], positions[row:]
    if spread is None and commission is None and slippage is None:
        log.warning("no costs are counted, so this cannot be earned: give --spread, --commission, --slippage")
    costs = {"spread": spread or 0.0, "commission": commission or 0.0, "slippage": slippage or 0.0}
    rules = {"max_gap": longest or default_max_gap(bars), "carry_gaps": carry_gaps}
    strategy = backtest(bars, positions, **costs, **rules, cash=cash)  # type: ignore[arg-type]
    hold = buy_and_hold(bars, **costs, cash=cash)
    if output is not None:
        replace_file(output, map(str.encode, strategy.trades.csv()))
    if equity is not None:
        replace_file(equity, map(str.encode, _equity_csv(strategy, hold)))
    if plot is not None:
        backtest_plot.draw(plot, strategy, hold)
    columns = {"strategy": Report.of(strategy), "buy and hold": Report.of(hold)}
    if as_json:
        found = {name.replace(" ", "_"): one.to_dict() for name, one in columns.items()}
        print_json(
            {"symbol": bars.symbol, **costs, "max_gap_ns": rules["max_gap"], "carry_gaps": carry_gaps} | found
        )
    else:
        click.echo("\n".join(report(columns, symbol=bars.symbol, step=bars.step)))


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
