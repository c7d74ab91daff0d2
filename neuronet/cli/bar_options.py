"""Options of every command that reads bars, and reading with them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from neuronet.bars.bars import PRICES, Bars
from neuronet.errors import DataError

F = TypeVar("F", bound=Callable[..., Any])
ROLES = ("date", "time", *PRICES, "volume")


def bars_argument(function: F) -> F:
    """The argument BARS and the options of reading; the command gets ``bars`` and passes the rest on."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return click.argument("bars", type=click.Path(dir_okay=False, path_type=Path))(function)


def reading(options: dict[str, Any]) -> dict[str, Any]:
    """Take the options of reading out of a command's ``options``, as read_bars wants them."""
    return {
        name: options.pop(name)
        for name in ("columns", "date_format", "tz", "utc_offset", "decimal", "symbol")
    }


def read(path: Path, options: dict[str, Any]) -> Bars:
    """Read bars with the options of a command, which are taken out of ``options``."""
    from neuronet.bars.read import read_bars

    strict = options.pop("strict")
    bars = read_bars(path, **reading(options))
    if strict and (warnings := bars.source.get("warnings")):
        raise DataError(
            f"{len(warnings)} warnings under --strict: {'; '.join(warnings)}",
            where=str(path),
            fix="correct the file, or leave out --strict",
        )
    return bars


def _columns(_ctx: click.Context, _option: click.Parameter, text: str | None) -> dict[str, str | int] | None:
    if text is None:
        return None
    pairs = [part.partition("=") for part in text.split(",")]
    if wrong := [role for role, equals, name in pairs if role.strip() not in ROLES or not equals or not name]:
        raise click.BadParameter(f"{wrong[0]!r}: write {ROLES[1]}=NAME,open=NAME,... with {', '.join(ROLES)}")
    return {role.strip(): int(name) if name.isdigit() else name for role, _, name in pairs}


_OPTIONS = (
    click.option(
        "--columns",
        metavar="ROLE=NAME,...",
        callback=_columns,
        help="Which column is what, by name or number from 0.",
    ),
    click.option("--date-format", metavar="FORMAT", help="dmy, mdy, or a pattern such as '%d/%m/%Y %H:%M'."),
    click.option("--tz", metavar="ZONE", help="Zone of the file's clock, as in Europe/Athens."),
    click.option("--utc-offset", type=float, metavar="HOURS", help="Hours the file's clock is ahead of UTC."),
    click.option(
        "--decimal", type=click.Choice([".", ","]), help="Decimal sign, where a file leaves it open."
    ),
    click.option("--symbol", metavar="NAME", help="Which symbol, if the file has several."),
    click.option("--strict", is_flag=True, help="Refuse bars that give a warning."),
)
