"""``neuronet convert``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from neuronet.bars.bars import counted, span, stamp
from neuronet.bars.store import write_bars
from neuronet.cli import console
from neuronet.cli.bar_options import bars_argument, load
from neuronet.cli.options import json_option
from neuronet.cli.output import check_outputs, print_json


@click.command()
@bars_argument
@click.argument("output", type=click.Path(path_type=Path))
@json_option
def command(bars: Path, output: Path, as_json: bool, **options: Any) -> None:
    """Read the file BARS once and write its bars to OUTPUT, such as bars.h5, which every command reads fast.

    OUTPUT keeps how the bars were read: options of reading are given here, not later.
    """
    check_outputs([output], [bars])
    loaded, findings = load(bars, options)
    write_bars(output, loaded, findings)
    ends = {"first": stamp(loaded.time[0]), "last": stamp(loaded.time[-1])}
    if as_json:
        print_json({"output": str(output), "bars": len(loaded), "step_ns": loaded.step, **ends})
    elif not console.is_quiet():
        click.echo(
            f"{output}: {counted(len(loaded), 'bar')} of {span(loaded.step)}, {ends['first']} to "
            f"{ends['last']}",
            err=True,
        )
