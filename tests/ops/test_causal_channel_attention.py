from __future__ import annotations

import numpy as np
import pytest

from neuronet.cases.base import Case
from neuronet.cases.causal_channel_attention import SMALL
from neuronet.device.base import Device
from neuronet.errors import ShapeError
from neuronet.ops import causal_channel_attention, channel_attention
from neuronet.ops.forms import FORMS, Form, forced_form

A = np.ndarray
HEADS, E, INNER = 2, 3, 6
CELLS = (HEADS, E + 2, E)


@pytest.mark.parametrize("form", FORMS, ids=["plain", "CPU", "GPU"])
@pytest.mark.parametrize("case", SMALL, ids=lambda case: f"{case.op} {case}")
def test_every_form_matches_the_twin(device: Device, case: Case, form: Form) -> None:
    with forced_form(form):
        case.check(device)


def run(device: Device, rows: A, initial: A | None = None) -> tuple[A, A]:
    """Output and the sums behind the last unit, for rows [units, 18]."""
    units, array = len(rows), device.array
    parts = causal_channel_attention.parts(units)
    state = device.put(np.zeros((1, *CELLS)) if initial is None else initial)
    sums, running = array((1, parts, *CELLS)), array((1, parts + 1, *CELLS))
    scales, lse, y = array((1, units, 2, INNER)), array((1, units, INNER)), array((1, units, INNER))
    tau = device.put([1.0, 3.0])
    causal_channel_attention.forward(
        device.put(rows[None]), tau, state, sums, running, scales, lse, y, eps=1e-6
    )
    causal_channel_attention.keep(running, state)
    return y.read()[0], state.read()


def full(device: Device, rows: A) -> A:
    """Output of the attention that sees all units."""
    units, array = len(rows), device.array
    sums, scores, mix = array((1, 1, *CELLS)), array((1, *CELLS)), array((1, HEADS, E, E))
    y = array((1, units, INNER))
    channel_attention.forward(device.put(rows[None]), device.put([1.0, 3.0]), sums, scores, mix, y, eps=1e-6)
    return y.read()[0]


def given(units: int) -> A:
    return np.random.default_rng(0).standard_normal((units, 3 * INNER))


def test_a_unit_has_the_attention_of_all_units_up_to_it(device: Device) -> None:
    rows = given(19)
    y, _ = run(device, rows)
    for t in (0, 1, 8, 15, 16, 18):
        np.testing.assert_allclose(y[t], full(device, rows[: t + 1])[t], atol=5e-6)


def test_later_units_change_no_bit(device: Device) -> None:
    rows = given(20)
    before, _ = run(device, rows)
    rows[13:] = 100.0
    after, _ = run(device, rows)
    np.testing.assert_array_equal(after[:13], before[:13])
    assert np.abs(after[13:] - before[13:]).min() > 0


def test_calls_that_follow_each_other_equal_one(device: Device) -> None:
    rows, state, found = given(50), None, []
    whole, last = run(device, rows)
    for stretch in (1, 17, 30, 2):
        y, state = run(device, rows[:stretch], state)
        rows = rows[stretch:]
        found.append(y)
    np.testing.assert_allclose(np.concatenate(found), whole, atol=2e-6)
    np.testing.assert_allclose(state, last, rtol=1e-5, atol=1e-5)


def test_a_wrong_number_of_parts_is_refused(device: Device) -> None:
    array, (units, parts) = device.array, (17, 1)
    with pytest.raises(ShapeError, match="17 units make 2 parts, sums has 1"):
        causal_channel_attention.forward(
            array((1, units, 3 * INNER)),
            array((HEADS,)),
            array((1, *CELLS)),
            array((1, parts, *CELLS)),
            array((1, parts + 1, *CELLS)),
            array((1, units, 2, INNER)),
            array((1, units, INNER)),
            array((1, units, INNER)),
            eps=1e-6,
        )
