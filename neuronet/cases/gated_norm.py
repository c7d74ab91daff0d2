"""Cases of ops/gated_norm.py."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neuronet.cases.base import Arrays, Case
from neuronet.device.array import DeviceArray, Shape
from neuronet.ops import gated_norm


@dataclass(frozen=True)
class GatedNorm(Case):
    """What the cases of the gated norm share."""

    count: int
    window: int
    width: int

    def given(self, rng: np.random.Generator) -> Arrays:
        return {
            "x": rng.standard_normal((self.count, self.window)),
            "rows": 2 * rng.standard_normal((self.count, self.width)),
            "w": rng.standard_normal(self.window),
        }

    @property
    def terms(self) -> int:
        return self.window


@dataclass(frozen=True)
class GatedNormForward(GatedNorm):
    op = "gated_norm.forward"

    def inputs(self, rng: np.random.Generator) -> Arrays:
        return self.given(rng)

    def outputs(self) -> dict[str, Shape]:
        return {"scale": (self.count,), "y": (self.count, self.window)}

    def run(self, **arrays: DeviceArray) -> None:
        gated_norm.forward(**arrays, eps=1e-5)


@dataclass(frozen=True)
class GatedNormBackward(GatedNorm):
    op = "gated_norm.backward"
    changes = ("drows",)  # in part
    chunks: int

    def inputs(self, rng: np.random.Generator) -> Arrays:
        return self.given(rng) | {
            "scale": rng.uniform(0.1, 0.4, self.count),
            "dy": rng.standard_normal((self.count, self.window)),
            "drows": rng.standard_normal((self.count, self.width)),
        }

    def outputs(self) -> dict[str, Shape]:
        return {"dx": (self.count, self.window), "parts": (self.chunks, self.window)}

    def run(self, **arrays: DeviceArray) -> None:
        gated_norm.backward(**arrays)

    @property
    def terms(self) -> int:
        return max(self.window, self.count)


#  count window width
_SIZES = [(1, 1, 1), (3, 257, 300), (67, 9, 11), (33, 64, 64), (18, 70, 75), (5, 512, 520), (2, 513, 513)]
_CHUNKS = (1, 2, 8, 16, 20, 2, 1)
SMALL: list[Case] = [GatedNormForward(*size) for size in _SIZES]
SMALL += [GatedNormBackward(*size, chunks=chunks) for size, chunks in zip(_SIZES, _CHUNKS, strict=True)]
LARGE: list[Case] = [GatedNormForward(8192, 256, 644), GatedNormBackward(8192, 256, 644, 512)]
