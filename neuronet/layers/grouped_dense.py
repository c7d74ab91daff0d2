"""CNeuronGroupedDense: two dense layers, each for its half of a unit. Inner layers, concatenate."""

from __future__ import annotations

import numpy as np

from neuronet.activations import Activation
from neuronet.device.array import Shape
from neuronet.layers.base import CNeuronBaseOCL
from neuronet.layers.parts import rows, unit_dense
from neuronet.layers.port import CNeuronPort
from neuronet.ops import concatenate


class CNeuronGroupedDense(CNeuronBaseOCL):
    """[batch, units, 2 * inputs] -> [batch, units, 2 * outputs], a block-diagonal weight."""

    def __init__(self, outputs: int, activation: Activation = Activation.NONE) -> None:
        self.outputs, self.activation = outputs, activation

    def output_shape(self, input_shape: Shape) -> Shape:
        return (input_shape[0], 2 * self.outputs)

    def allocate(self, input_shape: Shape, rng: np.random.Generator) -> None:
        shape = (input_shape[0], input_shape[1] // 2)
        self.ports = [self.inner(f"port{i}", CNeuronPort(output=True), shape) for i in range(2)]
        self.dense = [
            self.inner(f"dense{i}", unit_dense(shape[1], self.outputs, self.activation), shape)
            for i in range(2)
        ]

    def feedForward(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        concatenate.backward(rows(prev.output), *(rows(port.output) for port in self.ports))
        for port, made in zip(self.ports, self.dense, strict=True):
            made.feedForward(port)
        first, last = self.dense
        concatenate.forward(rows(first.output), rows(last.output), rows(self.output))

    def calcInputGradients(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        concatenate.backward(rows(self.gradient), *(rows(made.gradient) for made in self.dense))
        for port, made in zip(self.ports, self.dense, strict=True):
            made.calcInputGradients(port)
        if prev.needs_gradient:
            first, last = self.ports
            concatenate.forward(rows(first.gradient), rows(last.gradient), rows(prev.gradient))

    def calcWeightGradients(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        for port, made in zip(self.ports, self.dense, strict=True):
            made.calcWeightGradients(port)
