"""Options of a broker's rules, for every command that simulates one."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeVar

import click

from neuronet.bars.bars import Bars
from neuronet.errors import SpecError
from neuronet.market.rules import Rules, exact, find_point

F = TypeVar("F", bound=Callable[..., Any])

_OPTIONS = (
    ("point", float, "PRICE", "Size of a point. Default: the last decimal of the prices."),
    ("contract", float, "UNITS", "Units in one lot. Default: 100000, as for currencies."),
    ("lot_step", float, "LOTS", "Volumes are multiples of it. Default: 0.01."),
    ("min_lot", float, "LOTS", "Least volume. Default: 0.01."),
    ("max_lot", float, "LOTS", "Largest volume. Default: 100."),
    ("commission_lot", float, "MONEY", "Of each lot of each fill. Default: 0."),
    ("swap_long", float, "POINTS", "Added for each lot and night; negative is paid. Default: 0."),
    ("swap_short", float, "POINTS", "The same for short positions. Default: 0."),
    ("leverage", float, "TIMES", "Margin is the value / leverage. Default: 100."),
    ("stop_out", int, "PERCENT", "Closed by the broker at this share of the margin. Default: 50."),
    ("stops_level", int, "POINTS", "Stops must be further away. Default: 0."),
)
BROKER = [name for name, *_ in _OPTIONS]


def broker_options(function: F) -> F:
    """The options of Rules, but the spread; the command gets them in ``options`` for ``rules_of``."""
    for name, kind, form, text in reversed(_OPTIONS):
        function = click.option(f"--{name.replace('_', '-')}", type=kind, metavar=form, help=text)(function)
    return function


def rules_of(bars: Bars, spread: float | None, options: dict[str, Any]) -> Rules:
    """Rules from the options of a command, which are taken out of ``options``.

    spread  in units of price; SpecError when it is no whole number of points, or the point is none
    """
    given = {name: options.pop(name) for name, *_ in _OPTIONS}
    chosen = {name: value for name, value in given.items() if value is not None}
    if "commission_lot" in chosen:
        chosen["commission"] = chosen.pop("commission_lot")
    point = chosen.pop("point", None)
    point = find_point(bars) if point is None else point
    if not 0.0 < point < math.inf:
        raise SpecError(f"point cannot be {point:g}", where="--point", fix="choose more than 0")
    if spread is not None and not 0.0 <= spread < math.inf:
        raise SpecError(f"spread cannot be {spread:g}", where="--spread", fix="choose 0 or more")
    points = exact(spread or 0.0) / exact(point)
    if points.denominator != 1:
        raise SpecError(
            f"a spread of {spread:g} is {float(points):g} points of {point:g}",
            where="--spread",
            fix=f"give a multiple of {point:g}, in units of price, or another --point",
        )
    return Rules(point=point, spread=int(points), **chosen)


def chosen_of(options: dict[str, Any]) -> list[str]:
    """Which options of a broker were given, as they are written."""
    return [f"--{name.replace('_', '-')}" for name, *_ in _OPTIONS if options.get(name) is not None]
