from __future__ import annotations

import numpy as np
import pytest

from neuronet.cases.base import Case
from neuronet.cases.flash_attention import SMALL
from neuronet.device.base import Device
from neuronet.device.numpy import NumpyDevice
from neuronet.errors import ShapeError
from neuronet.ops import flash_attention, visible
from neuronet.ops.forms import FORMS, Form, forced_form

A = np.ndarray
every_form = pytest.mark.parametrize("form", FORMS, ids=["plain", "CPU", "GPU"])


@every_form
@pytest.mark.parametrize("case", SMALL, ids=lambda case: f"{case.op} {case}")
def test_every_form_matches_the_twin(device: Device, case: Case, form: Form) -> None:
    with forced_form(form):
        case.check(device)


def attend(device: Device, form: Form, q: A, k: A, v: A, limits: A | None = None) -> tuple[A, A]:
    """out and lse of one sample; q [queries, heads, d], k and v [keys, heads_kv, d], limits [queries, 2]."""
    seen = visible.everything(len(q), len(k)) if limits is None else np.asarray(limits, np.int32)[None]
    out, lse = device.array((1, *q.shape)).fill(np.nan), device.array((1, *q.shape[:-1])).fill(np.nan)
    rows = [device.put(a.reshape(1, len(a), -1) * 1.0) for a in (q, k, v)]
    with forced_form(form):
        flash_attention.forward(*rows, device.put(seen), out, lse, heads_kv=k.shape[1])
    return out.read()[0], lse.read()[0]


@every_form
def test_s3_scores_are_scaled_by_the_root_of_the_dimension(device: Device, form: Form) -> None:
    q, k, v = np.ones((1, 1, 16)), np.zeros((16, 1, 16)), np.zeros((16, 1, 16))
    k[0], v[0] = 0.5, 1
    out, _ = attend(device, form, q, k, v)
    np.testing.assert_allclose(out, np.exp(2) / (np.exp(2) + 15), rtol=1e-5)  # 0.330; unscaled 0.995


@every_form
@pytest.mark.parametrize("units", [1, 8, 9, 70])
def test_causal_questions_do_not_see_later_keys(device: Device, form: Form, units: int) -> None:
    rng = np.random.default_rng(0)
    q, k, v = rng.standard_normal((3, units, 2, 5))
    out, _ = attend(device, form, q, k, v, visible.causal(units, units)[0])
    np.testing.assert_allclose(out[0], v[0], rtol=1e-5)
    late = v.copy()
    late[units // 2 + 1 :] += 1
    again, _ = attend(device, form, q, k, late, visible.causal(units, units)[0])
    same = (again == out).all((1, 2))
    assert same[: units // 2 + 1].all()
    assert not same[units // 2 + 1 :].any()


@every_form
def test_questions_that_see_nothing_and_scores_of_ten_thousand(device: Device, form: Form) -> None:
    q = np.tile([1e2, 0], (3, 1, 1))
    k, v = np.array([[[141.5, 0]], [[-141.5, 0]]]), np.array([[[1.0, 2]], [[3, 4]]])
    out, lse = attend(device, form, q, k, v, np.array([[0, 2], [1, 1], [1, 2]]))
    np.testing.assert_array_equal(out[:, 0], [[1, 2], [0, 0], [3, 4]])
    np.testing.assert_allclose(lse[:, 0], [10005.6, np.inf, -10005.6], rtol=1e-4)


@every_form
def test_heads_share_keys_in_order(device: Device, form: Form) -> None:
    rng = np.random.default_rng(0)
    q, k, v = rng.standard_normal((7, 6, 4)), *rng.standard_normal((2, 19, 2, 4))
    shared, _ = attend(device, form, q, k, v)
    alone, _ = attend(device, form, q, k.repeat(3, 1), v.repeat(3, 1))
    np.testing.assert_allclose(shared, alone, rtol=1e-5, atol=1e-6)


@every_form
def test_questions_keys_and_values_may_lie_in_one_array(device: Device, form: Form) -> None:
    rng = np.random.default_rng(0)
    q, k, v = rng.standard_normal((3, 10, 2, 4))
    qkv = device.put(np.concatenate([a.reshape(1, 10, 8) for a in (q, k, v)], -1))
    out, lse = device.array((1, 10, 2, 4)), device.array((1, 10, 2))
    with forced_form(form):
        flash_attention.forward(
            qkv, qkv, qkv, device.put(visible.causal(10, 10)), out, lse, heads_kv=2, columns=(0, 8, 16)
        )
    expected = attend(device, form, q, k, v, visible.causal(10, 10)[0])
    np.testing.assert_allclose(out.read()[0], expected[0], rtol=1e-6, atol=1e-7)


@every_form
def test_two_runs_give_the_same_bits(device: Device, form: Form) -> None:
    q, k, v = np.random.default_rng(0).standard_normal((3, 90, 2, 9))
    for a, b in zip(*(attend(device, form, q, k, v) for _ in range(2)), strict=True):
        np.testing.assert_array_equal(a, b)


def test_what_does_not_fit_is_refused() -> None:
    device = NumpyDevice(np.float64)
    q, out, lse = device.array((1, 5, 8)), device.array((1, 5, 4, 2)), device.array((1, 5, 4))
    limits = device.put(visible.causal(5, 5))
    with pytest.raises(ShapeError, match="3 heads of keys for 4 heads"):
        flash_attention.forward(q, q, q, limits, out, lse, heads_kv=3)
    with pytest.raises(ShapeError, match="v has rows of 8, which do not hold 4 heads of 2 from column 1 on"):
        flash_attention.forward(q, q, q, limits, out, lse, heads_kv=4, columns=(0, 0, 1))
    with pytest.raises(ShapeError, match=r"limits \[3, 5, 2\] for 1 samples"):
        flash_attention.forward(q, q, q, device.put(np.zeros((3, 5, 2), np.int32)), out, lse, heads_kv=4)
