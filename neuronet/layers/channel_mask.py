"""CNeuronChannelMask: which channels may look at which, from their own values. Ops: dense, channel_mask."""

from __future__ import annotations

import numpy as np

from neuronet.activations import Activation
from neuronet.device.array import DeviceArray, Shape
from neuronet.layers.base import CNeuronBaseOCL
from neuronet.layers.parts import rows
from neuronet.ops import channel_mask, dense

MODES = ("deterministic", "sample", "expected")  # in evaluation; training draws


class CNeuronChannelMask(CNeuronBaseOCL):
    """[batch, patches * channels, width] -> a mask [batch, patches, channels, channels]. A part of CATCH.

    Logits z = x wᵀ, w [channels, width] initially 0 and without bias. In training channel i may look at j
    with probability sigmoid(2 z); the gradient is that of the probability, as if the draw were it (straight
    through). In evaluation it may where z >= 0, or as ``mode`` says.
    """

    def __init__(self, channels: int, mode: str = "deterministic") -> None:
        self.channels, self.mode = channels, mode

    def output_shape(self, input_shape: Shape) -> Shape:
        return (input_shape[0] // self.channels, self.channels, self.channels)

    def allocate(self, input_shape: Shape, rng: np.random.Generator) -> None:
        self.width, n = input_shape[1], self.channels
        self.w = self.parameter("w", np.zeros((n, self.width)))
        self.w.slow = True
        self.key = self.state("key", rng.integers(2**31, size=1, dtype=np.int32))
        self.z = self.batch_array("z", (input_shape[0], n))
        self.y = self.batch_array("y", (input_shape[0], n))
        self.dz = self.brief_array("dz", (input_shape[0], n))
        self.no_bias = self.device.put(np.zeros(n), name=f"{self.where}.no bias")
        self.unused = self.device.array((n,), name=f"{self.where}.gradient of no bias")

    def feedForward(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        x, z = rows(prev.output), rows(self.z)
        dense.forward(x, self.w.value, self.no_bias, z, activation=Activation.NONE)
        z, y, mask = map(self._square, (self.z, self.y, self.output))
        channel_mask.forward(z, self.key, self.context.step, y, mask, mode=self._now)

    def calcInputGradients(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        y, dmask, dz = map(self._square, (self.y, self.gradient, self.dz))
        channel_mask.backward(y, dmask, dz, mode=self._now)
        if prev.needs_gradient:
            dense.backward_input(rows(self.dz), self.w.value, rows(prev.gradient))

    def calcWeightGradients(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        dense.backward_weights(rows(prev.output), rows(self.dz), self.w.gradient, self.unused)

    @property
    def _now(self) -> channel_mask.Mode:
        return "sample" if self.training else self.mode  # type: ignore[return-value]  # one of MODES

    def _square(self, array: DeviceArray) -> DeviceArray:
        """[batch, ..., channels, channels] as [batch * patches, channels, channels]."""
        n = self.channels
        return array.view(array.size // (n * n), n, n)
