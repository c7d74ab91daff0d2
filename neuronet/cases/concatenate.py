"""Cases of ops/concatenate.py."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neuronet.cases.base import Arrays, Case
from neuronet.device.array import DeviceArray, Shape
from neuronet.ops import concatenate


@dataclass(frozen=True)
class Concatenate(Case):
    """What the cases of concatenation share."""

    rows: int
    window1: int
    window2: int

    @property
    def parts(self) -> dict[str, Shape]:
        return {"a": (self.rows, self.window1), "b": (self.rows, self.window2)}

    @property
    def both(self) -> Shape:
        return (self.rows, self.window1 + self.window2)


@dataclass(frozen=True)
class ConcatenateForward(Concatenate):
    op = "concatenate.forward"

    def inputs(self, rng: np.random.Generator) -> Arrays:
        return {name: rng.standard_normal(shape) for name, shape in self.parts.items()}

    def outputs(self) -> dict[str, Shape]:
        return {"out": self.both}

    def run(self, **arrays: DeviceArray) -> None:
        concatenate.forward(**arrays)


@dataclass(frozen=True)
class ConcatenateBackward(Concatenate):
    op = "concatenate.backward"

    def inputs(self, rng: np.random.Generator) -> Arrays:
        return {"dout": rng.standard_normal(self.both)}

    def outputs(self) -> dict[str, Shape]:
        return {"da": self.parts["a"], "db": self.parts["b"]}

    def run(self, **arrays: DeviceArray) -> None:
        concatenate.backward(**arrays)


@dataclass(frozen=True)
class ConcatenateBackwardOne(Concatenate):
    op = "concatenate.backward_one"
    first: bool = True

    def inputs(self, rng: np.random.Generator) -> Arrays:
        return {"dout": rng.standard_normal(self.both)}

    def outputs(self) -> dict[str, Shape]:
        return {"part": self.parts["a" if self.first else "b"]}

    def run(self, **arrays: DeviceArray) -> None:
        concatenate.backward_one(**arrays, offset=0 if self.first else self.window1)


@dataclass(frozen=True)
class ConcatenatePad(Concatenate):
    op = "concatenate.pad"

    def inputs(self, rng: np.random.Generator) -> Arrays:
        return {"part": rng.standard_normal(self.parts["b"])}

    def outputs(self) -> dict[str, Shape]:
        return {"out": self.both}

    def run(self, **arrays: DeviceArray) -> None:
        concatenate.pad(**arrays)


_SIZES = [(1, 1, 1), (3, 5, 2), (17, 1, 9), (2, 33, 31), (67, 3, 21)]
SMALL: list[Case] = [
    case
    for size in _SIZES
    for case in (
        ConcatenateForward(*size),
        ConcatenateBackward(*size),
        ConcatenatePad(*size),
        ConcatenateBackwardOne(*size),
        ConcatenateBackwardOne(*size, first=False),
    )
]
LARGE: list[Case] = [
    kind(*size)
    for kind in (ConcatenateForward, ConcatenateBackward)
    for size in ((64, 1080, 128), (30720, 32, 9))
]
