"""CNeuronConcatenate: a fully connected layer over two inputs. Ops: concatenate, dense."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from neuronet.device.array import DeviceArray, Shape
from neuronet.errors import ShapeError
from neuronet.layers.base import CNeuronBaseOCL, layer
from neuronet.layers.dense import CNeuronDenseOCL
from neuronet.layers.port import CNeuronPort
from neuronet.ops import concatenate, dense


@layer
class CNeuronConcatenate(CNeuronDenseOCL):
    """y = act(w [x | second] + b): [batch, ...] and the second input [batch, ...] -> [batch, neurons].

    Initial weights are uniform in ±1/sqrt(inputs1 + inputs2 + 1). NeuroNet takes the number of
    neurons for that, and has kernels of its own (Concat_FeedForward …) for what a dense layer does.
    """

    takes_second: ClassVar[bool] = True

    def output_shape(self, input_shape: Shape) -> Shape:
        if self.context.second_shape is None:
            raise ShapeError(
                "there is no second input", where="CNeuronConcatenate", fix="give CNet a second_shape"
            )
        return super().output_shape(input_shape)

    def allocate(self, input_shape: Shape, rng: np.random.Generator) -> None:
        self.inputs1 = math.prod(input_shape)
        self.inputs2 = math.prod(self.context.second_shape or ())
        both = (self.inputs1 + self.inputs2,)
        super().allocate(both, rng)
        self.packed = self.inner("packed", CNeuronPort(output=True), both)

    def feedForward(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        assert second is not None
        concatenate.forward(self._first(prev.output), self._second(second.output), self.packed.output)
        super().feedForward(self.packed)

    def calcInputGradients(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        assert second is not None
        dz, both = self.deactivate(), self.packed.gradient
        if not (prev.needs_gradient or second.needs_gradient):
            return
        dense.backward_input(dz, self.w.value, both)
        if not second.needs_gradient:
            concatenate.backward_one(both, self._first(prev.gradient), offset=0)
        elif not prev.needs_gradient:
            concatenate.backward_one(both, self._second(second.gradient), offset=self.inputs1)
        else:
            concatenate.backward(both, self._first(prev.gradient), self._second(second.gradient))

    def calcWeightGradients(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        super().calcWeightGradients(self.packed)

    def updateInputWeights(
        self, prev: CNeuronBaseOCL, optimizer: Any, second: CNeuronBaseOCL | None = None
    ) -> None:
        super().updateInputWeights(self.packed, optimizer)

    def _first(self, array: DeviceArray) -> DeviceArray:
        return array.view(array.shape[0], self.inputs1)

    def _second(self, array: DeviceArray) -> DeviceArray:
        return array.view(array.shape[0], self.inputs2)
