"""CResidualConv: two convolutions beside a shortcut. Ops: elementwise, layer_norm; inner layers."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from neuronet.activations import Activation
from neuronet.device.array import Shape
from neuronet.errors import ShapeError, SpecError
from neuronet.layers.base import CNeuronBaseOCL, layer
from neuronet.layers.batch_norm import CNeuronBatchNormOCL
from neuronet.layers.conv import CNeuronConvOCL
from neuronet.layers.port import CNeuronPort
from neuronet.ops import elementwise, layer_norm

EPS = 1e-5  # added to the variance of each unit's sum


@layer
class CResidualConv(CNeuronBaseOCL):
    """Normalised sum of a branch conv0, norm0, act, conv1, norm1 and a shortcut conv2, norm2.

    input  [batch, units, window]
    output [batch, units, window_out], each unit with mean 0 and variance 1

    All convolutions see one unit at a time; ``activation`` is that of norm0. The sum is normalised without
    gamma and beta, as in NeuroNet; there it is halved first, which the normalisation undoes.
    """

    window: int
    window_out: int
    activation: Activation = Activation.GELU

    def output_shape(self, input_shape: Shape) -> Shape:
        if self.window_out < 2:
            raise SpecError(
                f"window_out={self.window_out}: the sum is normalised over 2 or more values",
                where="CResidualConv",
                fix="choose window_out >= 2",
            )
        if len(input_shape) != 2 or input_shape[1] != self.window:
            raise ShapeError(
                f"input {list(input_shape)} is not [units, window={self.window}]",
                where="CResidualConv",
                fix="set window to the last axis of a two-axis input",
            )
        return (input_shape[0], self.window_out)

    def allocate(self, input_shape: Shape, rng: np.random.Generator) -> None:
        units, window = input_shape
        shape = (units, self.window_out)

        def conv(index: int, inputs: int) -> CNeuronConvOCL:
            made = CNeuronConvOCL(
                window=inputs, step=inputs, window_out=self.window_out, activation=Activation.NONE
            )
            return self.inner(f"conv{index}", made, (units, inputs))

        def norm(index: int, activation: Activation) -> CNeuronBatchNormOCL:
            return self.inner(f"norm{index}", CNeuronBatchNormOCL(activation=activation), shape)

        self.conv0, self.norm0 = conv(0, window), norm(0, self.activation)
        self.conv1, self.norm1 = conv(1, self.window_out), norm(1, Activation.NONE)
        self.conv2, self.norm2 = conv(2, window), norm(2, Activation.NONE)
        self.port = self.inner("port", CNeuronPort(), input_shape)
        self.sum = self.batch_array("sum", shape)
        self.dsum = self.brief_array("dsum", shape)
        self.norm1.SetGradient(self.dsum)
        self.norm2.SetGradient(self.dsum)
        self.mean = self.batch_array("mean", (units,))
        self.scale = self.batch_array("scale", (units,))
        self.sums = self.brief_array("sums", (2, units))
        self.one, self.zero = (
            self.device.put(np.ones(self.window_out)),
            self.device.put(np.zeros(self.window_out)),
        )

    def feedForward(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        for before, inner in self._pairs(prev, prev):
            inner.feedForward(before)
        elementwise.add(self.norm1.output, self.norm2.output, self.sum)
        layer_norm.forward(self.sum, self.one, self.zero, self.mean, self.scale, self.output, eps=EPS)

    def calcInputGradients(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        layer_norm.backward_input(
            self.sum, self.gradient, self.mean, self.scale, self.one, self.sums, self.dsum
        )
        self.port.output = prev.output
        for before, inner in reversed(self._pairs(prev, self.port if prev.needs_gradient else prev)):
            self.inner_gradients(inner, before)
        if prev.needs_gradient:
            elementwise.add(prev.gradient, self.port.gradient, prev.gradient)

    def calcWeightGradients(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        for before, inner in self._pairs(prev, prev):
            self.inner_weights(inner, before)

    def _pairs(
        self, source: CNeuronBaseOCL, shortcut_source: CNeuronBaseOCL
    ) -> list[tuple[CNeuronBaseOCL, CNeuronBaseOCL]]:
        """(previous layer, layer) in the order of the forward pass."""
        branch = [source, self.conv0, self.norm0, self.conv1, self.norm1]
        shortcut = [shortcut_source, self.conv2, self.norm2]
        return [*pairwise(branch), *pairwise(shortcut)]
