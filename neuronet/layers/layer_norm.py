"""CNeuronLayerNormOCL: normalisation of each unit over its window. Ops: layer_norm, sum_norm."""

from __future__ import annotations

import math

import numpy as np

from neuronet.device.array import DeviceArray, Shape
from neuronet.errors import ShapeError, SpecError
from neuronet.layers.base import CNeuronBaseOCL, layer
from neuronet.ops import layer_norm, sum_norm

ROWS_PER_CHUNK, MOST_CHUNKS = 64, 256  # how the sums over all units of a batch are cut


@layer
class CNeuronLayerNormOCL(CNeuronBaseOCL):
    """y = gamma * (x - mean) / sqrt(variance + eps) + beta over the last axis of the input.

    input, output  [batch, ..., window], the same shape

    Ba, Kiros & Hinton, arXiv:1607.06450. Parameters gamma [window] (from 1) and beta [window] (from 0).
    Samples and units do not mix, and evaluation is the same as training.
    """

    eps: float = 1e-5

    def output_shape(self, input_shape: Shape) -> Shape:
        if not self.eps > 0:
            raise SpecError(
                f"eps={self.eps} is not positive", where="CNeuronLayerNormOCL", fix="try eps=1e-5"
            )
        if not input_shape or input_shape[-1] < 2:
            raise ShapeError(
                f"input {list(input_shape)} has fewer than 2 values per unit, which normalise to nothing",
                where="CNeuronLayerNormOCL",
                fix="put it where the last axis has 2 or more values",
            )
        return input_shape

    def allocate(self, input_shape: Shape, rng: np.random.Generator) -> None:
        window, units = input_shape[-1], math.prod(input_shape[:-1])
        self.gamma = self.parameter("gamma", np.ones(window))
        self.beta = self.parameter("beta", np.zeros(window))
        self.mean = self.batch_array("mean", (units,))
        self.scale = self.batch_array("scale", (units,))
        self.sums = self.brief_array("sums", (2, units))
        chunks = max(1, min(MOST_CHUNKS, self.batch * units // ROWS_PER_CHUNK))
        self.parts = self.device.array((chunks, 2, window), name=f"{self.where}.parts")

    def feedForward(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        layer_norm.forward(
            prev.output, self.gamma.value, self.beta.value, self.mean, self.scale, self.output, eps=self.eps
        )

    def calcInputGradients(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        if prev.needs_gradient:
            layer_norm.backward_input(
                prev.output, self.gradient, self.mean, self.scale, self.gamma.value, self.sums, prev.gradient
            )

    def forward_sum(self, a: DeviceArray, b: DeviceArray, total: DeviceArray) -> None:
        """total = a + b and feedForward of it, in one launch."""
        weights, into = (self.gamma.value, self.beta.value), (self.mean, self.scale, self.output)
        sum_norm.forward(a, b, *weights, total, *into, eps=self.eps)

    def gradient_of_sum(self, x: DeviceArray, shortcut: DeviceArray, dx: DeviceArray) -> None:
        """calcInputGradients, where a shortcut around a branch has brought x a gradient, too."""
        sum_norm.backward(x, self.gradient, self.mean, self.scale, self.gamma.value, shortcut, dx)

    def calcWeightGradients(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        layer_norm.backward_weights(
            prev.output,
            self.gradient,
            self.mean,
            self.scale,
            self.parts,
            self.gamma.gradient,
            self.beta.gradient,
        )
