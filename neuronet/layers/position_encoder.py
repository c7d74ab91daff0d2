"""CNeuronPositionEncoder: adds fixed sines and cosines of the position. Ops: broadcast, elementwise."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from neuronet.device.array import Shape
from neuronet.errors import ShapeError
from neuronet.layers.base import CNeuronBaseOCL, layer
from neuronet.ops import broadcast, elementwise


@layer
class CNeuronPositionEncoder(CNeuronBaseOCL):
    """output = input + table, both [units, window] per sample; see ``positions``. Nothing is trained."""

    def output_shape(self, input_shape: Shape) -> Shape:
        if len(input_shape) != 2:
            raise ShapeError(
                f"a sample has shape {list(input_shape)}, expected [units, window]",
                where="CNeuronPositionEncoder",
                fix="put it behind a layer whose output has two dimensions",
            )
        return input_shape

    def allocate(self, input_shape: Shape, rng: np.random.Generator) -> None:
        self.table = self.device.put(positions(*input_shape), name=f"{self.where}.table")

    def feedForward(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        broadcast.add(prev.output, self.table, self.output)

    def calcInputGradients(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        if prev.needs_gradient:
            elementwise.copy(self.gradient, prev.gradient)


def positions(units: int, window: int) -> NDArray[np.float64]:
    """[units, window]: sin(p / 10000^(i/window)) in even columns i, the cosine of the same in i + 1.

    Vaswani et al., arXiv:1706.03762, 3.5. An odd window ends with a sine.
    """
    column = np.arange(window)
    angle = np.arange(units)[:, None] * np.exp(-math.log(10000) / window * (column - column % 2))
    table: NDArray[np.float64] = np.where(column % 2, np.cos(angle), np.sin(angle))
    return table
