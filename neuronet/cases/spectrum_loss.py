"""Cases of ops/spectrum_loss.py."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neuronet.cases.base import Arrays, Case
from neuronet.device.array import DeviceArray, Shape
from neuronet.ops.spectrum_loss import spectrum_loss


@dataclass(frozen=True)
class SpectrumLoss(Case):
    op = "spectrum_loss.write"
    rows: int
    channels: int
    bins: int

    @property
    def y(self) -> Shape:
        return (self.rows, self.channels, self.bins, 2)

    def inputs(self, rng: np.random.Generator) -> Arrays:
        return {"y": rng.standard_normal(self.y), "target": rng.standard_normal(self.y)}

    def outputs(self) -> dict[str, Shape]:
        return {"value": (self.rows,), "dy": self.y}

    def run(self, **arrays: DeviceArray) -> None:
        spectrum_loss(arrays["y"], arrays["target"], arrays["value"], arrays["dy"], weight=0.3)

    @property
    def terms(self) -> int:
        return self.channels * self.bins


@dataclass(frozen=True)
class SpectrumLossAdd(SpectrumLoss):
    op = "spectrum_loss.add"
    changes = ("dy",)

    def inputs(self, rng: np.random.Generator) -> Arrays:
        dy = rng.standard_normal(self.y) / (self.rows * self.channels * self.bins)
        return super().inputs(rng) | {"dy": dy}

    def outputs(self) -> dict[str, Shape]:
        return {"value": (self.rows,)}

    def run(self, **arrays: DeviceArray) -> None:
        given = arrays["y"], arrays["target"], arrays["value"], arrays["dy"]
        spectrum_loss(*given, weight=0.3, add=True)


_KINDS = (SpectrumLoss, SpectrumLossAdd)
SMALL: list[Case] = [
    kind(*size) for kind in _KINDS for size in ((1, 1, 1), (3, 1, 5), (2, 7, 9), (1, 2, 32), (2, 5, 49))
]
LARGE: list[Case] = [kind(64, 19, bins) for bins in (49, 96) for kind in _KINDS]
