"""``neuronet inspect``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from neuronet.bars.inspect import report_on
from neuronet.cli.bar_options import bars_argument, load
from neuronet.cli.options import json_option
from neuronet.cli.output import print_json


@click.command()
@bars_argument
@json_option
def command(bars: Path, as_json: bool, **options: Any) -> None:
    """Show how the file BARS is read: its layout, first and last bar, gaps and faults. Trains nothing."""
    report = report_on(*load(bars, options))
    if as_json:
        print_json(report.to_dict())
    else:
        click.echo("\n".join(report.lines()))
