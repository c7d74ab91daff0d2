"""Cases of ops/flash_attention.py."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from neuronet.cases.base import Arrays, Case
from neuronet.device.array import DeviceArray, Shape
from neuronet.device.numpy import NumpyDevice
from neuronet.ops import flash_attention, visible

Sight = Literal["all", "causal", "ragged"]


@dataclass(frozen=True)
class Attention(Case):
    """What the cases share. q, k and v lie in rows with other columns in front and behind."""

    batch: int
    queries: int
    keys: int
    heads: int
    heads_kv: int
    dimension: int
    sight: Sight = "all"
    margin: int = 0  # columns that are not theirs, on each side

    @property
    def out(self) -> Shape:
        return (self.batch, self.queries, self.heads, self.dimension)

    @property
    def q(self) -> Shape:
        return (self.batch, self.queries, self.heads * self.dimension + 2 * self.margin)

    @property
    def kv(self) -> Shape:
        return (self.batch, self.keys, self.heads_kv * self.dimension + 2 * self.margin)

    @property
    def columns(self) -> tuple[int, int, int]:
        return (self.margin, self.margin, self.margin)

    def given(self, rng: np.random.Generator) -> Arrays:
        lengths = rng.integers(1, self.keys + 1, self.batch) if self.sight == "ragged" else None
        make = visible.causal if self.sight == "causal" else visible.everything
        return {
            "q": rng.standard_normal(self.q),
            "k": rng.standard_normal(self.kv),
            "v": rng.standard_normal(self.kv),
            "limits": make(self.queries, self.keys, lengths),
        }

    def gradient_inputs(self, rng: np.random.Generator, *wanted: str) -> Arrays:
        """What the gradients read: ``given``, dout and the results of the forward pass that are wanted."""
        found, exact = self.given(rng), NumpyDevice(np.float64)
        arrays = {name: exact.put(values) for name, values in found.items()}
        out, lse = exact.array(self.out), exact.array(self.out[:-1])
        flash_attention.forward(**arrays, out=out, lse=lse, heads_kv=self.heads_kv, columns=self.columns)
        found["dout"] = rng.standard_normal(self.out)
        made = {"out": out.read(), "lse": lse.read(), "delta": (found["dout"] * out.read()).sum(-1)}
        return found | {name: made[name] for name in wanted}

    @property
    def terms(self) -> int:
        return self.dimension + self.keys

    @property
    def flops(self) -> int:
        full = 4 * self.batch * self.queries * self.keys * self.heads * self.dimension
        return full // 2 if self.sight == "causal" else full


@dataclass(frozen=True)
class AttentionForward(Attention):
    op = "flash_attention.forward"

    def inputs(self, rng: np.random.Generator) -> Arrays:
        return self.given(rng)

    def outputs(self) -> dict[str, Shape]:
        return {"out": self.out, "lse": self.out[:-1]}

    def run(self, **arrays: DeviceArray) -> None:
        flash_attention.forward(**arrays, heads_kv=self.heads_kv, columns=self.columns)


#  batch queries keys heads heads_kv dimension sight margin
SIZES: list[tuple[int, int, int, int, int, int, Sight, int]] = [
    (1, 1, 2, 1, 1, 1, "all", 0),
    (2, 3, 15, 2, 1, 3, "all", 1),
    (1, 17, 17, 4, 2, 64, "causal", 0),
    (3, 9, 33, 5, 5, 9, "ragged", 4),
    (1, 5, 70, 2, 2, 65, "causal", 0),
    (2, 66, 66, 3, 1, 16, "causal", 8),
    (1, 8, 130, 1, 1, 100, "all", 2),
    (1, 10, 40, 2, 1, 300, "causal", 0),
    (1, 3, 5, 1, 1, 600, "all", 0),
]
LARGE_SIZES: list[tuple[int, int, int, int, int, int, Sight, int]] = [
    (1, 1024, 1024, 8, 8, 64, "all", 0),
    (1, 1024, 1024, 8, 2, 64, "causal", 0),
]
SMALL: list[Case] = [AttentionForward(*size) for size in SIZES]
LARGE: list[Case] = [AttentionForward(*size) for size in LARGE_SIZES]
