from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

from neuronet.cases.base import Case
from neuronet.cases.mask_attention_complex import SMALL, MaskAttentionForward
from neuronet.cases.mask_attention_gradients import MaskAttentionBackward
from neuronet.device.base import Device
from neuronet.device.numpy import NumpyDevice
from neuronet.errors import ShapeError
from neuronet.ops import mask_attention_complex as op
from neuronet.ops import mask_attention_gradients
from neuronet.ops.forms import FORMS, Form, forced_form

A = np.ndarray
every_form = pytest.mark.parametrize("form", FORMS, ids=["plain", "CPU", "GPU"])
both_modes = pytest.mark.parametrize("mode", ["hard", "reference"])


@pytest.mark.parametrize("form", FORMS[:2], ids=["plain", "CPU"])  # the GPU's has its own cases
@pytest.mark.parametrize("case", SMALL, ids=lambda case: f"{case.op} {case}")
def test_every_form_matches_the_twin(device: Device, case: Case, form: Form) -> None:
    with forced_form(form):
        case.check(device)


class Result(NamedTuple):
    out: A  # complex [units, heads, dimension]
    scores: A  # [units, heads, units]
    dq: A  # complex, as out
    dk: A  # complex [units, heads_kv, dimension]
    dv: A
    dmask: A  # [units, units]


def floats(x: A) -> A:
    return np.stack([x.real, x.imag], -1)[None].astype(float)


def attend(
    device: Device,
    form: Form,
    q: A,
    k: A,
    v: A,
    mask: A | None = None,
    dout: A | None = None,
    *,
    scale: float = 1.0,
    mode: op.MaskMode = "hard",
) -> Result:
    """Both passes of one row; q [units, heads, dimension], k and v [units, heads_kv, dimension], complex."""
    units, heads, dimension = q.shape
    settings = {"heads_kv": k.shape[1], "scale": scale, "mode": mode}
    arrays = [device.put(floats(q)), device.put(floats(np.concatenate([k, v], 1)))]
    m = device.put(np.ones((1, units, units)) if mask is None else mask[None] * 1.0)
    lse, out = device.array((1, units, heads)), device.array((1, *q.shape, 2))
    scratch = device.array(op.scratch_shape(1, units, k.shape[1], dimension))
    scores, dmask = device.array((1, units, heads, units)), device.array((1, units, units))
    gradients = [device.array(a.shape) for a in arrays]
    go = device.put(floats(np.zeros_like(q) if dout is None else dout))
    for array in (scratch, scores, dmask, *gradients):
        array.fill(7.0)
    with forced_form(form):
        op.forward(*arrays, m, scratch, lse, out, **settings)  # type: ignore[arg-type]
        op.scores(*arrays, m, lse, scores, dimension=dimension, **settings)  # type: ignore[arg-type]
        mask_attention_gradients.backward(*arrays, m, lse, out, go, scratch, *gradients, dmask, **settings)  # type: ignore[arg-type]
    o, dq, dkv = (a.read()[0, ..., 0] + 1j * a.read()[0, ..., 1] for a in (out, *gradients))
    return Result(o, scores.read()[0], dq, dkv[:, : k.shape[1]], dkv[:, k.shape[1] :], dmask.read()[0])


def random(units: int, heads: int, heads_kv: int, dimension: int, seed: int = 0) -> tuple[A, A, A, A, A]:
    """q, k, v, mask and dout."""
    rng = np.random.default_rng(seed)
    shapes = [(units, n, dimension) for n in (heads, heads_kv, heads_kv, heads)]
    q, k, v, dout = (rng.standard_normal(s) + 1j * rng.standard_normal(s) for s in shapes)
    mask = np.where(np.eye(units), 1, rng.random((units, units)) < 0.5).astype(float)
    return q, k, v, mask, dout


def dense(q: A, k: A, v: A, mask: A, closed: A, *, scale: float, mode: op.MaskMode) -> tuple[A, A]:
    """out and scores by the complex formula; ``closed`` says where the mask is 0."""
    g = np.arange(q.shape[1]) % k.shape[1]
    s = np.einsum("ihd,jhd->ihj", q, k[:, g].conj()).real
    bias = np.where(closed, -np.inf if mode == "hard" else -np.log(1e10), 0)
    e = np.exp(scale * (s * mask[:, None] + bias[:, None]))
    scores = e / e.sum(-1, keepdims=True)
    return np.einsum("ihj,jhd->ihd", scores, v[:, g]), scores


def complex_units(*columns: list[complex]) -> A:
    """[units, 1, dimension] of one head, a list for each unit."""
    return np.array(columns, complex)[:, None]


