from __future__ import annotations

import numpy as np
import pytest

from neuronet.cases.base import Case
from neuronet.cases.multi_windows_conv import SMALL
from neuronet.device.array import DeviceArray
from neuronet.device.base import Device
from neuronet.ops import multi_windows_conv as op
from neuronet.ops.forms import FORMS, Form, forced_form

every_form = pytest.mark.parametrize("form", FORMS, ids=["plain", "CPU", "GPU"])


@every_form
@pytest.mark.parametrize("case", SMALL, ids=lambda case: f"{case.op} {case}")
def test_every_form_matches_the_twin(device: Device, case: Case, form: Form) -> None:
    with forced_form(form):
        case.check(device)


def integers(device: Device, values: list[int] | tuple[int, ...]) -> DeviceArray:
    return device.array((len(values),), np.int32).write(values)


def forward(
    device: Device, x: np.ndarray, w: np.ndarray, b: np.ndarray, windows: tuple[int, ...], *, step: int = 1
) -> np.ndarray:
    """One sequence [inputs], taps [taps, window_out]: [units, windows, window_out]."""
    units = op.output_units(x.size, step)
    y = device.array((1, units, len(windows), w.shape[1])).fill(np.nan)
    geometry = integers(device, windows), integers(device, op.centred(windows))
    arrays = device.put(x.reshape(1, -1, 1)), device.put(w), device.put(b)
    op.forward(*arrays, *geometry, y, step=step, activation=-1)
    return y.read()[0]


def input_gradient(
    device: Device, dz: np.ndarray, w: np.ndarray, windows: tuple[int, ...], inputs: int, *, step: int = 1
) -> np.ndarray:
    """Gradients [units, windows, window_out] of one sequence: [inputs]."""
    dx = device.array((1, inputs, 1)).fill(np.nan)
    geometry = integers(device, windows), integers(device, op.centred(windows))
    op.backward_input(device.put(dz[None]), device.put(w), *geometry, dx, step=step)
    return dx.read().ravel()


@every_form
def test_d1_every_window_has_its_own_cells(device: Device, form: Form) -> None:
    """Published: the index lacks the window, so all write the same cells: 8 times 200, 8 never written."""
    with forced_form(form):
        y = forward(device, np.ones(8), np.zeros((4, 1)), np.array([[100.0], [200.0]]), (1, 3))
    np.testing.assert_array_equal(y[:, :, 0], np.tile([100, 200], (8, 1)))


@every_form
def test_d2_windows_stand_in_the_middle(device: Device, form: Form) -> None:
    """Published: mid = (win + 1) / 2, so that window 1 reads the value before: 0, 1, 2, 3."""
    x = np.array([1.0, 2, 3, 4])
    with forced_form(form):
        one = forward(device, x, np.ones((1, 1)), np.zeros((1, 1)), (1,))
        three = forward(device, x, np.array([[100.0], [10], [1]]), np.zeros((1, 1)), (3,))
    np.testing.assert_array_equal(one.ravel(), [1, 2, 3, 4])
    np.testing.assert_array_equal(three.ravel(), [12, 123, 234, 340])


@every_form
def test_d3_a_bad_bias_spoils_its_own_filter_and_is_seen(device: Device, form: Form) -> None:
    """Published: NaN products become 0, so that a broken weight goes unnoticed; a NaN bias does not."""
    w, b = np.ones((3, 2)), np.array([[np.nan, 1]])
    w[1, 1] = np.nan
    with forced_form(form):
        y = forward(device, np.ones(4), w, b, (3,))
        w[1, 1] = 1
        half = forward(device, np.ones(4), w, b, (3,))
    assert np.isnan(y).all()
    np.testing.assert_array_equal(half[:, 0, 1], [3, 4, 4, 3])
    assert np.isnan(half[:, 0, 0]).all()


