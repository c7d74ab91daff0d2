from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

from neuronet.cases.base import Case
from neuronet.cases.channel_correlation import SMALL
from neuronet.device.base import Device
from neuronet.device.numpy import NumpyDevice
from neuronet.errors import ShapeError
from neuronet.ops import channel_correlation as op
from neuronet.ops import mask_attention_complex as attention
from neuronet.ops import mask_attention_gradients
from neuronet.ops.forms import FORMS, Form, forced_form

every_form = pytest.mark.parametrize("form", FORMS[:2], ids=["plain", "CPU"])


@every_form
@pytest.mark.parametrize("case", SMALL, ids=lambda case: f"{case.op} {case}")
def test_every_form_matches_the_twin(device: Device, case: Case, form: Form) -> None:
    with forced_form(form):
        case.check(device)


A = np.ndarray
TAU, REGULAR = 0.3, 0.5


class Result(NamedTuple):
    value: A  # [rows]
    cosines: A  # [rows, units, units]
    dq: A  # complex [rows, units, heads, dimension]
    dkv: A  # complex [rows, units, 2 heads_kv, dimension]
    dmask: A


def correlate(
    device: Device,
    form: Form,
    q: A,
    k: A,
    mask: A,
    *,
    tau: float = TAU,
    regular: float = REGULAR,
    weight: float = 1.0,
    dout: A | None = None,
) -> Result:
    """Both passes, of attention and of the loss; the attention's output has no gradient unless ``dout``.

    q and dout [rows, units, heads, dimension], k, which are the values too, [rows, units, heads_kv,
    dimension], complex.
    """
    rows, units, heads, dimension = q.shape
    heads_kv = k.shape[2]
    pair = [device.put(np.stack([x.real, x.imag], -1) * 1.0) for x in (q, np.concatenate([k, k], 2))]
    m, scratch = (
        device.put(mask * 1.0),
        device.array(attention.scratch_shape(rows, units, heads_kv, dimension)),
    )
    value, lse = device.array((rows,)), device.array((rows, units, heads))
    cosines, dcosines, dmask = (device.array(mask.shape) for _ in range(3))
    dq, dkv, out, go = (device.array(a.shape) for a in (*pair, pair[0], pair[0]))
    if dout is not None:
        go.write(np.stack([dout.real, dout.imag], -1))
    for array in (dq, dkv, dmask, dcosines, cosines, scratch):
        array.fill(7.0)
    how, loss = {"heads_kv": heads_kv, "scale": 1.0}, {"tau": tau, "regular": regular, "weight": weight}
    with forced_form(form):
        attention.forward(*pair, m, scratch, lse, out, cosines, **how)  # type: ignore[arg-type]
        op.forward(cosines, m, value, **loss)
        op.backward(cosines, m, dcosines, dmask, **loss)
        known = *pair, m, lse, out, go
        mask_attention_gradients.backward(*known, scratch, dq, dkv, dmask, dcosines, **how)  # type: ignore[arg-type]
    pairs = (a.read() for a in (dq, dkv))
    return Result(value.read(), cosines.read(), *(a[..., 0] + 1j * a[..., 1] for a in pairs), dmask.read())


def random(units: int, heads: int, heads_kv: int, dimension: int, rows: int = 2) -> tuple[A, A, A]:
    """q, k and mask."""
    rng = np.random.default_rng(0)
    shapes = [(rows, units, n, dimension) for n in (heads, heads_kv)]
    q, k = (rng.standard_normal(s) + 1j * rng.standard_normal(s) for s in shapes)
    return q, k, np.where(np.eye(units), 1, rng.random((rows, units, units)) < 0.5)


def loss(q: A, k: A, mask: A, tau: float, regular: float) -> A:
    """The loss of each row by its definition."""
    units, heads = q.shape[1:3]
    g = np.arange(heads) % k.shape[2]
    norms = np.linalg.norm(q, axis=-1)[:, :, None], np.linalg.norm(k[:, :, g], axis=-1)[:, None]
    c = (np.einsum("nihd,njhd->nijh", q, k[:, :, g].conj()).real / (norms[0] * norms[1])).mean(-1)
    e = np.exp(c / tau)
    cluster = -np.log((e * mask).sum(-1) / e.sum(-1)).mean(-1)
    return cluster + regular * np.abs(mask - np.eye(units)).sum((1, 2)) / (units * (units - 1))


@pytest.mark.parametrize(
    ("units", "heads", "heads_kv", "dimension"), [(2, 1, 1, 1), (4, 3, 2, 2), (5, 2, 2, 3)]
)
def test_backward_is_the_derivative_of_the_definition(
    exact: NumpyDevice, units: int, heads: int, heads_kv: int, dimension: int
) -> None:
    """Every element by central differences, in float64, to 1e-6 of the largest."""
    q, k, mask = random(units, heads, heads_kv, dimension)
    mask = np.where(np.eye(units), 1, mask * 0.6)  # away from 0, where |m| has no derivative
    found = correlate(exact, "", q, k, mask, weight=0.7)
    np.testing.assert_allclose(found.value, 0.7 * loss(q, k, mask, TAU, REGULAR), rtol=1e-12)
    np.testing.assert_array_equal(found.dkv[:, :, heads_kv:], 0)
    for array, gradient in ((q, found.dq), (k, found.dkv[:, :, :heads_kv]), (mask, found.dmask)):
        expected = np.zeros_like(array)
        for at in np.ndindex(array.shape):
            if array is mask and (at[1] == at[2] or not mask[at]):
                expected[at] = gradient[at]
                continue
            for unit in (1, 1j) if array.dtype.kind == "c" else (1,):
                ends, before = [], array[at]
                for step in (1e-5, -1e-5):
                    array[at] = before + step * unit
                    ends.append(0.7 * loss(q, k, mask, TAU, REGULAR).sum())
                array[at] = before
                expected[at] += unit * (ends[0] - ends[1]) / 2e-5
        assert np.abs(gradient - expected).max() <= 1e-6 * np.abs(expected).max()


