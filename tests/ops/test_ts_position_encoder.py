from __future__ import annotations

import numpy as np
import pytest

from neuronet.cases.base import Case
from neuronet.cases.ts_position_encoder import SMALL
from neuronet.device.base import Device
from neuronet.ops import ts_position_encoder as op
from neuronet.ops.forms import FORMS, Form, forced_form

every_form = pytest.mark.parametrize("form", FORMS, ids=["plain", "CPU", "GPU"])


@every_form
@pytest.mark.parametrize("case", SMALL, ids=lambda case: f"{case.op} {case}")
def test_every_form_matches_the_twin(device: Device, case: Case, form: Form) -> None:
    with forced_form(form):
        case.check(device)


@every_form
def test_quarters_of_a_period(device: Device, form: Form) -> None:
    phases = device.put(np.array([[0.0], [0.125], [0.25], [0.75]]))
    y = device.array((4, 4)).fill(10)
    with forced_form(form):
        op.add(y, phases, y)  # in place
    root = 0.5**0.5
    expected = [[0, 1, 0, 1], [root, root, 1, 0], [1, 0, 0, -1], [-1, 0, 0, -1]]
    np.testing.assert_allclose(y.read() - 10, expected, atol=2e-6)
