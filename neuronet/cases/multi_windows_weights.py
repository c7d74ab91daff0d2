"""Cases of ops/multi_windows_weights.py."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neuronet.cases.base import Arrays, Case
from neuronet.cases.dense import adam_state
from neuronet.cases.multi_windows_conv import LARGE_SIZES, SIZES, MultiWindows
from neuronet.device.array import DeviceArray
from neuronet.ops import multi_windows_weights as op


@dataclass(frozen=True)
class MultiWindowsBackwardWeights(MultiWindows):
    op = "multi_windows_weights.backward_weights"
    changes = ("dw", "db")

    def inputs(self, rng: np.random.Generator) -> Arrays:
        shapes = {"x": self.x, "dz": self.y, "dw": self.w, "db": self.b}
        return {name: rng.standard_normal(shape) for name, shape in shapes.items()} | self.geometry

    def run(self, **arrays: DeviceArray) -> None:
        op.backward_weights(**arrays, step=self.step)

    @property
    def terms(self) -> int:
        return self.sequences * self.units + 1


@dataclass(frozen=True)
class MultiWindowsUpdate(MultiWindows):
    op = "multi_windows_weights.update"
    changes = ("w", "b", "w_m", "w_v", "b_m", "b_v")

    def inputs(self, rng: np.random.Generator) -> Arrays:
        arrays = {"x": rng.standard_normal(self.x), "dz": rng.standard_normal(self.y)}
        return arrays | adam_state(rng, self.w, self.b) | self.geometry

    def run(self, **arrays: DeviceArray) -> None:
        op.update(**arrays, step=self.step)

    @property
    def terms(self) -> int:
        return self.sequences * self.units + 1


_KINDS = (MultiWindowsBackwardWeights, MultiWindowsUpdate)
SMALL: list[Case] = [kind(*size) for kind in _KINDS for size in SIZES]
SMALL += [kind(2, 13, 3, (3, 4), step, 9, True) for kind in _KINDS for step in (1, 3)]
LARGE: list[Case] = [kind(*size) for size in LARGE_SIZES for kind in _KINDS]
