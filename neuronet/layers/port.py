"""CNeuronPort: a stand-in for a previous layer whose gradient one branch of a composite may write."""

from __future__ import annotations

from neuronet.device.array import Shape
from neuronet.layers.base import Build, CNeuronBaseOCL


class CNeuronPort(CNeuronBaseOCL):
    """Has a gradient of its own; the composite points ``output`` at the real input's output.

    Where a layer's input feeds two branches, one branch writes ``prev.gradient``, the other writes
    a port's, and an explicit sum joins them. With ``output`` it has an output of its own, too: the place
    between an op of the composite and the layer behind it.
    """

    def __init__(self, *, output: bool = False) -> None:
        self.has_output = output

    def build(self, context: Build, input_shape: Shape, path: str = "") -> Shape:
        self.context, self.device, self.batch, self.path = context, context.device, context.batch, path
        self.parameters, self.states, self.inner_layers, self._full = [], {}, [], {}
        self.brief_array("gradient", input_shape)
        if self.has_output:
            self.batch_array("output", input_shape)
        return input_shape
