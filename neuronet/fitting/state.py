"""TrainingState: how far a training has come; with the net's arrays, all that resuming needs."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any

from numpy.typing import NDArray

from neuronet.device.array import DeviceArray
from neuronet.net import CNet
from neuronet.ops import elementwise

Arrays = dict[str, NDArray[Any]]
_ARRAYS = {"best", "last"}  # fields that a file keeps as arrays


@dataclass
class TrainingState:
    """Progress of ``fit``.

    epoch, batch   where to go on: epochs done, and batches done of the next one
    loss_sum       of the samples of these batches
    history        one dict an epoch: epoch (from 1), loss, validation (None without), seconds, lr
    best_epoch     epoch of the best validation loss, 0 before the first
    stopped        "epochs", "patience" or "interrupted"; "" while it runs
    best           arrays of the best epoch, in the paths of ``CNet.arrays``
    last           arrays after the last epoch, once training has ended and the net holds the best
    """

    seed: int = 0
    epoch: int = 0
    batch: int = 0
    loss_sum: float = 0.0
    history: list[dict[str, Any]] = field(default_factory=list)
    best_epoch: int = 0
    best_score: float | None = None
    stopped: str = ""
    best: Arrays = field(default_factory=dict)
    last: Arrays = field(default_factory=dict)

    def document(self) -> dict[str, Any]:
        """Everything but the arrays, as JSON data."""
        return {f.name: getattr(self, f.name) for f in dataclasses.fields(self) if f.name not in _ARRAYS}

    @staticmethod
    def from_document(document: dict[str, Any], best: Arrays) -> TrainingState:
        known = {f.name for f in dataclasses.fields(TrainingState)} - _ARRAYS
        return TrainingState(**{k: v for k, v in document.items() if k in known}, best=best)

    @property
    def epochs_since_best(self) -> int:
        return self.epoch - self.best_epoch


class Snapshot:
    """A copy of a net's weights and state on its device, taken and put back without the host."""

    def __init__(self, net: CNet) -> None:
        self._net = net
        self._pairs: list[tuple[DeviceArray, DeviceArray]] = []
        for array in (net.pool.values, *[s for layer in net.layers for s in layer.states.values()]):
            if array.dtype.kind == "f" and array.size:
                self._pairs.append((array, net.device.array(array.shape, name=f"best {array.name}")))
        self.take()

    def take(self) -> None:
        for array, kept in self._pairs:
            elementwise.copy(array, kept)

    def restore(self) -> None:
        for array, kept in self._pairs:
            elementwise.copy(kept, array)
        self._net.revision += 1
