from __future__ import annotations

import numpy as np
import pytest

from neuronet.cases.base import Case
from neuronet.cases.channel_attention import SMALL
from neuronet.device.base import Device
from neuronet.device.numpy import NumpyDevice
from neuronet.ops import channel_attention
from neuronet.ops.forms import FORMS, Form, forced_form

A = np.ndarray
EPS = 1e-6


@pytest.mark.parametrize("form", FORMS, ids=["plain", "CPU", "GPU"])
@pytest.mark.parametrize("case", SMALL, ids=lambda case: f"{case.op} {case}")
def test_every_form_matches_the_twin(device: Device, case: Case, form: Form) -> None:
    with forced_form(form):
        case.check(device)


class Pass:
    """Forward and, for ``dy``, backward over one sample of q, k, v, each [units, heads, dimension]."""

    def __init__(
        self, device: Device, q: A, k: A, v: A, *, tau: float = 1.0, dy: A | None = None, parts: int = 1
    ) -> None:
        units, heads, e = q.shape
        inner = heads * e
        cells = (heads, e + 2, e)
        array, put = device.array, device.put
        rows = put(np.concatenate([x.reshape(1, units, inner) for x in (q, k, v)], 2))
        of_tau, sums = put(np.full(heads, tau)), array((1, parts, *cells))
        scores, mix, y = array((1, *cells)), array((1, heads, e, e)), array((1, units, inner))
        channel_attention.forward(rows, of_tau, sums, scores, mix, y, eps=EPS)
        self.y = y.read().reshape(units, heads, e)
        self.cosines = scores.read()[0, :, :e].swapaxes(1, 2)
        self.mix = mix.read()[0].swapaxes(1, 2)
        if dy is None:
            return
        drows, parts_of_tau = array(rows.shape), array((1, e, heads))
        factors, corrections = array((1, heads, 3, e, e)), array((1, heads, 2, e))
        of_dy = put(dy.reshape(1, units, inner))
        known = rows, of_tau, scores, mix, y, of_dy
        channel_attention.backward(*known, sums, factors, corrections, parts_of_tau, drows, eps=EPS)
        self.dq, self.dk, self.dv = drows.read()[0].reshape(units, 3, heads, e).swapaxes(0, 1)
        self.dtau = parts_of_tau.read()[0].sum(0)
        self.factors = factors.read()[0]


def attention(q: A, k: A, v: A, tau: float) -> A:
    """The formula, of one head: [units, dimension]."""
    cosines = (q / np.linalg.norm(q, axis=0)).T @ (k / np.linalg.norm(k, axis=0))
    a = np.exp(tau * cosines)
    return v @ (a / a.sum(1, keepdims=True)).T


def normal(*shape: int, seed: int = 0) -> A:
    return np.random.default_rng(seed).standard_normal(shape)


def test_output_is_that_of_the_formula_for_each_head(device: Device) -> None:
    q, k, v = normal(3, 9, 2, 5)
    y = Pass(device, q, k, v, tau=2.0).y
    for h in range(2):
        np.testing.assert_allclose(y[:, h], attention(q[:, h], k[:, h], v[:, h], 2.0), atol=2e-6)


def test_gradients(exact: NumpyDevice) -> None:
    given, dy, step = normal(3, 6, 2, 3), normal(6, 2, 3, seed=1), 1e-6
    found = Pass(exact, *given, tau=1.5, dy=dy)

    def loss(values: A, tau: float = 1.5) -> float:
        return float((Pass(exact, *values, tau=tau).y * dy).sum())

    for index in np.ndindex(given.shape):
        ends = []
        for sign in (1, -1):
            moved = given.copy()
            moved[index] += sign * step
            ends.append(loss(moved))
        got = (found.dq, found.dk, found.dv)[index[0]][index[1:]]
        assert got == pytest.approx((ends[0] - ends[1]) / (2 * step), abs=1e-8)
    slope = (loss(given, 1.5 + step) - loss(given, 1.5 - step)) / (2 * step)
    assert found.dtau.sum() == pytest.approx(slope, abs=1e-8)


def test_parts_and_order_of_the_units_do_not_matter(device: Device) -> None:
    (q, k, v), dy = normal(3, 77, 2, 5), normal(77, 2, 5, seed=1)
    whole, split = (Pass(device, q, k, v, dy=dy, parts=parts) for parts in (1, 37))
    order = np.random.default_rng(2).permutation(77)
    mixed = Pass(device, q[order], k[order], v[order], dy=dy[order])
    np.testing.assert_allclose(split.y, whole.y, atol=1e-6)
    np.testing.assert_allclose(split.dq, whole.dq, atol=1e-6)
    np.testing.assert_allclose(mixed.mix, whole.mix, atol=1e-6)
    np.testing.assert_allclose(mixed.dk, whole.dk[order], atol=1e-6)


