"""``neuronet predict``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from neuronet.bars.bars import counted, stamp
from neuronet.cli import console
from neuronet.cli.bar_options import bars_argument, read
from neuronet.cli.given import check_model
from neuronet.cli.options import device_option, json_option
from neuronet.cli.output import check_outputs, print_json
from neuronet.device.find import find_device
from neuronet.train.predict import predict


@click.command()
@click.argument("model", type=click.Path(dir_okay=False, path_type=Path))
@bars_argument
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="CSV file to write; else it is printed."
)
@click.option("--closed-only", is_flag=True, help="Leave out the last bar, which may still be open.")
@device_option
@json_option
def command(
    model: Path,
    bars: Path,
    output: Path | None,
    closed_only: bool,
    device: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Write what the model in the file MODEL says at every bar of BARS, in price units, as CSV.

    The row of a bar uses that bar and those before it only: more bars never change an earlier row.
    forecast_1 is the close of the next bar. With --json only the last row is printed.
    """
    check_outputs([output], (model, bars))
    check_model(model)
    series = read(bars, options)
    found = predict(model, series, closed_only=closed_only, device=find_device(device))
    if output is not None:
        found.write_csv(output)
    if as_json:
        print_json(
            {
                "rows": len(found),
                "time": stamp(found.time[-1]),
                "close": found.close[-1],
                **{name: values[-1] for name, values in found.columns.items()},
            }
        )
    elif output is None:
        click.echo("".join(found.csv()), nl=False)
    if not console.is_quiet():
        where = "" if output is None else f"{output}: "
        last = stamp(found.time[-1])
        click.echo(
            f"{where}{counted(len(found), 'row')}; the last is said at the close of the bar of {last}",
            err=True,
        )
