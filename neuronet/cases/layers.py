"""One example of every layer: tests take each through its whole life, ``selfcheck`` on a device."""

from __future__ import annotations

from dataclasses import dataclass

from neuronet.device.array import Shape
from neuronet.layers import (
    CNeuronConvOCL,
    CNeuronDenseOCL,
)
from neuronet.layers.base import CNeuronBaseOCL, layer_from_spec


@dataclass(frozen=True)
class Example:
    """A net of a few layers around ``shown``; ``layers()`` gives fresh ones each time."""

    shown: str
    stack: tuple[CNeuronBaseOCL, ...]
    input_shape: Shape
    second_shape: Shape | None = None
    batch: int = 3

    def layers(self) -> list[CNeuronBaseOCL]:
        return [layer_from_spec(layer.spec()) for layer in self.stack]

    def __str__(self) -> str:
        return self.shown


def _example(
    *stack: CNeuronBaseOCL,
    shape: Shape,
    second: Shape | None = None,
    batch: int = 3,
    shown: int = 0,
) -> Example:
    return Example(type(stack[shown]).__name__, stack, shape, second, batch)


EXAMPLES = [
    _example(CNeuronDenseOCL(neurons=5, activation="SILU"), CNeuronDenseOCL(neurons=2), shape=(4, 3)),
    _example(CNeuronConvOCL(window=6, step=2, window_out=3, activation="GELU"), shape=(7, 2)),
    _example(CNeuronConvOCL(window=3, step=3, window_out=4, variables=2), shape=(2, 10)),
]
