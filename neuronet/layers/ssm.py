"""CNeuronSSMOCL: NeuroNet's state space layer. Ops: broadcast, concatenate, row_sums, layer_norm."""

from __future__ import annotations

import numpy as np

from neuronet.activations import Activation
from neuronet.device.array import DeviceArray, Shape
from neuronet.errors import ShapeError, SpecError
from neuronet.layers.base import CNeuronBaseOCL, layer
from neuronet.layers.conv import CNeuronConvOCL
from neuronet.layers.port import CNeuronPort
from neuronet.ops import broadcast, concatenate, elementwise, layer_norm, row_sums

EPS = 1e-5  # added to the variance of a unit's state


@layer
class CNeuronSSMOCL(CNeuronBaseOCL):
    """The series' own form: a state for each unit that goes from call to call, not from unit to unit.

    input, output  [batch, units, window]

        A = sigmoid(a(state))      B = sigmoid(b(x))      output = c([A | B])

    a, b and c are dense layers that see one unit at a time. After a training pass, and after ``stream``, the
    state becomes (A + B) / 2, normalised over each unit to mean 0 and variance 1; with more than one sample,
    their mean. Gradients reach a, b, c and x, and end at the state: training is truncated to one step.

    No step size, no decay, no scan: use CNeuronMambaOCL to learn from the order of units. What NeuroNet gets
    wrong (errata F19) is right here: the state begins at 0, is saved, is used and, by ``stream``, advanced in
    evaluation too, where ``feedForward`` leaves it alone, and ``Clear`` forgets it.

    window_key  values of a unit's state
    """

    window_key: int

    def output_shape(self, input_shape: Shape) -> Shape:
        if self.window_key < 2:
            raise SpecError(
                f"window_key={self.window_key}: the state is normalised over 2 or more values",
                where="CNeuronSSMOCL",
                fix="choose window_key >= 2",
            )
        if len(input_shape) != 2:
            raise ShapeError(
                f"input {list(input_shape)} is not [units, window]",
                where="CNeuronSSMOCL",
                fix="put it where a sample has two axes",
            )
        return input_shape

    def allocate(self, input_shape: Shape, rng: np.random.Generator) -> None:
        (units, window), key = input_shape, self.window_key
        self.hidden = self.state("hidden", np.zeros((units, key)))

        def dense(name: str, inputs: int, outputs: int, activation: Activation) -> CNeuronConvOCL:
            made = CNeuronConvOCL(window=inputs, step=inputs, window_out=outputs, activation=activation)
            return self.inner(name, made, (units, inputs))

        # the state of this pass, for every sample
        self.used = self.inner("used", CNeuronPort(output=True), (units, key))
        self.used.needs_gradient = False  # type: ignore[misc]
        self.a = dense("a", key, key, Activation.SIGMOID)
        self.b = dense("b", window, key, Activation.SIGMOID)
        self.ab = self.inner("ab", CNeuronPort(output=True), (units, 2 * key))
        self.c = dense("c", 2 * key, window, Activation.NONE)
        self.end_with(self.c)

        self.half = self.batch_array("half", (units, key))
        self.no_input = self.batch_array("no_input", (units, key))
        self.sum = self.device.array((units, key))
        self.mean, self.scale = self.device.array((units,)), self.device.array((units,))
        self.one, self.zero = self.device.put(np.ones(key)), self.device.put(np.zeros(key))

    def feedForward(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        broadcast.add(self.no_input, self.hidden, self.used.output)
        self.a.feedForward(self.used)
        self.b.feedForward(prev)
        concatenate.forward(*(self._units(x.output) for x in (self.a, self.b, self.ab)))
        self.c.feedForward(self.ab)
        if self.training:
            self._advance()

    def stream(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        """``feedForward`` of one sample that advances the state, in evaluation too."""
        if prev.output.shape[0] != 1:
            raise ShapeError(
                f"{prev.output.shape[0]} samples share one state",
                where=self.where,
                fix="stream one series, with a batch of 1",
            )
        self.feedForward(prev)
        if not self.training:
            self._advance()

    def Clear(self) -> None:
        """Forget: the state becomes 0, as in a new layer."""
        self.hidden.fill(0.0)

    def _advance(self) -> None:
        rows = self.output.shape[0]
        elementwise.add(self.a.output, self.b.output, self.half, multiplyer=0.5 / rows)
        self.sum.fill(0.0)
        row_sums.add(self.half, self.sum)
        layer_norm.forward(self.sum, self.one, self.zero, self.mean, self.scale, self.hidden, eps=EPS)

    def calcInputGradients(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        self.c.calcInputGradients(self.ab)
        concatenate.backward(*(self._units(x.gradient) for x in (self.ab, self.a, self.b)))
        self.a.calcInputGradients(self.used)
        self.b.calcInputGradients(prev)

    def calcWeightGradients(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        self.a.calcWeightGradients(self.used)
        self.b.calcWeightGradients(prev)
        self.c.calcWeightGradients(self.ab)

    @staticmethod
    def _units(array: DeviceArray) -> DeviceArray:
        """[batch, units, n] as [batch * units, n]."""
        return array.view(array.size // array.shape[-1], array.shape[-1])
