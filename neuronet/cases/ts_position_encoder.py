"""Cases of ops/ts_position_encoder.py."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neuronet.cases.base import Arrays, Case
from neuronet.device.array import DeviceArray, Shape
from neuronet.ops import ts_position_encoder as op


@dataclass(frozen=True)
class Harmonics(Case):
    """What the cases share."""

    rows: int
    periods: int
    freqs: int

    @property
    def phases(self) -> Shape:
        return (self.rows, self.periods)

    @property
    def features(self) -> Shape:
        return (self.rows, 2 * self.freqs * self.periods)


@dataclass(frozen=True)
class HarmonicsAdd(Harmonics):
    op = "ts_position_encoder.add"

    def inputs(self, rng: np.random.Generator) -> Arrays:
        return {"x": rng.standard_normal(self.features), "phases": rng.random(self.phases)}

    def outputs(self) -> dict[str, Shape]:
        return {"y": self.features}

    def run(self, **arrays: DeviceArray) -> None:
        op.add(**arrays)


@dataclass(frozen=True)
class HarmonicsBackwardPhases(Harmonics):
    op = "ts_position_encoder.backward_phases"

    def inputs(self, rng: np.random.Generator) -> Arrays:
        return {"phases": rng.random(self.phases), "dy": rng.standard_normal(self.features)}

    def outputs(self) -> dict[str, Shape]:
        return {"dphases": self.phases}

    def run(self, **arrays: DeviceArray) -> None:
        op.backward_phases(**arrays)

    @property
    def terms(self) -> int:
        return 2 * self.freqs


_KINDS = (HarmonicsAdd, HarmonicsBackwardPhases)
SMALL: list[Case] = [
    kind(*size) for kind in _KINDS for size in ((1, 1, 1), (17, 3, 2), (65, 4, 7), (9, 1, op.MOST_FREQS))
]
LARGE: list[Case] = [kind(64 * 120, 4, 2) for kind in _KINDS]
