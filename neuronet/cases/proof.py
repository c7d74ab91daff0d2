"""Cases of ops/proof.py."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neuronet.cases.base import Arrays, Case
from neuronet.device.array import DeviceArray, Shape
from neuronet.ops import proof


@dataclass(frozen=True)
class Proof(Case):
    """What the cases of max pooling share."""

    batch: int
    units: int
    window_in: int
    window: int
    step: int

    @property
    def x(self) -> Shape:
        return (self.batch, self.units, self.window_in)

    @property
    def y(self) -> Shape:
        return (self.batch, (self.units - self.window) // self.step + 1, self.window_in)


@dataclass(frozen=True)
class ProofForward(Proof):
    op = "proof.forward"
    changes = ("index",)

    def inputs(self, rng: np.random.Generator) -> Arrays:
        x = rng.integers(-3, 4, self.x) / 4  # few levels, so many equal maxima
        return {"x": x, "index": np.full(self.y, -1)}

    def outputs(self) -> dict[str, Shape]:
        return {"y": self.y}

    def run(self, **arrays: DeviceArray) -> None:
        proof.forward(**arrays, window=self.window, step=self.step)


@dataclass(frozen=True)
class ProofBackwardInput(Proof):
    op = "proof.backward_input"

    def inputs(self, rng: np.random.Generator) -> Arrays:
        return {"dy": rng.standard_normal(self.y), "index": rng.integers(self.window, size=self.y)}

    def outputs(self) -> dict[str, Shape]:
        return {"dx": self.x}

    def run(self, **arrays: DeviceArray) -> None:
        proof.backward_input(**arrays, window=self.window, step=self.step)

    @property
    def terms(self) -> int:
        return -(-self.window // self.step)


_KINDS = (ProofForward, ProofBackwardInput)
#         batch units window_in window step
_SIZES = [
    (1, 1, 1, 1, 1),
    (2, 17, 1, 3, 3),  # two units at the end are left out
    (3, 11, 5, 4, 1),
    (2, 13, 3, 2, 5),  # units between the windows are left out
    (5, 9, 2, 9, 2),  # one window
    (1, 40, 33, 7, 3),
]
SMALL: list[Case] = [kind(*size) for kind in _KINDS for size in _SIZES]
LARGE: list[Case] = [kind(64, 480, 32, window, step) for kind in _KINDS for window, step in ((4, 4), (8, 1))]
