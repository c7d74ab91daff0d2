"""Cases of ops/conv.py."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neuronet.activations import Activation
from neuronet.cases.base import Arrays, Case
from neuronet.cases.dense import adam_state
from neuronet.device.array import DeviceArray, Shape
from neuronet.ops import conv


@dataclass(frozen=True)
class Conv(Case):
    """What the cases of a convolution share."""

    batch: int
    variables: int
    length: int
    window: int
    step: int
    window_out: int

    @property
    def units(self) -> int:
        return conv.output_units(self.length, self.window, self.step)

    @property
    def x(self) -> Shape:
        return (self.batch, self.variables, self.length)

    @property
    def w(self) -> Shape:
        return (self.variables, self.window_out, self.window)

    @property
    def b(self) -> Shape:
        return (self.variables, self.window_out)

    @property
    def y(self) -> Shape:
        return (self.batch, self.variables, self.units, self.window_out)

    @property
    def flops(self) -> int:
        return 2 * self.batch * self.variables * self.units * self.window_out * self.window


@dataclass(frozen=True)
class ConvForward(Conv):
    op = "conv.forward"
    activation: Activation = Activation.NONE

    def inputs(self, rng: np.random.Generator) -> Arrays:
        return {
            "x": rng.standard_normal(self.x),
            "w": rng.standard_normal(self.w) / self.window**0.5,
            "b": rng.standard_normal(self.b),
        }

    def outputs(self) -> dict[str, Shape]:
        return {"y": self.y}

    def run(self, **arrays: DeviceArray) -> None:
        conv.forward(
            arrays["x"], arrays["w"], arrays["b"], arrays["y"], step=self.step, activation=self.activation
        )

    @property
    def terms(self) -> int:
        return self.window + 1


@dataclass(frozen=True)
class ConvBackwardInput(Conv):
    op = "conv.backward_input"

    def inputs(self, rng: np.random.Generator) -> Arrays:
        return {"dz": rng.standard_normal(self.y), "w": rng.standard_normal(self.w)}

    def outputs(self) -> dict[str, Shape]:
        return {"dx": self.x}

    def run(self, **arrays: DeviceArray) -> None:
        conv.backward_input(arrays["dz"], arrays["w"], arrays["dx"], step=self.step)

    @property
    def terms(self) -> int:
        return self.window_out * -(-self.window // self.step)


@dataclass(frozen=True)
class ConvBackwardWeights(Conv):
    op = "conv.backward_weights"
    changes = ("dw", "db")

    def inputs(self, rng: np.random.Generator) -> Arrays:
        shapes = {"x": self.x, "dz": self.y, "dw": self.w, "db": self.b}
        return {name: rng.standard_normal(shape) for name, shape in shapes.items()}

    def run(self, **arrays: DeviceArray) -> None:
        conv.backward_weights(arrays["x"], arrays["dz"], arrays["dw"], arrays["db"], step=self.step)

    @property
    def terms(self) -> int:
        return self.batch * self.units + 1


@dataclass(frozen=True)
class ConvUpdate(Conv):
    op = "conv.update"
    changes = ("w", "b", "w_m", "w_v", "b_m", "b_v")

    def inputs(self, rng: np.random.Generator) -> Arrays:
        arrays = {"x": rng.standard_normal(self.x), "dz": rng.standard_normal(self.y)}
        return arrays | adam_state(rng, self.w, self.b)

    def run(self, **arrays: DeviceArray) -> None:
        conv.update(**arrays, step=self.step)

    @property
    def terms(self) -> int:
        return self.batch * self.units + 1


_KINDS = (ConvForward, ConvBackwardInput, ConvBackwardWeights, ConvUpdate)
#        batch variables length window step window_out
_SIZES = [
    (1, 1, 1, 1, 1, 1),
    (2, 1, 40, 8, 8, 3),  # windows side by side: a dense layer over rows
    (2, 3, 40, 8, 8, 17),  # the same for each variable
    (3, 1, 17, 5, 2, 4),  # overlapping windows
    (3, 2, 18, 5, 2, 7),  # overlapping, and a rest of one input
    (2, 1, 41, 8, 11, 3),  # holes between windows
    (1, 2, 50, 9, 9, 33),  # side by side and a rest
    (2, 1, 65, 16, 1, 16),
    (1, 1, 600, 64, 7, 18),  # more inputs than a work-item's span
    (1, 1, 700, 300, 31, 18),  # more taps than a CPU's panel holds
    (9, 2, 31, 1, 1, 65),
]
SMALL: list[Case] = [kind(*size) for kind in _KINDS for size in _SIZES]
SMALL += [ConvForward(3, 2, 18, 5, 2, 7, activation) for activation in Activation]
LARGE: list[Case] = [
    kind(64, *size)
    for size in ((1, 1080, 9, 9, 32), (1, 1080, 27, 9, 32), (9, 120, 5, 1, 32), (1, 1200, 48, 12, 128))
    for kind in _KINDS
]
