"""CNeuronRevINOCL: reversible instance normalisation. Ops: rev_in."""

from __future__ import annotations

import numpy as np

from neuronet.device.array import Shape
from neuronet.device.pool import Parameter
from neuronet.errors import ShapeError, SpecError
from neuronet.layers.base import CNeuronBaseOCL, layer
from neuronet.ops import rev_in


@layer
class CNeuronRevINOCL(CNeuronBaseOCL):
    """y = gamma * (x - mean) / sqrt(variance + eps) + beta, over the units (time) of each sample's features.

    input, output  [batch, units, window], the same shape

    Kim et al., ICLR 2022. A later CNeuronRevINDenormOCL undoes it on the forecast, from the mean and
    deviation [batch, window] of the present batch that this layer keeps. Parameters gamma [window] (from 1)
    and beta [window] (from 0) serve both; without ``affine`` they stay what they are. Evaluation is the same
    as training.
    """

    eps: float = 1e-5
    affine: bool = True

    def output_shape(self, input_shape: Shape) -> Shape:
        if not self.eps > 0:
            raise SpecError(f"eps={self.eps} is not positive", where="CNeuronRevINOCL", fix="try eps=1e-5")
        if len(input_shape) != 2 or input_shape[0] < 2:
            raise ShapeError(
                f"input {list(input_shape)} is not [units, window] with 2 or more units to normalise over",
                where="CNeuronRevINOCL",
                fix="give it a window of bars, [units, features]",
            )
        return input_shape

    def allocate(self, input_shape: Shape, rng: np.random.Generator) -> None:
        self.window = input_shape[1]
        gamma, beta = Parameter("gamma", np.ones(self.window)), Parameter("beta", np.zeros(self.window))
        if self.affine:
            self.parameters += [gamma, beta]
        else:
            for p in (gamma, beta):
                p.value = self.device.put(p.initial, name=f"{self.where}.{p.name}")
        self.gamma, self.beta = gamma, beta
        self.mean = self.batch_array("mean", (self.window,))
        self.deviation = self.batch_array("deviation", (self.window,))
        self.dmean = self.batch_array("dmean", (self.window,))  # of the partner alone; 0 without one
        self.ddeviation = self.batch_array("ddeviation", (self.window,))
        self.sums = self.batch_array("sums", (2, self.window))

    def feedForward(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        rev_in.forward(
            prev.output,
            self.gamma.value,
            self.beta.value,
            self.mean,
            self.deviation,
            self.output,
            eps=self.eps,
        )

    def calcInputGradients(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        known = (prev.output, self.gradient, self.mean, self.deviation)
        rev_in.gradient_sums(*known, self.sums)
        if prev.needs_gradient:
            rev_in.backward_input(
                *known, self.gamma.value, self.sums, self.dmean, self.ddeviation, prev.gradient
            )

    def calcWeightGradients(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        if self.affine:
            rev_in.backward_weights(self.sums, self.gamma.gradient, self.beta.gradient)
