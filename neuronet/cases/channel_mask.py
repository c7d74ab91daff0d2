"""Cases of ops/channel_mask.py."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neuronet.cases.base import Arrays, Case
from neuronet.device.array import DeviceArray, Shape
from neuronet.ops import channel_mask


@dataclass(frozen=True)
class ChannelMaskForward(Case):
    op = "channel_mask.forward"
    rows: int
    units: int
    mode: channel_mask.Mode = "sample"
    tau: float = 1.0
    spread: float = 1.0

    def inputs(self, rng: np.random.Generator) -> Arrays:
        return {
            "z": self.spread * rng.standard_normal((self.rows, self.units, self.units)),
            "key": rng.integers(2**31, size=1),
            "step": np.array([12345, 5, -1, 0]),
        }

    def outputs(self) -> dict[str, Shape]:
        return dict.fromkeys(("y", "mask"), (self.rows, self.units, self.units))

    def run(self, **arrays: DeviceArray) -> None:
        channel_mask.forward(**arrays, mode=self.mode, tau=self.tau)


@dataclass(frozen=True)
class ChannelMaskBackward(ChannelMaskForward):
    op = "channel_mask.backward"

    def inputs(self, rng: np.random.Generator) -> Arrays:
        shape = (self.rows, self.units, self.units)
        return {"y": rng.random(shape), "dmask": rng.standard_normal(shape)}

    def outputs(self) -> dict[str, Shape]:
        return {"dz": (self.rows, self.units, self.units)}

    def run(self, **arrays: DeviceArray) -> None:
        channel_mask.backward(**arrays, mode=self.mode, tau=self.tau)


_SIZES = [(1, 1), (3, 2), (7, 6), (5, 19), (1, 55), (2, 72), (1, 300)]
SMALL: list[Case] = [kind(*size) for size in _SIZES for kind in (ChannelMaskForward, ChannelMaskBackward)]
SMALL += [
    kind(3, 7, mode, tau)
    for mode in ("sample", "deterministic", "expected")
    for tau in (0.5, 3.0)
    for kind in (ChannelMaskForward, ChannelMaskBackward)
]
SMALL += [ChannelMaskForward(2, 9, spread=30.0)]
LARGE: list[Case] = [kind(64 * 11, 19) for kind in (ChannelMaskForward, ChannelMaskBackward)]