# --- the formulas ---------------------------------------------------------------------------


@both_modes
@pytest.mark.parametrize(
    ("units", "heads", "heads_kv", "dimension"), [(1, 1, 1, 1), (4, 3, 2, 3), (5, 2, 2, 2)]
)
def test_backward_is_the_derivative_of_forward(
    exact: NumpyDevice, mode: op.MaskMode, units: int, heads: int, heads_kv: int, dimension: int
) -> None:
    """Every element by central differences of an independent complex formula, in float64, to 1e-6."""
    q, k, v, mask, dout = random(units, heads, heads_kv, dimension)
    mask = np.where(mask == 1, np.random.default_rng(1).uniform(0.3, 1, mask.shape), 0)
    np.fill_diagonal(mask, 1)
    closed, scale = mask == 0, 0.6
    found = attend(exact, "", q, k, v, mask, dout, scale=scale, mode=mode)
    out, scores = dense(q, k, v, mask, closed, scale=scale, mode=mode)
    np.testing.assert_allclose(found.out, out, rtol=1e-12)
    np.testing.assert_allclose(found.scores, scores, rtol=1e-12, atol=1e-300)

    def loss() -> float:
        out, _ = dense(q, k, v, mask, closed, scale=scale, mode=mode)
        return float((out.conj() * dout).real.sum())

    for array, gradient in ((q, found.dq), (k, found.dk), (v, found.dv), (mask, found.dmask)):
        expected = np.zeros_like(array)
        for at in np.ndindex(array.shape):
            for unit in (1, 1j) if array.dtype.kind == "c" else (1,):
                ends, before = [], array[at]
                for step in (1e-5, -1e-5):
                    array[at] = before + step * unit
                    ends.append(loss())
                array[at] = before
                expected[at] += unit * (ends[0] - ends[1]) / 2e-5
        if array is mask:
            np.fill_diagonal(expected, 0)
        assert np.abs(gradient - expected).max() <= 1e-6 * max(np.abs(expected).max(), 1e-4)


@every_form
@both_modes
@pytest.mark.parametrize("units", [1, 2, 6, 7, 19, 38, 55, 100, 300])
def test_c1_c2_weights_of_any_number_of_channels_sum_to_1(
    device: Device, form: Form, mode: op.MaskMode, units: int
) -> None:
    """Published: one work-item a channel in one work-group; sums that add twice unless it is a power of 2."""
    q, k, v, mask, _ = random(units, 2, 1, 3)
    found = attend(device, form, q, k, v, mask, scale=0.4, mode=mode)
    np.testing.assert_allclose(found.scores.sum(-1), 1, rtol=1e-5)
    closed = np.broadcast_to((mask == 0)[:, None], found.scores.shape)
    assert (found.scores[closed] == 0).all() if mode == "hard" else (found.scores[closed] > 0).all()
    out, scores = dense(q, k, v, mask, mask == 0, scale=0.4, mode=mode)
    np.testing.assert_allclose(found.scores, scores, rtol=2e-5, atol=1e-7)
    np.testing.assert_allclose(found.out, out, atol=2e-6)


@every_form
def test_c2_six_scores_have_the_sum_21(device: Device, form: Form) -> None:
    """Published: items 3 to 5 add to a slot while it is set to 0, so that 1..6 can sum to 25."""
    one = np.ones((6, 1, 1), complex)
    found = attend(device, form, one, np.log(np.arange(1, 7))[:, None, None] + 0j, one)
    np.testing.assert_allclose(found.scores[:, 0], np.tile(np.arange(1, 7) / 21, (6, 1)), rtol=1e-5)


@every_form
def test_c3_a3_two_runs_give_the_same_bits(device: Device, form: Form) -> None:
    """Published: the sum is read while its slot is used again."""
    q, k, v, mask, dout = random(100, 3, 2, 4)
    first, second = (attend(device, form, q, k, v, mask, dout) for _ in range(2))
    for a, b in zip(first, second, strict=True):
        np.testing.assert_array_equal(a, b)


@every_form
@both_modes
def test_c4_large_scores_stay_finite(device: Device, form: Form, mode: op.MaskMode) -> None:
    q = complex_units([100.0], [100.0])
    found = attend(device, form, q, complex_units([1.0], [-1.0]), complex_units([1 + 2j], [3.0]), mode=mode)
    np.testing.assert_array_equal(found.scores[:, 0], [[1, 0], [1, 0]])
    np.testing.assert_array_equal(found.out[:, 0, 0], [1 + 2j, 1 + 2j])


