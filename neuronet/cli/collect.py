"""``neuronet collect``."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from neuronet.bars.bars import Bars
from neuronet.cli import console
from neuronet.cli.bar_options import bars_argument, read
from neuronet.cli.broker_options import broker_options, rules_of
from neuronet.cli.given import check_experience, check_model
from neuronet.cli.options import device_option, json_option
from neuronet.cli.output import Progress, check_outputs, print_json, table
from neuronet.device.find import find_device
from neuronet.market.actors import Fixed
from neuronet.market.collect import collect, random_blocks
from neuronet.market.deals import deal_actions, of_symbol, read_deals
from neuronet.market.experience import CAP, Experience
from neuronet.market.experience_file import read_experience
from neuronet.market.orders import Actions
from neuronet.market.rules import Rules
from neuronet.market.simulator import Actor
from neuronet.train.collect import model_actions

log = logging.getLogger(__name__)

AGENTS = 100
NAMES = {name: f"{name} profit of the new" for name in ("best", "median", "worst")}


@click.command()
@bars_argument
@click.option(
    "-o", "--output", required=True, type=click.Path(path_type=Path), help="Experience file to write."
)
@click.option("--actor", type=click.Path(path_type=Path), help="Model file that decides.")
@click.option("--random", "agents", type=int, metavar="N", help=f"Random agents. Default: {AGENTS}.")
@click.option("--signals", type=click.Path(path_type=Path), help="MetaTrader's history of deals to repeat.")
@click.option("--signals-symbol", metavar="NAME", help="Symbol in it. Default: that of the bars.")
@click.option("--append", is_flag=True, help="Add to the trajectories that the file has.")
@click.option("--cap", type=int, help=f"Trajectories to keep: the most profitable. Default: {CAP}.")
@click.option("--min-profit", type=float, metavar="MONEY", help="Leave out agents that earned less.")
@click.option("--lots", type=float, default=0.1, help="Largest volume of model and agents. Default: 0.1.")
@click.option("--cash", type=float, default=10_000.0, help="Start capital of each agent. Default: 10000.")
@click.option("--spread", type=float, metavar="PRICE", help="Ask - bid, in units of price, as in 0.0001.")
@click.option("--seed", type=int, default=0, help="Of random agents. Default: 0.")
@broker_options
@device_option
@json_option
def command(
    bars: Path,
    output: Path,
    actor: Path | None,
    agents: int | None,
    signals: Path | None,
    signals_symbol: str | None,
    append: bool,
    cap: int | None,
    min_profit: float | None,
    lots: float,
    cash: float,
    spread: float | None,
    seed: int,
    device: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Let a model, random agents or somebody's deals trade BARS, and keep what they lived through.

    Decisions at a bar's close are filled at the next open, with take-profit, stop-loss, margin and swap.
    docs/simulator.md defines every rule and the file.
    """
    if sum(given is not None for given in (actor, agents, signals)) > 1:
        raise click.UsageError("--actor, --random and --signals exclude each other: give one")
    if agents is not None and agents < 1:
        raise click.UsageError(f"{agents} agents cannot trade: give --random 1 or more")
    if signals_symbol is not None and signals is None:
        raise click.UsageError("--signals-symbol is for --signals")
    check_outputs([output], (bars, actor, signals))
    texts = {name: options[name] for name in ("date_format", "decimal")}
    if actor is not None:
        check_model(actor)
    experience = Experience(cap=CAP if cap is None else cap)
    if append and output.exists():
        check_experience(output)
        experience = read_experience(output, cap=cap)
    series = read(bars, options)
    rules = rules_of(series, spread, options)
    count = 1 if actor or signals else AGENTS if agents is None else agents
    actors: Iterable[tuple[Actor, int]]
    if actor is not None:
        actors = [(Fixed(model_actions(actor, series, rules, lots=lots, device=find_device(device))), 1)]
    elif signals is not None:
        actors = [(Fixed(_signals(signals, signals_symbol, series, rules, texts)), 1)]
    else:
        actors = random_blocks(count, lots=lots, seed=seed)
    if not rules.spread and not rules.commission:
        log.warning("no costs are counted, so this cannot be earned: give --spread, --commission-lot")
    with Progress("agents") as progress:
        found = collect(
            series, rules, actors, experience, output, cash=cash, min_profit=min_profit,
            on_progress=lambda done: progress.show(done, count),
        )  # fmt: skip
    result = {
        "trajectories": len(experience),
        "states": experience.states,
        "bytes": output.stat().st_size,
        **asdict(found),
    }
    if as_json:
        print_json({"rules": rules.to_dict(), **result})
    else:
        click.echo(
            table(
                ([NAMES.get(name, name.replace("_", " ")), _cell(value)] for name, value in result.items()),
                ("collected", ""),
            )
        )
    if not console.is_quiet():
        click.echo(f"{output}: {len(experience):,} trajectories", err=True)


def _signals(
    path: Path, symbol: str | None, bars: Bars, rules: Rules, texts: dict[str, str | None]
) -> Actions:
    deals = read_deals(path, **texts)
    own = of_symbol(deals, symbol or bars.symbol, where=path.name, asked=symbol is not None)
    return deal_actions(own, bars, rules, where=path.name)


def _cell(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:+,.2f}"
