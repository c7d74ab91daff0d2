"""CNeuronMambaBlockOCL: a Mamba layer and a feed-forward part, each with a shortcut. Op: elementwise."""

from __future__ import annotations

import numpy as np

from neuronet.activations import Activation
from neuronet.device.array import Shape
from neuronet.layers.base import CNeuronBaseOCL, layer
from neuronet.layers.conv import CNeuronConvOCL
from neuronet.layers.layer_norm import CNeuronLayerNormOCL
from neuronet.layers.mamba import CNeuronMambaOCL
from neuronet.layers.port import CNeuronPort
from neuronet.ops import elementwise

WIDER = 4  # the feed-forward part is so many times as wide as a unit


@layer
class CNeuronMambaBlockOCL(CNeuronBaseOCL):
    """m = x + mamba(norm0(x)), output = m + ff1(ff0(norm1(m))).

    input, output  [batch, units, window], the units in the order of time

    norm0 and norm1 are layer norms; ff0 and ff1 see one unit at a time, ff0 has 4 * window neurons with
    LReLU. NeuroNet normalises the sums instead, without gradient.

    window_key, heads, state_size  of the CNeuronMambaOCL inside; ``stream`` and ``Clear`` are its own
    """

    window_key: int
    heads: int = 1
    state_size: int = 64

    def output_shape(self, input_shape: Shape) -> Shape:
        return self._mamba().output_shape(input_shape)

    def _mamba(self) -> CNeuronMambaOCL:
        return CNeuronMambaOCL(window_key=self.window_key, heads=self.heads, state_size=self.state_size)

    def allocate(self, input_shape: Shape, rng: np.random.Generator) -> None:
        window = input_shape[1]

        def dense(name: str, inputs: int, outputs: int, activation: Activation) -> CNeuronConvOCL:
            made = CNeuronConvOCL(window=inputs, step=inputs, window_out=outputs, activation=activation)
            return self.inner(name, made, (input_shape[0], inputs))

        self.norm0 = self.inner("norm0", CNeuronLayerNormOCL(), input_shape)
        self.mamba = self.inner("mamba", self._mamba(), input_shape)
        self.norm1 = self.inner("norm1", CNeuronLayerNormOCL(), input_shape)
        self.ff0 = dense("ff0", window, WIDER * window, Activation.LRELU)
        self.ff1 = dense("ff1", WIDER * window, window, Activation.NONE)
        self.ff1.SetGradient(self.gradient)
        self.middle = self.inner("middle", CNeuronPort(output=True), input_shape)
        self.mamba.SetGradient(self.middle.gradient)
        self.mamba.forget_output()
        self.ff1.forget_output()

    def feedForward(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        self.norm0.feedForward(prev)
        self.mamba.feedForward(self.norm0)
        self._feed_forward_part(prev)

    def stream(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        """``feedForward`` for units that follow those of the last call, sample by sample."""
        self.norm0.feedForward(prev)
        self.mamba.stream(self.norm0)
        self._feed_forward_part(prev)

    def Clear(self) -> None:
        """Forget what ``stream`` has seen."""
        self.mamba.Clear()

    def _feed_forward_part(self, prev: CNeuronBaseOCL) -> None:
        m = self.middle.output
        self.norm1.forward_sum(prev.output, self.mamba.output, m)
        self.ff0.feedForward(self.norm1)
        self.ff1.feedForward(self.ff0)
        elementwise.add(m, self.ff1.output, self.output)

    def calcInputGradients(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        self.inner_gradients(self.ff1, self.ff0)
        self.inner_gradients(self.ff0, self.norm1)
        self.norm1.gradient_of_sum(self.middle.output, self.gradient, self.middle.gradient)
        self.inner_gradients(self.mamba, self.norm0)
        if prev.needs_gradient:
            self.norm0.gradient_of_sum(prev.output, self.middle.gradient, prev.gradient)

    def calcWeightGradients(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        self.norm0.calcWeightGradients(prev)
        self.inner_weights(self.mamba, self.norm0)
        self.norm1.calcWeightGradients(self.middle)
        self.inner_weights(self.ff0, self.norm1)
        self.inner_weights(self.ff1, self.ff0)
