from __future__ import annotations

import numpy as np
import pytest

from neuronet.cases.base import Case
from neuronet.cases.flash_stca_combine import SMALL
from neuronet.device.base import Device
from neuronet.ops import flash_stca_combine
from neuronet.ops.forms import FORMS, Form, forced_form

every_form = pytest.mark.parametrize("form", FORMS, ids=["plain", "CPU", "GPU"])


@every_form
@pytest.mark.parametrize("case", SMALL, ids=lambda case: f"{case.op} {case}")
def test_every_form_matches_the_twin(device: Device, case: Case, form: Form) -> None:
    with forced_form(form):
        case.check(device)


@every_form
def test_stretches_without_a_visible_row_count_for_nothing(device: Device, form: Form) -> None:
    """Row 0 is seen by the second stretch alone, row 1 by none."""
    top = np.full((1, 3, 1, 2), -np.inf)
    total, sums = np.zeros((1, 3, 1, 2)), np.zeros((1, 3, 1, 2, 2))
    top[0, 1, 0, 0], total[0, 1, 0, 0], sums[0, 1, 0, 0] = -90, 4, [8, 2]
    out, lse = device.array((1, 1, 2, 2)).fill(np.nan), device.array((1, 1, 2)).fill(np.nan)
    with forced_form(form):
        flash_stca_combine.combine(*(device.put(a) for a in (top, total, sums)), out, lse)
    np.testing.assert_array_equal(out.read()[0, 0], [[2, 0.5], [0, 0]])
    np.testing.assert_allclose(lse.read()[0, 0], [-90 + np.log(4), np.inf], rtol=1e-6)
