"""CNeuronSwiGLUOCL: the gated feed-forward part of SwiGLU, unit by unit. Ops: swi_glu; inner conv."""

from __future__ import annotations

import numpy as np

from neuronet.device.array import Shape
from neuronet.layers.base import CNeuronBaseOCL, layer
from neuronet.layers.parts import check_map, check_positive, unit_dense
from neuronet.layers.port import CNeuronPort
from neuronet.ops import swi_glu


@layer
class CNeuronSwiGLUOCL(CNeuronBaseOCL):
    """y = ((x W_u + b_u) * silu(x W_v + b_v)) W_o + b_o for every unit by itself, without a shortcut.

    input   [batch, units, any width]
    output  [batch, units, window_out], or of the input's width

    hidden  numbers between; 2 * width in STCA (arXiv:2511.06077). Shazeer, arXiv:2002.05202
    """

    hidden: int
    window_out: int | None = None

    def output_shape(self, input_shape: Shape) -> Shape:
        units, window = check_map("CNeuronSwiGLUOCL", input_shape, least=1)
        made = window if self.window_out is None else self.window_out
        check_positive("CNeuronSwiGLUOCL", hidden=self.hidden, window_out=made)
        return (units, made)

    def allocate(self, input_shape: Shape, rng: np.random.Generator) -> None:
        units, window = input_shape
        self.up = self.inner("up", unit_dense(window, 2 * self.hidden), input_shape)
        self.gated = self.inner("gated", CNeuronPort(output=True), (units, self.hidden))
        made = self.output.shape[2]
        self.down = self.inner("down", unit_dense(self.hidden, made), (units, self.hidden))
        self.end_with(self.down)

    def share(self, other: CNeuronSwiGLUOCL) -> None:
        """Take the buffers between the layers from ``other``: they hold what the last pass of either left."""
        for mine, theirs in ((self.up, other.up), (self.gated, other.gated)):
            mine.SetOutput(theirs.output)
            mine.SetGradient(theirs.gradient)

    def feedForward(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        self.up.feedForward(prev)
        swi_glu.forward(self.up.output, self.gated.output)
        self.down.feedForward(self.gated)

    def calcInputGradients(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        self.inner_gradients(self.down, self.gated)
        swi_glu.backward(self.up.output, self.gated.gradient, self.up.gradient)
        self.inner_gradients(self.up, prev)

    def calcWeightGradients(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        self.inner_weights(self.up, prev)
        self.inner_weights(self.down, self.gated)
