"""Cases of ops/split_weights.py: those of dense layers, over many rows."""

from __future__ import annotations

from dataclasses import dataclass

from neuronet.cases.base import Case
from neuronet.cases.dense import DenseBackwardWeights, DenseUpdate
from neuronet.device.array import DeviceArray
from neuronet.ops import split_weights


@dataclass(frozen=True)
class SplitWeightsBackward(DenseBackwardWeights):
    op = "split_weights.backward"

    def run(self, **arrays: DeviceArray) -> None:
        split_weights.backward(**arrays)


@dataclass(frozen=True)
class SplitWeightsUpdate(DenseUpdate):
    op = "split_weights.update"

    def run(self, **arrays: DeviceArray) -> None:
        split_weights.update(**arrays)


_KINDS = (SplitWeightsBackward, SplitWeightsUpdate)
_SIZES = [
    (1, 1, 1),
    (3, 4, 4),
    (260, 68, 36),
    (31, 33, 32),
    (257, 5, 37),
    (290, 32, 9),
    (1030, 17, 2),
    (530, 139, 71),
    (270, 132, 80),
]
SMALL: list[Case] = [kind(*size) for kind in _KINDS for size in _SIZES]
LARGE: list[Case] = [
    kind(*size) for kind in _KINDS for size in [(8192, 32, 32), (13376, 32, 1536), (8192, 128, 512)]
]
