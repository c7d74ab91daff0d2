from __future__ import annotations

import numpy as np
import pytest

from neuronet.cases.base import Case
from neuronet.cases.flash_stca_gradient import SMALL, STCABackward
from neuronet.device.base import Device
from neuronet.device.numpy import NumpyDevice
from neuronet.ops import flash_stca, flash_stca_gradient, visible
from neuronet.ops.forms import FORMS, Form, forced_form
from neuronet.testing.compare import assert_matches

A = np.ndarray
every_form = pytest.mark.parametrize("form", [*FORMS, "Tensor"], ids=["plain", "CPU", "GPU", "Tensor"])


@every_form
@pytest.mark.parametrize("case", SMALL, ids=lambda case: f"{case.op} {case}")
def test_every_form_matches_the_twin(device: Device, case: Case, form: Form) -> None:
    with forced_form(form):
        case.check(device)


def test_a_hundred_thousand_rows(device: Device) -> None:
    STCABackward(1, 1, 2, 100_003, 8, 0).check(device)


def gradients(
    device: Device,
    form: Form,
    u: A,
    x: A,
    dout: A,
    limits: A,
    *,
    splits: int = 3,
    beta: float = 0.0,
    ages: A | None = None,
    slope: A | None = None,
) -> tuple[A, A, A]:
    """du, dx and dslope of one sample; dx is full of NaN before for beta = 0, else of ones."""
    shape = (1, splits, *u.shape)
    top, total, sums = (device.array(s).fill(np.nan) for s in (shape[:-1], shape[:-1], shape))
    out, lse, du = (device.array((1, *s)).fill(np.nan) for s in (u.shape, u.shape[:-1], u.shape))
    dx, dslope = device.array((1, *x.shape)).fill(1 if beta else np.nan), device.array((u.shape[1],))
    ud, xd, dd = (device.put(a[None] * 1.0) for a in (u, x, dout))
    seen = device.put(np.asarray(limits, np.int32)[None])
    bias = {} if ages is None else {"ages": device.put(ages[None] * 1.0), "slope": device.put(slope)}
    with forced_form(form):
        flash_stca.forward(ud, xd, seen, top, total, sums, out, lse, scale=0.5, **bias)
        flash_stca_gradient.backward(
            ud, xd, seen, out, lse, dd, sums, top, du, dx, scale=0.5, beta=beta, dslope=dslope, **bias
        )
    return du.read()[0], dx.read()[0], dslope.read()


@every_form
@pytest.mark.parametrize("width", [4, 7])
def test_gradients_with_everything_at_once_match_float64(device: Device, form: Form, width: int) -> None:
    """Three questions, one of which sees nothing, two heads, a bias; tests/reference has the twin's."""
    rng = np.random.default_rng(0)
    u, x = rng.standard_normal((3, 2, width)), rng.standard_normal((11, width))
    dout, limits = rng.standard_normal(u.shape), np.array([[0, 7], [4, 4], [3, 11]])
    ages, slope = np.arange(11.0)[::-1], np.array([0.2, 0.7])
    found = gradients(device, form, u, x, dout, limits, ages=ages, slope=slope)
    exact = gradients(NumpyDevice(np.float64), "", u, x, dout, limits, ages=ages, slope=slope)
    for a, b in zip(found, exact, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)
    assert not found[0][1].any()


@every_form
def test_s5_a_row_that_nobody_sees_gets_exactly_0(device: Device, form: Form) -> None:
    """With an lse of 0 for a question without rows, as published, exp(s - lse) is 7.4 for a score of 2."""
    rng = np.random.default_rng(0)
    u, x, dout = np.full((2, 1, 8), 0.5), np.ones((40, 8)), rng.standard_normal((2, 1, 8))
    du, dx, _ = gradients(device, form, u, x, dout, np.array([[10, 10], [10, 12]]))
    assert not dx[:10].any()
    assert not dx[12:].any()
    assert dx[10:12].all()
    assert not du[0].any()
    _, dx, _ = gradients(device, form, u, x, dout, np.array([[5, 5], [0, 0]]))
    assert not dx.any()


