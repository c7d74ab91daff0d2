"""Cases of ops/channel_correlation.py."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neuronet.cases.base import Arrays, Case
from neuronet.device.array import DeviceArray, Shape
from neuronet.ops import channel_correlation as op


@dataclass(frozen=True)
class ChannelCorrelationForward(Case):
    op = "channel_correlation.forward"
    rows: int
    units: int
    tau: float = 0.5

    @property
    def mask(self) -> Shape:
        return (self.rows, self.units, self.units)

    @property
    def settings(self) -> dict[str, float]:
        return {"tau": self.tau, "regular": 0.3, "weight": 1.7}

    def inputs(self, rng: np.random.Generator) -> Arrays:
        return {"cosines": rng.uniform(-1, 1, self.mask), "mask": (rng.random(self.mask) < 0.5) * 1.0}

    def outputs(self) -> dict[str, Shape]:
        return {"value": (self.rows,)}

    def run(self, **arrays: DeviceArray) -> None:
        op.forward(**arrays, **self.settings)  # type: ignore[arg-type]

    @property
    def terms(self) -> int:
        return 4 * self.units

    @property
    def flops(self) -> int:
        return 12 * self.rows * self.units**2  # an exponential counts as 8


@dataclass(frozen=True)
class ChannelCorrelationBackward(ChannelCorrelationForward):
    op = "channel_correlation.backward"

    def outputs(self) -> dict[str, Shape]:
        return {"dcosines": self.mask, "dmask": self.mask}

    def run(self, **arrays: DeviceArray) -> None:
        op.backward(**arrays, **self.settings)  # type: ignore[arg-type]

    @property
    def flops(self) -> int:
        return 2 * super().flops


_SIZES = [(1, 1), (3, 2), (2, 6), (3, 7), (2, 8), (2, 9), (5, 19), (1, 55), (2, 72), (1, 300), (131, 5)]
_KINDS = (ChannelCorrelationForward, ChannelCorrelationBackward)
SMALL: list[Case] = [kind(*size) for size in _SIZES for kind in _KINDS]
LARGE: list[Case] = [kind(64 * 11, 19) for kind in _KINDS]
