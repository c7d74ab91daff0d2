from __future__ import annotations

import numpy as np
import pytest

from neuronet.cases.base import Case
from neuronet.cases.sum_norm import SMALL, SumNormBackward
from neuronet.device.base import Device
from neuronet.ops import sum_norm
from neuronet.ops.forms import FORMS, Form, forced_form


@pytest.mark.parametrize("form", FORMS, ids=["plain", "CPU", "GPU"])
@pytest.mark.parametrize("case", SMALL, ids=lambda case: f"{case.op} {case}")
def test_every_form_matches_the_twin(device: Device, case: Case, form: Form) -> None:
    with forced_form(form):
        case.check(device)


@pytest.mark.parametrize("form", FORMS, ids=["plain", "CPU", "GPU"])
def test_the_gradient_may_take_the_place_of_the_shortcuts(device: Device, form: Form) -> None:
    values = SumNormBackward(20, 11).rounded_inputs()
    apart, aliased = ({name: device.put(v) for name, v in values.items()} for _ in range(2))
    apart["dsum"], aliased["dsum"] = device.array((20, 11)), aliased["dshortcut"]
    with forced_form(form):
        sum_norm.backward(**apart)
        sum_norm.backward(**aliased)
    np.testing.assert_array_equal(apart["dsum"].read(), aliased["dsum"].read())
