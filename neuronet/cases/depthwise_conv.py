"""Cases of ops/depthwise_conv.py."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neuronet.cases.base import Arrays, Case
from neuronet.device.array import DeviceArray, Shape
from neuronet.ops import depthwise_conv


@dataclass(frozen=True)
class DepthwiseConv(Case):
    """What the cases of a depthwise convolution share."""

    batch: int
    length: int
    channels: int
    taps: int
    before: int

    @property
    def y(self) -> Shape:
        return (self.batch, self.length, self.channels)

    def given(self, rng: np.random.Generator, *names: str) -> Arrays:
        shapes = {
            "x": self.y,
            "tail": (self.batch, self.taps, self.channels),
            "w": (self.taps, self.channels),
            "b": (self.channels,),
            "dy": self.y,
        }
        return {name: rng.standard_normal(shapes[name]) for name in names}

    @property
    def terms(self) -> int:
        return self.taps + 1


@dataclass(frozen=True)
class DepthwiseConvForward(DepthwiseConv):
    op = "depthwise_conv.forward"

    def inputs(self, rng: np.random.Generator) -> Arrays:
        return self.given(rng, "x", "tail", "w", "b")

    def outputs(self) -> dict[str, Shape]:
        return {"y": self.y}

    def run(self, **arrays: DeviceArray) -> None:
        depthwise_conv.forward(**arrays, before=self.before)


@dataclass(frozen=True)
class DepthwiseConvInput(DepthwiseConv):
    op = "depthwise_conv.backward_input"

    def inputs(self, rng: np.random.Generator) -> Arrays:
        return self.given(rng, "dy", "w")

    def outputs(self) -> dict[str, Shape]:
        return {"dx": self.y}

    def run(self, **arrays: DeviceArray) -> None:
        depthwise_conv.backward_input(**arrays, before=self.before)


@dataclass(frozen=True)
class DepthwiseConvWeights(DepthwiseConv):
    op = "depthwise_conv.backward_weights"

    def inputs(self, rng: np.random.Generator) -> Arrays:
        return self.given(rng, "x", "tail", "dy")

    def outputs(self) -> dict[str, Shape]:
        parts = (self.batch, depthwise_conv.stretches(self.length))
        return {"w_parts": (*parts, self.taps, self.channels), "b_parts": (*parts, self.channels)}

    def run(self, **arrays: DeviceArray) -> None:
        depthwise_conv.backward_weights(**arrays, before=self.before)

    @property
    def terms(self) -> int:
        return depthwise_conv.STRETCH


@dataclass(frozen=True)
class DepthwiseConvKeep(DepthwiseConv):
    op = "depthwise_conv.keep"
    changes = ("tail",)

    def inputs(self, rng: np.random.Generator) -> Arrays:
        return self.given(rng, "x", "tail")

    def run(self, **arrays: DeviceArray) -> None:
        depthwise_conv.keep(**arrays)


_KINDS = (DepthwiseConvForward, DepthwiseConvInput, DepthwiseConvWeights, DepthwiseConvKeep)
#  batch length channels taps before
_SIZES = [
    (1, 1, 1, 1, 0),
    (2, 2, 9, 3, 1),
    (3, 4, 8, 3, 2),
    (1, 63, 17, 5, 2),
    (2, 66, 3, 7, 0),
    (1, 200, 70, 4, 3),
]
SMALL: list[Case] = [kind(*size) for kind in _KINDS for size in _SIZES]
LARGE: list[Case] = [kind(16, 512, 256, 3, 1) for kind in _KINDS[:3]]
