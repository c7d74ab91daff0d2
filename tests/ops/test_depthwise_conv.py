from __future__ import annotations

import numpy as np
import pytest

from neuronet.cases.base import Case
from neuronet.cases.depthwise_conv import SMALL
from neuronet.device.base import Device
from neuronet.device.numpy import NumpyDevice
from neuronet.errors import ShapeError
from neuronet.ops import depthwise_conv
from neuronet.ops.forms import FORMS, Form, forced_form


@pytest.mark.parametrize("form", FORMS, ids=["plain", "CPU", "GPU"])
@pytest.mark.parametrize("case", SMALL, ids=lambda case: f"{case.op} {case}")
def test_every_form_matches_the_twin(device: Device, case: Case, form: Form) -> None:
    with forced_form(form):
        case.check(device)


def test_before_the_first_unit_lies_the_tail_and_behind_the_last_are_zeros(device: Device) -> None:
    x, tail = np.array([[[1.0], [2.0], [3.0]]]), np.array([[[7.0], [8.0], [9.0]]])
    w, b = np.array([[100.0], [10.0], [1.0]]), np.array([0.5])
    y = device.array((1, 3, 1))
    for before, expected in (
        (0, [123.5, 230.5, 300.5]),
        (1, [912.5, 123.5, 230.5]),
        (2, [891.5, 912.5, 123.5]),
    ):
        arrays = [device.put(values) for values in (x, tail, w, b)]
        depthwise_conv.forward(*arrays, y, before=before)
        np.testing.assert_array_equal(y.read()[0, :, 0], expected)


def test_a_tap_outside_is_refused(exact: NumpyDevice) -> None:
    x, w, b = exact.array((1, 5, 2)), exact.array((3, 2)), exact.array((2,))
    with pytest.raises(ShapeError, match="before=3 is not in 0 … 2"):
        depthwise_conv.forward(x, exact.array((1, 3, 2)), w, b, exact.array((1, 5, 2)), before=3)
