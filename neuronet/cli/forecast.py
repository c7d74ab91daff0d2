"""``neuronet forecast``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from neuronet.bars.bars import counted, stamp
from neuronet.cli import console, forecast_plot
from neuronet.cli.bar_options import NAMES, reading_options
from neuronet.cli.given import check_model
from neuronet.cli.options import device_option, json_option
from neuronet.cli.output import check_outputs, print_json
from neuronet.device.find import find_device
from neuronet.errors import DataError
from neuronet.models.mamba4cast import Mamba4Cast
from neuronet.series.frequency import Frequency, NoFrequencyError
from neuronet.series.table import read_series
from neuronet.storage.atomic import replace_file
from neuronet.train.forecast import Forecast, csv_lines, forecast_series


def _levels(_ctx: click.Context, _option: click.Parameter, text: str) -> tuple[float, ...]:
    try:
        levels = tuple(float(part) for part in text.split(",") if part.strip())
    except ValueError:
        raise click.BadParameter(f"{text!r}: write numbers with commas, as in 0.1,0.9") from None
    if len({f"{level:g}" for level in levels}) < len(levels):
        raise click.BadParameter(f"{text!r}: each number once; 6 digits count")  # they name the columns
    return levels


@click.command()
@click.argument("model_and_series", nargs=-1, required=True, metavar="[MODEL] SERIES", type=click.Path())
@click.option("--horizon", type=click.IntRange(1), metavar="N", help="Steps ahead. Default: the model's own.")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="CSV file to write; else it is printed."
)
@click.option("--column", metavar="NAME", help="Only this column, or series of a .tsf file. Default: all.")
@click.option(
    "--frequency",
    metavar="TEXT",
    help="Step of the series, as in hourly, '10 min', '1 month'. Default: found from its times.",
)
@click.option(
    "--quantiles",
    default="0.1,0.9",
    callback=_levels,
    metavar="LIST",
    help="Beside the median. Default: 0.1,0.9.",
)
@click.option(
    "--plot", type=click.Path(path_type=Path), help='PNG to draw; needs pip install "neuronet[plot]".'
)
@reading_options
@device_option
@json_option
def command(
    model_and_series: tuple[str, ...],
    horizon: int | None,
    output: Path | None,
    column: str | None,
    frequency: str | None,
    quantiles: tuple[float, ...],
    plot: Path | None,
    device: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Forecast the series in the file SERIES without training on it.

    SERIES is a CSV with a column of times and one or more of values, a file of bars, whose closes are taken,
    or a .tsf file. MODEL is a file of 'neuronet pretrain'; without it the weights that come with neuronet are
    used. Each line says the median and its quantiles in the series' own unit.
    """
    if len(model_and_series) > 2:
        raise click.UsageError(f"got {len(model_and_series)} files: give [MODEL] SERIES")
    check_outputs((output, plot), model_and_series)
    if len(model_and_series) == 2:
        check_model(Path(model_and_series[0]))
    if plot is not None:
        forecast_plot.require_matplotlib(plot)
    chosen = {name: value for name, value in options.items() if name in NAMES and value is not None}
    step = None if frequency is None else Frequency.parse(frequency)
    try:
        series = read_series(model_and_series[-1], column, frequency=step, **chosen)
    except NoFrequencyError as error:
        fix = f"{error.fix}, or name the step with --frequency"
        raise DataError(error.what, where=error.where, fix=fix) from None
    opened = find_device(device)
    model = (
        Mamba4Cast.load(model_and_series[0], opened)
        if len(model_and_series) == 2
        else Mamba4Cast.shipped(opened)
    )
    found = forecast_series(model, series, horizon or model.horizon, quantiles)
    if plot is not None:
        forecast_plot.draw(plot, found)
    if output is not None:
        replace_file(output, map(str.encode, csv_lines(found)))
    if as_json:
        print_json([_document(one) for one in found])
    elif output is None:
        click.echo("".join(csv_lines(found)), nl=False)
    if not console.is_quiet():
        where = "" if output is None else f"{output}: "
        many = counted(len(found), "series", "series")
        click.echo(f"{where}{many}, {counted(found[0].steps, 'step')} ahead", err=True)


def _document(one: Forecast) -> dict[str, Any]:
    return {
        "series": one.series.name,
        "time": [stamp(time) for time in one.times],
        "forecast": one.median,
        "quantiles": {f"{level:g}": one.quantiles[:, i] for i, level in enumerate(one.levels)},
    }
