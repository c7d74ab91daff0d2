"""Cases of ops/rpb.py."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neuronet.cases.base import Arrays, Case
from neuronet.cases.dense import HYPER
from neuronet.device.array import DeviceArray, Shape
from neuronet.ops import rpb


@dataclass(frozen=True)
class Rpb(Case):
    """What the cases of a relative-position bias share."""

    rows: int
    shape: Shape

    def dscore(self, rng: np.random.Generator) -> Arrays:
        return {"dscore": rng.standard_normal((self.rows, *self.shape))}

    @property
    def terms(self) -> int:
        return self.rows + 1


@dataclass(frozen=True)
class RpbBackward(Rpb):
    op = "rpb.backward"
    changes = ("dw",)

    def inputs(self, rng: np.random.Generator) -> Arrays:
        return self.dscore(rng) | {"dw": rng.standard_normal(self.shape)}

    def run(self, **arrays: DeviceArray) -> None:
        rpb.backward(**arrays)


@dataclass(frozen=True)
class RpbUpdate(Rpb):
    op = "rpb.update"
    changes = ("w", "m", "v")

    def inputs(self, rng: np.random.Generator) -> Arrays:
        made = {name: rng.standard_normal(self.shape) for name in ("w", "m", "v")}
        return self.dscore(rng) | made | {"v": 1 + made["v"] ** 2, "hyper": HYPER}

    def run(self, **arrays: DeviceArray) -> None:
        rpb.update(**arrays)


_SIZES: list[tuple[int, Shape]] = [
    (1, (1, 1)),
    (3, (2, 3)),
    (300, (4, 3)),
    (257, (1, 9)),
    (40, (5, 3, 7)),
]
SMALL: list[Case] = [kind(*size) for size in _SIZES for kind in (RpbBackward, RpbUpdate)]
LARGE: list[Case] = [kind(8192, (4, 3)) for kind in (RpbBackward, RpbUpdate)]