@every_form
def test_a1_every_component_counts_in_a_score(device: Device, form: Form) -> None:
    """The ancestor assigns the product, so that the last component alone is left."""
    q = complex_units([1.0, 0.0], [1.0, 0.0])
    found = attend(device, form, q, complex_units([2.0, 0.0], [0.0, 0.0]), q)
    p = 1 / (1 + np.exp(-2))
    np.testing.assert_allclose(found.scores[:, 0], [[p, 1 - p]] * 2, rtol=1e-6)  # the last alone: 0.5


@every_form
def test_a2_a_closed_channel_is_closed_wherever_it_stands(device: Device, form: Form) -> None:
    """The ancestor opens all keys up to the query, whatever the mask says."""
    q, k, v, _, _ = random(5, 2, 2, 3)
    found = attend(device, form, q, k, v, np.eye(5))
    np.testing.assert_array_equal(found.scores != 0, np.tile(np.eye(5)[:, None], (1, 2, 1)))
    np.testing.assert_array_equal(found.out, v.astype(np.complex64))
    mask = np.eye(5)
    mask[1, 4] = 1  # behind the query
    assert (attend(device, form, q, k, v, mask).scores[1, :, 4] > 0).all()


@every_form
def test_a6_a_common_turn_of_the_phases_changes_no_weight(device: Device, form: Form) -> None:
    """Without the conjugate, Re sum q k, it does: a shift in time would change what channels see."""
    q, k, v, mask, _ = random(6, 2, 2, 3)
    turn = np.exp(0.9j)
    still, turned = (attend(device, form, q * t, k * t, v, mask) for t in (1, turn))
    np.testing.assert_allclose(still.scores, turned.scores, atol=2e-6)
    published = [np.einsum("ihd,jhd->ihj", q * t, k * t).real for t in (1, turn)]
    assert np.abs(published[0] - published[1]).max() > 1


@every_form
def test_a6_weights_are_real_and_positive(device: Device, form: Form) -> None:
    """A softmax of complex numbers divides by e^(i pi) + e^0 = 0 here."""
    q = complex_units([1.0], [1.0])
    found = attend(device, form, q, complex_units([1j * np.pi], [0.0]), complex_units([2j], [4.0]))
    np.testing.assert_allclose(found.scores, 0.5, rtol=1e-6)
    np.testing.assert_allclose(found.out[:, 0, 0], [2 + 1j] * 2, rtol=1e-6)


@every_form
def test_a6_gradients_reach_every_component(device: Device, form: Form) -> None:
    """The ancestor's index of the value lacks the component: all of them read component 0."""
    zero, v = complex_units([0.0, 0.0], [0.0, 0.0]), complex_units([0.0, 1.0], [0.0, -1.0])
    k, dout = complex_units([1.0, 2.0], [0.0, 0.0]), complex_units([0.0, 1.0], [0.0, 0.0])
    found = attend(device, form, zero, k, v, None, dout)
    np.testing.assert_allclose(found.dq[0, 0], [0.5, 1], rtol=1e-6)
    np.testing.assert_allclose(found.dv[:, 0], [[0, 0.5]] * 2, rtol=1e-6)


# --- the published gradients ----------------------------------------------------------------


@every_form
def test_c5_a_gradient_reaches_the_query_that_it_belongs_to(device: Device, form: Form) -> None:
    """Published: index h D + d + q D lacks the heads, so that query 1 of head 0 reads query 0 of head 1."""
    q, k, v, _, dout = random(2, 2, 2, 4)
    only = np.zeros_like(dout)
    only[1, 0] = dout[1, 0]
    found = attend(device, form, q, k, v, None, only)
    assert np.abs(found.dq[1, 0]).max() > 0.01
    np.testing.assert_array_equal(found.dq[0], 0)
    np.testing.assert_array_equal(found.dq[1, 1], 0)


@every_form
def test_c6_a_component_without_gradient_still_moves_its_query(device: Device, form: Form) -> None:
    """Published: where dout is 0, dq is left 0; it is a sum over all components."""
    zero, dout = complex_units([0.0, 0.0], [0.0, 0.0]), complex_units([1.0, 0.0], [0.0, 0.0])
    k, v = complex_units([0.0, 1.0], [0.0, -1.0]), complex_units([1.0, 0.0], [-1.0, 0.0])
    found = attend(device, form, zero, k, v, None, dout)
    np.testing.assert_allclose(found.dq[:, 0], [[0, 1], [0, 0]], atol=1e-7)


