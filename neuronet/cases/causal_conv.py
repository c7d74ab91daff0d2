"""Cases of ops/causal_conv.py."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neuronet.cases.base import Arrays, Case
from neuronet.device.array import DeviceArray, Shape
from neuronet.ops import causal_conv


@dataclass(frozen=True)
class CausalConv(Case):
    """What the cases of a causal convolution share; one more column on the right than is read."""

    batch: int
    length: int
    channels: int
    offset: int

    @property
    def rows(self) -> Shape:
        return (self.batch, self.length, self.offset + self.channels + 1)

    @property
    def y(self) -> Shape:
        return (self.batch, self.length, self.channels)

    def given(self, rng: np.random.Generator) -> Arrays:
        return {
            "rows": rng.standard_normal(self.rows),
            "tail": rng.standard_normal((self.batch, 3, self.channels)),
            "w": rng.standard_normal((4, self.channels)),
            "b": rng.standard_normal(self.channels),
        }


@dataclass(frozen=True)
class CausalConvForward(CausalConv):
    op = "causal_conv.forward"

    def inputs(self, rng: np.random.Generator) -> Arrays:
        return self.given(rng)

    def outputs(self) -> dict[str, Shape]:
        return {"y": self.y}

    def run(self, **arrays: DeviceArray) -> None:
        causal_conv.forward(**arrays, offset=self.offset)

    @property
    def terms(self) -> int:
        return 5


@dataclass(frozen=True)
class CausalConvBackward(CausalConv):
    op = "causal_conv.backward"
    changes = ("drows",)  # in part

    def inputs(self, rng: np.random.Generator) -> Arrays:
        shapes = {"dy": self.y, "drows": self.rows}
        return self.given(rng) | {name: rng.standard_normal(shape) for name, shape in shapes.items()}

    def outputs(self) -> dict[str, Shape]:
        parts = (self.batch, causal_conv.stretches(self.length))
        return {"w_parts": (*parts, 4, self.channels), "b_parts": (*parts, self.channels)}

    def run(self, **arrays: DeviceArray) -> None:
        causal_conv.backward(**arrays, offset=self.offset)

    @property
    def terms(self) -> int:
        return 64


@dataclass(frozen=True)
class CausalConvKeep(CausalConv):
    op = "causal_conv.keep"
    changes = ("tail",)

    def inputs(self, rng: np.random.Generator) -> Arrays:
        return {name: values for name, values in self.given(rng).items() if name in ("rows", "tail")}

    def run(self, **arrays: DeviceArray) -> None:
        causal_conv.keep(**arrays, offset=self.offset)


#  batch length channels offset
_SIZES = [(1, 1, 1, 0), (2, 2, 9, 3), (3, 4, 8, 0), (1, 63, 17, 5), (2, 66, 3, 1), (1, 200, 70, 2)]
SMALL: list[Case] = [
    kind(*size) for kind in (CausalConvForward, CausalConvBackward, CausalConvKeep) for size in _SIZES
]
LARGE: list[Case] = [kind(16, 512, 384, 256) for kind in (CausalConvForward, CausalConvBackward)]
