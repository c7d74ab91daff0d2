"""Cases of ops/dense.py."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neuronet.activations import Activation
from neuronet.cases.base import Arrays, Case
from neuronet.device.array import DeviceArray, Shape
from neuronet.ops import dense

#                lr    beta1 beta2  eps   c1    c2    l2    l1    go
HYPER = np.array([1e-2, 0.9, 0.99, 1e-8, 5.0, 50.0, 1e-2, 1e-3, 1.0])


def adam_state(rng: np.random.Generator, w: Shape, b: Shape) -> Arrays:
    """Weights with a moment history, as a fused update finds them."""
    shapes = {"w": w, "b": b, "w_m": w, "b_m": b, "w_v": w, "b_v": b}
    arrays: Arrays = {name: rng.standard_normal(shape) for name, shape in shapes.items()}
    # Second moments stay off zero, where a step divides by them and no rounding bound holds.
    return arrays | {"w_v": 1 + arrays["w_v"] ** 2, "b_v": 1 + arrays["b_v"] ** 2, "hyper": HYPER}


@dataclass(frozen=True)
class Dense(Case):
    """What the cases of a dense layer share."""

    batch: int
    inputs_count: int
    outputs_count: int

    @property
    def x(self) -> Shape:
        return (self.batch, self.inputs_count)

    @property
    def w(self) -> Shape:
        return (self.outputs_count, self.inputs_count)

    @property
    def y(self) -> Shape:
        return (self.batch, self.outputs_count)

    @property
    def flops(self) -> int:
        return 2 * self.batch * self.inputs_count * self.outputs_count


@dataclass(frozen=True)
class DenseForward(Dense):
    op = "dense.forward"
    activation: Activation = Activation.NONE

    def inputs(self, rng: np.random.Generator) -> Arrays:
        return {
            "x": rng.standard_normal(self.x),
            "w": rng.standard_normal(self.w) / self.inputs_count**0.5,
            "b": rng.standard_normal(self.outputs_count),
        }

    def outputs(self) -> dict[str, Shape]:
        return {"y": self.y}

    def run(self, **arrays: DeviceArray) -> None:
        dense.forward(arrays["x"], arrays["w"], arrays["b"], arrays["y"], activation=self.activation)

    @property
    def terms(self) -> int:
        return self.inputs_count + 1


@dataclass(frozen=True)
class DenseBackwardInput(Dense):
    op = "dense.backward_input"

    def inputs(self, rng: np.random.Generator) -> Arrays:
        return {"dz": rng.standard_normal(self.y), "w": rng.standard_normal(self.w)}

    def outputs(self) -> dict[str, Shape]:
        return {"dx": self.x}

    def run(self, **arrays: DeviceArray) -> None:
        dense.backward_input(arrays["dz"], arrays["w"], arrays["dx"])

    @property
    def terms(self) -> int:
        return self.outputs_count


@dataclass(frozen=True)
class DenseBackwardWeights(Dense):
    op = "dense.backward_weights"
    changes = ("dw", "db")

    def inputs(self, rng: np.random.Generator) -> Arrays:
        shapes = {"x": self.x, "dz": self.y, "dw": self.w, "db": (self.outputs_count,)}
        return {name: rng.standard_normal(shape) for name, shape in shapes.items()}

    def run(self, **arrays: DeviceArray) -> None:
        dense.backward_weights(arrays["x"], arrays["dz"], arrays["dw"], arrays["db"])

    @property
    def terms(self) -> int:
        return self.batch + 1


@dataclass(frozen=True)
class DenseUpdate(Dense):
    op = "dense.update"
    changes = ("w", "b", "w_m", "w_v", "b_m", "b_v")

    def inputs(self, rng: np.random.Generator) -> Arrays:
        arrays = {"x": rng.standard_normal(self.x), "dz": rng.standard_normal(self.y)}
        return arrays | adam_state(rng, self.w, (self.outputs_count,))

    def run(self, **arrays: DeviceArray) -> None:
        dense.update(**arrays)

    @property
    def terms(self) -> int:
        return self.batch + 1


_KINDS = (DenseForward, DenseBackwardInput, DenseBackwardWeights, DenseUpdate)
#        batch inputs outputs
_SIZES = [
    (1, 1, 1),
    (1, 65, 33),  # NeuroNet's own batch
    (2, 7, 8),
    (3, 9, 17),  # few inputs
    (5, 31, 2),
    (7, 40, 15),
    (16, 8, 1),
    (33, 129, 31),
    (65, 40, 66),
    (5, 300, 18),
]
SMALL: list[Case] = [kind(*size) for kind in _KINDS for size in _SIZES]
SMALL += [DenseForward(5, 40, 19, activation) for activation in Activation]
LARGE: list[Case] = [
    kind(batch, *layer)
    for layer in ((1080, 128), (128, 128), (128, 2))
    for batch in (1, 64)
    for kind in _KINDS
]
