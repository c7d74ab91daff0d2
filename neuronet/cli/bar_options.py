"""Options of every command that reads bars, one for each field of ReadOptions, and reading with them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, get_type_hints

import click

from neuronet.bars.bars import Bars
from neuronet.bars.findings import Findings
from neuronet.bars.options import ROLES, ReadOptions, option_of
from neuronet.cli.output import Progress

F = TypeVar("F", bound=Callable[..., Any])
NAMES = [field.name for field in dataclasses.fields(ReadOptions)]


def reading_options(function: F) -> F:
    """The options of reading, one for each field of ReadOptions."""
    kinds = get_type_hints(ReadOptions)
    for field in reversed(dataclasses.fields(ReadOptions)):
        function = _option(field, kinds[field.name])(function)
    return function


def bars_argument(function: F) -> F:
    """The argument BARS and the options of reading; the command gets ``bars`` and passes the rest on."""
    function = reading_options(function)
    return click.argument("bars", type=click.Path(dir_okay=False, path_type=Path))(function)


def load(path: Path, options: dict[str, Any]) -> tuple[Bars, Findings]:
    """Read bars with the options of a command, which are taken out of ``options``; a bar shows how far."""
    from neuronet.bars.read import load_bars

    chosen = {name: options.pop(name) for name in NAMES}
    with Progress(f"reading {path.name}") as progress:
        return load_bars(path, on_progress=progress.show, **chosen)


def read(path: Path, options: dict[str, Any]) -> Bars:
    """Read bars as ``load`` does, without the findings."""
    return load(path, options)[0]


def _option(field: dataclasses.Field[Any], kind: Any) -> Callable[[F], F]:
    meta, default = field.metadata, field.default
    text = meta["help"][0].upper() + meta["help"][1:]
    if kind is bool:
        return click.option(option_of(field.name), is_flag=True, help=f"{text}.")
    if meta["choices"]:
        shown = f" Default: {default}." if default is not None else " Default: found from the file."
        choice = click.Choice(meta["choices"])
        return click.option(option_of(field.name), type=choice, default=default, help=f"{text}.{shown}")
    return click.option(
        option_of(field.name),
        type=float if kind == float | None else str,
        metavar=meta["form"],
        callback=_columns if field.name == "columns" else None,
        help=f"{text}.",
    )


def _columns(_ctx: click.Context, _option: click.Parameter, text: str | None) -> dict[str, str | int] | None:
    if text is None:
        return None
    pairs = [part.partition("=") for part in text.split(",")]
    if wrong := [role for role, equals, name in pairs if role.strip() not in ROLES or not equals or not name]:
        raise click.BadParameter(f"{wrong[0]!r}: write {ROLES[1]}=NAME,open=NAME,... with {', '.join(ROLES)}")
    return {role.strip(): int(name) if name.isdigit() else name for role, _, name in pairs}
