"""Cases of ops/scan_states.py, and what all cases of the scan share."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neuronet.cases.base import Arrays, Case
from neuronet.device.array import DeviceArray, Shape
from neuronet.ops import scan_states


@dataclass(frozen=True)
class Scan(Case):
    """Sizes and inputs of a scan: some heads forget at once, some hardly within a chunk."""

    batch: int
    length: int
    heads: int
    head_dim: int
    state: int

    @property
    def xbc(self) -> Shape:
        return (self.batch, self.length, self.heads * self.head_dim + 2 * self.state)

    @property
    def steps(self) -> Shape:
        return (self.batch, self.length, self.heads)

    @property
    def initial(self) -> Shape:
        return (self.batch, self.heads, self.state, self.head_dim)

    @property
    def states(self) -> Shape:
        return (self.batch, scan_states.chunks(self.length) + 1, *self.initial[1:])

    @property
    def span(self) -> Shape:
        return (self.batch, scan_states.chunks(self.length), self.heads)

    @property
    def y(self) -> Shape:
        return (*self.steps, self.head_dim)

    @property
    def terms(self) -> int:
        return self.state * min(self.length, scan_states.CHUNK)

    @property
    def flops(self) -> int:
        return 4 * self.batch * self.length * self.heads * self.head_dim * self.state

    def given(self, rng: np.random.Generator) -> Arrays:
        """xbc, delta and decay."""
        delta = np.exp(rng.uniform(-6, 0, self.steps))
        rate = np.exp(rng.uniform(-3, 3, self.heads))
        return {
            "xbc": rng.standard_normal(self.xbc) / self.state**0.25,
            "delta": delta,
            "decay": np.exp(-rate * delta),
        }


@dataclass(frozen=True)
class ScanStates(Scan):
    op = "scan_states.forward"

    def inputs(self, rng: np.random.Generator) -> Arrays:
        return self.given(rng) | {"initial": rng.standard_normal(self.initial)}

    def outputs(self) -> dict[str, Shape]:
        return {"states": self.states, "span": self.span}

    def run(self, **arrays: DeviceArray) -> None:
        scan_states.forward(**arrays)


@dataclass(frozen=True)
class ScanStatesBackward(Scan):
    op = "scan_states.backward"

    def inputs(self, rng: np.random.Generator) -> Arrays:
        arrays = self.given(rng) | {
            "span": rng.uniform(0, 1, self.span),
            "dy": rng.standard_normal(self.y),
        }
        del arrays["delta"]
        return arrays

    def outputs(self) -> dict[str, Shape]:
        return {"dstates": self.states}

    def run(self, **arrays: DeviceArray) -> None:
        scan_states.backward(**arrays)


@dataclass(frozen=True)
class ScanFinal(Scan):
    op = "scan_states.final"

    def inputs(self, rng: np.random.Generator) -> Arrays:
        return {"states": rng.standard_normal(self.states)}

    def outputs(self) -> dict[str, Shape]:
        return {"out": self.initial}

    def run(self, **arrays: DeviceArray) -> None:
        scan_states.final(**arrays)


#  batch length heads head_dim state
SIZES = [
    (1, 1, 1, 1, 1),
    (2, 2, 2, 3, 5),
    (1, 63, 1, 8, 16),
    (2, 64, 3, 9, 8),
    (1, 65, 2, 17, 33),
    (2, 131, 1, 70, 18),
    (1, 1000, 2, 5, 4),
]
LARGE_SIZES = [(16, 512, 4, 64, 64), (1, 8192, 4, 64, 64)]
SMALL: list[Case] = [kind(*size) for kind in (ScanStates, ScanStatesBackward) for size in SIZES]
SMALL += [ScanFinal(*size) for size in SIZES[:5]]
LARGE: list[Case] = [kind(*size) for kind in (ScanStates, ScanStatesBackward) for size in LARGE_SIZES]
