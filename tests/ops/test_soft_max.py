from __future__ import annotations

import numpy as np
import pytest

from neuronet.cases.base import Case
from neuronet.cases.soft_max import SMALL
from neuronet.device.base import Device
from neuronet.ops import soft_max
from neuronet.ops.forms import Form, forced_form
from neuronet.testing.compare import bound


@pytest.mark.parametrize("form", ["", "GPU"], ids=["plain", "GPU"])
@pytest.mark.parametrize("case", SMALL, ids=lambda case: f"{case.op} {case}")
def test_every_form_matches_the_twin(device: Device, case: Case, form: Form) -> None:
    with forced_form(form):
        case.check(device)


@pytest.mark.parametrize("form", ["", "GPU"], ids=["plain", "GPU"])
@pytest.mark.parametrize("classes", [65, 300, 20_000])
def test_f12_any_number_of_classes(device: Device, form: Form, classes: int) -> None:
    """Published: a row is one work-group, and more than 64 classes overrun its local array."""
    x, y = device.array((2, classes)), device.array((2, classes))
    x.write(np.stack([np.zeros(classes), np.arange(classes) == 64]))
    with forced_form(form):
        soft_max.forward(x, y)
    np.testing.assert_allclose(y.read()[0], 1 / classes, rtol=bound(classes))
    np.testing.assert_allclose(y.read()[1, 64], np.e / (classes - 1 + np.e), rtol=bound(classes))
