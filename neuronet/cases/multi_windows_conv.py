"""Cases of ops/multi_windows_conv.py."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neuronet.activations import Activation
from neuronet.cases.base import Arrays, Case
from neuronet.device.array import DeviceArray, Shape
from neuronet.ops import multi_windows_conv as op

#        sequences inputs dimension windows step window_out
Size = tuple[int, int, int, tuple[int, ...], int, int]
SIZES: list[Size] = [
    (1, 1, 1, (1,), 1, 1),
    (3, 17, 1, (2,), 1, 4),
    (2, 13, 1, (3, 5), 2, 7),
    (2, 13, 1, (5, 3), 3, 8),
    (3, 23, 1, (1, 3, 5, 7), 5, 3),
    (1, 4, 2, (9, 2), 1, 17),  # a window longer than the sequence
    (2, 9, 3, (3, 3), 2, 33),
    (5, 70, 9, (1, 3, 5, 7), 1, 16),
    (2, 150, 5, (5, 7), 1, 18),  # more positions than a work-item's span
    (7, 11, 33, (2, 3), 3, 70),
    (1, 130, 1, (60, 2), 2, 130),  # more taps and filters than a panel holds
]
LARGE_SIZES: list[Size] = [
    (64, 120, 32, (3, 5, 7), 1, 32),
    (64, 120, 9, (3, 5, 7), 1, 32),
    (576, 120, 1, (3, 5, 7), 1, 32),
]


@dataclass(frozen=True)
class MultiWindows(Case):
    """What the cases of these convolutions share."""

    sequences: int
    length: int
    dimension: int
    windows: tuple[int, ...]
    step: int
    window_out: int
    causal: bool = False

    @property
    def taps(self) -> int:
        return sum(self.windows) * self.dimension

    @property
    def units(self) -> int:
        return op.output_units(self.length, self.step)

    @property
    def x(self) -> Shape:
        return (self.sequences, self.length, self.dimension)

    @property
    def w(self) -> Shape:
        return (self.taps, self.window_out)

    @property
    def b(self) -> Shape:
        return (len(self.windows), self.window_out)

    @property
    def y(self) -> Shape:
        return (self.sequences, self.units, *self.b)

    @property
    def geometry(self) -> Arrays:
        starts = (op.causal if self.causal else op.centred)(self.windows)
        return {"windows_in": np.array(self.windows), "starts": np.array(starts)}

    @property
    def flops(self) -> int:
        return 2 * self.sequences * self.units * self.window_out * self.taps


@dataclass(frozen=True)
class MultiWindowsForward(MultiWindows):
    op = "multi_windows_conv.forward"
    activation: Activation = Activation.NONE

    def inputs(self, rng: np.random.Generator) -> Arrays:
        arrays = {
            "x": rng.standard_normal(self.x),
            "w": rng.standard_normal(self.w) / self.terms**0.5,
            "b": rng.standard_normal(self.b),
        }
        return arrays | self.geometry

    def outputs(self) -> dict[str, Shape]:
        return {"y": self.y}

    def run(self, **arrays: DeviceArray) -> None:
        op.forward(**arrays, step=self.step, activation=self.activation)

    @property
    def terms(self) -> int:
        return max(self.windows) * self.dimension + 1


@dataclass(frozen=True)
class MultiWindowsBackwardInput(MultiWindows):
    op = "multi_windows_conv.backward_input"

    def inputs(self, rng: np.random.Generator) -> Arrays:
        return {"dz": rng.standard_normal(self.y), "w": rng.standard_normal(self.w)} | self.geometry

    def outputs(self) -> dict[str, Shape]:
        return {"dx": self.x}

    def run(self, **arrays: DeviceArray) -> None:
        op.backward_input(**arrays, step=self.step)

    @property
    def terms(self) -> int:
        return self.window_out * sum(-(-window // self.step) for window in self.windows)


_KINDS = (MultiWindowsForward, MultiWindowsBackwardInput)
SMALL: list[Case] = [kind(*size) for kind in _KINDS for size in SIZES]
SMALL += [kind(2, 13, 3, (3, 4), step, 9, True) for kind in _KINDS for step in (1, 3)]
SMALL += [MultiWindowsForward(3, 17, 2, (5, 2), 2, 7, False, activation) for activation in Activation]
LARGE: list[Case] = [kind(*size) for size in LARGE_SIZES for kind in _KINDS]
LARGE.append(MultiWindowsForward(*LARGE_SIZES[0], False, Activation.SOFTPLUS))
