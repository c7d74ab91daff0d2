"""The second input of a net on bars: the phases of their times that its layers ask for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from numpy.typing import NDArray

from neuronet.bars.bars import Bars
from neuronet.errors import SpecError
from neuronet.layers.base import LAYERS
from neuronet.layers.ts_position_encoder import time_phases
from neuronet.net import CNet


def second_shape(layers: Sequence[Mapping[str, Any]], history: int) -> list[int] | None:
    """Shape of a sample's second input for the specs of a net's layers; None when none of them takes one.

    SpecError when a layer takes a second input that bars do not have.
    """
    return [history, len(_periods(layers))] if any(map(_takes_second, layers)) else None


def second_input(net: CNet, bars: Bars) -> NDArray[Any] | None:
    """Phases [bars, periods] for the layers with ``periods``; None for a net without a second input.

    SpecError as in ``second_shape``, and when the net has a second input that no layer takes.
    """
    if net.second_shape is None:
        return None
    return time_phases(bars.time, _periods([layer.spec() for layer in net.layers]))


def _periods(layers: Sequence[Mapping[str, Any]]) -> Sequence[int]:
    asked = {tuple(spec.get("periods") or ()) for spec in layers if _takes_second(spec)}
    if len(asked) != 1 or () in asked:
        raise SpecError(
            "a second input of bars is their time, and one layer's periods or those of all must say of what",
            where="net",
            fix="give the layers with a second input the same periods, as CMamba4CastEmbeding has",
        )
    return asked.pop()


def _takes_second(spec: Mapping[str, Any]) -> bool:
    return getattr(LAYERS.get(spec.get("class", "")), "takes_second", False)