@every_form
@pytest.mark.parametrize(("window", "step"), [(3, 1), (5, 1), (3, 2), (3, 3)])
def test_d4_inputs_at_the_front_get_their_gradient(
    device: Device, form: Form, window: int, step: int
) -> None:
    """Published: a window that starts before 0 ends the loop: inputs 0-4, 0-7, 0-4 and 0-5 get 0."""
    inputs = 12
    units = op.output_units(inputs, step)
    expected = np.zeros(inputs)
    for u in range(units):
        for k in range(window):
            i = u * step - (window - 1) // 2 + k
            if 0 <= i < inputs:
                expected[i] += (u + 1) * 10.0**k
    with forced_form(form):
        dz = np.arange(1.0, units + 1).reshape(units, 1, 1)
        dx = input_gradient(device, dz, 10.0 ** np.arange(window)[:, None], (window,), inputs, step=step)
    np.testing.assert_array_equal(dx, expected)
    assert dx[: 2 * step].all()


@every_form
@pytest.mark.parametrize("step", [3, 5, 9, 11])
def test_d5_steps_that_are_no_powers_of_two_lose_no_input(device: Device, form: Form, step: int) -> None:
    """Published: (i - win) / step is unsigned and wraps: step 3 loses inputs 0, 1 and 2, step 5 input 0."""
    window, inputs = step + 4, 4 * step
    with forced_form(form):
        dz, w = np.ones((op.output_units(inputs, step), 1, 1)), np.ones((window, 1))
        dx = input_gradient(device, dz, w, (window,), inputs, step=step)
    starts = np.arange(op.output_units(inputs, step)) * step - (window - 1) // 2
    expected = [np.sum((starts <= i) & (i < starts + window)) for i in range(inputs)]
    np.testing.assert_array_equal(dx, expected)
    assert dx[:step].all()


@every_form
def test_d6_windows_and_filters_may_outnumber_a_work_group(device: Device, form: Form) -> None:
    """Published: windows * filters is the size of a work-group: 4 x 128 is refused by a limit of 256."""
    with forced_form(form):
        dx = input_gradient(device, np.ones((3, 4, 128)), np.ones((4, 128)), (1, 1, 1, 1), 3)
    np.testing.assert_array_equal(dx, [512, 512, 512])


@every_form
def test_d7_the_input_gradient_is_linear(device: Device, form: Form) -> None:
    """Published: Deactivation clips, so that twice the gradient gives less than twice the result (E6)."""
    dz, w = np.full((3, 1, 1), 0.75), np.full((3, 1), 0.5)
    with forced_form(form):
        once, twice = (input_gradient(device, factor * dz, w, (3,), 3) for factor in (1, 2))
    np.testing.assert_array_equal(twice, 2 * once)


@every_form
@pytest.mark.parametrize(
    ("name", "expected"), [("centred", [1, 1, 1, 1, 0, 0]), ("causal", [1, 0, 0, 0, 0, 0])]
)
def test_a_causal_unit_sees_no_later_position(
    device: Device, form: Form, name: str, expected: list[int]
) -> None:
    """What unit 0 sees of six positions, from the gradient that it sends there."""
    windows = (7,)
    dz = np.zeros((1, 6, 1, 1))
    dz[0, 0] = 1
    dx = device.array((1, 6, 1))
    geometry = integers(device, windows), integers(device, getattr(op, name)(windows))
    with forced_form(form):
        op.backward_input(device.put(dz), device.put(np.ones((7, 1))), *geometry, dx, step=1)
    np.testing.assert_array_equal(dx.read().ravel(), expected)


def test_starts() -> None:
    windows = (1, 2, 3, 4, 5)
    assert op.centred(windows) == [0, 0, -1, -1, -2]
    assert op.causal(windows) == [0, -1, -2, -3, -4]
    assert op.blocks(windows) == [0, 1, 3, 6, 10]
    assert [op.output_units(10, step) for step in (1, 2, 3, 10, 11)] == [10, 5, 4, 1, 1]
