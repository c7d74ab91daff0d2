"""Cases of ops/activation.py."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neuronet.activations import Activation
from neuronet.cases.base import Arrays, Case
from neuronet.device.array import DeviceArray, Shape
from neuronet.ops import activation
from neuronet.reference.activation import activate


@dataclass(frozen=True)
class ActivationForward(Case):
    op = "activation.forward"
    n: int
    activation: Activation

    def inputs(self, rng: np.random.Generator) -> Arrays:
        return {"z": 3 * rng.standard_normal(self.n)}

    def outputs(self) -> dict[str, Shape]:
        return {"y": (self.n,)}

    def run(self, **arrays: DeviceArray) -> None:
        activation.forward(**arrays, activation=self.activation)


@dataclass(frozen=True)
class ActivationBackward(Case):
    op = "activation.backward"
    n: int
    activation: Activation

    def inputs(self, rng: np.random.Generator) -> Arrays:
        z = 2 * rng.standard_normal(self.n)
        s = z if self.activation.needs_input else activate(z, self.activation)
        return {"s": s, "dy": rng.standard_normal(self.n)}

    def outputs(self) -> dict[str, Shape]:
        return {"dz": (self.n,)}

    def run(self, **arrays: DeviceArray) -> None:
        activation.backward(**arrays, activation=self.activation)


_KINDS = (ActivationForward, ActivationBackward)
SMALL: list[Case] = [kind(n, a) for kind in _KINDS for a in Activation for n in (1, 1001)]
LARGE: list[Case] = [kind(2**20, a) for kind in _KINDS for a in (Activation.TANH, Activation.GELU)]
