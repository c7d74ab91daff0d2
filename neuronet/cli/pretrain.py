"""``neuronet pretrain``."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

import click

from neuronet.bars.bars import counted
from neuronet.cli.epochs import EpochView, resume_command
from neuronet.cli.interrupt import Interrupt
from neuronet.cli.options import device_option, json_option
from neuronet.cli.output import print_json, table
from neuronet.device.find import find_device
from neuronet.models.mamba4cast import Mamba4Cast
from neuronet.net import CNet
from neuronet.train.pretrain import Pretraining, pretrain, stored_settings

MODEL = {
    "context": "values of a series that the model sees at most",
    "horizon": "steps ahead that it is trained for",
    "width": "values of a token",
    "depth": "stages of convolutions and a Mamba block",
    "heads": "heads of the Mamba layers",
    "state_size": "state of the Mamba layers",
}
TRAINING = {
    "epochs": "of new series each",
    "samples": "series an epoch",
    "batch": "series a step",
    "lr": "highest learning rate; it rises to it and falls along a cosine",
    "seed": "of weights and series: the same seed gives the same model",
}


def _options(function: Any) -> Any:
    """One option for each of the above; what is not given is None."""
    for cls, texts in ((Pretraining, TRAINING), (Mamba4Cast, MODEL)):
        defaults = {f.name: f.default for f in fields(cls)}
        for name, text in reversed(texts.items()):
            default = defaults[name]
            function = click.option(
                "--" + name.replace("_", "-"),
                type=type(default),
                metavar="X" if isinstance(default, float) else "N",
                help=f"{text[0].upper()}{text[1:]}. Default: {default}.",
            )(function)
    return function


@click.command()
@click.argument("model", type=click.Choice(["mamba4cast"]))
@click.option(
    "-o", "--output", required=True, type=click.Path(path_type=Path), help="File of weights to write."
)
@_options
@click.option(
    "--processes", type=click.IntRange(1), default=1, metavar="N", help="That draw series. Default: 1."
)
@click.option("--resume", is_flag=True, help="Go on with the training in the file; its settings count.")
@device_option
@json_option
def command(
    model: str,
    output: Path,
    processes: int,
    resume: bool,
    device: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Train MODEL on synthetic series, for 'neuronet forecast' on series that it never saw.

    The series come from Gaussian processes and from calendar seasons (the prior of Mamba4Cast), new ones in
    every epoch. The file holds the best weights after each epoch. Ctrl-C stops and saves; --resume goes on.
    """
    given = {name: value for name, value in options.items() if value is not None}
    own = Mamba4Cast(**{name: value for name, value in given.items() if name in MODEL})
    settings = Pretraining(**{name: value for name, value in given.items() if name in TRAINING})
    stored = stored_settings(output) if resume else settings.to_dict()
    if resume and (other := [name for name, value in given.items() if value != stored[name]]):
        names = ", ".join("--" + name.replace("_", "-") for name in other)
        raise click.UsageError(f"--resume takes the settings from {output}: leave out {names}")
    view = EpochView(stored["epochs"])

    def start(net: CNet) -> None:
        view.say(f"{net.pool.count:,} parameters on {net.device.name}, series of {net.input_shape[0]} steps")
        view.begin()

    with Interrupt() as stop, view.progress:
        result = pretrain(
            output,
            own,
            settings,
            device=find_device(device),
            processes=processes,
            resume=resume,
            on_start=start,
            on_epoch=view.epoch,
            on_batch=view.batch,
            stop=stop,
        )
    state = result.state
    if result.score is None or result.naive is None:
        view.say(f"saved {output} after {counted(state.epoch, 'epoch')}; go on with:\n  {resume_command()}")
        click.get_current_context().exit(130)
    scores = {"model": result.score, "seasonal naive": result.naive}
    mase = {who: {"median": median, "mean": mean} for who, (median, mean) in scores.items()}
    if as_json:
        document = {"spec": result.model.spec(), "training": state.document(), "mase": mase}
        print_json({"model": str(output)} | document)
        return
    click.echo("MASE on synthetic series that the training never saw")
    click.echo(table([(who, *pair) for who, pair in scores.items()], ("", "median", "mean")))
    view.say(f"saved {output}: epoch {state.best_epoch} of {state.epoch}")
