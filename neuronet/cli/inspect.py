"""``neuronet inspect``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from neuronet.bars import findings
from neuronet.bars.inspect import report_on
from neuronet.cli import console
from neuronet.cli.bar_options import bars_argument, load
from neuronet.cli.options import json_option
from neuronet.cli.output import print_json
from neuronet.train.settings import Settings


@click.command()
@bars_argument
@click.option(
    "--max-gap",
    metavar="SPAN",
    help="Show where longer gaps, as 90min, 36h or 4d, cut the bars; see 'train --max-gap'.",
)
@json_option
def command(bars: Path, max_gap: str | None, as_json: bool, **options: Any) -> None:
    """Show how the file BARS is read: its layout, first and last bar, gaps and faults. Trains nothing."""
    longest = Settings(max_gap=max_gap).max_gap_ns
    with console.held_back(findings.__name__):
        report = report_on(*load(bars, options), max_gap=longest)
    if as_json:
        print_json(report.to_dict())
    else:
        click.echo("\n".join(report.lines()))