@every_form
def test_c7_the_gradient_of_a_score_sums_over_the_components(device: Device, form: Form) -> None:
    """Published: (0.177, 0.177), each component on its own."""
    zero, unit = complex_units([0.0, 0.0], [0.0, 0.0]), complex_units([1.0, 0.0], [0.0, 1.0])
    dout = complex_units([1.0, 1.0], [0.0, 0.0])
    found = attend(device, form, zero, unit, unit, None, dout, scale=2**-0.5)
    np.testing.assert_allclose(found.dq, 0, atol=1e-7)


@every_form
def test_c8_the_gradient_of_a_score_has_the_conjugate(device: Device, form: Form) -> None:
    """Published: i times i gives -1, so that the sign is turned: -0.25."""
    zero, k = complex_units([0.0], [0.0]), complex_units([1.0], [0.0])
    found = attend(device, form, zero, k, complex_units([1j], [0.0]), None, complex_units([1j], [0.0]))
    np.testing.assert_allclose(found.dq[:, 0, 0], [0.25, 0], atol=1e-7)


@every_form
def test_c9_keys_have_a_gradient(device: Device, form: Form) -> None:
    """Published: the value of the wrong index cancels, and dk is 0: keys never learn."""
    one, dout = complex_units([1.0], [1.0]), complex_units([1.0], [0.0])
    found = attend(device, form, one, complex_units([0.0], [0.0]), complex_units([1.0], [-1.0]), None, dout)
    np.testing.assert_allclose(found.dk[:, 0, 0], [0.5, -0.5], rtol=1e-6)


@every_form
def test_c10_keys_and_values_hear_the_heads_that_use_them(device: Device, form: Form) -> None:
    """Published: hq++ in place of hq += heads_kv, so that the keys of group 0 hear heads 0, 1, 2 and 3."""
    q, k, v, mask, dout = random(6, 4, 2, 3)
    only = np.zeros_like(dout)
    only[:, 1] = dout[:, 1]
    found = attend(device, form, q, k, v, mask, only)
    for gradient in (found.dk, found.dv):
        np.testing.assert_array_equal(gradient[:, 0], 0)
        assert np.abs(gradient[:, 1]).max() > 0.01


@every_form
def test_c11_gradients_of_a_head_are_those_of_the_head_alone(device: Device, form: Form) -> None:
    """Published: scores and gradients of the keys lack the head in their index."""
    q, k, v, mask, dout = random(7, 3, 3, 4)
    found = attend(device, form, q, k, v, mask, dout)
    dmask = np.zeros_like(mask)
    for h in range(3):
        one = slice(h, h + 1)
        alone = attend(device, form, q[:, one], k[:, one], v[:, one], mask, dout[:, one])
        for together, own in zip(found[2:5], alone[2:5], strict=True):
            np.testing.assert_allclose(together[:, one], own, rtol=1e-5, atol=1e-5)
        dmask += alone.dmask
    np.testing.assert_allclose(found.dmask, dmask, rtol=1e-5, atol=1e-5)


@every_form
def test_c12_nothing_is_read_behind_an_array(device: Device, form: Form) -> None:
    """Published: q's index has the query twice: 136 reads behind it here, of the guard's 1.2e9."""
    with forced_form(form):
        MaskAttentionBackward(1, 8, 4, 2, 4).check(device)


@every_form
def test_c13_nan_is_not_hidden(device: Device, form: Form) -> None:
    """Published: NaN becomes 0, and a net that diverges looks like one that learns nothing."""
    q, k, v, _, dout = random(3, 1, 1, 2)
    q[1, 0, 1] = np.nan
    found = attend(device, form, q, k, v, None, dout)
    assert np.isnan(found.out[1]).all()
    assert np.isfinite(found.out[[0, 2]]).all()
    assert np.isnan(found.dk).any()


