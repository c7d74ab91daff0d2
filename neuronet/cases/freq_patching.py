"""Cases of ops/freq_patching.py."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neuronet.cases.base import Arrays, Case
from neuronet.device.array import DeviceArray, Shape
from neuronet.ops import freq_patching


@dataclass(frozen=True)
class Patching(Case):
    """What both cases share."""

    rows: int
    channels: int
    bins: int
    patch: int
    step: int

    @property
    def x(self) -> Shape:
        return (self.rows, self.channels, self.bins, 2)

    @property
    def z(self) -> Shape:
        count = freq_patching.patches(self.bins, self.patch, self.step)
        return (self.rows, count, self.channels, self.patch, 2)


@dataclass(frozen=True)
class PatchingForward(Patching):
    op = "freq_patching.forward"

    def inputs(self, rng: np.random.Generator) -> Arrays:
        return {"x": rng.standard_normal(self.x)}

    def outputs(self) -> dict[str, Shape]:
        return {"z": self.z}

    def run(self, **arrays: DeviceArray) -> None:
        freq_patching.forward(**arrays, step=self.step)


@dataclass(frozen=True)
class PatchingBackward(Patching):
    op = "freq_patching.backward"

    def inputs(self, rng: np.random.Generator) -> Arrays:
        return {"dz": rng.standard_normal(self.z)}

    def outputs(self) -> dict[str, Shape]:
        return {"dx": self.x}

    def run(self, **arrays: DeviceArray) -> None:
        freq_patching.backward(**arrays, step=self.step)

    @property
    def terms(self) -> int:
        return -(-self.patch // self.step)


_KINDS = (PatchingForward, PatchingBackward)
_SIZES = [
    (1, 1, 1, 1, 1),
    (2, 3, 16, 8, 8),  # side by side
    (3, 2, 49, 16, 8),  # overlapping and a rest
    (2, 5, 33, 4, 7),  # holes
    (1, 3, 17, 17, 5),  # one patch
    (2, 2, 20, 9, 1),
    (1, 2, 20, 3, 30),  # a step behind the end
]
SMALL: list[Case] = [kind(*size) for kind in _KINDS for size in _SIZES]
LARGE: list[Case] = [kind(64, 19, bins, 16, 8) for bins in (49, 96) for kind in _KINDS]
