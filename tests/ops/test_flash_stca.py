from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from neuronet.cases.base import Case
from neuronet.cases.flash_stca import SMALL, STCAForward
from neuronet.device.base import Device
from neuronet.device.numpy import NumpyDevice
from neuronet.errors import ShapeError
from neuronet.ops import flash_attention, flash_stca, visible
from neuronet.ops.forms import FORMS, Form, forced_form

A = np.ndarray
every_form = pytest.mark.parametrize("form", [*FORMS, "Tensor"], ids=["plain", "CPU", "GPU", "Tensor"])


@every_form
@pytest.mark.parametrize("case", SMALL, ids=lambda case: f"{case.op} {case}")
def test_every_form_matches_the_twin(device: Device, case: Case, form: Form) -> None:
    with forced_form(form):
        case.check(device)


def test_tensor_cores_take_short_rows_of_multiples_of_four(device: Device) -> None:
    with forced_form("Tensor"):
        forms = [flash_stca.form(device, width) for width in (4, 64, 63, 68, 600)]
    assert forms == ["Tensor", "Tensor", "GPU", "GPU", ""]


def test_a_hundred_thousand_rows(device: Device) -> None:
    STCAForward(1, 1, 2, 100_003, 8, 0).check(device)


def attend(
    device: Device,
    form: Form,
    u: A,
    x: A,
    limits: A | None = None,
    scale: float = 1.0,
    splits: int = 3,
    ages: A | None = None,
    slope: A | None = None,
) -> tuple[A, A]:
    """out and lse of one sample; u [queries, heads, d], x [length, d]; None: every row is seen."""
    seen = visible.everything(len(u), len(x)) if limits is None else np.asarray(limits)[None]
    shape = (1, splits, *u.shape)
    top, total, sums = device.array(shape[:-1]), device.array(shape[:-1]), device.array(shape)
    out, lse = device.array((1, *u.shape)), device.array((1, *u.shape[:-1]))
    with forced_form(form):
        flash_stca.forward(
            device.put(u[None] * 1.0),
            device.put(x[None] * 1.0),
            device.put(seen.astype(np.int32)),
            top.fill(np.nan),
            total.fill(np.nan),
            sums.fill(np.nan),
            out,
            lse,
            scale=scale,
            ages=None if ages is None else device.put(ages[None] * 1.0),
            slope=None if slope is None else device.put(slope * 1.0),
        )
    return out.read()[0], lse.read()[0]


def dense(u: A, x: A, scale: float = 1.0) -> A:
    s = scale * (u @ x.T)
    e = np.exp(s - s.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True) @ x


@every_form
@pytest.mark.parametrize("length", [16, 20, 31, 33, 47])
def test_s1_no_key_behind_the_last_whole_group_is_dropped(device: Device, form: Form, length: int) -> None:
    x = np.zeros((length, 2))
    x[-1] = [3, 1]
    p = np.exp(3) / (np.exp(3) + length - 1)  # of the last row; the published kernel gives it 0
    out, _ = attend(device, form, np.array([[[1.0, 0]]]), x)
    np.testing.assert_allclose(out[0, 0], [3 * p, p], rtol=1e-5)


@every_form
@pytest.mark.parametrize("d", [32, 300, 1030])
def test_s2_a_row_may_be_longer_than_a_work_group(device: Device, form: Form, d: int) -> None:
    u, x = np.zeros((1, 2, d)), np.tile(np.arange(d) / 8, (5, 1))
    out, _ = attend(device, form, u, x)
    np.testing.assert_allclose(out[0], np.tile(np.arange(d) / 8, (2, 1)), rtol=1e-5)


@every_form
def test_s3_the_scale_is_that_of_a_head(device: Device, form: Form) -> None:
    """Heads of 16 in rows of 32: 1/sqrt(16) makes 8 a score of 2, as in the classic form."""
    x = np.zeros((16, 32))
    x[0] = 0.25
    out, _ = attend(device, form, np.ones((1, 1, 32)), x, scale=16**-0.5)
    np.testing.assert_allclose(out, 0.25 * np.exp(2) / (np.exp(2) + 15), rtol=1e-5)  # P 0.330; unscaled 0.995


@every_form
def test_s4_time_decides_what_a_question_sees_in_either_order(device: Device, form: Form) -> None:
    times = np.array([10, 20, 30, 40])
    rows = np.array([[1.0], [2], [4], [8]])
    asked = np.array([25, 40])
    zero = np.zeros((2, 1, 1))
    old = attend(device, form, zero, rows, visible.by_time(times, asked, order="oldest-first")[0])
    new = attend(device, form, zero, rows[::-1], visible.by_time(times[::-1], asked, order="newest-first")[0])
    for out, _ in (
        old,
        new,
    ):  # published: the first sees all, the second loses a row, whatever their times are
        np.testing.assert_allclose(out[:, 0, 0], [1.5, 3.75], rtol=1e-6)


