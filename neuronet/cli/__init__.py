"""The command line: ``neuronet COMMAND``. Each command is one file of this package, imported when called.

Results go to stdout, messages to stderr. The exit code is 0, 1 (failed at run time), 2 (wrong usage or
input) or 130 (interrupted).
"""

from __future__ import annotations

import errno
import logging
import traceback
from importlib import import_module
from typing import Any

import click

from neuronet.cli import console
from neuronet.errors import DataError, FileFormatError, NeuronetError, ShapeError, SpecError

log = logging.getLogger(__name__)

COMMANDS = {  # here, so that --help need not import them
    "devices": "List the devices that can compute.",
    "inspect": "Show how a file of bars is read.",
    "convert": "Store bars in HDF5, to be read fast.",
    "train": "Train a model on a file of bars, or of channels.",
    "evaluate": "Score a model on bars, beside the baselines.",
    "predict": "Write a model's predictions for every bar.",
    "explain": "Show which past bars a model weighed.",
    "backtest": "Trade what a model says, with costs.",
    "collect": "Collect experience of agents that trade.",
    "study": "Learn an actor from experience.",
    "online": "Trade and learn, bar by bar.",
    "pretrain": "Train a forecaster on synthetic series.",
    "forecast": "Forecast any series with such a model.",
    "anomalies": "Find anomalies in several channels.",
    "info": "Show what a model file holds.",
    "selfcheck": "Compare every kernel with NumPy on a device.",
    "bench": "Measure every kernel's speed on a device.",
}
WRONG_INPUT = (SpecError, DataError, FileFormatError, ShapeError)
PLACES = {  # where the library says that an error is -> where it is on the command line
    "find_device": "--device",
    "Frequency": "--frequency",
    "Mamba4Cast.forecast": "forecast",
    "read_channels": "channels",
}
DISK = {errno.ENOSPC, errno.EFBIG, errno.EIO, getattr(errno, "EDQUOT", errno.ENOSPC)}  # full, or broken


class Commands(click.Group):
    """Imports a command when it is asked for, and turns exceptions into one message and an exit code."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        command: click.Command = import_module(f"neuronet.cli.{name}").command
        known = {option.name for option in command.params}
        command.params += [option for option in console.OPTIONS if option.name not in known]
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def main(self, *args: Any, **extra: Any) -> Any:
        console.never_fail_to_encode()
        with console.logging_to_stderr():
            return super().main(*args, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except (click.ClickException, click.Abort, click.exceptions.Exit, BrokenPipeError):
            raise  # click knows them
        except KeyboardInterrupt:
            log.error("interrupted")
            code = 130
        except (NeuronetError, OSError) as error:
            wrong_input = (
                isinstance(error, WRONG_INPUT) and getattr(error.__cause__, "errno", None) not in DISK
            )
            code = _report(ctx, _words(error), 2 if wrong_input else 1)
        except Exception as error:
            what = f"internal error: {type(error).__name__}: {error} (use --traceback and report it)"
            code = _report(ctx, what, 1)
        raise click.exceptions.Exit(code)


def _words(error: Exception) -> str:
    if isinstance(error, NeuronetError) and error.where in PLACES:
        return str(NeuronetError(error.what, where=PLACES[error.where], fix=error.fix))
    return str(error)


def _report(ctx: click.Context, what: str, code: int) -> int:
    if ctx.meta.get(console.TRACEBACK):
        click.echo(traceback.format_exc(), err=True)
    log.error("%s", what)
    return code


def _show_version(ctx: click.Context, _option: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        from neuronet.cli.version import version_lines

        click.echo("\n".join(version_lines()))
        ctx.exit()


@click.group(
    cls=Commands, context_settings={"help_option_names": ["-h", "--help"]}, params=list(console.OPTIONS)
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_version,
    help="Show the versions of neuronet and its libraries, and the device.",
)
def main() -> None:
    """Neural nets for price bars, on any OpenCL device.

    Start with 'neuronet train BARS.csv -o model.h5'. 'neuronet COMMAND --help' explains a command.
    """
