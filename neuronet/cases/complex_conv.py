"""Cases of ops/complex_conv.py."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neuronet.cases.base import Arrays, Case
from neuronet.device.array import DeviceArray, Shape
from neuronet.ops import complex_conv, conv


@dataclass(frozen=True)
class ComplexConv(Case):
    """What the cases share."""

    batch: int
    length: int
    window: int
    step: int
    window_out: int

    @property
    def units(self) -> int:
        return conv.output_units(self.length, self.window, self.step)

    @property
    def z(self) -> Shape:
        return (self.batch, self.length, 2)

    @property
    def w(self) -> Shape:
        return (self.window_out, self.window, 2)

    @property
    def b(self) -> Shape:
        return (self.window_out, 2)

    @property
    def wide(self) -> Shape:
        return (self.window_out, 2, self.window, 2)

    @property
    def y(self) -> Shape:
        return (self.batch, self.units, self.window_out, 2)

    @property
    def flops(self) -> int:
        return 8 * self.batch * self.units * self.window_out * self.window


@dataclass(frozen=True)
class ComplexConvForward(ComplexConv):
    op = "complex_conv.forward"

    def inputs(self, rng: np.random.Generator) -> Arrays:
        return {name: rng.standard_normal(getattr(self, name)) for name in ("z", "w", "b")}

    def outputs(self) -> dict[str, Shape]:
        return {"wide": self.wide, "y": self.y}

    def run(self, **arrays: DeviceArray) -> None:
        complex_conv.forward(**arrays, step=self.step)

    @property
    def terms(self) -> int:
        return 2 * self.window + 1


@dataclass(frozen=True)
class ComplexConvBackwardInput(ComplexConv):
    op = "complex_conv.backward_input"

    def inputs(self, rng: np.random.Generator) -> Arrays:
        return {"dy": rng.standard_normal(self.y), "wide": rng.standard_normal(self.wide)}

    def outputs(self) -> dict[str, Shape]:
        return {"dz": self.z}

    def run(self, **arrays: DeviceArray) -> None:
        complex_conv.backward_input(**arrays, step=self.step)

    @property
    def terms(self) -> int:
        return 2 * self.window_out * -(-self.window // self.step)


@dataclass(frozen=True)
class ComplexConvBackwardWeights(ComplexConv):
    op = "complex_conv.backward_weights"
    changes = ("dwide", "dw", "db")

    def inputs(self, rng: np.random.Generator) -> Arrays:
        arrays = {"z": self.z, "dy": self.y, "dw": self.w, "db": self.b}
        made = {name: rng.standard_normal(shape) for name, shape in arrays.items()}
        return made | {"dwide": np.zeros(self.wide)}

    def run(self, **arrays: DeviceArray) -> None:
        complex_conv.backward_weights(**arrays, step=self.step)

    @property
    def terms(self) -> int:
        return 2 * self.batch * self.units + 1


_KINDS = (ComplexConvForward, ComplexConvBackwardInput, ComplexConvBackwardWeights)
#        batch length window step window_out
_SIZES = [
    (1, 1, 1, 1, 1),
    (2, 20, 4, 4, 3),  # side by side: a dense layer over rows
    (3, 17, 5, 2, 4),  # overlapping
    (2, 21, 4, 6, 9),  # holes
    (9, 31, 1, 1, 33),
    (1, 50, 33, 7, 5),
]
SMALL: list[Case] = [kind(*size) for kind in _KINDS for size in _SIZES]
LARGE: list[Case] = [kind(64 * 11, 19 * 16, 16, 16, 32) for kind in _KINDS]