@every_form
def test_s5_a_question_that_sees_nothing_has_an_infinite_lse_and_output_0(device: Device, form: Form) -> None:
    rng = np.random.default_rng(0)
    u, x = rng.standard_normal((3, 2, 5)), rng.standard_normal((9, 5))
    out, lse = attend(device, form, u, x, np.array([[0, 0], [2, 9], [5, 5]]))
    assert np.isposinf(lse[[0, 2]]).all()
    assert np.isfinite(lse[1]).all()
    assert not out[[0, 2]].any()
    np.testing.assert_allclose(out[1], dense(u[1], x[2:]), rtol=1e-5, atol=1e-6)
    out, lse = attend(device, form, u, x, np.zeros((3, 2)))  # no question sees anything
    assert np.isposinf(lse).all()
    assert not out.any()


@every_form
def test_s6_nan_is_not_hidden(device: Device, form: Form) -> None:
    x = np.ones((9, 2))
    x[4, 1] = np.nan
    out, _ = attend(device, form, np.ones((1, 1, 2)), x)
    assert np.isnan(out).all()
    out, _ = attend(device, form, np.ones((1, 1, 2)), x, np.array([[5, 9]]))
    assert (out == 1).all()  # a row that nobody sees is not touched


@every_form
@pytest.mark.parametrize("d", [8, 64])
def test_s11_a_history_may_be_shorter_than_its_rows(device: Device, form: Form, d: int) -> None:
    rng = np.random.default_rng(0)
    u, x = rng.standard_normal((2, 3, d)), rng.standard_normal((3, d))
    out, _ = attend(device, form, u, x, scale=d**-0.5)
    np.testing.assert_allclose(out, dense(u, x, d**-0.5), rtol=1e-4, atol=1e-6)


