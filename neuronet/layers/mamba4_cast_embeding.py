"""CMamba4CastEmbeding: values without and with their time, side by side. Ops: concatenate, elementwise."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from neuronet.activations import Activation
from neuronet.device.array import DeviceArray, Shape
from neuronet.errors import ShapeError, SpecError
from neuronet.layers.base import CNeuronBaseOCL, layer
from neuronet.layers.batch_norm import CNeuronBatchNormOCL
from neuronet.layers.conv import CNeuronConvOCL
from neuronet.layers.layer_norm import CNeuronLayerNormOCL
from neuronet.layers.port import CNeuronPort
from neuronet.layers.ts_position_encoder import CNeuronTSPositionEncoder, check_periods, check_shapes
from neuronet.ops import concatenate, elementwise


@layer
class CMamba4CastEmbeding(CNeuronBaseOCL):
    """Each unit as [ batch norm of tanh(w x + b) | projection with time ], ``window_out`` values in all.

    input         [batch, units, window]
    second input  [batch, units, P] phases of P periods: ``time_phases(times, periods)``
    output        [batch, units, window_out]; the last 2 * freqs * P values are those of a
                  CNeuronTSPositionEncoder with freqs = (window_out // 2) // (2 P) harmonics for each period

    Time takes half of ``window_out`` at most; NeuroNet rounds freqs up, so that it may take all and more.

    unit_norm  a layer norm of each unit in place of the batch norm, whose weights are one for each value of a
               sample: all weights then fit any number of units
    """

    takes_second: ClassVar[bool] = True

    window: int
    window_out: int
    periods: tuple[int, ...]
    unit_norm: bool = False

    @property
    def freqs(self) -> int:
        """Harmonics of each period: as many as fit into half the output."""
        return self.window_out // 2 // (2 * len(self.periods))

    def output_shape(self, input_shape: Shape) -> Shape:
        where = "CMamba4CastEmbeding"
        check_periods(self.periods, where)
        if self.freqs < 1:
            raise SpecError(
                f"window_out={self.window_out} has no room for a harmonic of {len(self.periods)} periods",
                where=where,
                fix=f"choose window_out >= {4 * len(self.periods)}, or fewer periods",
            )
        check_shapes(input_shape, self.context.second_shape, self.periods, where)
        if input_shape[1] != self.window:
            raise ShapeError(
                f"input {list(input_shape)} is not [units, window={self.window}]",
                where=where,
                fix="set window to the last axis of the input",
            )
        return (input_shape[0], self.window_out)

    def allocate(self, input_shape: Shape, rng: np.random.Generator) -> None:
        units, window = input_shape
        plain = self.window_out - 2 * self.freqs * len(self.periods)
        conv = CNeuronConvOCL(window=window, step=window, window_out=plain, activation=Activation.TANH)
        self.projection = self.inner("projection", conv, input_shape)
        norm = CNeuronLayerNormOCL() if self.unit_norm else CNeuronBatchNormOCL()
        self.norm: CNeuronBaseOCL = self.inner("norm", norm, (units, plain))
        encoder = CNeuronTSPositionEncoder(periods=self.periods, freqs=self.freqs)
        self.with_time = self.inner("with_time", encoder, input_shape)
        self.port = self.inner("port", CNeuronPort(), input_shape)

    def feedForward(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        self.projection.feedForward(prev)
        self.norm.feedForward(self.projection)
        self.with_time.feedForward(prev, second)
        concatenate.forward(*map(_rows, (self.norm.output, self.with_time.output, self.output)))

    def calcInputGradients(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        concatenate.backward(*map(_rows, (self.gradient, self.norm.gradient, self.with_time.gradient)))
        self.inner_gradients(self.norm, self.projection)
        self.inner_gradients(self.projection, prev)
        self.port.output = prev.output
        self.inner_gradients(self.with_time, self.port if prev.needs_gradient else prev, second)
        if prev.needs_gradient:
            elementwise.add(prev.gradient, self.port.gradient, prev.gradient)

    def calcWeightGradients(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        self.inner_weights(self.projection, prev)
        self.inner_weights(self.norm, self.projection)
        self.inner_weights(self.with_time, prev, second)


def _rows(array: DeviceArray) -> DeviceArray:
    """[batch, units, n] as the rows of a matrix."""
    return array.view(array.shape[0] * array.shape[1], array.shape[2])
