"""unit_linear: the same linear layer for every unit, real or complex."""

from __future__ import annotations

import numpy as np

from neuronet.activations import Activation
from neuronet.device.array import DeviceArray, Shape
from neuronet.layers.activated import CNeuronActivated
from neuronet.layers.base import CNeuronBaseOCL
from neuronet.layers.complex_conv import CNeuronComplexConvOCL
from neuronet.layers.parts import unit_dense


class CNeuronComplexUnits(CNeuronActivated):
    """[batch, units, inputs] -> [batch, units, outputs], both pairs re, im. A part of composites.

    GELU, the one activation besides none, takes every number by itself: there is none of complex numbers
    that is bounded and has a derivative.
    """

    def __init__(self, outputs: int, activation: Activation = Activation.NONE) -> None:
        assert activation in (Activation.NONE, Activation.GELU)
        self.outputs, self.activation = outputs, activation

    def output_shape(self, input_shape: Shape) -> Shape:
        return (input_shape[0], self.outputs)

    def allocate(self, input_shape: Shape, rng: np.random.Generator) -> None:
        units, window = input_shape[0], input_shape[1] // 2
        self.allocate_activation()
        made = CNeuronComplexConvOCL(window=window, step=window, window_out=self.outputs // 2)
        self.linear_layer = self.inner("linear", made, (units, window, 2))
        self.linear_layer.SetOutput(self.linear)
        self.linear_layer.SetGradient(self.pre_gradient)

    def SetOutput(self, array: DeviceArray) -> None:
        super().SetOutput(array)
        self.linear_layer.SetOutput(self.linear)

    def SetGradient(self, array: DeviceArray) -> None:
        super().SetGradient(array)
        self.linear_layer.SetGradient(self.pre_gradient)

    def feedForward(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        self.linear_layer.feedForward(prev)
        self.activate()

    def calcInputGradients(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        self.deactivate()
        self.linear_layer.calcInputGradients(prev)

    def calcWeightGradients(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        self.linear_layer.calcWeightGradients(prev)


def unit_linear(
    inputs: int, outputs: int, activation: Activation = Activation.NONE, *, complex_numbers: bool = False
) -> CNeuronBaseOCL:
    """From [batch, units, inputs] to [batch, units, outputs]; complex: both are pairs re, im."""
    if complex_numbers:
        return CNeuronComplexUnits(outputs, activation)
    return unit_dense(inputs, outputs, activation)