def test_a_closed_pair_has_the_gradient_of_the_first_term_alone(exact: NumpyDevice) -> None:
    q, k, mask = random(4, 2, 1, 3)
    found = correlate(exact, "", q, k, mask).dmask
    step = np.zeros_like(mask, dtype=float)
    at = tuple(np.argwhere(mask == 0)[0])
    step[at] = 1e-5
    ends = [loss(q, k, mask + s * step, TAU, 0.0).sum() for s in (1, -1)]
    assert found[at] == pytest.approx((ends[0] - ends[1]) / 2e-5, rel=1e-6)
    assert found[at] < 0  # descent opens it


@every_form
def test_channels_that_are_all_alike_by_hand(device: Device, form: Form) -> None:
    """All cosines are 1: -log of the open share, and half the share of open pairs."""
    q = np.tile([1 + 2j, -3.0], (1, 4, 2, 1))
    mask = np.eye(4)[None] + 0
    mask[0, 0, 1:3] = 1
    found = correlate(device, form, q, 5 * q, mask)
    np.testing.assert_allclose(found.cosines, 1, rtol=1e-6)
    right = -(np.log(3 / 4) + 3 * np.log(1 / 4)) / 4 + 0.5 * 2 / 12
    np.testing.assert_allclose(found.value, right, rtol=1e-5)
    np.testing.assert_allclose(found.dq, 0, atol=1e-6)
    np.testing.assert_allclose(found.dmask[0, 1], [-1 / 4, 0, -1 / 4, -1 / 4], rtol=1e-5)
    np.testing.assert_allclose(
        found.dmask[0, 0], [0, 0.5 / 12 - 1 / 12, 0.5 / 12 - 1 / 12, -1 / 12], rtol=1e-4
    )


@every_form
def test_gradients_of_the_output_and_of_the_cosines_add_up(device: Device, form: Form) -> None:
    q, k, mask = random(6, 4, 2, 3)
    dout = q[..., ::-1] * 1j
    both = correlate(device, form, q, k, mask, dout=dout)
    one, other = (
        correlate(device, form, q, k, mask),
        correlate(device, form, q, k, mask, weight=0.0, dout=dout),
    )
    for a, b, c in zip(both[2:], one[2:], other[2:], strict=True):
        assert min(np.abs(b).max(), np.abs(c).max()) > 0.01
        np.testing.assert_allclose(a, b + c, atol=1e-5)


@every_form
def test_c19_one_channel_has_no_loss_and_no_gradient(device: Device, form: Form) -> None:
    """The published share of open pairs divides by N (N - 1) = 0."""
    q, k, mask = random(1, 3, 1, 2)
    found = correlate(device, form, q, k, mask)
    for array in (found.value, found.dq, found.dkv, found.dmask):
        np.testing.assert_allclose(array, 0, atol=1e-7)


@every_form
def test_c20_a_channel_of_zeros_gives_no_nan_and_has_no_gradient(device: Device, form: Form) -> None:
    """Published: 0 / 0. Below 1e-8 a vector has no direction; its gradient would be 1e8 times the others'."""
    q, k, mask = random(5, 2, 2, 3)
    q[0, 2] = k[0, 3] = 0
    found = correlate(device, form, q, k, mask)
    for array in found:
        assert np.isfinite(array).all()
    np.testing.assert_array_equal(found.cosines[0, 2], 0)
    np.testing.assert_array_equal(found.dq[0, 2], 0)
    np.testing.assert_array_equal(found.dkv[0, 3], 0)
    assert np.abs(found.dq).max() < 100


@every_form
def test_a_small_temperature_stays_finite(device: Device, form: Form) -> None:
    """exp(1 / 0.005) is beyond float32."""
    q, _, mask = random(6, 1, 1, 3)
    found = correlate(device, form, q, q, mask, tau=0.005)
    for array in found:
        assert np.isfinite(array).all()
    np.testing.assert_allclose(found.value, REGULAR * (mask.sum((1, 2)) - 6) / 30, atol=1e-5)


@every_form
def test_a_common_turn_of_the_phases_changes_nothing(device: Device, form: Form) -> None:
    q, k, mask = random(6, 2, 2, 3)
    still, turned = (correlate(device, form, q * t, k * t, mask) for t in (1, np.exp(0.9j)))
    np.testing.assert_allclose(still.cosines, turned.cosines, atol=1e-6)
    np.testing.assert_allclose(still.value, turned.value, rtol=1e-5)


def test_what_makes_no_sense_is_refused(device: Device) -> None:
    q, k, mask = random(3, 2, 1, 2)
    with pytest.raises(ShapeError, match="tau=0 is not above 0"):
        correlate(device, "", q, k, mask, tau=0)
