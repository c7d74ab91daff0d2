"""CNeuronMultiWindowsConvOCL: windows of several widths side by side. Ops: multi_windows_conv, …_weights."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from neuronet.activations import Activation
from neuronet.device.array import DeviceArray, Shape
from neuronet.errors import ShapeError, SpecError
from neuronet.layers.activated import CNeuronActivated
from neuronet.layers.base import CNeuronBaseOCL, layer
from neuronet.ops import multi_windows_conv as conv
from neuronet.ops import multi_windows_weights as weights


class Geometry(NamedTuple):
    """How windows lie over one sequence."""

    inputs: int  # positions
    dimension: int  # values of a position
    step: int  # positions from one unit to the next
    starts: list[int]  # of each window, from the unit's own position


@layer
class CNeuronMultiWindowsConvOCL(CNeuronActivated):
    """A unit is a row of blocks, one for each window; ``window_out`` filters see each block.

    input  [batch, ...], read as [batch, variables, units, sum of windows]
    output [batch, units, windows * window_out] in the order [window][filter], or for more than one variable
           [batch, variables, units, windows * window_out]

    All units and variables share the weights: w [taps, window_out] with the taps of the first window, then
    those of the second and so on, b [windows, window_out], initially uniform in ±1/sqrt(window + 1).
    NeuroNet's source of this class is not public; it has one separate data block for each window.
    """

    windows: tuple[int, ...]
    window_out: int
    variables: int = 1
    activation: Activation | str = Activation.SOFTPLUS

    def geometry(self, length: int) -> Geometry:
        """For ``length`` values of a variable; ShapeError when they do not divide into units."""
        step = sum(self.windows)
        if length % step:
            raise ShapeError(
                f"{length} values per variable do not divide into units of {step}, the sum of windows",
                where=type(self).__name__,
                fix="give each window of each unit its block of values",
            )
        return Geometry(length, 1, step, conv.blocks(self.windows))

    def output_shape(self, input_shape: Shape) -> Shape:
        self.check_spec()
        size = math.prod(input_shape)
        if not size or size % self.variables:
            raise ShapeError(
                f"{size} values per sample do not divide into {self.variables} variables",
                where=type(self).__name__,
                fix="choose variables so that it divides the input",
            )
        self.plan = self.geometry(size // self.variables)
        self.units = conv.output_units(self.plan.inputs, self.plan.step)
        shape = (self.units, len(self.windows) * self.window_out)
        return shape if self.variables == 1 else (self.variables, *shape)

    def check_spec(self) -> None:
        """SpecError for fields that no input could make right."""
        where = type(self).__name__
        windows = self.windows if isinstance(self.windows, tuple) else ()
        if not windows or any(isinstance(w, bool) or not isinstance(w, int) or w < 1 for w in windows):
            raise SpecError(
                f"windows={self.windows!r} are not positive whole numbers",
                where=where,
                fix="try windows=(3, 5)",
            )
        for name, value in vars(self).items():
            if name in ("step", "window_out", "dimension", "variables") and value < 1:
                raise SpecError(f"{name}={value} is not positive", where=where, fix=f"choose {name} >= 1")

    def allocate(self, input_shape: Shape, rng: np.random.Generator) -> None:
        taps = [self.plan.dimension * window for window in self.windows]
        bounds = [1.0 / math.sqrt(count + 1) for count in taps]
        shape = (sum(taps), self.window_out)
        self.w = self.parameter("w", rng.uniform(-1, 1, shape) * np.repeat(bounds, taps)[:, None])
        shape = (len(taps), self.window_out)
        self.b = self.parameter("b", rng.uniform(-1, 1, shape) * np.array(bounds)[:, None])
        self.windows_in = self._integers(self.windows, "windows")
        self.starts = self._integers(self.plan.starts, "starts")
        self.allocate_activation()

    def _integers(self, values: Any, name: str) -> DeviceArray:
        return self.device.array((len(values),), np.int32, name=f"{self.where}.{name}").write(values)

    def feedForward(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        conv.forward(
            self._sequences(prev.output),
            self.w.value,
            self.b.value,
            *self._windows,
            self._units(self.linear),
            step=self.plan.step,
            activation=self.fused,
        )
        self.activate()

    def calcInputGradients(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        dz = self._units(self.deactivate())
        if prev.needs_gradient:
            dx = self._sequences(prev.gradient)
            conv.backward_input(dz, self.w.value, *self._windows, dx, step=self.plan.step)

    def calcWeightGradients(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        x, dz = self._sequences(prev.output), self._units(self.pre_gradient)
        gradients = self.w.gradient, self.b.gradient
        weights.backward_weights(x, dz, *self._windows, *gradients, step=self.plan.step)

    def updateInputWeights(
        self, prev: CNeuronBaseOCL, optimizer: Any, second: CNeuronBaseOCL | None = None
    ) -> None:
        if not optimizer.fused:
            super().updateInputWeights(prev, optimizer, second)
            return
        x, dz, w, b = self._sequences(prev.output), self._units(self.pre_gradient), self.w, self.b
        state = w.value, b.value, w.m, w.v, b.m, b.v, optimizer.hyper
        weights.update(x, dz, *self._windows, *state, step=self.plan.step)

    @property
    def _windows(self) -> tuple[DeviceArray, DeviceArray]:
        return self.windows_in, self.starts

    def _sequences(self, array: DeviceArray) -> DeviceArray:
        return array.view(array.shape[0] * self.variables, self.plan.inputs, self.plan.dimension)

    def _units(self, array: DeviceArray) -> DeviceArray:
        return array.view(array.shape[0] * self.variables, self.units, len(self.windows), self.window_out)
