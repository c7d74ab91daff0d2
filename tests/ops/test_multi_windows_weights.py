from __future__ import annotations

import numpy as np
import pytest

from neuronet.cases.base import Case
from neuronet.cases.multi_windows_weights import SMALL, MultiWindowsUpdate
from neuronet.device.base import Device
from neuronet.device.numpy import NumpyDevice
from neuronet.ops import adam
from neuronet.ops import multi_windows_conv as conv
from neuronet.ops import multi_windows_weights as op
from neuronet.ops.forms import FORMS, Form, forced_form
from neuronet.testing.compare import assert_matches

every_form = pytest.mark.parametrize("form", FORMS, ids=["plain", "CPU", "GPU"])


@every_form
@pytest.mark.parametrize("case", SMALL, ids=lambda case: f"{case.op} {case}")
def test_every_form_matches_the_twin(device: Device, case: Case, form: Form) -> None:
    with forced_form(form):
        case.check(device)


@every_form
@pytest.mark.parametrize("size", [(3, 17, 2, (5, 2), 2, 7), (2, 70, 9, (1, 3, 5, 7), 1, 33)])
def test_fused_update_gives_the_bits_of_gradient_then_adam(
    device: Device, form: Form, size: tuple[int, int, int, tuple[int, ...], int, int]
) -> None:
    case = MultiWindowsUpdate(*size)
    inputs = case.rounded_inputs()
    fused, split = (
        {name: device.array(v.shape, v.dtype, name=name).write(v) for name, v in inputs.items()}
        for _ in range(2)
    )
    dw, db = device.array(case.w), device.array(case.b)
    with forced_form(form):
        op.update(**fused, step=case.step)
        shared = (split[name] for name in ("x", "dz", "windows_in", "starts"))
        op.backward_weights(*shared, dw, db, step=case.step)
    for name, gradient in (("w", dw), ("b", db)):
        parts = (split[name], gradient, split[f"{name}_m"], split[f"{name}_v"])
        adam.step(*(part.view(part.size) for part in parts), split["hyper"])
    for name in case.changes:
        np.testing.assert_array_equal(fused[name].read(), split[name].read(), err_msg=name)


@pytest.mark.parametrize("size", [(3, 17, 2, (5, 2), 2, 7), (20, 70, 9, (1, 3, 5, 7), 1, 33)])
def test_parts_and_their_sums_match_the_twins(
    device: Device, size: tuple[int, int, int, tuple[int, ...], int, int]
) -> None:
    case, found = MultiWindowsUpdate(*size), []
    inputs = case.rounded_inputs()
    for one in (device, NumpyDevice()):
        given = {name: one.array(v.shape, v.dtype, name=name).write(v) for name, v in inputs.items()}
        rows = (given[name] for name in ("x", "dz", "windows_in", "starts"))
        parts = op.parts(*rows, given["w"], step=case.step)
        dw, db = one.array(case.w), one.array(case.b)
        one.kernel("AddWeightPartsMultWinConvWPad")(parts=parts, dw=dw, db=db)
        state = {name: given[name] for name in (*case.changes, "hyper")}
        one.kernel("UpdateWeightPartsMultWinConvAdamWPad")(parts=parts, **state)
        found.append([a.read() for a in (parts, dw, db, *(given[name] for name in case.changes))])
    assert len(found[0][0]) == (1 if len(inputs["x"]) == 3 else 17)  # 512 work-groups of 30 tiles
    for ours, twin in zip(*found, strict=True):
        assert_matches(ours, twin, terms=case.terms)


def gradients(
    device: Device, x: np.ndarray, dz: np.ndarray, windows: tuple[int, ...]
) -> tuple[np.ndarray, np.ndarray]:
    """x [sequences, inputs], dz [sequences, units, windows, 1]."""
    dw, db = device.array((sum(windows), 1)), device.array((len(windows), 1))
    geometry = (device.array((len(windows),), np.int32).write(v) for v in (windows, conv.centred(windows)))
    op.backward_weights(device.put(x[..., None]), device.put(dz), *geometry, dw, db, step=1)
    return dw.read().ravel(), db.read().ravel()


@every_form
@pytest.mark.parametrize(
    ("windows", "expected"),
    [
        ((3, 5), [28, 36, 35, 210, 280, 360, 350, 330]),
        ((5, 3), [21, 28, 36, 35, 33, 280, 360, 350]),
        ((3, 3), [28, 36, 35, 280, 360, 350]),
        ((1, 3, 5), [36, 280, 360, 350, 2100, 2800, 3600, 3500, 3300]),
    ],
)
def test_d8_every_weight_gets_the_gradient_of_its_window(
    device: Device, form: Form, windows: tuple[int, ...], expected: list[int]
) -> None:
    """Published: the search for a weight's window goes on after it is found, so that all are mixed up.

    x = 1 … 8 and gradients 10^q of window q, as in that run; there the windows stand one step further left.
    """
    dz = np.tile(10.0 ** np.arange(len(windows))[:, None], (1, 8, 1, 1))
    with forced_form(form):
        dw, db = gradients(device, np.arange(1.0, 9)[None], dz, windows)
    np.testing.assert_array_equal(dw, expected)
    np.testing.assert_array_equal(db, 8 * 10.0 ** np.arange(len(windows)))


@every_form
def test_d9_any_number_of_variables_adds_up(device: Device, form: Form) -> None:
    """Published: the variables are a work-group, so that 300 are refused by a limit of 256."""
    with forced_form(form):
        dw, db = gradients(device, np.ones((300, 2)), np.ones((300, 2, 1, 1)), (3,))
    np.testing.assert_array_equal(dw, [300, 600, 300])
    np.testing.assert_array_equal(db, [600])


@every_form
def test_d11_positions_outside_the_sequence_count_nothing(device: Device, form: Form) -> None:
    """Published: right only because `in` is an int there; here neighbours in memory would be seen."""
    x = np.array([[1.0, 2], [1000, 2000], [3, 4]])
    dz = np.zeros((3, 2, 1, 1))
    dz[1] = 1
    with forced_form(form):
        dw, _ = gradients(device, x, dz, (5,))
    np.testing.assert_array_equal(dw, [0, 1000, 3000, 2000, 0])
