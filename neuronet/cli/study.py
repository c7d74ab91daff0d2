"""``neuronet study``."""

from __future__ import annotations

import dataclasses
from functools import partial
from pathlib import Path
from typing import Any, get_type_hints

import click

from neuronet.bars.bars import counted, stamp
from neuronet.cli.epochs import EpochView
from neuronet.cli.given import check_experience
from neuronet.cli.interrupt import Interrupt
from neuronet.cli.options import device_option, json_option
from neuronet.cli.output import check_outputs, print_json, table
from neuronet.device.find import find_device
from neuronet.market.experience_file import read_experience
from neuronet.net import CNet
from neuronet.study.settings import StudySettings
from neuronet.study.study import Look, study
from neuronet.train.prepare import Prepared

COLUMNS = ("net", "gross", "costs", "turnover", "exposure", "t")


def _setting_options(function: Any) -> Any:
    """One option for each field of StudySettings; what is not given is None."""
    kinds = get_type_hints(StudySettings)
    for field in reversed(dataclasses.fields(StudySettings)):
        default = ",".join(field.default) if isinstance(field.default, tuple) else field.default
        text = field.metadata["help"]
        function = click.option(
            "--" + field.name,
            type={int: int, float: float}.get(kinds[field.name], str),
            metavar={int: "N", float: "X"}.get(kinds[field.name], "TEXT"),
            help=f"{text[0].upper()}{text[1:]}. Default: {default}.",
        )(function)
    return function


@click.command()
@click.argument("experience", type=click.Path(dir_okay=False, path_type=Path))
@click.option("-o", "--output", required=True, type=click.Path(path_type=Path), help="Model file to write.")
@_setting_options
@device_option
@json_option
def command(experience: Path, output: Path, device: str | None, as_json: bool, **options: Any) -> None:
    """Learn from EXPERIENCE, which 'neuronet collect' wrote, an actor that says a position at each bar.

    First the encoder learns to forecast the bars; then a critic learns what actions are worth, and the actor
    from the best of the agents' actions, from hindsight and from the critic. The file keeps the actor that
    earned most on the last bars of the experience, which neither has learned from. Ctrl-C ends and saves.
    docs/programs.md explains it.
    """
    check_outputs([output], [experience])
    check_experience(experience)
    settings = StudySettings.from_dict({k: v for k, v in options.items() if v is not None})
    lived = read_experience(experience)
    view = EpochView(settings.epochs)
    with Interrupt() as stop, view.progress:
        studied, looks = study(
            lived, output, settings, device=find_device(device), on_start=partial(_started, view),
            on_epoch=view.epoch, on_batch=view.batch, on_look=partial(_looked, view, settings.steps),
            stop=stop,
        )  # fmt: skip
    best = max(looks, key=lambda one: one.scores["net"])
    result = {"step": best.step, "blend": studied.contract.blend, **best.scores}
    if as_json:
        contract = studied.contract
        print_json({"model": str(output), "settings": settings.to_dict(), "parts": contract.parts, **result})
    else:
        click.echo(table([tuple(best.scores[name] for name in COLUMNS)], COLUMNS))
        click.echo("validation part: sums of log returns of a position of 1, costs of the experience's rules")
    view.say(f"saved {output}: step {best.step} of {looks[-1].step}, seed {settings.seed}")
    if stop.asked:
        click.get_current_context().exit(130)


def _started(view: EpochView, prepared: Prepared, net: CNet) -> None:
    bars, split = prepared.bars, prepared.split
    view.say(
        f"{bars.symbol}: {counted(len(bars), 'bar')} from {stamp(bars.time[0])} to {stamp(bars.time[-1])}"
    )
    view.say(
        f"windows: {len(split.train):,} to learn from, {len(split.validation):,} to validate; "
        f"encoder of {net.pool.count:,} parameters on {net.device.name}"
    )
    view.begin()


def _looked(view: EpochView, steps: int, look: Look) -> None:
    scores = look.scores
    view.say(
        f"step {look.step:5}/{steps}  critic {look.critic_loss:.4f}  net {scores['net']:+.4f}  "
        f"exposure {scores['exposure']:.2f}"
    )
