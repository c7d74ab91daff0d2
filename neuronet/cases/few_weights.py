"""Cases of ops/few_weights.py: those of dense layers, over many rows."""

from __future__ import annotations

from dataclasses import dataclass

from neuronet.cases.base import Case
from neuronet.cases.dense import DenseBackwardWeights, DenseUpdate
from neuronet.device.array import DeviceArray
from neuronet.ops import few_weights


@dataclass(frozen=True)
class FewWeightsBackward(DenseBackwardWeights):
    op = "few_weights.backward"

    def run(self, **arrays: DeviceArray) -> None:
        few_weights.backward(**arrays)


@dataclass(frozen=True)
class FewWeightsUpdate(DenseUpdate):
    op = "few_weights.update"

    def run(self, **arrays: DeviceArray) -> None:
        few_weights.update(**arrays)


_SIZES = [(1, 1, 1), (3, 4, 4), (255, 5, 3), (257, 8, 9), (1030, 17, 2)]
SMALL: list[Case] = [kind(*size) for kind in (FewWeightsBackward, FewWeightsUpdate) for size in _SIZES]
LARGE: list[Case] = [kind(8192, 32, 32) for kind in (FewWeightsBackward, FewWeightsUpdate)]
