"""``neuronet anomalies``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from neuronet.anomaly.alarms import Alarm, alarms_csv
from neuronet.anomaly.metrics import Evaluation, auc_pr, auc_roc, random_control
from neuronet.anomaly.threshold import RATE
from neuronet.bars.bars import counted, stamp
from neuronet.cli import anomalies_plot, console, forecast_plot
from neuronet.cli.bar_options import NAMES, reading_options
from neuronet.cli.given import check_model
from neuronet.cli.options import device_option, json_option
from neuronet.cli.output import check_outputs, print_json, table
from neuronet.device.find import find_device
from neuronet.models.catch import METHODS
from neuronet.storage.atomic import replace_file
from neuronet.train.alarms import Found, find, read_labels, scores_csv


@click.command()
@click.argument("model", type=click.Path(dir_okay=False, path_type=Path))
@click.argument(
    "files", nargs=-1, required=True, metavar="FILE...", type=click.Path(dir_okay=False, path_type=Path)
)
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="CSV file of alarms; else they are printed."
)
@click.option("--scores", type=click.Path(path_type=Path), help="CSV file with a line a row to write.")
@click.option(
    "--plot", type=click.Path(path_type=Path), help='PNG to draw; needs pip install "neuronet[plot]".'
)
@click.option(
    "--rate",
    type=float,
    default=RATE,
    metavar="X",
    help=f"Share of normal rows that may be above the threshold. Default: {RATE}.",
)
@click.option(
    "--method",
    type=click.Choice(list(METHODS)),
    default="pot",
    help="Of the threshold: peaks over a threshold, or a quantile of normal scores. Default: pot.",
)
@click.option(
    "--join",
    type=click.IntRange(0),
    default=0,
    metavar="N",
    help="Alarms with at most so many rows between them are one. Default: 0.",
)
@click.option("--all", "every_row", is_flag=True, help="Also score the rows that training has seen.")
@click.option(
    "--labels",
    metavar="COLUMN|FILE",
    help="1 for anomalous rows, else 0: prints metrics, not alarms; most need no threshold.",
)
@reading_options
@device_option
@json_option
def command(
    model: Path,
    files: tuple[Path, ...],
    output: Path | None,
    scores: Path | None,
    plot: Path | None,
    rate: float,
    method: str,
    join: int,
    every_row: bool,
    labels: str | None,
    device: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Find rows of FILE... in which the channels of the model in the file MODEL are not as they were.

    MODEL is of 'neuronet train --model catch', and the files hold the same channels. The threshold is found
    from the normal rows of its training, for a stated rate of false alarms. Without --all, only rows behind
    those of training are scored. An alarm has its times, its highest score, and the channels that
    raised it. docs/anomalies.md defines scores, thresholds and metrics.
    """
    check_outputs((output, scores, plot), (model, *files))
    check_model(model)
    if options.pop("columns") is not None:
        raise click.UsageError("--columns does not go with channels: the model has its own")
    if plot is not None:
        forecast_plot.require_matplotlib(plot)
    chosen = {name: options[name] for name in NAMES if options.get(name) is not None}
    found = find(
        model,
        files,
        rate=rate,
        method=method,
        join=join,
        every_row=every_row,
        needs_threshold=labels is None or not (output is scores is plot is None),
        device=find_device(device),
        **chosen,
    )
    evaluation, truth = None, None
    if labels is not None:
        texts = {name: chosen[name] for name in ("date_format", "decimal") if name in chosen}
        truth = read_labels(labels, files, found.channels, **texts)
        evaluation = found.evaluate(truth)
    timed = found.channels.timed
    if plot is not None:
        anomalies_plot.draw(plot, found, truth)
    if scores is not None:
        replace_file(scores, map(str.encode, scores_csv(found)))
    if output is not None:
        replace_file(output, map(str.encode, alarms_csv(found.alarms, timed=timed)))
    if as_json:
        print_json(_document(model, files, found, evaluation))
    elif evaluation is not None:
        click.echo("\n".join(_metrics(evaluation, truth)))
    elif output is None:
        click.echo("".join(alarms_csv(found.alarms, timed=timed)), nl=False)
    if not console.is_quiet():
        click.echo("\n".join(_said(found, output)), err=True)


def _said(found: Found, output: Path | None) -> list[str]:
    rows, alarms = len(found.channels), len(found.alarms)
    seen = f", without the {found.left_out:,} up to the end of training" if found.left_out else ""
    where = "" if output is None else f"{output}: "
    above = counted(found.above, "row is", "rows are")
    looked = f"{counted(rows, 'row')} from {found.when(0)} to {found.when(rows - 1)}{seen}"
    if found.threshold is None:
        return [looked, f"{found.why}; so there are no alarms, and no metrics of them"]
    return [
        looked,
        f"threshold {found.threshold.describe()}",
        f"{where}{counted(alarms, 'alarm')}; {above} above the threshold, "
        f"of normal ones about {found.threshold.rate * rows:.3g} would be",
    ]


def _metrics(made: Evaluation, truth: Any) -> list[str]:
    """The metrics, those of random scores beside them where they need no threshold."""
    if made.undefined:
        return [f"metrics are {made.undefined}"]
    chance = {
        name: random_control(metric, truth) for name, metric in (("AUC-ROC", auc_roc), ("AUC-PR", auc_pr))
    }
    values: dict[str, float | None] = {
        "AUC-ROC": made.auc_roc,
        "AUC-PR": made.auc_pr,
        f"VUS-ROC (window {made.vus_window})": made.vus_roc,
        f"VUS-PR (window {made.vus_window})": made.vus_pr,
    }
    if made.f1 is not None:
        values |= {"precision": made.f1.precision, "recall": made.f1.recall, "F1": made.f1.f1}
    if made.oracle is not None:
        values["oracle F1, of the best threshold"] = made.oracle.f1
    if made.affiliation is not None:
        values["affiliation F1"] = made.affiliation.f1
    rows = []
    for name, value in values.items():
        control = chance.get(name)
        told = "" if control is None else f"{control.mean:.4f} ± {control.std:.4f}"
        rows.append((name, "-" if value is None else f"{value:.4f}", told))
    head = (
        f"{counted(made.rows, 'row')}, {made.anomalies:,} of them labelled, in {counted(made.events, 'run')}"
    )
    return [head, table(rows, ("metric", "model", "random scores"))]


def _document(
    model: Path, files: tuple[Path, ...], found: Found, evaluation: Evaluation | None
) -> dict[str, Any]:
    rows, threshold = len(found.channels), found.threshold
    return {
        "model": str(model),
        "files": [str(path) for path in files],
        "channels": list(found.channels.names),
        "rows": rows,
        "left_out": found.left_out,
        "first": found.when(0),
        "last": found.when(rows - 1),
        "threshold": None if threshold is None else threshold.to_dict(),
        "rows_above": None if threshold is None else found.above,
        "expected_above": None if threshold is None else threshold.rate * rows,
        **({} if threshold is not None else {"why": found.why}),
        "alarms": [_alarm(one, timed=found.channels.timed) for one in found.alarms],
        **({} if evaluation is None else {"evaluation": evaluation.to_dict()}),
    }


def _alarm(one: Alarm, *, timed: bool) -> dict[str, Any]:
    start, end, peak = (stamp(t) if timed else t for t in (one.start, one.end, one.peak))
    channels = [{"name": name, "share": share} for name, share in one.channels]
    times = {"start": start, "end": end, "rows": one.rows, "peak": peak}
    return {**times, "peak_score": one.score, "threshold": one.threshold, "channels": channels}
