"""Cases of ops/channel_attention.py."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neuronet.cases.base import Arrays, Case
from neuronet.device.array import DeviceArray, Shape
from neuronet.ops import channel_attention

EPS = 0.5  # large, so that some norms are less


@dataclass(frozen=True)
class ChannelAttention(Case):
    """What the cases of channel attention share; ``blocks`` is 3 for q | k | v and 2 for q | k."""

    batch: int
    units: int
    heads: int
    dimension: int
    parts: int
    blocks: int

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
    def mix(self) -> Shape:
        return (self.batch, self.heads, self.dimension, self.dimension)

    @property
    def scores(self) -> Shape:
        return (self.batch, self.heads, self.dimension + 2, self.dimension)

    @property
    def sums(self) -> Shape:
        return (self.batch, self.parts, self.heads, self.dimension + 2, self.dimension)

    def given(self, rng: np.random.Generator) -> Arrays:
        return {"rows": rng.standard_normal(self.rows), "tau": rng.uniform(0.5, 3, self.heads)}

    @property
    def terms(self) -> int:
        return 2 * max(self.units, self.dimension)


@dataclass(frozen=True)
class ChannelAttentionForward(ChannelAttention):
    op = "channel_attention.forward"

    def inputs(self, rng: np.random.Generator) -> Arrays:
        return self.given(rng)

    def outputs(self) -> dict[str, Shape]:
        return {"sums": self.sums, "scores": self.scores, "mix": self.mix, "y": self.y}

    def run(self, **arrays: DeviceArray) -> None:
        channel_attention.forward(**arrays, eps=EPS)

    @property
    def flops(self) -> int:
        return 4 * self.batch * self.units * self.inner * self.dimension


@dataclass(frozen=True)
class ChannelAttentionBackward(ChannelAttention):
    op = "channel_attention.backward"

    def inputs(self, rng: np.random.Generator) -> Arrays:
        mix, scores = rng.uniform(0.1, 1, self.mix), rng.uniform(-1, 1, self.scores)
        scores[:, :, self.dimension :] = rng.uniform(0.5, 2, (self.batch, self.heads, 2, self.dimension))
        scores[0, 0, self.dimension :, 0] = EPS  # a channel that is too small to have a norm
        values = {"scores": scores, "mix": mix / mix.sum(2, keepdims=True)}
        return self.given(rng) | values | {name: rng.standard_normal(self.y) for name in ("y", "dy")}

    def outputs(self) -> dict[str, Shape]:
        return {
            "sums": self.sums,
            "factors": (self.batch, self.heads, 3, self.dimension, self.dimension),
            "corrections": (self.batch, self.heads, 2, self.dimension),
            "tau_parts": (self.batch, self.dimension, self.heads),
            "drows": self.rows,
        }

    def run(self, **arrays: DeviceArray) -> None:
        channel_attention.backward(**arrays, eps=EPS)

    @property
    def flops(self) -> int:
        return 8 * self.batch * self.units * self.inner * self.dimension


#  batch units heads dimension parts blocks
_SIZES = [
    (1, 1, 1, 1, 1, 3),
    (2, 7, 3, 5, 2, 3),
    (3, 33, 2, 8, 4, 2),
    (1, 50, 1, 65, 3, 3),
    (2, 67, 5, 3, 9, 3),
    (1, 17, 2, 100, 1, 2),
]
SMALL: list[Case] = [
    kind(*size) for kind in (ChannelAttentionForward, ChannelAttentionBackward) for size in _SIZES
]
LARGE: list[Case] = [
    kind(*size)
    for kind in (ChannelAttentionForward, ChannelAttentionBackward)
    for size in ((16, 512, 8, 32, 1, 3), (1, 8192, 8, 32, 4, 3))
]
