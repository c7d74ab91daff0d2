"""Cases of ops/flash_attention_kv.py."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neuronet.cases.base import Arrays, Case
from neuronet.cases.flash_attention import LARGE_SIZES, SIZES, Attention
from neuronet.device.array import DeviceArray
from neuronet.ops import flash_attention_kv


@dataclass(frozen=True)
class AttentionKeys(Attention):
    op = "flash_attention_kv.backward"
    changes = ("dk", "dv")  # in part

    def inputs(self, rng: np.random.Generator) -> Arrays:
        found = self.gradient_inputs(rng, "lse", "delta")
        return found | {"dk": rng.standard_normal(self.kv), "dv": rng.standard_normal(self.kv)}

    def run(self, **arrays: DeviceArray) -> None:
        flash_attention_kv.backward(**arrays, heads_kv=self.heads_kv, columns=self.columns)

    @property
    def terms(self) -> int:
        return self.dimension + self.queries * self.heads // self.heads_kv

    @property
    def flops(self) -> int:
        return 2 * super().flops


SMALL: list[Case] = [AttentionKeys(*size) for size in SIZES]
LARGE: list[Case] = [AttentionKeys(*size) for size in LARGE_SIZES]
