"""CNeuronConvOCL: one-dimensional convolution over sequences. Ops: conv, activation."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from neuronet.activations import Activation
from neuronet.device.array import DeviceArray, Shape
from neuronet.errors import ShapeError, SpecError
from neuronet.layers.activated import CNeuronActivated
from neuronet.layers.base import CNeuronBaseOCL, layer
from neuronet.ops import conv


@layer
class CNeuronConvOCL(CNeuronActivated):
    """Slide ``window_out`` filters of ``window`` values, ``step`` apart, over ``variables`` sequences.

    input  [batch, ...], read as [batch, variables, length]
    output [batch, units, window_out], or [batch, variables, units, window_out] for variables > 1,
           units = (length - window) // step + 1

    For bars [batch, units, features] a window of k bars is ``window=k * features, step=features``;
    ``window = step = features`` is the library's per-token linear layer. Every variable has its own
    filters w [variables, window_out, window] and b, initially uniform in ±1/sqrt(window + 1).
    No padding; values behind the last whole window are not read.
    """

    window: int
    step: int
    window_out: int
    variables: int = 1
    activation: Activation | str = Activation.LRELU

    def output_shape(self, input_shape: Shape) -> Shape:
        for name in ("window", "step", "window_out", "variables"):
            if getattr(self, name) < 1:
                raise SpecError(
                    f"{name}={getattr(self, name)} is not positive",
                    where="CNeuronConvOCL",
                    fix=f"choose {name} >= 1",
                )
        size = math.prod(input_shape)
        if size % self.variables:
            raise ShapeError(
                f"{size} values per sample do not divide into {self.variables} variables",
                where="CNeuronConvOCL",
                fix="choose variables so that it divides the input",
            )
        length = size // self.variables
        if length < self.window:
            raise ShapeError(
                f"window={self.window} is longer than the input, {length} values per variable",
                where="CNeuronConvOCL",
                fix=f"choose window <= {length}",
            )
        units = conv.output_units(length, self.window, self.step)
        return (units, self.window_out) if self.variables == 1 else (self.variables, units, self.window_out)

    def allocate(self, input_shape: Shape, rng: np.random.Generator) -> None:
        self.length = math.prod(input_shape) // self.variables
        self.units = conv.output_units(self.length, self.window, self.step)
        bound = 1.0 / math.sqrt(self.window + 1)
        shape = (self.variables, self.window_out, self.window)
        self.w = self.parameter("w", rng.uniform(-bound, bound, shape))
        self.b = self.parameter("b", rng.uniform(-bound, bound, shape[:2]))
        self.allocate_activation()

    def feedForward(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        x, y = self._input(prev.output), self._output(self.linear)
        conv.forward(x, self.w.value, self.b.value, y, step=self.step, activation=self.fused)
        self.activate()

    def calcInputGradients(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        dz = self._output(self.deactivate())
        if prev.needs_gradient:
            conv.backward_input(dz, self.w.value, self._input(prev.gradient), step=self.step)

    def calcWeightGradients(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        x, dz = self._input(prev.output), self._output(self.pre_gradient)
        conv.backward_weights(x, dz, self.w.gradient, self.b.gradient, step=self.step)

    def updateInputWeights(
        self, prev: CNeuronBaseOCL, optimizer: Any, second: CNeuronBaseOCL | None = None
    ) -> None:
        if not optimizer.fused:
            super().updateInputWeights(prev, optimizer, second)
            return
        x, dz, w, b = self._input(prev.output), self._output(self.pre_gradient), self.w, self.b
        conv.update(x, dz, w.value, b.value, w.m, w.v, b.m, b.v, optimizer.hyper, step=self.step)

    def _input(self, array: DeviceArray) -> DeviceArray:
        return array.view(array.shape[0], self.variables, self.length)

    def _output(self, array: DeviceArray) -> DeviceArray:
        return array.view(array.shape[0], self.variables, self.units, self.window_out)
