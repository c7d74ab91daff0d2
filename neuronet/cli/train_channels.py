"""``neuronet train --model catch``: its options, and the training of a model of channels."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from neuronet.anomaly.threshold import RATE
from neuronet.bars.bars import counted
from neuronet.cli.bar_options import NAMES
from neuronet.cli.epochs import EpochView, resume_command
from neuronet.cli.interrupt import Interrupt
from neuronet.cli.output import print_json, table
from neuronet.device.find import find_device
from neuronet.net import CNet
from neuronet.series.channels import Channels
from neuronet.series.read_channels import CHANGES, MISSING
from neuronet.train.anomaly import RATES, AnomalyResult, is_anomaly_file, stored_settings, train_anomaly
from neuronet.train.channels_contract import SIGNALS, ChannelSettings

MODEL = "catch"
OWN = ("channels", "changes", "missing", "signal", "stride")  # options of this model alone
FIELDS = [field.name for field in dataclasses.fields(ChannelSettings)]
GENERAL = ("model", "output", "resume", "device", "as_json")
COLUMNS = "columns"  # of bars, by role; channels are named by --channels


def channel_options(function: Any) -> Any:
    """The options that only this model takes; what is not given is None."""
    fields = {field.name: field for field in dataclasses.fields(ChannelSettings)}
    kinds: dict[str, Any] = {
        "changes": click.Choice(CHANGES),
        "missing": click.Choice(MISSING),
        "signal": click.Choice(SIGNALS),
        "stride": click.IntRange(1),
    }
    shown = {"channels": "LIST", "stride": "N"}
    for name in reversed(OWN):
        default = fields[name].default
        said = "" if default is None else f" Default: {default}."
        function = click.option(
            f"--{name}",
            type=kinds.get(name, str),
            metavar=shown.get(name),
            help=f"catch: {fields[name].metadata['help']}.{said}",
        )(function)
    return function


def is_wanted(output: Path, model: str | None, *, resume: bool) -> bool:
    """Whether a model of channels is to be trained: by its name, or by the file to resume."""
    return model == MODEL or (resume and model is None and output.exists() and is_anomaly_file(output))


def refuse(files: tuple[Path, ...], options: dict[str, Any]) -> None:
    """UsageError for what only this model takes; these options are taken out of ``options``."""
    if given := [name for name in OWN if options.pop(name) is not None]:
        raise click.UsageError(f"--{given[0]} is for --model {MODEL}")
    if len(files) > 1:
        raise click.UsageError(f"got {len(files)} files; several are for --model {MODEL}")


def run(
    files: tuple[Path, ...],
    output: Path,
    options: dict[str, Any],
    *,
    resume: bool,
    device: str | None,
    as_json: bool,
) -> None:
    """The command, with the options as click gives them."""
    _refuse_others()
    reading = {name: options[name] for name in NAMES if name != COLUMNS and options[name] is not None}
    given = {name: options[name] for name in FIELDS if options[name] is not None}
    settings = ChannelSettings(**given)
    if resume:
        settings = _same(output, given)
    channels = settings.read(files, settings.channels, **reading)
    settings = settings.resolved(channels)
    view = EpochView(settings.epochs or 0)
    for note in channels.notes:
        view.say(note)

    def start(net: CNet) -> None:
        _started(view, channels, net)

    with Interrupt() as stop, view.progress:
        result = train_anomaly(
            channels,
            output,
            settings,
            reading=reading,
            device=find_device(device),
            resume=resume,
            on_start=start,
            on_epoch=view.epoch,
            on_batch=view.batch,
            stop=stop,
        )
    state = result.state
    if state.stopped == "interrupted":
        view.say(f"saved {output} after {counted(state.epoch, 'epoch')}; go on with:\n  {resume_command()}")
        click.get_current_context().exit(130)
    if as_json:
        print_json(_document(output, result))
        return
    click.echo("\n".join(_report(result)))
    view.say(f"saved {output}: epoch {state.best_epoch} of {state.epoch}, seed {settings.seed}")


def _refuse_others() -> None:
    """UsageError for an option that was given and does not apply. Variables may be meant for other models."""
    context = click.get_current_context()
    takes = {*FIELDS, *NAMES, *GENERAL} - {COLUMNS}
    for option in context.command.params:
        name = option.name or ""
        given = context.get_parameter_source(name) is ParameterSource.COMMANDLINE
        if given and isinstance(option, click.Option) and option.expose_value and name not in takes:
            fix = "; name channels with --channels" if name == COLUMNS else ""
            raise click.UsageError(f"{option.opts[0]} does not go with --model {MODEL}{fix}")


def _same(output: Path, given: dict[str, Any]) -> ChannelSettings:
    """The settings of the training to go on with. UsageError when options say otherwise."""
    settings = stored_settings(output)
    asked = {**settings.to_dict(), **given}
    now = ChannelSettings.from_dict(asked)
    if other := [name for name in FIELDS if getattr(now, name) != getattr(settings, name)]:
        names = ", ".join("--" + name.replace("_", "-") for name in other)
        raise click.UsageError(f"--resume takes the settings from {output}: leave out {names}")
    return settings


def _started(view: EpochView, channels: Channels, net: CNet) -> None:
    last = len(channels) - 1
    view.say(
        f"{counted(len(channels), 'row')} from {channels.when(0)} to {channels.when(last)}, "
        f"{counted(len(channels.names), 'channel')}: {', '.join(channels.names)}"
    )
    view.say(f"{net.pool.count:,} parameters on {net.device.name}, windows of {net.input_shape[0]} rows")
    view.begin()


def _report(result: AnomalyResult) -> list[str]:
    header = ["part", "rows", "median score", "highest", *(f"above 1 in {1 / rate:,.0f}" for rate in RATES)]
    rows = [
        (
            one.name,
            one.rows,
            one.median,
            one.largest,
            *("-" if share is None else f"{share:.2%}" for share in one.above),
        )
        for one in result.parts
    ]
    lines = [table(rows, header)]
    threshold = result.thresholds[RATES.index(RATE)]
    return [*lines, result.why if threshold is None else f"threshold {threshold.describe()}"]


def _document(output: Path, result: AnomalyResult) -> dict[str, Any]:
    return {
        "model": str(output),
        "settings": result.contract.settings.to_dict(),
        "channels": list(result.contract.names),
        "device": result.contract.device,
        "training": result.state.document(),
        "thresholds": [None if one is None else one.to_dict() for one in result.thresholds],
        "parts": [dataclasses.asdict(one) for one in result.parts],
    }
