from __future__ import annotations

import numpy as np
import pytest

from neuronet.cases.base import Case
from neuronet.cases.flash_attention_q import SMALL
from neuronet.device.base import Device
from neuronet.ops import flash_attention, flash_attention_kv, flash_attention_q, visible
from neuronet.ops.forms import FORMS, Form, forced_form

every_form = pytest.mark.parametrize("form", FORMS, ids=["plain", "CPU", "GPU"])


@every_form
@pytest.mark.parametrize("case", SMALL, ids=lambda case: f"{case.op} {case}")
def test_every_form_matches_the_twin(device: Device, case: Case, form: Form) -> None:
    with forced_form(form):
        case.check(device)


@every_form
def test_a_packed_gradient_is_written_whole_and_the_same_twice(device: Device, form: Form) -> None:
    """q, k and v in one array, two samples of other lengths, one of them empty: units behind get 0."""
    rng = np.random.default_rng(0)
    qkv, dout = device.put(rng.standard_normal((2, 9, 24))), device.put(rng.standard_normal((2, 9, 2, 4)))
    limits = device.put(visible.causal(9, 9, [6, 0]))
    settings = {"heads_kv": 2, "columns": (0, 8, 16)}
    runs = []
    for _ in range(2):
        out, lse, delta = (device.array(s).fill(np.nan) for s in ((2, 9, 2, 4), (2, 9, 2), (2, 9, 2)))
        d = device.array((2, 9, 24)).fill(np.nan)
        with forced_form(form):
            flash_attention.forward(qkv, qkv, qkv, limits, out, lse, **settings)
            flash_attention_q.backward(qkv, qkv, qkv, limits, out, lse, dout, delta, d, **settings)
            flash_attention_kv.backward(qkv, qkv, qkv, limits, lse, dout, delta, d, d, **settings)
        runs.append(d.read())
    np.testing.assert_array_equal(*runs)
    assert not runs[0][0, 6:].any()
    assert not runs[0][1].any()
    assert runs[0][0, 1:6].all()
