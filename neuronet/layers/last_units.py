"""CNeuronLastUnitsOCL: the end of a sequence. Op: concatenate."""

from __future__ import annotations

import math

import numpy as np

from neuronet.device.array import DeviceArray, Shape
from neuronet.errors import ShapeError, SpecError
from neuronet.layers.base import CNeuronBaseOCL, layer
from neuronet.ops import concatenate


@layer
class CNeuronLastUnitsOCL(CNeuronBaseOCL):
    """[batch, units, ...] -> [batch, units_count, ...]: the last units, the newest of a series.

    Behind a layer that sees no later unit, such as CNeuronMambaOCL, the last one has seen all. The units left
    out get a gradient of 0.
    """

    units_count: int = 1

    def output_shape(self, input_shape: Shape) -> Shape:
        if self.units_count < 1:
            raise SpecError(
                f"units_count={self.units_count} is not positive",
                where="CNeuronLastUnitsOCL",
                fix="choose units_count >= 1",
            )
        if not input_shape or input_shape[0] < self.units_count:
            raise ShapeError(
                f"input {list(input_shape)} has no {self.units_count} units",
                where="CNeuronLastUnitsOCL",
                fix="choose fewer units_count, or give longer samples",
            )
        return (self.units_count, *input_shape[1:])

    def allocate(self, input_shape: Shape, rng: np.random.Generator) -> None:
        self.left_out = math.prod(input_shape) - math.prod(self.output.shape[1:])

    def feedForward(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        concatenate.backward_one(_rows(prev.output), _rows(self.output), offset=self.left_out)

    def calcInputGradients(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        if prev.needs_gradient:
            concatenate.pad(_rows(self.gradient), _rows(prev.gradient))


def _rows(array: DeviceArray) -> DeviceArray:
    """[batch, ...] as [batch, values]."""
    return array.view(array.shape[0], array.size // array.shape[0])
