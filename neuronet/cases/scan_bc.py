"""Cases of ops/scan_bc.py."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neuronet.cases.base import Arrays, Case
from neuronet.cases.scan_states import LARGE_SIZES, SIZES, Scan
from neuronet.device.array import DeviceArray, Shape
from neuronet.ops import scan_bc


@dataclass(frozen=True)
class ScanBC(Scan):
    op = "scan_bc.backward"
    changes = ("dxbc",)  # only in part
    groups: int

    def inputs(self, rng: np.random.Generator) -> Arrays:
        shapes = {"states": self.states, "dstates": self.states, "dy": self.y, "dxbc": self.xbc}
        return self.given(rng) | {name: rng.standard_normal(shape) for name, shape in shapes.items()}

    def outputs(self) -> dict[str, Shape]:
        return {"parts": (self.batch, self.length, self.groups, 2 * self.state)}

    def run(self, **arrays: DeviceArray) -> None:
        scan_bc.backward(**arrays)

    @property
    def terms(self) -> int:
        return self.heads * self.head_dim * min(self.length, 64)

    @property
    def flops(self) -> int:
        return 12 * self.batch * self.length * self.heads * self.head_dim * self.state


SMALL: list[Case] = [ScanBC(*size, groups=size[2] if i % 2 else 1) for i, size in enumerate(SIZES)]
SMALL += [
    ScanBC(1, 6, 2, 5, 2, groups=2),
    ScanBC(1, 9, 2, 20, 68, groups=1),
    ScanBC(1, 10, 1, 65, 8, groups=1),
]
LARGE: list[Case] = [ScanBC(*size, groups=groups) for size in LARGE_SIZES for groups in (1, 4)]
