"""Cases of ops/sum_norm.py."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neuronet.cases.base import Arrays, Case
from neuronet.device.array import DeviceArray, Shape
from neuronet.ops import sum_norm


@dataclass(frozen=True)
class SumNormForward(Case):
    op = "sum_norm.forward"
    rows: int
    window: int

    def inputs(self, rng: np.random.Generator) -> Arrays:
        arrays = {name: 3 + rng.standard_normal((self.rows, self.window)) for name in ("a", "b")}
        return arrays | {name: rng.standard_normal(self.window) for name in ("gamma", "beta")}

    def outputs(self) -> dict[str, Shape]:
        whole, each = (self.rows, self.window), (self.rows,)
        return {"sum": whole, "mean": each, "scale": each, "y": whole}

    def run(self, **arrays: DeviceArray) -> None:
        sum_norm.forward(**arrays, eps=1e-2)

    @property
    def terms(self) -> int:
        return 16 * self.window  # the mean, about 4 deviations, is taken off again


@dataclass(frozen=True)
class SumNormBackward(Case):
    op = "sum_norm.backward"
    rows: int
    window: int

    def inputs(self, rng: np.random.Generator) -> Arrays:
        shape = (self.rows, self.window)
        return {
            **{name: rng.standard_normal(shape) for name in ("sum", "dy", "dshortcut")},
            "mean": 0.1 * rng.standard_normal(self.rows),
            "scale": rng.uniform(0.5, 2, self.rows),
            "gamma": rng.standard_normal(self.window),
        }

    def outputs(self) -> dict[str, Shape]:
        return {"dsum": (self.rows, self.window)}

    def run(self, **arrays: DeviceArray) -> None:
        sum_norm.backward(**arrays)

    @property
    def terms(self) -> int:
        return self.window


_SIZES = [(1, 2), (3, 7), (17, 8), (16, 33), (35, 9), (5, 257), (130, 64)]
SMALL: list[Case] = [kind(*size) for size in _SIZES for kind in (SumNormForward, SumNormBackward)]
LARGE: list[Case] = [SumNormForward(8192, 256), SumNormBackward(8192, 256)]
