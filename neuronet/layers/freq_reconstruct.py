"""CNeuronFreqReconstruct: from units of patches back to the spectra of channels. Inner layers, transpose."""

from __future__ import annotations

import numpy as np

from neuronet.activations import Activation
from neuronet.device.array import DeviceArray, Shape
from neuronet.layers.base import CNeuronBaseOCL
from neuronet.layers.chain import CNeuronChain
from neuronet.layers.conv import CNeuronConvOCL
from neuronet.layers.port import CNeuronPort
from neuronet.ops import elementwise, transpose


class CNeuronFreqReconstruct(CNeuronBaseOCL):
    """[batch, patches * channels, width] -> spectra [batch, channels, bins, 2]. A part of CATCH.

    All patches of a channel side by side are the input of one linear layer, the same for every channel.
    With ``residual`` the two halves of ``width`` are features of the real and of the imaginary part, and
    each goes through three layers u + ReLU(A u) and a linear one of its own, as in CATCH's code.
    """

    def __init__(self, channels: int, bins: int, *, residual: bool) -> None:
        self.channels, self.bins, self.residual = channels, bins, residual

    def output_shape(self, input_shape: Shape) -> Shape:
        return (self.channels, self.bins, 2)

    def allocate(self, input_shape: Shape, rng: np.random.Generator) -> None:
        units, width = input_shape
        patches, n = units // self.channels, self.channels
        self.cut = patches, n, width
        if not self.residual:
            self.gathered = self.inner("gathered", CNeuronPort(output=True), (n, patches * width))
            head = CNeuronConvOCL(
                window=patches * width, step=patches * width, window_out=2 * self.bins,
                activation=Activation.NONE,
            )  # fmt: skip
            self.head: CNeuronBaseOCL = self.inner("head", head, (n, patches * width))
            self.end_with(self.head)
            return
        self.by_channel = self.inner("by_channel", CNeuronPort(output=True), (n, 2, patches * width // 2))
        self.gathered = self.inner("gathered", CNeuronPort(output=True), (2, n, patches * width // 2))
        self.head = self.inner("head", _ResidualHeads(self.bins), (2, n, patches * width // 2))

    def feedForward(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        self._gather(prev.output, "output")
        self.head.feedForward(self.gathered)
        if self.residual:
            transpose.forward(self._parts(self.head.output), self._pairs(self.output))

    def calcInputGradients(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        if self.residual:
            transpose.forward(self._pairs(self.gradient), self._parts(self.head.gradient))
        self.head.calcInputGradients(self.gathered)
        if prev.needs_gradient:
            self._scatter(prev.gradient)

    def calcWeightGradients(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        self.head.calcWeightGradients(self.gathered)

    def _gather(self, units: DeviceArray, name: str) -> None:
        """[batch, patches, channels, width] by channels, and by parts where they are apart."""
        (patches, n, width), batch = self.cut, units.shape[0]
        if not self.residual:
            to = self.gathered.output.view(batch, n, patches, width)
            transpose.rows_and_columns(units.view(batch, patches, n, width), to)
            return
        half = width // 2
        middle = self.by_channel.output
        from_units = units.view(batch, patches, n * 2, half)
        transpose.rows_and_columns(from_units, middle.view(batch, n * 2, patches, half))
        parts = self.gathered.output.view(batch, 2, n, patches * half)
        transpose.rows_and_columns(middle.view(batch, n, 2, patches * half), parts)

    def _scatter(self, units: DeviceArray) -> None:
        """The way back of ``_gather``, for gradients."""
        (patches, n, width), batch = self.cut, units.shape[0]
        if not self.residual:
            back = self.gathered.gradient.view(batch, n, patches, width)
            transpose.rows_and_columns(back, units.view(batch, patches, n, width))
            return
        half = width // 2
        middle = self.by_channel.gradient
        parts = self.gathered.gradient.view(batch, 2, n, patches * half)
        transpose.rows_and_columns(parts, middle.view(batch, n, 2, patches * half))
        to_units = units.view(batch, patches, n * 2, half)
        transpose.rows_and_columns(middle.view(batch, n * 2, patches, half), to_units)

    def _parts(self, array: DeviceArray) -> DeviceArray:
        return array.view(array.shape[0], 2, self.channels * self.bins)

    def _pairs(self, array: DeviceArray) -> DeviceArray:
        return array.view(array.shape[0], self.channels * self.bins, 2)


class _ResidualHeads(CNeuronChain):
    """[batch, 2, channels, inputs] -> [batch, 2, channels, bins], weights of its own for each of the two."""

    def __init__(self, bins: int) -> None:
        self.bins = bins

    def output_shape(self, input_shape: Shape) -> Shape:
        return (2, input_shape[1], self.bins)

    def allocate(self, input_shape: Shape, rng: np.random.Generator) -> None:
        inputs = input_shape[2]
        last = _two(inputs, self.bins, Activation.NONE)
        self.chain([*[(f"residual{i}", _Residual()) for i in range(3)], ("linear", last)], input_shape)


class _Residual(CNeuronBaseOCL):
    """u + ReLU(A u), where A is a layer for each of two variables."""

    def output_shape(self, input_shape: Shape) -> Shape:
        return input_shape

    def allocate(self, input_shape: Shape, rng: np.random.Generator) -> None:
        self.dense = self.inner("dense", _two(input_shape[2], input_shape[2], Activation.RELU), input_shape)
        self.port = self.inner("port", CNeuronPort(), input_shape)
        self.SetGradient(self.gradient)

    def SetGradient(self, array: DeviceArray) -> None:
        super().SetGradient(array)
        self.dense.SetGradient(array)

    def feedForward(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        self.dense.feedForward(prev)
        elementwise.add(prev.output, self.dense.output, self.output)

    def calcInputGradients(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        self.port.output = prev.output
        self.dense.calcInputGradients(self.port)
        elementwise.add(self.port.gradient, self.gradient, prev.gradient)

    def calcWeightGradients(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        self.dense.calcWeightGradients(prev)


def _two(inputs: int, outputs: int, activation: Activation) -> CNeuronConvOCL:
    return CNeuronConvOCL(window=inputs, step=inputs, window_out=outputs, variables=2, activation=activation)
