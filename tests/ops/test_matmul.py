from __future__ import annotations

import numpy as np
import pytest

from neuronet.cases.base import Case
from neuronet.cases.matmul import BLOCKS, SMALL, MatMul, MatMulBackward
from neuronet.device.base import Device
from neuronet.errors import ShapeError
from neuronet.ops import matmul
from neuronet.ops.forms import FORMS, Form, forced_form, form_for

TAKEN = [  # what only the CPU form cuts in another way is left out elsewhere: Oclgrind would take minutes
    pytest.param(case, form, id=f"{case.op} {case}-{form or 'plain'}")
    for case in SMALL
    for form in FORMS
    if form == "CPU" or (case.variables, case.rows, case.dimension, case.cols) not in BLOCKS
]


@pytest.mark.parametrize(("case", "form"), TAKEN)
def test_every_form_matches_the_twin(device: Device, case: Case, form: Form) -> None:
    with forced_form(form):
        case.check(device)


@pytest.mark.parametrize("kind", [MatMul, MatMulBackward])
def test_many_rows_and_columns_on_a_cpu(device: Device, kind: type[MatMul]) -> None:
    """Work-items of 4 x 4 blocks, the last of them cut short, and terms in several passes."""
    with forced_form("CPU"):
        kind(1, 850, 901, 909).check(device)


def test_the_device_decides_the_form(device: Device, exact: Device) -> None:
    assert form_for(device) == {"cpu": "CPU", "gpu": "GPU"}.get(device.kind, "")
    with forced_form("GPU"):
        assert form_for(device) == "GPU"
        assert form_for(exact) == ""


@pytest.mark.parametrize("form", FORMS, ids=["plain", "CPU", "GPU"])
def test_f24_gradient_reaches_every_column_and_row(device: Device, form: Form) -> None:
    """The published MatMultGrad never writes columns 1, 3 of da and rows 1, 3 of db."""
    rng = np.random.default_rng(0)
    a, b, dc = (rng.integers(-3, 4, shape).astype(np.float32) for shape in ((1, 2, 5), (1, 5, 2), (1, 2, 2)))
    da, db = device.array(a.shape).fill(-99), device.array(b.shape).fill(-99)
    with forced_form(form):
        matmul.backward(device.put(a * 1.0), device.put(b * 1.0), device.put(dc * 1.0), da, db)
    np.testing.assert_array_equal(da.read(), dc @ b.transpose(0, 2, 1))
    np.testing.assert_array_equal(db.read(), a.transpose(0, 2, 1) @ dc)


def test_shapes_that_do_not_fit_are_refused(device: Device) -> None:
    a, b, c = (device.array(shape) for shape in ((1, 3, 4), (1, 5, 2), (1, 3, 2)))
    with pytest.raises(
        ShapeError,
        match=r"argument .b. has shape \(1, 5, 2\).* dimension=4|\[1, 3, 4\] times \[1, 5, 2\] is not",
    ):
        matmul.matmul(a, b, c)
