from __future__ import annotations

import numpy as np
import pytest

from neuronet.cases.base import Case
from neuronet.cases.conv import SMALL, ConvUpdate
from neuronet.device.array import DeviceArray
from neuronet.device.base import Device
from neuronet.errors import ShapeError
from neuronet.ops import adam, conv
from neuronet.ops.forms import FORMS, Form, forced_form

every_form = pytest.mark.parametrize("form", FORMS, ids=["plain", "CPU", "GPU"])


@every_form
@pytest.mark.parametrize("case", SMALL, ids=lambda case: f"{case.op} {case}")
def test_every_form_matches_the_twin(device: Device, case: Case, form: Form) -> None:
    with forced_form(form):
        case.check(device)


@every_form
@pytest.mark.parametrize("size", [(3, 2, 18, 5, 2, 7), (2, 1, 40, 8, 8, 3), (5, 1, 300, 64, 7, 33)])
def test_fused_update_gives_the_bits_of_gradient_then_adam(
    device: Device, form: Form, size: tuple[int, int, int, int, int, int]
) -> None:
    case = ConvUpdate(*size)
    inputs = case.rounded_inputs()
    fused, split = ({name: device.put(v, name=name) for name, v in inputs.items()} for _ in range(2))
    dw, db = device.array(case.w), device.array(case.b)
    with forced_form(form):
        conv.update(**fused, step=case.step)
        conv.backward_weights(split["x"], split["dz"], dw, db, step=case.step)
    for name, gradient in (("w", dw), ("b", db)):
        parts = (split[name], gradient, split[f"{name}_m"], split[f"{name}_v"])
        adam.step(*(part.view(part.size) for part in parts), split["hyper"])
    for name in case.changes:
        np.testing.assert_array_equal(fused[name].read(), split[name].read(), err_msg=name)


def _put(device: Device, values: list[float], *shape: int) -> DeviceArray:
    return device.put(np.array(values, np.float32).reshape(shape))


@every_form
def test_f1_each_filter_starts_its_own_sum(device: Device, form: Form) -> None:
    """The published FeedForwardConv never resets `sum`: 3 filters of bias 1 give 1, 2, 3."""
    for window in (1, 4):
        x = device.array((1, 1, window)).fill(7)
        w, b = device.array((1, 3, window)), device.array((1, 3)).fill(1)
        y = device.array((1, 1, 1, 3))
        with forced_form(form):
            conv.forward(x, w, b, y, step=window, activation=-1)
        np.testing.assert_array_equal(y.read(), np.ones((1, 1, 1, 3)))


@every_form
def test_f2_bias_is_never_read_as_a_tap(device: Device, form: Form) -> None:
    """At a partial window the published kernel takes a tap for the bias: 1111 where 116 is right.

    Here a window that does not fit is refused; over inputs padded by a zero it gives 116.
    """
    w, b = _put(device, [1, 10, 100, 1000], 1, 1, 4), _put(device, [5], 1, 1)
    y = device.array((1, 1, 2, 1))
    with forced_form(form):
        with pytest.raises(ShapeError, match="2 units do not go with length 5, window 4, step 2"):
            conv.forward(device.array((1, 1, 5)).fill(1), w, b, y, step=2, activation=-1)
        conv.forward(_put(device, [1, 1, 1, 1, 1, 0], 1, 1, 6), w, b, y, step=2, activation=-1)
    np.testing.assert_array_equal(y.read().ravel(), [1116, 116])


@every_form
def test_f3_input_gradient_uses_every_window_and_the_right_tap(device: Device, form: Form) -> None:
    """The published CalcHiddenGradientConv gives 1, 0, 2, 0, 0, 0 and, at step 1, 234, 234."""
    dx = device.array((1, 1, 6))
    with forced_form(form):
        conv.backward_input(_put(device, [1, 2, 3], 1, 1, 3, 1), _put(device, [1, 10], 1, 1, 2), dx, step=2)
    np.testing.assert_array_equal(dx.read().ravel(), [1, 10, 2, 20, 3, 30])

    with forced_form(form):
        dz, w = _put(device, [1, 2, 3, 4], 1, 1, 4, 1), _put(device, [1, 10, 100], 1, 1, 3)
        conv.backward_input(dz, w, dx, step=1)
    np.testing.assert_array_equal(dx.read().ravel(), [1, 12, 123, 234, 340, 400])


@every_form
def test_f3_input_gradient_sums_every_filter(device: Device, form: Form) -> None:
    """NeuroNet of article 36 drops filters after the fourth: 2 where 5 is right."""
    dz, w, dx = device.array((1, 1, 1, 5)).fill(1), device.array((1, 5, 1)).fill(1), device.array((1, 1, 1))
    with forced_form(form):
        conv.backward_input(dz, w, dx, step=1)
    assert dx.read().item() == 5


@every_form
def test_f4_weight_gradient_counts_the_last_window(device: Device, form: Form) -> None:
    """The published UpdateWeightsConv sees 4 of 5 windows."""
    x, dz = device.array((1, 1, 10)).fill(1), device.array((1, 1, 5, 1)).fill(1)
    dw, db = device.array((1, 1, 2)), device.array((1, 1))
    with forced_form(form):
        conv.backward_weights(x, dz, dw, db, step=2)
    np.testing.assert_array_equal(dw.read().ravel(), [5, 5])
    assert db.read().item() == 5


@every_form
def test_f4_weight_gradient_goes_to_the_variable_that_earned_it(device: Device, form: Form) -> None:
    """The published index gives filter 0 of variable 1 nothing, and filter 1 of its gradient 14 of 21."""
    gradient = np.zeros((1, 2, 3, 4), np.float32)
    gradient[0, 1, :, 0] = 7
    x, dz = device.array((1, 2, 3)).fill(1), device.put(gradient)
    dw, db = device.array((2, 4, 1)), device.array((2, 4))
    with forced_form(form):
        conv.backward_weights(x, dz, dw, db, step=1)
    expected = np.zeros((2, 4), np.float32)
    expected[1, 0] = 21
    np.testing.assert_array_equal(dw.read()[:, :, 0], expected)
    np.testing.assert_array_equal(db.read(), expected)


@pytest.mark.parametrize(("length", "window", "step", "units"), [(10, 3, 2, 5), (3, 4, 1, 0), (10, 3, 0, 4)])
def test_sizes_that_do_not_fit_are_refused(
    device: Device, length: int, window: int, step: int, units: int
) -> None:
    x, w, b = device.array((1, 1, length)), device.array((1, 2, window)), device.array((1, 2))
    y = device.array((1, 1, units, 2))
    with pytest.raises(ShapeError, match=f"{units} units do not go with length {length}, window {window}"):
        conv.forward(x, w, b, y, step=step, activation=-1)