@every_form
@both_modes
def test_c14_the_mask_has_the_gradient_of_the_loss(device: Device, form: Form, mode: op.MaskMode) -> None:
    """The ancestor writes 1 - m for open channels and 0 for closed ones, whatever the loss."""
    q, k, v, mask, dout = random(5, 2, 1, 3)
    right = attend(NumpyDevice(np.float64), "", q, k, v, mask, dout, scale=0.4, mode=mode).dmask
    found = attend(device, form, q, k, v, mask, dout, scale=0.4, mode=mode).dmask
    np.testing.assert_allclose(found, right, rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(np.diag(found), 0)
    others = ~np.eye(5, dtype=bool)
    assert (found[others & (mask == 1)] != 0).all()
    assert (found[mask == 0] == 0).all() if mode == "hard" else (found[mask == 0] != 0).all()


@every_form
def test_c15_a_closed_channel_with_weight_moves_no_query(device: Device, form: Form) -> None:
    """Published: closed is told from score == 0, which a closed channel of mode reference never has."""
    q, k, v, _, dout = random(3, 1, 1, 2)
    found = attend(device, form, q, k, v, np.eye(3), dout, scale=0.1, mode="reference")
    assert (found.scores > 0.01).all()
    only_self = np.einsum("ihd,ihd->ih", found.dq, k.conj()) / (np.abs(k) ** 2).sum(-1)
    np.testing.assert_allclose(found.dq, only_self[..., None] * k, atol=1e-6)  # along its own key


# --- the two modes --------------------------------------------------------------------------


@every_form
@pytest.mark.parametrize(("dimension", "leak"), [(4, 0.0155), (16, 0.4796), (32, 0.7523)])
def test_c16_reference_mode_leaks_as_published_and_hard_mode_does_not(
    device: Device, form: Form, dimension: int, leak: float
) -> None:
    zero = np.zeros((55, 1, dimension), complex)
    for mode, expected in (("reference", leak), ("hard", 0)):
        scale = (2 * dimension) ** -0.5
        found = attend(device, form, zero, zero, zero, np.eye(55), scale=scale, mode=mode)  # type: ignore[arg-type]
        outside = found.scores.sum(-1)[:, 0] - np.diag(found.scores[:, 0])
        np.testing.assert_allclose(outside, expected, atol=2e-4 if expected else 0)


@every_form
def test_a_channel_sees_itself_whatever_the_mask_says(device: Device, form: Form) -> None:
    q, k, v, mask, dout = random(6, 2, 1, 3)
    empty = mask * (1 - np.eye(6))
    for a, b in zip(
        attend(device, form, q, k, v, mask, dout), attend(device, form, q, k, v, empty, dout), strict=True
    ):
        np.testing.assert_array_equal(a, b)


@every_form
def test_a_packed_array_gives_the_same_as_two(device: Device, form: Form) -> None:
    q, k, v, mask, dout = random(9, 4, 2, 5)
    two = attend(device, form, q, k, v, mask, dout)
    qkv, m = device.put(floats(np.concatenate([q, k, v], 1))), device.put(mask[None])
    lse, out, go = device.array((1, 9, 4)), device.array((1, 9, 4, 5, 2)), device.put(floats(dout))
    scratch, dqkv = device.array(op.scratch_shape(1, 9, 2, 5)), device.array(qkv.shape)
    dmask = device.array((1, 9, 9))
    with forced_form(form):
        op.forward(qkv, qkv, m, scratch, lse, out, heads_kv=2, scale=1.0)
        mask_attention_gradients.backward(
            qkv, qkv, m, lse, out, go, scratch, dqkv, dqkv, dmask, heads_kv=2, scale=1.0
        )
    d = dqkv.read()[0, ..., 0] + 1j * dqkv.read()[0, ..., 1]
    np.testing.assert_array_equal(d, np.concatenate([two.dq, two.dk, two.dv], 1))
    np.testing.assert_array_equal(dmask.read()[0], two.dmask)


def test_arrays_that_do_not_fit_are_refused(device: Device) -> None:
    q, kv, mask = device.array((1, 5, 4, 3, 2)), device.array((1, 5, 4, 3, 2)), device.array((1, 5, 5))
    lse, out, scratch = device.array((1, 5, 4)), device.array((1, 5, 4, 3, 2)), device.array((10_000,))
    with pytest.raises(ShapeError, match=r"do not hold 4 and 2 [*] 1 heads of 3 complex numbers"):
        op.forward(q, kv, mask, scratch, lse, out, heads_kv=1, scale=1.0)
    with pytest.raises(ShapeError, match="heads_kv=5 for 4 heads"):
        op.forward(q, kv, mask, scratch, lse, out, heads_kv=5, scale=1.0)
    with pytest.raises(ShapeError, match=r"scratch .* has not"):
        op.forward(q, kv, mask, device.array((8,)), lse, out, heads_kv=2, scale=1.0)


def test_scratch_is_bounded() -> None:
    assert op.scratch_shape(704, 19, 16, 16) == (max(128 * 24 * (6 * 19 + 5 * 32 + 3), 704 * 16 * 19**2),)
    assert op.scratch_shape(704, 300, 16, 64) == (704 * 300**2,)  # as many as of the mask


@every_form
@pytest.mark.parametrize("most", [7 * 36, 3 * 7 * 36])  # floats: 1 and 3 work-groups a row
def test_a_short_scratch_gives_the_same(
    device: Device, form: Form, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(op, "MOST_ITEMS", 2)
    monkeypatch.setattr(op, "MOST_SCRATCH", most)
    with forced_form(form):
        MaskAttentionForward(7, 6, 8, 4, 3, alike=True).check(device)
