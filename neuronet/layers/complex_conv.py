"""CNeuronComplexConvOCL: convolution of complex numbers by complex filters. Op: complex_conv."""

from __future__ import annotations

import math

import numpy as np

from neuronet.device.array import DeviceArray, Shape
from neuronet.errors import ShapeError, SpecError
from neuronet.layers.base import CNeuronBaseOCL, layer
from neuronet.ops import complex_conv, conv


@layer
class CNeuronComplexConvOCL(CNeuronBaseOCL):
    """Slide ``window_out`` complex filters of ``window`` complex numbers, ``step`` apart; no activation.

    input  [batch, ..., 2], read as [batch, length, 2], pairs re, im
    output [batch, units, window_out, 2], units = (length - window) // step + 1

    y[u, f] = b[f] + sum_k w[f, k] z[u * step + k]. ``window = step`` is one complex linear layer for every
    unit. w [window_out, window, 2] and b [window_out, 2], initially uniform in ±1/sqrt(2 window + 1), are
    trained as independent real numbers. It is CNeuronConvOCL over the pairs with half of its weights. No
    padding; numbers behind the last whole window are not read.
    """

    window: int
    step: int
    window_out: int

    def output_shape(self, input_shape: Shape) -> Shape:
        for name in ("window", "step", "window_out"):
            if getattr(self, name) < 1:
                raise SpecError(
                    f"{name}={getattr(self, name)} is not positive",
                    where="CNeuronComplexConvOCL",
                    fix=f"choose {name} >= 1",
                )
        if len(input_shape) < 2 or input_shape[-1] != 2:
            raise ShapeError(
                f"a sample has shape {list(input_shape)}, expected complex numbers [..., 2]",
                where="CNeuronComplexConvOCL",
                fix="put it behind CNeuronFourierOCL, or reshape the input to pairs re, im",
            )
        length = math.prod(input_shape) // 2
        if length < self.window:
            raise ShapeError(
                f"window={self.window} is longer than the input, {length} complex numbers",
                where="CNeuronComplexConvOCL",
                fix=f"choose window <= {length}",
            )
        return (conv.output_units(length, self.window, self.step), self.window_out, 2)

    def allocate(self, input_shape: Shape, rng: np.random.Generator) -> None:
        self.input_length = math.prod(input_shape) // 2
        bound = 1.0 / math.sqrt(2 * self.window + 1)
        self.w = self.parameter("w", rng.uniform(-bound, bound, (self.window_out, self.window, 2)))
        self.b = self.parameter("b", rng.uniform(-bound, bound, (self.window_out, 2)))
        wide = (self.window_out, 2, self.window, 2)
        self.wide = self.device.array(wide, name=f"{self.where}.wide")
        self.dwide = self.device.array(wide, name=f"{self.where}.dwide")

    def feedForward(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        weights = self.w.value, self.b.value, self.wide
        complex_conv.forward(self._input(prev.output), *weights, self.output, step=self.step)

    def calcInputGradients(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        if prev.needs_gradient:
            complex_conv.backward_input(self.gradient, self.wide, self._input(prev.gradient), step=self.step)

    def calcWeightGradients(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        given = self._input(prev.output), self.gradient, self.dwide
        complex_conv.backward_weights(*given, self.w.gradient, self.b.gradient, step=self.step)

    def _input(self, array: DeviceArray) -> DeviceArray:
        return array.view(array.shape[0], self.input_length, 2)
