from __future__ import annotations

import pytest

from neuronet.cases.activation import SMALL
from neuronet.cases.base import Case
from neuronet.device.base import Device
from neuronet.ops.forms import FORMS, Form, forced_form


@pytest.mark.parametrize("form", FORMS, ids=["plain", "CPU", "GPU"])
@pytest.mark.parametrize("case", SMALL, ids=lambda case: f"{case.op} {case}")
def test_every_form_matches_the_twin(device: Device, case: Case, form: Form) -> None:
    with forced_form(form):
        case.check(device)
