"""Cases of ops/loss.py."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neuronet.cases.base import Arrays, Case
from neuronet.cases.dense import HYPER
from neuronet.device.array import DeviceArray, Shape
from neuronet.ops import loss


@dataclass(frozen=True)
class LossCase(Case):
    """What the cases of losses share: the net's arrays that every loss changes."""

    changes = ("loss", "hyper", "step")
    batch: int

    @property
    def y(self) -> Shape:
        raise NotImplementedError

    def outputs(self) -> dict[str, Shape]:
        return {"dy": self.y}

    def net_arrays(self) -> Arrays:
        return {"loss": np.array([2.5, 9.0]), "hyper": HYPER, "step": np.array([70, 7, -1, 0])}

    @property
    def terms(self) -> int:
        return int(np.prod(self.y))


@dataclass(frozen=True)
class LossElementwise(LossCase):
    op = "loss.elementwise"
    size: int
    kind: str
    delta: float = 1.0

    @property
    def y(self) -> Shape:
        return (self.batch, self.size)

    def inputs(self, rng: np.random.Generator) -> Arrays:
        return {"y": rng.standard_normal(self.y), "target": rng.standard_normal(self.y)} | self.net_arrays()

    def outputs(self) -> dict[str, Shape]:
        parts = loss.parts(self.batch * self.size)
        return {"dy": self.y} | ({"sums": (parts,)} if parts > 1 else {})

    def run(self, **arrays: DeviceArray) -> None:
        loss.elementwise(**arrays, kind=self.kind, delta=self.delta)


@dataclass(frozen=True)
class LossQuantile(LossCase):
    op = "loss.quantile"
    size: int
    levels: int

    @property
    def y(self) -> Shape:
        return (self.batch, self.size, self.levels)

    def inputs(self, rng: np.random.Generator) -> Arrays:
        return {
            "y": rng.standard_normal(self.y),
            "target": rng.standard_normal(self.y[:-1]),
            "levels": np.arange(1, self.levels + 1) / (self.levels + 1),
        } | self.net_arrays()

    def run(self, **arrays: DeviceArray) -> None:
        loss.quantile(**arrays)


@dataclass(frozen=True)
class LossCrossEntropy(LossCase):
    op = "loss.cross_entropy"
    classes: int

    @property
    def y(self) -> Shape:
        return (self.batch, self.classes)

    def inputs(self, rng: np.random.Generator) -> Arrays:
        return {
            "y": 2 * rng.standard_normal(self.y),
            "target": rng.integers(self.classes, size=self.batch),
        } | self.net_arrays()

    def run(self, **arrays: DeviceArray) -> None:
        loss.cross_entropy(**arrays)


@dataclass(frozen=True)
class LossPolicy(LossCase):
    op = "loss.policy"

    @property
    def y(self) -> Shape:
        return (self.batch,)

    def inputs(self, rng: np.random.Generator) -> Arrays:
        rows = rng.standard_normal(self.batch), rng.random(self.batch), rng.random(self.batch) < 0.8
        return {"y": rng.standard_normal(self.batch), "target": np.stack(rows, axis=1)} | self.net_arrays()

    def run(self, **arrays: DeviceArray) -> None:
        loss.policy(**arrays)


@dataclass(frozen=True)
class LossAction(LossCase):
    op = "loss.action"
    weight: float = 1.0
    delta: float = 1.0

    @property
    def y(self) -> Shape:
        return (self.batch, 5)

    def inputs(self, rng: np.random.Generator) -> Arrays:
        target = np.column_stack([rng.integers(3, size=self.batch), rng.standard_normal((self.batch, 2))])
        return {"y": 2 * rng.standard_normal(self.y), "target": target} | self.net_arrays()

    def run(self, **arrays: DeviceArray) -> None:
        loss.action(**arrays, weight=self.weight, delta=self.delta)


@dataclass(frozen=True)
class LossPenalty(LossCase):
    op = "loss.add_penalty"

    def inputs(self, rng: np.random.Generator) -> Arrays:
        return {"penalty": rng.standard_normal(self.batch)} | self.net_arrays()

    def outputs(self) -> dict[str, Shape]:
        return {}

    @property
    def terms(self) -> int:
        return self.batch

    def run(self, **arrays: DeviceArray) -> None:
        loss.add_penalty(**arrays)


_KINDS = tuple(loss.KINDS)
SMALL: list[Case] = [
    *[LossElementwise(*size, kind) for kind in _KINDS for size in ((1, 1), (3, 5), (17, 31))],
    LossElementwise(5, 7, "huber", 0.3),
    *[LossElementwise(*size, kind) for kind in _KINDS for size in ((2**15, 1), (7, 4691))],  # in parts
    *[LossQuantile(*size) for size in ((1, 1, 1), (3, 5, 3), (33, 2, 9))],
    *[LossCrossEntropy(*size) for size in ((1, 2), (3, 5), (300, 3), (7, 100))],
    *[LossPenalty(batch) for batch in (1, 2, 64, 257, 600)],
    *[LossPolicy(batch) for batch in (1, 2, 64, 257, 600)],
    *[LossAction(batch) for batch in (1, 2, 64, 257, 600)],
    LossAction(33, 0.3, 0.7),
]
LARGE: list[Case] = [
    *[LossElementwise(64, 120, kind) for kind in _KINDS],
    LossElementwise(64, 120 * 32, "mse"),
    LossElementwise(64, 120 * 96, "mse"),
    LossQuantile(64, 24, 9),
    LossCrossEntropy(64, 3),
    LossCrossEntropy(4096, 10),
    LossPolicy(4096),
    LossAction(4096),
]
