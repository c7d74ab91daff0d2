"""Cases of ops/scan_gradient.py."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neuronet.cases.base import Arrays, Case
from neuronet.cases.scan_states import LARGE_SIZES, SIZES, Scan
from neuronet.device.array import DeviceArray, Shape
from neuronet.ops import scan_gradient


@dataclass(frozen=True)
class ScanBackward(Scan):
    op = "scan_gradient.backward"
    changes = ("dxbc", "drows")  # each only in part

    def inputs(self, rng: np.random.Generator) -> Arrays:
        shapes = {
            "d": (self.heads,),
            "states": self.states,
            "dstates": self.states,
            "y": self.y,
            "dy": self.y,
            "dxbc": self.xbc,
            "drows": (self.batch, self.length, 3 + self.heads),
        }
        return self.given(rng) | {
            "a_log": rng.uniform(-1, 2, self.heads),
            **{name: rng.standard_normal(shape) for name, shape in shapes.items()},
        }

    def outputs(self) -> dict[str, Shape]:
        return {"a_parts": self.span, "d_parts": self.span}

    def run(self, **arrays: DeviceArray) -> None:
        scan_gradient.backward(**arrays)

    @property
    def terms(self) -> int:
        return self.head_dim * super().terms

    @property
    def flops(self) -> int:
        return 6 * self.batch * self.length * self.heads * self.head_dim * self.state


SMALL: list[Case] = [ScanBackward(*size) for size in (*SIZES, (1, 20, 1, 68, 36))]
LARGE: list[Case] = [ScanBackward(*size) for size in LARGE_SIZES]
