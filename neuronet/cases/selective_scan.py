"""Cases of ops/selective_scan.py."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neuronet.cases.base import Arrays, Case
from neuronet.cases.scan_states import LARGE_SIZES, SIZES, Scan
from neuronet.device.array import DeviceArray, Shape
from neuronet.ops import selective_scan


@dataclass(frozen=True)
class ScanForward(Scan):
    op = "selective_scan.forward"

    def inputs(self, rng: np.random.Generator) -> Arrays:
        return self.given(rng) | {
            "d": rng.standard_normal(self.heads),
            "states": rng.standard_normal(self.states),
        }

    def outputs(self) -> dict[str, Shape]:
        return {"y": self.y}

    def run(self, **arrays: DeviceArray) -> None:
        selective_scan.forward(**arrays)

    @property
    def flops(self) -> int:
        return 6 * self.batch * self.length * self.heads * self.head_dim * self.state


@dataclass(frozen=True)
class ScanSteps(Scan):
    op = "selective_scan.steps"

    def inputs(self, rng: np.random.Generator) -> Arrays:
        return {
            "rows": 3 * rng.standard_normal((self.batch, self.length, 7 + self.heads)) - 3,
            "a_log": rng.uniform(-1, 2, self.heads),
        }

    def outputs(self) -> dict[str, Shape]:
        return {"delta": self.steps, "decay": self.steps}

    def run(self, **arrays: DeviceArray) -> None:
        selective_scan.steps(**arrays)


@dataclass(frozen=True)
class ScanStepsBackward(Scan):
    op = "selective_scan.steps_backward"
    changes = ("drows",)  # in part

    def inputs(self, rng: np.random.Generator) -> Arrays:
        drows = rng.standard_normal((self.batch, self.length, 7 + self.heads))
        return {"delta": self.given(rng)["delta"], "drows": drows}

    def run(self, **arrays: DeviceArray) -> None:
        selective_scan.steps_backward(**arrays)


SMALL: list[Case] = [ScanForward(*size) for size in (*SIZES, (1, 20, 1, 68, 36))]
SMALL += [kind(*size) for kind in (ScanSteps, ScanStepsBackward) for size in SIZES[:4]]
LARGE: list[Case] = [ScanForward(*size) for size in LARGE_SIZES]
