"""Cases of ops/mask_attention_small.py, whose kernels any device can run; only a GPU does by itself."""

from __future__ import annotations

from dataclasses import dataclass

from neuronet.cases.base import Case
from neuronet.cases.mask_attention_complex import MaskAttentionForward
from neuronet.cases.mask_attention_gradients import MaskAttentionBackward
from neuronet.device.array import DeviceArray
from neuronet.ops.forms import forced_form


@dataclass(frozen=True)
class MaskAttentionSmall(MaskAttentionForward):
    op = "mask_attention_small.forward"

    def run(self, **arrays: DeviceArray) -> None:
        with forced_form("GPU"):
            super().run(**arrays)


@dataclass(frozen=True)
class MaskAttentionSmallBackward(MaskAttentionBackward):
    op = "mask_attention_small.backward"

    def run(self, **arrays: DeviceArray) -> None:
        with forced_form("GPU"):
            super().run(**arrays)


#  rows units heads heads_kv dimension mode packed
_SIZES = [
    (2, 1, 2, 1, 5, "hard", False),
    (2, 7, 3, 3, 1, "reference", True),
    (2, 19, 3, 3, 16, "hard", True),
    (2, 20, 3, 1, 3, "reference", True),
    (2, 21, 3, 2, 15, "hard", False),
    (1, 24, 4, 2, 4, "reference", False),
    (1, 31, 3, 1, 16, "hard", False),
    (2, 32, 3, 2, 1, "hard", True),
    (1, 32, 4, 2, 16, "reference", True),
    (131, 5, 1, 1, 2, "reference", False),
]
SMALL: list[Case] = [
    kind(*size, alike=alike, zeros=size[1] in (7, 24))  # type: ignore[arg-type]
    for kind in (MaskAttentionSmall, MaskAttentionSmallBackward)
    for size in _SIZES
    for alike in (False, True)
    if alike or size[1] > 1 or kind is MaskAttentionSmall  # dq of a single unit is 0, and rounding
]
LARGE: list[Case] = [
    kind(704, 19, 16, 16, 16, "hard", True, alike=alike)
    for kind in (MaskAttentionSmall, MaskAttentionSmallBackward)
    for alike in (False, True)
]
