"""CNeuronSoftMaxOCL: softmax over blocks of a sample. Op: soft_max."""

from __future__ import annotations

import math

import numpy as np

from neuronet.device.array import DeviceArray, Shape
from neuronet.errors import ShapeError, SpecError
from neuronet.layers.base import CNeuronBaseOCL, layer
from neuronet.ops import soft_max


@layer
class CNeuronSoftMaxOCL(CNeuronBaseOCL):
    """Softmax over each of ``heads`` equal, contiguous blocks of a sample; the shape stays.

    For class probabilities only: the loss CrossEntropy takes the values before a softmax.
    """

    heads: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.heads < 1:
            raise SpecError(
                f"heads={self.heads} is not positive", where="CNeuronSoftMaxOCL", fix="choose heads >= 1"
            )

    def output_shape(self, input_shape: Shape) -> Shape:
        size = math.prod(input_shape)
        if size % self.heads:
            raise ShapeError(
                f"{size} values per sample do not divide into {self.heads} heads",
                where="CNeuronSoftMaxOCL",
                fix="choose heads so that it divides the input",
            )
        return input_shape

    def allocate(self, input_shape: Shape, rng: np.random.Generator) -> None:
        self.classes = math.prod(input_shape) // self.heads

    def feedForward(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        soft_max.forward(self._blocks(prev.output), self._blocks(self.output))

    def calcInputGradients(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        if prev.needs_gradient:
            y, dy, dx = (self._blocks(a) for a in (self.output, self.gradient, prev.gradient))
            soft_max.backward_input(y, dy, dx)

    def _blocks(self, array: DeviceArray) -> DeviceArray:
        return array.view(array.shape[0] * self.heads, self.classes)
