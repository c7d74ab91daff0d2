"""``neuronet train``."""

from __future__ import annotations

import dataclasses
from functools import partial
from pathlib import Path
from typing import Any, get_type_hints

import click

from neuronet.bars.bars import counted, stamp
from neuronet.cli import train_channels
from neuronet.cli.bar_options import read, reading_options
from neuronet.cli.epochs import EpochView, resume_command
from neuronet.cli.interrupt import Interrupt
from neuronet.cli.options import device_option, json_option
from neuronet.cli.output import check_outputs, print_json
from neuronet.device.find import find_device
from neuronet.net import CNet
from neuronet.train.config import effective, read_config, to_toml
from neuronet.train.pipeline import declared_net, stored_settings, train
from neuronet.train.prepare import Prepared, prepare
from neuronet.train.report import report
from neuronet.train.settings import Settings


def _setting_options(function: Any) -> Any:
    """One option for each field of Settings; what is not given is None."""
    kinds = get_type_hints(Settings)
    for field in reversed(dataclasses.fields(Settings)):
        default = ",".join(field.default) if isinstance(field.default, tuple) else field.default
        function = click.option(
            "--" + field.name.replace("_", "-"),
            type={int: int, float: float, float | None: float}.get(kinds[field.name], str),
            metavar={int: "N", float: "X", float | None: "X"}.get(kinds[field.name], "TEXT"),
            envvar=f"NEURONET_{field.name.upper()}",
            help=field.metadata["help"] + ("." if default is None else f". Default: {default}."),
        )(function)
    return function


@click.command()
@click.argument(
    "bars", nargs=-1, required=True, metavar="BARS...", type=click.Path(dir_okay=False, path_type=Path)
)
@reading_options
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(path_type=Path),
    help="Model file to write, such as model.h5.",
)
@_setting_options
@train_channels.channel_options
@click.option("--config", type=click.Path(path_type=Path), metavar="TOML", help="File of a net and settings.")
@click.option("--print-config", is_flag=True, help="Print such a file for these options, and train nothing.")
@click.option("--resume", is_flag=True, help="Go on with the training in the model file.")
@click.option("--force", is_flag=True, help="Resume even with other bars or settings.")
@device_option
@json_option
def command(
    bars: tuple[Path, ...],
    output: Path,
    config: Path | None,
    print_config: bool,
    resume: bool,
    force: bool,
    device: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Train a model on the bars in BARS, and score it beside baselines on bars that it never saw.

    The bars are split by time into a training, a validation and a test part. The model file keeps the epoch
    that is best on the validation part. Ctrl-C stops after the batch and saves; --resume goes on.

    Each option may also be set as a variable, such as NEURONET_EPOCHS=5, or in the file of --config.

    With --model catch it learns what is normal in one or several files of any columns, as channels side by
    side, for 'neuronet anomalies'. It takes --channels, --changes, --missing, --signal and --stride, and
    --history, --epochs, --batch, --lr, --seed, --test and --test-from: by default 96 rows, 8 epochs and 0.001
    for levels, and 32 rows, 24 epochs or more and 0.003 for changes of prices.
    """
    if not print_config:
        check_outputs([output], (*bars, config))
    if train_channels.is_wanted(output, options["model"], resume=resume):
        train_channels.run(bars, output, options, resume=resume, device=device, as_json=as_json)
        return
    train_channels.refuse(bars, options)
    loaded = read(bars[0], options)
    chosen = {name: value for name, value in options.items() if value is not None}
    file = read_config(config) if config else ({}, {})
    if resume:
        file = ({**stored_settings(output), **file[0]}, file[1])
    settings, net = effective(file, chosen)
    if print_config:
        features = len(prepare(loaded, settings).features.names)
        click.echo(to_toml(settings, declared_net(settings, features, net).spec()))
        return
    view = EpochView(settings.epochs)
    with Interrupt() as stop, view.progress:
        result = train(
            loaded,
            output,
            settings,
            net=net,
            device=find_device(device),
            on_start=partial(_started, view),
            on_epoch=view.epoch,
            on_batch=view.batch,
            stop=stop,
            resume=resume,
            force=force,
        )
    if result.state.stopped == "interrupted":
        view.say(
            f"saved {output} after {counted(result.state.epoch, 'epoch')}; go on with:\n  {resume_command()}"
        )
        click.get_current_context().exit(130)
    if as_json:
        print_json(
            {
                "model": str(output),
                "settings": settings.to_dict(),
                "device": result.contract.device,
                "training": result.state.document(),
                "parts": result.contract.parts,
                "evaluations": [one.to_dict() for one in result.evaluations],
            }
        )
        return
    click.echo("\n".join(report(result.evaluations)))
    view.say(f"saved {output}: epoch {result.state.best_epoch} of {result.state.epoch}, seed {settings.seed}")


def _started(view: EpochView, prepared: Prepared, net: CNet) -> None:
    bars, split = prepared.bars, prepared.split
    view.say(
        f"{bars.symbol}: {counted(len(bars), 'bar')} from {stamp(bars.time[0])} to {stamp(bars.time[-1])}, "
        f"{counted(len(prepared.features.names), 'feature')}"
    )
    view.say(
        f"windows: {len(split.train):,} to train, {len(split.validation):,} to validate, "
        f"{len(split.test):,} to test; {net.pool.count:,} parameters on {net.device.name}"
    )
    view.begin()
