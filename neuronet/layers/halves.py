"""CNeuronPairs, CNeuronSecondOfPairs, CNeuronUpsample: between a map and one of half as many units.

Pairs are counted from the last unit, which is the newest: in front of an odd number lies a unit of zeros.
"""

from __future__ import annotations

import numpy as np

from neuronet.device.array import Shape
from neuronet.layers.base import CNeuronBaseOCL
from neuronet.layers.parts import flat, rows, unit_dense
from neuronet.ops import concatenate, elementwise


def half(units: int) -> int:
    """How many pairs ``units`` make."""
    return -(-units // 2)


class CNeuronPairs(CNeuronBaseOCL):
    """[batch, units, window] -> [batch, half(units), 2 * window]: two neighbours side by side."""

    def output_shape(self, input_shape: Shape) -> Shape:
        units, window = input_shape
        return (half(units), 2 * window)

    def allocate(self, input_shape: Shape, rng: np.random.Generator) -> None:
        units, self.window = input_shape
        self.odd = units % 2 == 1

    def feedForward(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        if self.odd:
            concatenate.pad(flat(prev.output), flat(self.output))
        else:
            elementwise.copy(prev.output, self.output)

    def calcInputGradients(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        if not prev.needs_gradient:
            return
        if self.odd:
            concatenate.backward_one(flat(self.gradient), flat(prev.gradient), offset=self.window)
        else:
            elementwise.copy(self.gradient, prev.gradient)


class CNeuronSecondOfPairs(CNeuronBaseOCL):
    """[batch, units, window] -> [batch, half(units), window]: the later unit of each pair."""

    def output_shape(self, input_shape: Shape) -> Shape:
        units, window = input_shape
        return (half(units), window)

    def allocate(self, input_shape: Shape, rng: np.random.Generator) -> None:
        self.pairs = self.inner("pairs", CNeuronPairs(), input_shape)

    def feedForward(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        self.pairs.feedForward(prev)
        window = self.output.shape[-1]
        concatenate.backward_one(rows(self.pairs.output), rows(self.output), offset=window)

    def calcInputGradients(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        concatenate.pad(rows(self.gradient), rows(self.pairs.gradient))
        self.pairs.calcInputGradients(prev)


class CNeuronUpsample(CNeuronBaseOCL):
    """[batch, half(units), inputs] -> [batch, units, window]: two units of every unit.

    A transposed convolution with window and step 2, which is a dense layer.
    """

    def __init__(self, units: int, window: int) -> None:
        self.units, self.window = units, window

    def output_shape(self, input_shape: Shape) -> Shape:
        return (self.units, self.window)

    def allocate(self, input_shape: Shape, rng: np.random.Generator) -> None:
        self.dense = self.inner("dense", unit_dense(input_shape[1], 2 * self.window), input_shape)
        self.odd = self.units % 2 == 1
        if not self.odd:
            self.end_with(self.dense)

    def feedForward(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        self.dense.feedForward(prev)
        if self.odd:
            concatenate.backward_one(flat(self.dense.output), flat(self.output), offset=self.window)

    def calcInputGradients(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        if self.odd:
            concatenate.pad(flat(self.gradient), flat(self.dense.gradient))
        self.dense.calcInputGradients(prev)

    def calcWeightGradients(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        self.dense.calcWeightGradients(prev)
