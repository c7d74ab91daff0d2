"""CNeuronChannelMask: which channels may look at which, from their own values. Ops: matmul, channel_mask."""

from __future__ import annotations

import numpy as np

from neuronet.device.array import DeviceArray, Shape
from neuronet.layers.base import CNeuronBaseOCL
from neuronet.ops import channel_mask, elementwise, matmul

MODES = ("deterministic", "sample", "expected")  # in evaluation; training draws


class CNeuronChannelMask(CNeuronBaseOCL):
    """[batch, patches * channels, width] -> a mask [batch, patches, channels, channels]. A part of CATCH.

    Logits z = x w, w [width, channels] initially 0 and without bias. In training channel i may look at j with
    probability sigmoid(2 z); the gradient is that of the probability, as if the draw were it (straight
    through). In evaluation it may where z >= 0, or as ``mode`` says.
    """

    def __init__(self, channels: int, mode: str = "deterministic") -> None:
        self.channels, self.mode = channels, mode

    def output_shape(self, input_shape: Shape) -> Shape:
        return (input_shape[0] // self.channels, self.channels, self.channels)

    def allocate(self, input_shape: Shape, rng: np.random.Generator) -> None:
        self.width, n = input_shape[1], self.channels
        self.w = self.parameter("w", np.zeros((self.width, n)))
        self.w.slow = True
        self.key = self.state("key", rng.integers(2**31, size=1, dtype=np.int32))
        self.z = self.batch_array("z", (input_shape[0], n))
        self.y = self.batch_array("y", (input_shape[0], n))
        self.dz = self.batch_array("dz", (input_shape[0], n))
        self.dw = self.device.array((self.width, n), name=f"{self.where}.dw")

    def feedForward(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        matmul.matmul(self._flat(prev.output), self._one(self.w.value), self._flat(self.z))
        z, y, mask = map(self._square, (self.z, self.y, self.output))
        channel_mask.forward(z, self.key, self.context.step, y, mask, mode=self._now)

    def calcInputGradients(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        y, dmask, dz = map(self._square, (self.y, self.gradient, self.dz))
        channel_mask.backward(y, dmask, dz, mode=self._now)
        if prev.needs_gradient:
            matmul.backward_a(self._flat(self.dz), self._one(self.w.value), self._flat(prev.gradient))

    def calcWeightGradients(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        matmul.backward_b(self._flat(prev.output), self._flat(self.dz), self._one(self.dw))
        elementwise.add(self.w.gradient, self.dw, self.w.gradient)

    @property
    def _now(self) -> channel_mask.Mode:
        return "sample" if self.training else self.mode  # type: ignore[return-value]  # one of MODES

    def _one(self, array: DeviceArray) -> DeviceArray:
        return array.view(1, *array.shape)

    def _flat(self, array: DeviceArray) -> DeviceArray:
        """[batch, units, width] as [1, batch * units, width]."""
        width = array.shape[-1]
        return array.view(1, array.size // width, width)

    def _square(self, array: DeviceArray) -> DeviceArray:
        """[batch, ..., channels, channels] as [batch * patches, channels, channels]."""
        n = self.channels
        return array.view(array.size // (n * n), n, n)
