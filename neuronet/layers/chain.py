"""CNeuronChain: base of layers that are other layers, one behind the other."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TypeVar

from neuronet.device.array import Shape
from neuronet.layers.base import CNeuronBaseOCL

T = TypeVar("T", bound=CNeuronBaseOCL)


class CNeuronChain(CNeuronBaseOCL):
    """Passes of a composite whose layers follow each other; a subclass calls ``chain`` in ``allocate``."""

    links: list[CNeuronBaseOCL]

    def chain(self, parts: Sequence[tuple[str, CNeuronBaseOCL]], input_shape: Shape) -> None:
        """Build ``parts``, (name, layer) each, one behind the other; the last has this layer's output."""
        self.links, shape = [], input_shape
        for name, made in parts:
            self.links.append(self.inner(name, made, shape))
            shape = made.output.shape[1:]
        self.end_with(self.links[-1])

    def feedForward(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        for before, made in self._pairs(prev):
            made.feedForward(before)

    def stream(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        """``feedForward`` for units that follow those of the last call, sample by sample."""
        for before, made in self._pairs(prev):
            if hasattr(made, "stream"):
                made.stream(before)
            else:
                made.feedForward(before)

    def Clear(self) -> None:
        """Forget what ``stream`` has seen."""
        for made in self.links:
            if hasattr(made, "Clear"):
                made.Clear()

    def calcInputGradients(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        for before, made in reversed(self._pairs(prev)):
            self.inner_gradients(made, before)

    def calcWeightGradients(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        for before, made in self._pairs(prev):
            self.inner_weights(made, before)

    def _pairs(self, prev: CNeuronBaseOCL) -> list[tuple[CNeuronBaseOCL, CNeuronBaseOCL]]:
        return list(pairwise([prev, *self.links]))
