"""CNeuronProofOCL: max pooling along a sequence. Op: proof."""

from __future__ import annotations

import math

import numpy as np

from neuronet.device.array import DeviceArray, Shape
from neuronet.errors import ShapeError, SpecError
from neuronet.layers.base import CNeuronBaseOCL, layer
from neuronet.ops import proof


@layer
class CNeuronProofOCL(CNeuronBaseOCL):
    """The largest of each ``window`` of units, ``step`` apart, in every column.

    [batch, units, ...] -> [batch, (units - window) // step + 1, ...]

    Only whole windows are pooled: units behind the last one are not read (NeuroNet clips its last
    window instead). The first of equal maxima takes the whole gradient of its window.
    """

    window: int
    step: int

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("window", "step"):
            if getattr(self, name) < 1:
                raise SpecError(
                    f"{name}={getattr(self, name)} is not positive",
                    where="CNeuronProofOCL",
                    fix=f"choose {name} >= 1",
                )

    def output_shape(self, input_shape: Shape) -> Shape:
        units, *columns = input_shape
        if units < self.window:
            raise ShapeError(
                f"window={self.window} is longer than the input, {units} units per sample",
                where="CNeuronProofOCL",
                fix=f"choose window <= {units}",
            )
        return ((units - self.window) // self.step + 1, *columns)

    def allocate(self, input_shape: Shape, rng: np.random.Generator) -> None:
        self.index = self.batch_array("index", self.output.shape[1:], np.int32)

    def feedForward(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        x, y, index = (_columns(a) for a in (prev.output, self.output, self.index))
        proof.forward(x, y, index, window=self.window, step=self.step)

    def calcInputGradients(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        if prev.needs_gradient:
            dy, index, dx = (_columns(a) for a in (self.gradient, self.index, prev.gradient))
            proof.backward_input(dy, index, dx, window=self.window, step=self.step)


def _columns(array: DeviceArray) -> DeviceArray:
    """[batch, units, ...] as [batch, units, window_in]."""
    batch, units, *columns = array.shape
    return array.view(batch, units, math.prod(columns))
