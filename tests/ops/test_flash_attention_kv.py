from __future__ import annotations

import numpy as np
import pytest

from neuronet.cases.base import Case
from neuronet.cases.flash_attention_kv import SMALL
from neuronet.device.base import Device
from neuronet.ops import flash_attention_kv
from neuronet.ops.forms import FORMS, Form, forced_form

every_form = pytest.mark.parametrize("form", FORMS, ids=["plain", "CPU", "GPU"])


@every_form
@pytest.mark.parametrize("case", SMALL, ids=lambda case: f"{case.op} {case}")
def test_every_form_matches_the_twin(device: Device, case: Case, form: Form) -> None:
    with forced_form(form):
        case.check(device)


@every_form
def test_a_key_gets_the_sum_over_all_heads_that_share_it(device: Device, form: Form) -> None:
    """Equal scores over two keys: p = 1/2, dv is half of the sum of dout, dk half of that of dp."""
    q, k = np.ones((1, 3, 4)), np.zeros((1, 2, 1))  # 4 heads of 1 share one key head
    v = np.array([[[1.0], [-1]]])
    dout = np.arange(12.0).reshape(1, 3, 4, 1)
    limits = np.array([[[0, 2], [0, 2], [1, 1]]], np.int32)  # the last question sees nothing
    lse = np.full((1, 3, 4), np.log(2))
    lse[0, 2] = np.inf
    dk, dv = device.array(k.shape).fill(np.nan), device.array(v.shape).fill(np.nan)
    with forced_form(form):
        flash_attention_kv.backward(
            device.put(q),
            device.put(k),
            device.put(v),
            device.put(limits),
            device.put(lse),
            device.put(dout),
            device.put(np.zeros((1, 3, 4))),
            dk,
            dv,
            heads_kv=1,
        )
    np.testing.assert_allclose(dv.read()[0, :, 0], [14, 14], rtol=1e-6)
    np.testing.assert_allclose(dk.read()[0, :, 0], [14, -14], rtol=1e-6)
