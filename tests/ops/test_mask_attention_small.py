"""Formulas and published errors are in test_mask_attention_complex.py, whose tests run these kernels too."""

from __future__ import annotations

import pytest

from neuronet.cases.base import Case
from neuronet.cases.mask_attention_small import SMALL
from neuronet.device.base import Device
from neuronet.ops import mask_attention_complex, mask_attention_gradients
from neuronet.ops.forms import FORMS, forced_form
from neuronet.ops.mask_attention_small import size_for


@pytest.mark.parametrize("case", SMALL, ids=lambda case: f"{case.op} {case}")
def test_matches_the_twin(device: Device, case: Case) -> None:
    case.check(device)


@pytest.mark.parametrize(
    ("units", "dimension", "size"),
    [(1, 1, "20"), (20, 16, "20"), (21, 1, "32"), (32, 16, "32"), (33, 1, ""), (20, 17, ""), (300, 64, "")],
)
def test_the_smallest_kernel_that_holds_a_head(units: int, dimension: int, size: str) -> None:
    assert size_for(units, dimension) == size


def test_only_a_gpu_takes_it_and_only_where_it_fits(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    names = []
    monkeypatch.setattr(device, "kernel", lambda name: lambda **given: names.append(name))
    for form in FORMS:
        for units, dimension in ((3, 2), (32, 16), (33, 2), (3, 17)):
            q, out = (device.array((1, units, heads, dimension, 2)) for heads in (3, 1))
            mask, lse = device.array((1, units, units)), device.array((1, units, 1))
            scratch = device.array(mask_attention_complex.scratch_shape(1, units, 1, dimension))
            with forced_form(form):
                mask_attention_complex.forward(q, q, mask, scratch, lse, out, heads_kv=1, scale=1.0)
                known = q, q, mask, lse, out, out, scratch, q, q
                mask_attention_gradients.backward(*known, mask, heads_kv=1, scale=1.0)
    ends = {"": ["", "", "", ""], "CPU": ["CPU"] * 4, "GPU": ["20", "32", "", ""]}
    expected = []
    for form in FORMS:
        for end in ends[form]:
            expected += [f"MaskAttentionComplex{end}", f"MaskAttentionGradientsComplex{end}"]
            expected += [] if end == "CPU" else ["MaskAttentionMaskGradients"]
    assert names == expected
