"""``neuronet online``."""

from __future__ import annotations

import logging
from dataclasses import fields
from pathlib import Path
from typing import Any

import click

from neuronet.bars.bars import counted
from neuronet.cli import console
from neuronet.cli.bar_options import bars_argument, read
from neuronet.cli.broker_options import broker_options, rules_of
from neuronet.cli.epochs import resume_command
from neuronet.cli.given import check_model
from neuronet.cli.interrupt import Interrupt
from neuronet.cli.options import device_option, json_option
from neuronet.cli.output import Progress, check_outputs, print_json, table
from neuronet.device.find import find_device
from neuronet.study.online import OnlineSettings, online

log = logging.getLogger(__name__)


@click.command()
@click.argument("model", type=click.Path(dir_okay=False, path_type=Path))
@bars_argument
@click.option("-o", "--output", required=True, type=click.Path(path_type=Path), help="Model file to write.")
@click.option(
    "--log", "log_csv", type=click.Path(path_type=Path), help="CSV file with a line a bar to write."
)
@click.option("--resume", is_flag=True, help="Go on with the pass in the output; bars may have been added.")
@click.option("--from", "since", metavar="DATE", help="Begin there. Default: at the first bar never seen.")
@click.option("--every", type=int, default=500, help="Bars between two saves. Default: 500.")
@click.option("--lots", type=float, help="Volume of a position of 1. Default: that of the experience.")
@click.option("--cash", type=float, default=10_000.0, help="Start capital. Default: 10000.")
@click.option("--shadows", type=int, default=30, help="Random agents to learn from. Default: 30.")
@click.option("--memory", type=int, default=500, help="Bars back to learn from. Default: 500.")
@click.option("--updates", type=int, default=1, help="Steps of learning a bar. Default: 1.")
@click.option("--seed", type=int, default=0, help="Of random agents and draws. Default: 0.")
@click.option("--spread", type=float, metavar="PRICE", help="Ask - bid, in units of price, as in 0.0001.")
@broker_options
@device_option
@json_option
def command(
    model: Path,
    bars: Path,
    output: Path,
    log_csv: Path | None,
    resume: bool,
    since: str | None,
    every: int,
    spread: float | None,
    device: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Trade BARS once, from the first to the last, with the actor in MODEL, which learns on from bar to bar.

    At each close the forecast and the position are said first; then the nets learn from what has become
    known by then. Ctrl-C saves and ends, --resume goes on. docs/programs.md explains it.
    """
    check_outputs([output, log_csv], [model, bars])
    check_model(model)
    settings = OnlineSettings(**{f.name: options.pop(f.name) for f in fields(OnlineSettings)})
    series = read(bars, options)
    rules = rules_of(series, spread, options)
    if not rules.spread and not rules.commission:
        log.warning("no costs are counted, so this cannot be earned: give --spread, --commission-lot")
    with Interrupt() as stop, Progress("bar") as progress:
        found = online(
            model, series, output, rules, settings, log_file=log_csv, since=since, every=every,
            resume=resume, device=find_device(device), stop=stop, on_progress=progress.show,
        )  # fmt: skip
    summary = found.summary()
    if found.stopped:
        if not console.is_quiet():
            click.echo(
                f"saved {output} after {counted(summary['bars'], 'bar')}; go on with:\n  {resume_command()}",
                err=True,
            )
        click.get_current_context().exit(130)
    if as_json:
        print_json({"model": str(output), "rules": rules.to_dict(), **summary})
        return
    click.echo(table(([name.replace("_", " "), _cell(v)] for name, v in summary.items()), ("online", "")))


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:,.2f}" if abs(value) >= 1.0 else f"{value:.6f}"
    return "-" if value is None else f"{value:,}" if isinstance(value, int) else str(value)