@every_form
def test_s7_heads_share_a_pass_and_give_what_each_gives_alone(device: Device, form: Form) -> None:
    rng = np.random.default_rng(0)
    u, x = rng.standard_normal((3, 8, 10)), rng.standard_normal((100, 10))
    out, lse = attend(device, form, u, x)
    for q, h in np.ndindex(3, 8):
        alone = attend(device, form, u[q : q + 1, h : h + 1], x)
        np.testing.assert_allclose(out[q, h], alone[0][0, 0], rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(lse[q, h], alone[1][0, 0], rtol=1e-6)


def test_s10_one_question_fills_a_gpu() -> None:
    gpu = SimpleNamespace(kind="gpu", compute_units=132, tensor_cores=False)
    assert flash_stca.splits_for(gpu, 1, 100_000, 8, 64) >= 4 * 132  # type: ignore[arg-type]
    assert flash_stca.splits_for(gpu, 1, 10_000, 8, 64) >= 132  # type: ignore[arg-type]
    assert flash_stca.splits_for(gpu, 32, 10_000, 8, 64) * 32 >= 132  # type: ignore[arg-type]
    assert flash_stca.splits_for(gpu, 1, 50, 8, 64) == 1  # type: ignore[arg-type]
    cards = SimpleNamespace(kind="gpu", compute_units=132, tensor_cores=True)
    for batch, length, splits in (
        (1, 100_000, 264),
        (1, 1000, 15),
        (32, 10_000, 8),
        (100, 10_000, 10),
        (1, 10_000, 132),
        (2000, 999, 1),
    ):
        assert flash_stca.splits_for(cards, batch, length, 8, 64) == splits  # type: ignore[arg-type]
    assert flash_stca.splits_for(cards, 1, 10_000, 64, 64) == 132  # type: ignore[arg-type]
    assert flash_stca.splits_for(cards, 1, 100_000, 8, 68) == 625  # type: ignore[arg-type]


@every_form
def test_scores_of_ten_thousand_stay_finite_and_choose(device: Device, form: Form) -> None:
    x = np.array([[1.0, 0], [-1, 0], [0, 1]])
    out, lse = attend(device, form, np.array([[[1e4, 0], [-1e4, 0]]]), x)
    np.testing.assert_array_equal(out[0], [[1, 0], [-1, 0]])
    np.testing.assert_array_equal(lse[0], [1e4, 1e4])


@every_form
def test_one_stretch_and_thirty_seven_agree(device: Device, form: Form) -> None:
    rng = np.random.default_rng(0)
    u, x = rng.standard_normal((3, 2, 20)), rng.standard_normal((301, 20))
    limits = visible.by_time(np.arange(301), np.array([3, 300, 150]), order="oldest-first")[0]
    one, many = (attend(device, form, u, x, limits, 20**-0.5, splits) for splits in (1, 37))
    for a, b in zip(one, many, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-6)


@every_form
def test_two_runs_give_the_same_bits(device: Device, form: Form) -> None:
    rng = np.random.default_rng(0)
    u, x = rng.standard_normal((3, 3, 13)), rng.standard_normal((200, 13))
    for a, b in zip(*(attend(device, form, u, x) for _ in range(2)), strict=True):
        np.testing.assert_array_equal(a, b)


@every_form
def test_the_order_of_rows_does_not_matter_and_heads_are_independent(device: Device, form: Form) -> None:
    rng = np.random.default_rng(0)
    u, x = rng.standard_normal((2, 9, 12)), rng.standard_normal((70, 12))
    out, lse = attend(device, form, u, x)
    shuffled = attend(device, form, u, x[rng.permutation(70)])
    np.testing.assert_allclose(shuffled[0], out, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(shuffled[1], lse, rtol=1e-5)
    other = u.copy()
    other[:, 4] = 0
    changed = attend(device, form, other, x)[0] != out
    assert changed[:, 4].all()
    assert not np.delete(changed, 4, 1).any()


@every_form
def test_recency_prefers_newer_rows_from_any_origin_of_time(device: Device, form: Form) -> None:
    u, x = np.zeros((2, 2, 1)), np.array([[1.0], [2], [4]])
    ages, slope = np.array([2.0, 1, 0]), np.array([np.log(2), 0])
    limits = np.array([[0, 3], [0, 2]])
    expected = [[(1 + 4 + 16) / 7, 7 / 3], [(1 + 4) / 3, 1.5]]  # weights 1 : 2 : 4
    for origin in (0, 2.0**20):  # the second would drown the scores, if it were not taken out
        out, lse = attend(device, form, u, x, limits, ages=ages + origin, slope=slope)
        np.testing.assert_allclose(out[..., 0], expected, rtol=1e-6)
        np.testing.assert_allclose(lse[:, 0], np.log([1.75, 1.5]), rtol=1e-6)


@every_form
def test_a_further_row_changes_nothing_for_questions_before_it(device: Device, form: Form) -> None:
    rng = np.random.default_rng(0)
    u, x = rng.standard_normal((2, 2, 7)), rng.standard_normal((51, 7))
    ages, slope = np.arange(51.0)[::-1], np.array([0.1, 0.5])
    before = attend(device, form, u, x[:50], ages=ages[:50], slope=slope)
    after = attend(device, form, u, x, np.array([[0, 50], [0, 51]]), ages=ages, slope=slope)
    np.testing.assert_allclose(after[0][0], before[0][0], rtol=1e-5, atol=1e-6)
    assert np.abs(after[0][1] - before[0][1]).max() > 1e-3


@every_form
def test_absorbed_questions_equal_attention_over_projected_keys_and_values(
    device: Device, form: Form
) -> None:
    rng = np.random.default_rng(0)
    d, heads, queries, length = 12, 3, 2, 40
    q, x = rng.standard_normal((queries, d)), rng.standard_normal((length, d))
    w_q, w_k, w_v = rng.standard_normal((3, d, heads, d // heads)) / np.sqrt(d)
    r = np.einsum("nd,dhe->nhe", q, w_q)
    a, _ = attend(device, form, np.einsum("nhe,dhe->nhd", r, w_k), x, scale=(d // heads) ** -0.5)
    projected = [np.einsum("ld,dhe->lhe", x, w).reshape(1, length, d) for w in (w_k, w_v)]
    k, v = (device.put(values) for values in projected)
    out, lse = device.array((1, queries, heads, d // heads)), device.array((1, queries, heads))
    limits = device.put(visible.everything(queries, length))
    with forced_form(form):
        flash_attention.forward(device.put(r.reshape(1, queries, d)), k, v, limits, out, lse, heads_kv=heads)
    np.testing.assert_allclose(np.einsum("nhd,dhe->nhe", a, w_v), out.read()[0], rtol=1e-5, atol=1e-5)


def test_limits_beyond_the_history_end_at_its_end(device: Device) -> None:
    u, x = np.zeros((1, 1, 1)), np.array([[1.0], [3]])
    for form in FORMS:
        out, _ = attend(device, form, u, x, np.array([[-5, 99]]))
        assert out[0, 0, 0] == 2


def test_arrays_that_do_not_fit_are_refused() -> None:
    device = NumpyDevice(np.float64)
    u, x = device.array((2, 1, 3, 4)), device.array((2, 5, 4))
    one = device.put(visible.everything(1, 5))
    with pytest.raises(ShapeError, match="neither for all samples nor for each of 2"):
        flash_stca.bias(u, x, device.put(np.zeros((3, 1, 2), np.int32)), None, None)
    with pytest.raises(ShapeError, match="give both"):
        flash_stca.bias(u, x, one, device.array((2, 5)), None)
    with pytest.raises(ShapeError, match=r"ages \[2, 4\] and slope \[3\]"):
        flash_stca.bias(u, x, one, device.array((2, 4)), device.array((3,)))
