"""CNeuronDepthwiseConv: convolution over time, each channel with taps of its own. Op: depthwise_conv."""

from __future__ import annotations

import math

import numpy as np

from neuronet.activations import Activation
from neuronet.device.array import DeviceArray, Shape
from neuronet.layers.activated import CNeuronActivated
from neuronet.layers.base import CNeuronBaseOCL
from neuronet.ops import depthwise_conv, row_sums


class CNeuronDepthwiseConv(CNeuronActivated):
    """y[t,c] = act(b[c] + sum_k w[k,c] x[t - before + k, c]), zeros outside. A part of composites.

    input, output  [batch, units, window], the same shape

    taps        units that an output sees
    causal      all of them up to its own; otherwise it stands in the middle, an even count sees 1 more ahead
    activation  NONE, GELU or SILU
    """

    def __init__(self, taps: int, *, causal: bool, activation: Activation = Activation.NONE) -> None:
        self.taps, self.activation = taps, activation
        self.before = taps - 1 if causal else (taps - 1) // 2

    def output_shape(self, input_shape: Shape) -> Shape:
        return input_shape

    def allocate(self, input_shape: Shape, rng: np.random.Generator) -> None:
        units, window = input_shape
        bound = 1.0 / math.sqrt(self.taps + 1)
        self.w = self.parameter("w", rng.uniform(-bound, bound, (self.taps, window)))
        self.b = self.parameter("b", rng.uniform(-bound, bound, window))
        stretches = depthwise_conv.stretches(units)
        self.w_parts = self.brief_array("w_parts", (stretches, self.taps, window))
        self.b_parts = self.brief_array("b_parts", (stretches, window))
        self.no_tail = self.batch_array("no_tail", (self.taps, window))
        self.last_tail = self.batch_array("last_tail", (self.taps, window))
        self.allocate_activation()

    def feedForward(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        self._run(prev, self.no_tail)

    def stream(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        """``feedForward`` for units that follow those of the last call; right for ``causal`` only."""
        self._run(prev, self.last_tail)
        depthwise_conv.keep(prev.output, self.last_tail)

    def Clear(self) -> None:
        """Forget what ``stream`` has seen."""
        self._full["last_tail"].fill(0.0)

    def _run(self, prev: CNeuronBaseOCL, tail: DeviceArray) -> None:
        w, b = self.w.value, self.b.value
        depthwise_conv.forward(prev.output, tail, w, b, self.linear, before=self.before)
        self.activate()

    def calcInputGradients(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        dz = self.deactivate()
        if prev.needs_gradient:
            depthwise_conv.backward_input(dz, self.w.value, prev.gradient, before=self.before)

    def calcWeightGradients(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        depthwise_conv.backward_weights(
            prev.output, self.no_tail, self.pre_gradient, self.w_parts, self.b_parts, before=self.before
        )
        row_sums.add(self.w_parts, self.w.gradient)
        row_sums.add(self.b_parts, self.b.gradient)