@every_form
def test_dx_may_be_added_to(device: Device, form: Form) -> None:
    rng = np.random.default_rng(0)
    u, x, dout = rng.standard_normal((9, 2, 6)), rng.standard_normal((90, 6)), rng.standard_normal((9, 2, 6))
    limits = np.tile([20, 80], (9, 1))
    limits[4] = [70, 85]
    alone = gradients(device, form, u, x, dout, limits)[1]
    for beta in (1.0, 0.5):
        added = gradients(device, form, u, x, dout, limits, beta=beta)[1]
        np.testing.assert_allclose(added, alone + beta, rtol=1e-5, atol=1e-5)


@every_form
def test_equal_rows_give_no_gradient_to_the_questions(device: Device, form: Form) -> None:
    """ds sums to 0 over the rows of a question, and dx to dout: the weights sum to 1."""
    rng = np.random.default_rng(0)
    u, dout, limits = (
        rng.standard_normal((2, 3, 5)),
        rng.standard_normal((2, 3, 5)),
        np.array([[0, 30], [7, 9]]),
    )
    du, dx, _ = gradients(device, form, u, np.ones((30, 5)), dout, limits)
    np.testing.assert_allclose(du, 0, atol=1e-5)
    np.testing.assert_allclose(dx.sum(0), dout.sum((0, 1)), rtol=1e-4, atol=1e-5)


@every_form
def test_shuffled_rows_have_shuffled_gradients(device: Device, form: Form) -> None:
    rng = np.random.default_rng(0)
    u, x, dout = rng.standard_normal((1, 8, 9)), rng.standard_normal((75, 9)), rng.standard_normal((1, 8, 9))
    order, limits = rng.permutation(75), visible.everything(1, 75)[0]
    du, dx, _ = gradients(device, form, u, x, dout, limits)
    du2, dx2, _ = gradients(device, form, u, x[order], dout, limits)
    np.testing.assert_allclose(du2, du, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(dx2, dx[order], rtol=1e-4, atol=1e-5)


@every_form
def test_heads_are_independent(device: Device, form: Form) -> None:
    rng = np.random.default_rng(0)
    u, x, dout = rng.standard_normal((2, 9, 6)), rng.standard_normal((40, 6)), rng.standard_normal((2, 9, 6))
    du, *_ = gradients(device, form, u, x, dout, visible.everything(2, 40)[0])
    dout[:, 3] = 0
    changed = gradients(device, form, u, x, dout, visible.everything(2, 40)[0])[0] != du
    assert changed[:, 3].all()
    assert not np.delete(changed, 3, 1).any()


@every_form
def test_one_stretch_and_thirty_seven_agree(device: Device, form: Form) -> None:
    rng = np.random.default_rng(0)
    u, x, dout = rng.standard_normal((2, 3, 8)), rng.standard_normal((200, 8)), rng.standard_normal((2, 3, 8))
    ages, slope, limits = np.arange(200.0)[::-1] / 50, np.array([0.1, 0.5, 1]), np.array([[0, 150], [0, 200]])
    one, many = (
        gradients(device, form, u, x, dout, limits, splits=splits, ages=ages, slope=slope)
        for splits in (1, 37)
    )
    for a, b in zip(one[:2], many[:2], strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-6)
    assert_matches(one[2], many[2], terms=2 * 200)  # a sum over all rows that mostly cancels


@every_form
def test_two_runs_give_the_same_bits(device: Device, form: Form) -> None:
    rng = np.random.default_rng(0)
    u, x, dout = rng.standard_normal((3, 4, 9)), rng.standard_normal((300, 9)), rng.standard_normal((3, 4, 9))
    runs = [gradients(device, form, u, x, dout, visible.everything(3, 300)[0]) for _ in range(2)]
    for a, b in zip(*runs, strict=True):
        np.testing.assert_array_equal(a, b)


@every_form
def test_scores_of_ten_thousand_have_finite_gradients(device: Device, form: Form) -> None:
    x = np.array([[1.0, 0], [-1, 0], [0, 1]])
    du, dx, _ = gradients(
        device, form, np.array([[[2e4, 0.0]]]), x, np.ones((1, 1, 2)), visible.everything(1, 3)[0]
    )
    np.testing.assert_array_equal(dx, [[1, 1], [0, 0], [0, 0]])
    np.testing.assert_array_equal(du, [[[0, 0]]])
