"""Cases of ops/flash_attention_q.py."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neuronet.cases.base import Arrays, Case
from neuronet.cases.flash_attention import LARGE_SIZES, SIZES, Attention
from neuronet.device.array import DeviceArray, Shape
from neuronet.ops import flash_attention_q


@dataclass(frozen=True)
class AttentionQuestions(Attention):
    op = "flash_attention_q.backward"
    changes = ("dq",)  # in part

    def inputs(self, rng: np.random.Generator) -> Arrays:
        return self.gradient_inputs(rng, "out", "lse") | {"dq": rng.standard_normal(self.q)}

    def outputs(self) -> dict[str, Shape]:
        return {"delta": self.out[:-1]}

    def run(self, **arrays: DeviceArray) -> None:
        flash_attention_q.backward(**arrays, heads_kv=self.heads_kv, columns=self.columns)

    @property
    def flops(self) -> int:
        return 3 * super().flops // 2


SMALL: list[Case] = [AttentionQuestions(*size) for size in SIZES]
LARGE: list[Case] = [AttentionQuestions(*size) for size in LARGE_SIZES]
