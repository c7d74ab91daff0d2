"""CNeuronTransposeOCL: rows become columns. Op: transpose."""

from __future__ import annotations

from neuronet.device.array import Shape
from neuronet.errors import ShapeError
from neuronet.layers.base import CNeuronBaseOCL, layer
from neuronet.ops import transpose


@layer
class CNeuronTransposeOCL(CNeuronBaseOCL):
    """[batch, count, window] -> [batch, window, count]."""

    def output_shape(self, input_shape: Shape) -> Shape:
        if len(input_shape) != 2:
            raise ShapeError(
                f"a sample has shape {list(input_shape)}, expected [count, window]",
                where="CNeuronTransposeOCL",
                fix="put it behind a layer whose output has two dimensions",
            )
        count, window = input_shape
        return (window, count)

    def feedForward(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        transpose.forward(prev.output, self.output)

    def calcInputGradients(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        if prev.needs_gradient:
            transpose.forward(self.gradient, prev.gradient)
