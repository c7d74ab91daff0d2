"""Cases of ops/mask_attention_complex.py."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neuronet.cases.base import Arrays, Case
from neuronet.device.array import DeviceArray, Shape
from neuronet.device.numpy import NumpyDevice
from neuronet.ops import mask_attention_complex as op


@dataclass(frozen=True)
class MaskAttention(Case):
    """What the cases of masked attention share; ``packed`` has q, k and v in one array."""

    rows: int
    units: int
    heads: int
    heads_kv: int
    dimension: int
    mode: op.MaskMode = "hard"
    packed: bool = False
    open: float = 0.5  # share of the mask that is
    alike: bool = False  # with cosines, and their gradient
    zeros: bool = False  # some vectors have length 0

    @property
    def out(self) -> Shape:
        return (self.rows, self.units, self.heads, self.dimension, 2)

    @property
    def q(self) -> Shape:
        return (self.rows, self.units, self.heads + 2 * self.heads_kv * self.packed, self.dimension, 2)

    @property
    def kv(self) -> Shape:
        return (self.rows, self.units, 2 * self.heads_kv, self.dimension, 2)

    @property
    def lse(self) -> Shape:
        return (self.rows, self.units, self.heads)

    @property
    def mask(self) -> Shape:
        return (self.rows, self.units, self.units)

    @property
    def settings(self) -> dict[str, float]:
        return {"heads_kv": self.heads_kv, "scale": (2 * self.dimension) ** -0.5}

    def inputs(self, rng: np.random.Generator) -> Arrays:
        mask = (rng.random(self.mask) < self.open) * 1.0
        q = 0.5 * rng.standard_normal(self.q)  # so that no weight is far above the others' mean square
        if self.zeros:
            q[0, ::2] = 0
        given = {"q": q, "mask": mask}
        return given if self.packed else {"kv": rng.standard_normal(self.kv)} | given

    @property
    def scratch_shape(self) -> Shape:
        return op.scratch_shape(self.rows, self.units, self.heads_kv, self.dimension)

    def scratch(self) -> Arrays:
        return {"scratch": np.full(self.scratch_shape, np.nan)}

    @property
    def terms(self) -> int:
        return 4 * (2 * self.dimension + self.units)

    @property
    def flops(self) -> int:
        return 8 * self.rows * self.heads * self.units**2 * self.dimension


@dataclass(frozen=True)
class MaskAttentionForward(MaskAttention):
    op = "mask_attention_complex.forward"

    def inputs(self, rng: np.random.Generator) -> Arrays:
        return super().inputs(rng) | self.scratch()

    def outputs(self) -> dict[str, Shape]:
        return {"lse": self.lse, "out": self.out} | ({"cosines": self.mask} if self.alike else {})

    def run(self, **arrays: DeviceArray) -> None:
        op.forward(**{"kv": arrays["q"]} | arrays, **self.settings, mode=self.mode)  # type: ignore[arg-type]


@dataclass(frozen=True)
class MaskAttentionScores(MaskAttention):
    op = "mask_attention_complex.scores"

    def inputs(self, rng: np.random.Generator) -> Arrays:
        given = super().inputs(rng)
        return given | {"lse": forward_of(self, given)[0]}

    def outputs(self) -> dict[str, Shape]:
        return {"scores": (*self.lse, self.units)}

    def run(self, **arrays: DeviceArray) -> None:
        given = {"kv": arrays["q"]} | arrays
        op.scores(**given, dimension=self.dimension, **self.settings, mode=self.mode)  # type: ignore[arg-type]


def forward_of(case: MaskAttention, given: Arrays) -> tuple[np.ndarray, np.ndarray]:
    """lse and out of the twin, from float32 values as the device sees them."""
    exact = NumpyDevice(np.float64)
    put = {name: exact.put(values.astype(np.float32)) for name, values in given.items()}
    lse, out, scratch = exact.array(case.lse), exact.array(case.out), exact.put(case.scratch()["scratch"])
    arrays = {"kv": put["q"]} | put
    op.forward(**arrays, lse=lse, out=out, scratch=scratch, **case.settings, mode=case.mode)  # type: ignore[arg-type]
    return lse.read(), out.read()


#  rows units heads heads_kv dimension mode packed open
SIZES = [
    (1, 1, 1, 1, 1, "hard", False),
    (3, 2, 2, 1, 3, "reference", False),
    (2, 6, 4, 2, 5, "hard", True),
    (3, 6, 3, 2, 4, "reference", True),
    (5, 19, 4, 4, 8, "hard", False),
    (2, 19, 16, 16, 16, "hard", True),
    (2, 19, 16, 4, 7, "reference", True),
    (1, 55, 2, 2, 33, "reference", False),
    (2, 72, 3, 1, 9, "hard", False),
    (1, 300, 2, 1, 11, "hard", True),
    (131, 5, 1, 1, 2, "reference", False),
]
SMALL: list[Case] = [
    kind(*size)  # type: ignore[arg-type]
    for size in SIZES
    for kind in (MaskAttentionForward, MaskAttentionScores)
]
SMALL.append(MaskAttentionForward(2, 9, 1, 1, 70, open=0.0))
SMALL += [
    MaskAttentionForward(*size, alike=True, zeros=size[1] == 6)  # type: ignore[arg-type]
    for size in SIZES
]
LARGE: list[Case] = [
    MaskAttentionForward(*size, packed=True, alike=True)
    for size in [(64 * 11, 19, 16, 16, 16), (64 * 11, 19, 4, 4, 8), (64 * 11, 55, 4, 2, 16)]
]
