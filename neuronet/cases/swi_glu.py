"""Cases of ops/swi_glu.py."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neuronet.cases.base import Arrays, Case
from neuronet.device.array import DeviceArray, Shape
from neuronet.ops import swi_glu


@dataclass(frozen=True)
class SwiGLUForward(Case):
    op = "swi_glu.forward"
    terms = 4  # a product of four factors, one of them behind exp and a division
    rows: int
    hidden: int

    def inputs(self, rng: np.random.Generator) -> Arrays:
        return {"uv": 3 * rng.standard_normal((self.rows, 2 * self.hidden))}

    def outputs(self) -> dict[str, Shape]:
        return {"z": (self.rows, self.hidden)}

    def run(self, **arrays: DeviceArray) -> None:
        swi_glu.forward(**arrays)


@dataclass(frozen=True)
class SwiGLUBackward(SwiGLUForward):
    op = "swi_glu.backward"

    def inputs(self, rng: np.random.Generator) -> Arrays:
        return super().inputs(rng) | {"dz": rng.standard_normal((self.rows, self.hidden))}

    def outputs(self) -> dict[str, Shape]:
        return {"duv": (self.rows, 2 * self.hidden)}

    def run(self, **arrays: DeviceArray) -> None:
        swi_glu.backward(**arrays)


_SIZES = [(1, 1), (3, 7), (2, 8), (5, 17), (1, 130)]
SMALL: list[Case] = [case(*size) for case in (SwiGLUForward, SwiGLUBackward) for size in _SIZES]
LARGE: list[Case] = [case(64 * 1024, 128) for case in (SwiGLUForward, SwiGLUBackward)]
