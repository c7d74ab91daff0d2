"""CNeuronShortcut: layers beside a shortcut, with a layer norm in front of them or behind the sum."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from neuronet.device.array import DeviceArray, Shape
from neuronet.errors import ShapeError
from neuronet.layers.base import CNeuronBaseOCL
from neuronet.layers.layer_norm import CNeuronLayerNormOCL
from neuronet.layers.port import CNeuronPort
from neuronet.ops import elementwise


class CNeuronShortcut(CNeuronBaseOCL):
    """x + branch(norm(x)), or norm(x + branch(x)) with ``post_norm``. A part of composites.

    input, output  [batch, ..., window], the same shape

    ``branch`` has (name, layer) pairs; names are those of the parameters in files. A second input goes to
    those layers of the branch that take one.
    """

    def __init__(self, branch: Sequence[tuple[str, CNeuronBaseOCL]], *, post_norm: bool = False) -> None:
        self.branch, self.post_norm = list(branch), post_norm

    def output_shape(self, input_shape: Shape) -> Shape:
        return input_shape

    def allocate(self, input_shape: Shape, rng: np.random.Generator) -> None:
        self.norm = self.inner("norm", CNeuronLayerNormOCL(), input_shape)
        shape = input_shape
        for name, made in self.branch:
            self.inner(name, made, shape)
            shape = made.output.shape[1:]
        if shape != input_shape:
            raise ShapeError(
                f"a branch gives {list(shape)} beside a shortcut of {list(input_shape)}", where=self.where
            )
        self.layers = [made for _, made in self.branch]
        self.layers[-1].forget_output()
        self.port = self.inner("port", CNeuronPort(), input_shape)
        if self.post_norm:
            self.sum = self.inner("sum", CNeuronPort(output=True), input_shape)
            self.norm.SetOutput(self.output)
        self.SetGradient(self.gradient)

    def SetOutput(self, array: DeviceArray) -> None:
        super().SetOutput(array)
        if self.post_norm:
            self.norm.SetOutput(array)

    def SetGradient(self, array: DeviceArray) -> None:
        super().SetGradient(array)
        if self.post_norm:
            self.norm.SetGradient(array)
        self.layers[-1].SetGradient(self.sum.gradient if self.post_norm else array)

    def feedForward(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        self._run(prev, second, streaming=False)

    def stream(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        """``feedForward`` for units that follow those of the last call, where layers of the branch can."""
        self._run(prev, second, streaming=True)

    def _run(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None, *, streaming: bool) -> None:
        if not self.post_norm:
            self.norm.feedForward(prev)
        for before, made in self._pairs(prev):
            if streaming and hasattr(made, "stream"):
                made.stream(before)
            else:
                made.feedForward(before, second if made.takes_second else None)
        branch = self.layers[-1].output
        if self.post_norm:
            self.norm.forward_sum(prev.output, branch, self.sum.output)
        else:
            elementwise.add(prev.output, branch, self.output)

    def Clear(self) -> None:
        """Forget what ``stream`` has seen."""
        for made in self.layers:
            if hasattr(made, "Clear"):
                made.Clear()

    def calcInputGradients(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        if self.post_norm:
            self.norm.calcInputGradients(self.sum)
        self.port.output = prev.output
        first = self.port if prev.needs_gradient else prev
        for before, made in reversed(self._pairs(first)):
            self.inner_gradients(made, before, second if made.takes_second else None)
        if not prev.needs_gradient:
            return
        if self.post_norm:
            elementwise.add(self.port.gradient, self.sum.gradient, prev.gradient)
        else:
            self.norm.gradient_of_sum(prev.output, self.gradient, prev.gradient)

    def calcWeightGradients(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        for before, made in self._pairs(prev):
            self.inner_weights(made, before, second if made.takes_second else None)
        self.norm.calcWeightGradients(self.sum if self.post_norm else prev)

    def _pairs(self, prev: CNeuronBaseOCL) -> list[tuple[CNeuronBaseOCL, CNeuronBaseOCL]]:
        """(previous layer, layer) of the branch in the order of the forward pass."""
        return list(pairwise([prev if self.post_norm else self.norm, *self.layers]))