def test_a_row_sums_to_1_and_its_gradient_to_0(device: Device) -> None:
    found = Pass(device, *normal(3, 40, 3, 7), dy=normal(40, 3, 7, seed=1))
    np.testing.assert_allclose(found.mix.sum(2), 1.0, atol=1e-6)
    m = found.factors[:, 1]  # tau ds / (|q| |k|), so sums of ds take the norms out again
    q, k = (np.linalg.norm(x, axis=0) for x in normal(3, 40, 3, 7)[:2])
    ds = m * q[:, :, None] * k[:, None, :]
    assert np.abs(ds.sum(2)).max() <= 1e-5 * np.abs(ds).max()


def test_heads_are_independent_and_two_runs_agree_bit_by_bit(device: Device) -> None:
    q, k, v = normal(3, 33, 3, 4)
    first, again = (Pass(device, q, k, v, dy=np.ones_like(q)) for _ in range(2))
    np.testing.assert_array_equal(first.dq, again.dq)
    q[:, 1] = 0.0
    other = Pass(device, q, k, v)
    np.testing.assert_array_equal(first.y[:, [0, 2]], other.y[:, [0, 2]])
    assert not np.array_equal(first.y[:, 1], other.y[:, 1])


def test_g20_every_channel_is_normalised(device: Device) -> None:
    scales = np.array([0.1, 1.0, 10.0, 100.0])
    q = normal(9, 1, 4) * scales
    cosines = Pass(device, q, q, q).cosines[0]
    np.testing.assert_allclose(np.diag(cosines), 1.0, atol=1e-6)  # a channel is like itself at any scale
    assert np.abs(cosines).max() <= 1.0 + 1e-6


def test_g20_a_channel_of_zeros_gives_no_nan(device: Device) -> None:
    q, k, v = normal(3, 9, 1, 4)
    q[:, 0, 2] = 0.0
    found = Pass(device, q, k, v, dy=np.ones_like(q))
    np.testing.assert_allclose(found.mix[0, 2], 0.25, atol=1e-7)
    assert np.isfinite(found.dq).all()
    assert np.isfinite(found.dk).all()


def test_g21_the_gradient_passes_through_the_norms(device: Device) -> None:
    (q, k, v), dy = normal(3, 9, 1, 4), normal(9, 1, 4, seed=1)
    found, doubled = Pass(device, q, k, v, dy=dy), Pass(device, 2 * q, k, v, dy=dy)
    np.testing.assert_allclose(doubled.y, found.y, atol=1e-6)  # length does not count,
    np.testing.assert_allclose(doubled.dq, found.dq / 2, atol=1e-6)
    assert np.abs((q * found.dq).sum(0)).max() <= 1e-5  # so nothing pulls along it
    assert np.abs((k * found.dk).sum(0)).max() <= 1e-5


def test_g22_units_and_channels_may_outnumber_a_work_group(device: Device) -> None:
    q, k, v = normal(3, 515, 1, 70)
    y = Pass(device, q, k, v, tau=5.0).y
    np.testing.assert_allclose(y[:, 0], attention(q[:, 0], k[:, 0], v[:, 0], 5.0), atol=2e-5)


def test_g23_a_large_temperature_stays_finite_and_chooses(device: Device) -> None:
    q, k, v = normal(3, 9, 1, 4)
    found = Pass(device, q, k, v, tau=1e4, dy=np.ones_like(q))
    best = found.cosines[0].argmax(1)
    np.testing.assert_allclose(found.y[:, 0], v[:, 0, best], atol=1e-6)
    assert np.isfinite(found.dq).all()


def test_g24_a_query_gets_its_gradient_from_every_unit(device: Device) -> None:
    (q, k, v), dy = normal(3, 5, 1, 3), np.zeros((5, 1, 3))
    dy[4] = 1.0  # the matrix of the attention belongs to all units
    found = Pass(device, q, k, v, tau=3.0, dy=dy)
    step = 1e-4
    for t in range(5):
        ends = []
        for sign in (1, -1):
            moved = q.copy()
            moved[t, 0, 1] += sign * step
            ends.append(attention(moved[:, 0], k[:, 0], v[:, 0], 3.0)[4].sum())
        assert found.dq[t, 0, 1] == pytest.approx((ends[0] - ends[1]) / (2 * step), abs=1e-5)
        assert abs(found.dq[t, 0, 1]) > 1e-3
