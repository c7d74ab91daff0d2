"""``neuronet explain``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from neuronet.bars.bars import stamp
from neuronet.cli import explain_plot, forecast_plot
from neuronet.cli.bar_options import bars_argument, read
from neuronet.cli.given import check_model
from neuronet.cli.options import device_option, json_option
from neuronet.cli.output import check_outputs, print_json, table
from neuronet.device.find import find_device
from neuronet.train.explain import Explanation, explain, heaviest, in_effect, mean_age


@click.command()
@click.argument("model", type=click.Path(dir_okay=False, path_type=Path))
@bars_argument
@click.option(
    "--at", metavar="TIME", help="When the bar opens at whose close the model answers. Default: the last."
)
@click.option(
    "--top", type=click.IntRange(1), default=3, metavar="N", help="Bars to show of each head. Default: 3."
)
@click.option(
    "--plot", type=click.Path(path_type=Path), help='PNG to draw; needs pip install "neuronet[plot]".'
)
@device_option
@json_option
def command(
    model: Path,
    bars: Path,
    at: str | None,
    top: int,
    plot: Path | None,
    device: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Show which past bars in BARS an answer of the model in the file MODEL weighed most.

    The model is one of 'neuronet train --model stca'. Each of its scenarios asks the history in every layer
    with several heads; the weights of a head are 1 in sum. They say where it looked, not whether that helped.
    """
    check_outputs((plot,), (model, bars))
    if plot is not None:
        forecast_plot.require_matplotlib(plot)
    check_model(model)
    series = read(bars, options)
    found = explain(model, series, at, device=find_device(device))
    if plot is not None:
        explain_plot.draw(plot, found)
    if as_json:
        print_json({"model": str(model), "symbol": found.bars.symbol, **found.to_dict(top)})
    else:
        click.echo("\n".join(_report(found, top)))


def _report(found: Explanation, top: int) -> list[str]:
    time = found.bars.time
    rows = [
        (
            layer,
            scenario,
            head,
            round(in_effect(weights)),
            round(mean_age(weights)),
            ", ".join(f"{stamp(time[i])} ({weights[i]:.1%})" for i in heaviest(weights, top)),
        )
        for layer, scenario, head, weights in found.heads()
    ]
    return [
        f"{found.bars.symbol or 'bars'}: the answer at the close of {stamp(time[-1])}, "
        f"from {len(time):,} bars since {stamp(time[0])}",
        table(rows, ("layer", "scenario", "head", "bars in effect", "mean age", "heaviest bars")),
        f"bars in effect: exp of the entropy, {len(time):,} when all weigh alike; mean age: in bars",
        f"blend: the answer is {found.blend:.2f} of the net"
        + ("" if found.blend else ": these weights change nothing, for its training found nothing"),
    ]
