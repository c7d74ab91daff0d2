"""Cases of ops/causal_channel_attention.py."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neuronet.cases.base import Arrays, Case
from neuronet.device.array import DeviceArray, Shape
from neuronet.ops import causal_channel_attention as op

EPS = 0.5  # large, so that some scales are less


@dataclass(frozen=True)
class CausalChannelAttention(Case):
    """What the cases of causal channel attention share; ``blocks`` is 3 for q | k | v and 2 for q | k."""

    batch: int
    units: int
    heads: int
    dimension: int
    blocks: int
    tau: float = 3.0

    @property
    def inner(self) -> int:
        return self.heads * self.dimension

    @property
    def rows(self) -> Shape:
        return (self.batch, self.units, self.blocks * self.inner)

    @property
    def y(self) -> Shape:
        return (self.batch, self.units, self.inner)

    @property
    def scales(self) -> Shape:
        return (self.batch, self.units, 2, self.inner)

    @property
    def cells(self) -> Shape:
        return (self.heads, self.dimension + 2, self.dimension)

    @property
    def sums(self) -> Shape:
        return (self.batch, op.parts(self.units), *self.cells)

    @property
    def running(self) -> Shape:
        return (self.batch, op.parts(self.units) + 1, *self.cells)

    def given(self, rng: np.random.Generator) -> Arrays:
        return {"rows": rng.standard_normal(self.rows), "tau": rng.uniform(0.5, 1, self.heads) * self.tau}

    @property
    def terms(self) -> int:
        return 2 * max(self.units, self.dimension)


@dataclass(frozen=True)
class CausalChannelAttentionForward(CausalChannelAttention):
    op = "causal_channel_attention.forward"

    def inputs(self, rng: np.random.Generator) -> Arrays:
        initial = rng.standard_normal((self.batch, *self.cells))
        initial[:, :, self.dimension :] **= 2  # sums of squares
        return self.given(rng) | {"initial": initial}

    def outputs(self) -> dict[str, Shape]:
        return {"sums": self.sums, "running": self.running, "scales": self.scales, "lse": self.y, "y": self.y}

    def run(self, **arrays: DeviceArray) -> None:
        op.forward(**arrays, eps=EPS)

    @property
    def flops(self) -> int:
        return 8 * self.batch * self.units * self.inner * self.dimension


@dataclass(frozen=True)
class CausalChannelAttentionKeep(CausalChannelAttention):
    op = "causal_channel_attention.keep"

    def inputs(self, rng: np.random.Generator) -> Arrays:
        return {"running": rng.standard_normal(self.running)}

    def outputs(self) -> dict[str, Shape]:
        return {"initial": (self.batch, *self.cells)}

    def run(self, **arrays: DeviceArray) -> None:
        op.keep(**arrays)


#  batch units heads dimension blocks
SIZES = [
    (1, 1, 1, 1, 3),
    (2, 7, 3, 5, 3),
    (3, 33, 2, 8, 2),
    (1, 20, 1, 65, 3),
    (2, 67, 5, 3, 3),
    (1, 17, 2, 36, 2),
]
_KINDS = (CausalChannelAttentionForward, CausalChannelAttentionKeep)
SMALL: list[Case] = [kind(*size) for kind in _KINDS for size in SIZES]
SMALL += [CausalChannelAttentionForward(1, 18, 2, 3, 3, tau=200.0)]
LARGE: list[Case] = [CausalChannelAttentionForward(16, 512, 8, 32, 3)]
