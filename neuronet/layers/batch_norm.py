"""CNeuronBatchNormOCL: normalisation of every value over samples. Ops: batch_norm, activation."""

from __future__ import annotations

import math

import numpy as np

from neuronet.activations import Activation
from neuronet.device.array import DeviceArray, Shape
from neuronet.errors import SpecError
from neuronet.layers.activated import CNeuronActivated
from neuronet.layers.base import CNeuronBaseOCL, layer
from neuronet.ops import batch_norm

MOST_SAMPLES = 1 << 24  # up to here a float counts every sample


@layer
class CNeuronBatchNormOCL(CNeuronActivated):
    """y = act(gamma * (x - mean) / sqrt(variance + eps) + beta), each value of a sample with its own four.

    input, output  [batch, ...], the same shape

    Training, two or more rows: mean and biased variance of the batch (Ioffe & Szegedy, arXiv:1502.03167).
    Training, one row (batch 1, or a last batch of 1): NeuroNet's running form: the running statistics take
    in the sample, mean = (mean (B - 1) + x) / B and likewise the variance, and then normalise it; B counts
    samples up to ``batch_size``. The very first sample gives nx = 0.
    Evaluation: the running statistics, which then never change.

    batch_size  samples that the running statistics remember (NeuroNet's batchSize). A batch of r rows moves
                them by max(r / samples so far, r / batch_size), at most 1.

    Parameters gamma (from 1) and beta (from 0); state mean, variance (unbiased) and count, of n values each.
    """

    batch_size: int = 1000
    eps: float = 1e-5
    activation: Activation | str = Activation.NONE

    def output_shape(self, input_shape: Shape) -> Shape:
        if not 1 < self.batch_size <= MOST_SAMPLES:
            raise SpecError(
                f"batch_size={self.batch_size} is not in 2 … {MOST_SAMPLES}",
                where="CNeuronBatchNormOCL",
                fix="choose how many samples the running statistics remember, such as 1000",
            )
        if not self.eps > 0:
            raise SpecError(
                f"eps={self.eps} is not positive", where="CNeuronBatchNormOCL", fix="try eps=1e-5"
            )
        return input_shape

    def allocate(self, input_shape: Shape, rng: np.random.Generator) -> None:
        n = math.prod(input_shape)
        self.gamma = self.parameter("gamma", np.ones(n))
        self.beta = self.parameter("beta", np.zeros(n))
        self.running_mean = self.state("mean", np.zeros(n))
        self.running_variance = self.state("variance", np.ones(n))
        self.count = self.state("count", np.zeros(n))
        self.batch_mean = self.device.array((n,), name=f"{self.where}.batch_mean")
        self.scale = self.device.array((n,), name=f"{self.where}.scale")
        self.sums = self.device.array((2, n), name=f"{self.where}.sums")
        self.allocate_activation()

    @property
    def over_batch(self) -> bool:
        """Whether the statistics are those of the present batch."""
        return self.training and self.output.shape[0] > 1

    @property
    def statistics(self) -> tuple[DeviceArray, DeviceArray]:
        """Mean and scale that normalise the present batch."""
        return (self.batch_mean if self.over_batch else self.running_mean), self.scale

    def feedForward(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        x, running = prev.output, (self.running_mean, self.running_variance, self.count)
        if self.over_batch:
            batch_norm.batch_statistics(
                x, *self.statistics, *running, batch_size=self.batch_size, eps=self.eps
            )
        elif self.training:
            batch_norm.running_statistics(x, *running, self.scale, batch_size=self.batch_size, eps=self.eps)
        else:
            batch_norm.known_statistics(self.running_variance, self.scale, eps=self.eps)
        weights = self.gamma.value, self.beta.value
        batch_norm.forward(x, *self.statistics, *weights, self.linear, activation=self.fused)
        self.activate()

    def calcInputGradients(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        known = (prev.output, self.deactivate(), *self.statistics)
        batch_norm.gradient_sums(*known, self.sums)
        if not prev.needs_gradient:
            return
        gamma, dx = self.gamma.value, prev.gradient
        if self.training and not self.over_batch:
            batch_norm.backward_input_running(*known, gamma, self.count, dx)
        else:
            batch_norm.backward_input(*known, gamma, self.sums, dx, frozen=not self.training)

    def calcWeightGradients(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        batch_norm.backward_weights(self.sums, self.gamma.gradient, self.beta.gradient)
