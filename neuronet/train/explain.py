"""Explanation of an answer: which bars of a long history the scenarios of an STCA weighed, and how much."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neuronet.bars.bars import Bars, stamp
from neuronet.bars.windows import window_starts
from neuronet.device.base import Device
from neuronet.errors import SpecError
from neuronet.layers.stca_encoder import CNeuronSTCAEncoder
from neuronet.net import CNet
from neuronet.storage.hdf5 import read_model
from neuronet.train.contract import Contract
from neuronet.train.positions import date_ns
from neuronet.train.prepare import known_rows
from neuronet.train.second_input import second_input


@dataclass(frozen=True, eq=False)
class Explanation:
    """What the answer at the close of one bar was made from.

    bars     the history, oldest bar first; the last one is the bar that was asked about
    weights  [layers, scenarios, heads, bars], 1 in sum over the bars
    blend    share of the net in the model's answer; at 0 the model does not use what its net says
    """

    bars: Bars
    weights: NDArray[np.float64]
    blend: float

    def heads(self) -> Iterator[tuple[int, int, int, NDArray[np.float64]]]:
        """(layer, scenario, head, weights [bars]), each counted from 1."""
        for at in np.ndindex(self.weights.shape[:3]):
            yield at[0] + 1, at[1] + 1, at[2] + 1, self.weights[at]

    def to_dict(self, top: int) -> dict[str, Any]:
        """Plain JSON data, with the ``top`` heaviest bars of each head."""
        heads = [
            {
                "layer": layer,
                "scenario": scenario,
                "head": head,
                "bars_in_effect": in_effect(weights),
                "mean_age": mean_age(weights),
                "top": [
                    {"time": stamp(self.bars.time[i]), "weight": float(weights[i])}
                    for i in heaviest(weights, top)
                ],
            }
            for layer, scenario, head, weights in self.heads()
        ]
        first, last = stamp(self.bars.time[0]), stamp(self.bars.time[-1])
        return {"at": last, "from": first, "history": len(self.bars), "blend": self.blend, "heads": heads}


def explain(
    model: str | Path, bars: Bars, at: str | None = None, *, device: Device | None = None
) -> Explanation:
    """Run the model in a file on the history that ends with the bar at time ``at``, or with the last bar.

    Raises SpecError for a model without such attention, and for a time at which no bar with a whole history
    opens, with the nearest one.
    """
    file = read_model(model)
    contract = Contract.from_dict(file.bars, str(model))
    file.spec = {**file.spec, "batch": 1}
    net = CNet.from_file(file, device, where=str(model))
    encoder = next((layer for layer in net.layers if isinstance(layer, CNeuronSTCAEncoder)), None)
    if encoder is None:
        what = "its net has no CNeuronSTCAEncoder, so there are no weights of past bars"
        raise SpecError(what, where=str(model), fix="explain a model of 'neuronet train --model stca'")
    contract.compare(bars)
    settings = contract.settings
    bars, values = known_rows(bars, settings, contract.features)
    starts = window_starts(
        bars, history=settings.history, horizon=0, max_gap=settings.max_gap_ns, trained=True
    )
    last = starts.astype(np.int64) + settings.history - 1
    row = int(last[-1] if at is None else last[_nearest(bars.time[last], date_ns(at, "--at"))])
    part = slice(row + 1 - settings.history, row + 1)
    second = second_input(net, bars)
    net.TrainMode(False)
    net.feedForward(values[part][None], *([] if second is None else [second[part][None]]))
    return Explanation(bars[part], encoder.attention()[:, 0], contract.blend)


def heaviest(weights: NDArray[np.float64], count: int) -> list[int]:
    """The bars with the largest weights, the heaviest first; of equal ones the newest."""
    order = np.lexsort((-np.arange(len(weights)), -weights))
    return [int(i) for i in order[:count]]


def in_effect(weights: NDArray[np.float64]) -> float:
    """exp of the entropy: n when n bars have equal weights and the others none."""
    some = weights[weights > 0.0]
    return float(np.exp(-np.sum(some * np.log(some))))


def mean_age(weights: NDArray[np.float64]) -> float:
    """Of the weights, in bars before the last."""
    return float(weights @ np.arange(len(weights))[::-1])


def _nearest(times: NDArray[np.int64], wanted: int) -> int:
    """Index of the time that is wanted; SpecError naming the nearest when it is not there."""
    index = min(int(np.searchsorted(times, wanted)), len(times) - 1)
    if times[index] == wanted:
        return index
    if index and abs(int(times[index - 1]) - wanted) <= abs(int(times[index]) - wanted):
        index -= 1
    raise SpecError(
        f"no bar with a whole history opens at {stamp(wanted)}; "
        f"there are bars from {stamp(times[0])} to {stamp(times[-1])}",
        where="--at",
        fix=f'the nearest is --at "{stamp(times[index])}"',
    )
