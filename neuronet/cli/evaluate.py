"""``neuronet evaluate``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from neuronet.cli.bar_options import bars_argument, read
from neuronet.cli.given import check_model
from neuronet.cli.options import device_option, json_option
from neuronet.cli.output import print_json
from neuronet.device.find import find_device
from neuronet.train.evaluate import evaluate
from neuronet.train.report import report


@click.command()
@click.argument("model", type=click.Path(dir_okay=False, path_type=Path))
@bars_argument
@click.option("--test-from", metavar="DATE", help="Score from this date on, as in 2024-01-31.")
@device_option
@json_option
def command(
    model: Path, bars: Path, test_from: str | None, device: str | None, as_json: bool, **options: Any
) -> None:
    """Score the model in the file MODEL on the bars in BARS, beside the baselines.

    Without --test-from only bars after those of training and validation count.
    """
    check_model(model)
    series = read(bars, options)
    result = evaluate(model, series, test_from=test_from, device=find_device(device))
    if as_json:
        print_json(result.to_dict())
    else:
        click.echo("\n".join(report([result])))
