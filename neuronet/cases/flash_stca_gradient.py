"""Cases of ops/flash_stca_gradient.py."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neuronet.cases.base import Arrays, Case
from neuronet.cases.flash_stca import LARGE_SIZES, SIZES, STCA, STCAForward, scratch
from neuronet.device.array import DeviceArray, Shape
from neuronet.device.numpy import NumpyDevice
from neuronet.ops import flash_stca, flash_stca_gradient


@dataclass(frozen=True)
class STCABackward(STCA):
    op = "flash_stca_gradient.backward"
    changes = ("dx", "dslope")
    beta: float = 1.0  # of a dx that is there

    def inputs(self, rng: np.random.Generator) -> Arrays:
        found = self.given(rng)
        exact = NumpyDevice(np.float32 if self.length > 5000 else np.float64)
        forward = STCAForward(self.batch, self.queries, self.heads, self.length, self.dimension, 1)
        arrays = {name: exact.put(values) for name, values in found.items()}
        arrays |= {name: exact.array(shape) for name, shape in forward.outputs().items()}
        forward.run(**arrays)
        found |= {name: arrays[name].read() for name in ("out", "lse")}
        found["dout"] = rng.standard_normal(self.u)
        found["dx"] = rng.standard_normal(found["x"].shape)
        found["dslope"] = rng.standard_normal(self.heads)
        return found

    def outputs(self) -> dict[str, Shape]:
        return {"du": self.u}

    def run(self, **arrays: DeviceArray) -> None:
        device = arrays["u"].device
        rows = self.queries * self.heads
        splits = self.splits or flash_stca.splits_for(device, self.batch, self.length, rows, self.dimension)
        slopes, _, parts = scratch(device, splits, self.u)
        given = arrays if self.recency else {k: v for k, v in arrays.items() if k != "dslope"}
        flash_stca_gradient.backward(**given, parts=parts, slopes=slopes, scale=self.scale, beta=self.beta)

    @property
    def flops(self) -> int:
        return 10 * self.batch * self.queries * self.heads * self.length * self.dimension


SMALL: list[Case] = [STCABackward(*size, beta) for size, beta in zip(SIZES, 6 * (0.0, 0.75), strict=True)]
LARGE: list[Case] = [STCABackward(*size) for size in LARGE_SIZES]
