"""CNeuronDenseOCL: the fully connected layer. Ops: dense, activation."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from neuronet.activations import Activation
from neuronet.device.array import DeviceArray, Shape
from neuronet.errors import SpecError
from neuronet.layers.activated import CNeuronActivated
from neuronet.layers.base import CNeuronBaseOCL, layer
from neuronet.ops import dense


@layer
class CNeuronDenseOCL(CNeuronActivated):
    """y = act(w x + b) over all values of a sample: [batch, ...] -> [batch, neurons].

    NeuroNet's defNeuronBaseOCL; here the layer owns its weights w [neurons, inputs] and b [neurons].
    Initial weights are uniform in ±1/sqrt(inputs + 1).
    """

    neurons: int
    activation: Activation | str = Activation.NONE

    def output_shape(self, input_shape: Shape) -> Shape:
        if self.neurons < 1:
            raise SpecError(
                f"neurons={self.neurons} is not positive", where="CNeuronDenseOCL", fix="choose neurons >= 1"
            )
        return (self.neurons,)

    def allocate(self, input_shape: Shape, rng: np.random.Generator) -> None:
        self.inputs = math.prod(input_shape)
        bound = 1.0 / math.sqrt(self.inputs + 1)
        self.w = self.parameter("w", rng.uniform(-bound, bound, (self.neurons, self.inputs)))
        self.b = self.parameter("b", rng.uniform(-bound, bound, self.neurons))
        self.allocate_activation()

    def feedForward(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        dense.forward(self._rows(prev.output), self.w.value, self.b.value, self.linear, activation=self.fused)
        self.activate()

    def calcInputGradients(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        dz = self.deactivate()
        if prev.needs_gradient:
            dense.backward_input(dz, self.w.value, self._rows(prev.gradient))

    def calcWeightGradients(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        dense.backward_weights(self._rows(prev.output), self.pre_gradient, self.w.gradient, self.b.gradient)

    def updateInputWeights(
        self, prev: CNeuronBaseOCL, optimizer: Any, second: CNeuronBaseOCL | None = None
    ) -> None:
        if not optimizer.fused:
            super().updateInputWeights(prev, optimizer, second)
            return
        x, w, b = self._rows(prev.output), self.w, self.b
        dense.update(x, self.pre_gradient, w.value, b.value, w.m, w.v, b.m, b.v, optimizer.hyper)

    def _rows(self, array: DeviceArray) -> DeviceArray:
        return array.view(array.shape[0], self.inputs)
