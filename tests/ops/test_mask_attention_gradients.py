"""The formulas and published errors are in test_mask_attention_complex.py and test_channel_correlation.py."""

from __future__ import annotations

import numpy as np
import pytest

from neuronet.cases.base import Case
from neuronet.cases.mask_attention_gradients import SMALL, MaskAttentionBackward
from neuronet.device.base import Device
from neuronet.ops import mask_attention_complex as forward_op
from neuronet.ops import mask_attention_gradients as op
from neuronet.ops.forms import FORMS, Form, forced_form

every_form = pytest.mark.parametrize("form", FORMS, ids=["plain", "CPU", "GPU"])


@pytest.mark.parametrize("form", FORMS[:2], ids=["plain", "CPU"])  # the GPU's has its own cases
@pytest.mark.parametrize("case", SMALL, ids=str)
def test_every_form_matches_the_twin(device: Device, case: Case, form: Form) -> None:
    with forced_form(form):
        case.check(device)


@every_form
@pytest.mark.parametrize("most", [7 * 36, 3 * 7 * 36])  # floats: 1 and 3 work-groups a row
def test_a_short_scratch_gives_the_same(
    device: Device, form: Form, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forward_op, "MOST_ITEMS", 2)
    monkeypatch.setattr(forward_op, "MOST_SCRATCH", most)
    with forced_form(form):
        MaskAttentionBackward(7, 6, 8, 4, 3, alike=True).check(device)


@every_form
def test_what_is_in_dmask_stays_with_cosines_and_goes_without(device: Device, form: Form) -> None:
    rng = np.random.default_rng(0)
    q, mask = device.put(rng.standard_normal((1, 3, 3, 2, 2))), device.put(np.ones((1, 3, 3)))
    lse, out, go = device.array((1, 3, 1)), device.array((1, 3, 1, 2, 2)), device.array((1, 3, 1, 2, 2))
    scratch, dq = device.array(forward_op.scratch_shape(1, 3, 1, 2)), device.array(q.shape)
    dmask, none = device.array((1, 3, 3)), device.array((1, 3, 3))
    go.fill(0.0)
    none.fill(0.0)
    found = []
    with forced_form(form):
        forward_op.forward(q, q, mask, scratch, lse, out, heads_kv=1, scale=1.0)
        for dcosines in (none, None):
            dmask.fill(5.0)
            known = q, q, mask, lse, out, go
            op.backward(*known, scratch, dq, dq, dmask, dcosines, heads_kv=1, scale=1.0)
            found.append(dmask.read()[0])
    np.testing.assert_array_equal(found[0], 5 * (1 - np.eye(3)))
    np.testing.assert_array_equal(found[1], 0)
