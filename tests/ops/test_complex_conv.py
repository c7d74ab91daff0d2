from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from neuronet.cases.base import Case
from neuronet.cases.complex_conv import SMALL
from neuronet.device.base import Device
from neuronet.device.numpy import NumpyDevice
from neuronet.errors import ShapeError
from neuronet.ops import complex_conv, conv
from neuronet.ops.forms import FORMS, Form, forced_form

every_form = pytest.mark.parametrize("form", FORMS, ids=["plain", "CPU", "GPU"])
C = NDArray[np.complex128]


def pairs(z: object) -> NDArray[np.float64]:
    made = np.asarray(z, complex)
    return np.stack([made.real, made.imag], -1)


def numbers(x: NDArray[np.float64]) -> C:
    return x[..., 0] + 1j * x[..., 1]


def forward(device: Device, z: object, w: object, b: object, step: int) -> C:
    """z [batch, length], w [window_out, window], b [window_out]: y [batch, units, window_out]."""
    zs, ws, bs = (device.put(pairs(values)) for values in (z, w, b))
    (batch, length, _), (filters, window, _) = zs.shape, ws.shape
    wide = device.array((filters, 2, window, 2))
    y = device.array((batch, conv.output_units(length, window, step), filters, 2))
    complex_conv.forward(zs, ws, bs, wide, y, step=step)
    return numbers(y.read())


def backward(device: Device, z: object, w: object, dy: object, step: int) -> tuple[C, C, C]:
    """dz, dw and db."""
    zs, ws, dys = (device.put(pairs(values)) for values in (z, w, dy))
    filters, window, _ = ws.shape
    wide, dwide = device.array((filters, 2, window, 2)), device.array((filters, 2, window, 2))
    dz, dw, db = device.array(zs.shape), device.array(ws.shape), device.array((filters, 2))
    complex_conv.forward(zs, ws, db, wide, device.array(dys.shape), step=step)
    complex_conv.backward_input(dys, wide, dz, step=step)
    complex_conv.backward_weights(zs, dys, dwide, dw, db, step=step)
    assert not dwide.read().any()
    return numbers(dz.read()), numbers(dw.read()), numbers(db.read())


def random(seed: int, *shape: int) -> C:
    re, im = np.random.default_rng(seed).standard_normal((2, *shape))
    made: C = re + 1j * im
    return made


@every_form
@pytest.mark.parametrize("case", SMALL, ids=lambda case: f"{case.op} {case}")
def test_every_form_matches_the_twin(device: Device, case: Case, form: Form) -> None:
    with forced_form(form):
        case.check(device)


@every_form
def test_a4_the_bias_is_no_tap(device: Device, form: Form) -> None:
    """The published loop runs one tap too far, over the bias: 1 + 2 + 3 * 10 + 10 = 43 in place of 13."""
    with forced_form(form):
        y = forward(device, [[1, 2, 3, 4]], [[1, 1]], [10], 2)
    np.testing.assert_array_equal(y.ravel(), [13, 17])


@every_form
def test_a5_gradients_are_conjugate(device: Device, form: Form) -> None:
    """y = w z with w = i, z = 2 + i, L = Re y: L = -Im z, so dz = -i; L = Re(w z), so dw = 2 - i.

    The published kernels multiply by w and z themselves: +i and 2 + i.
    """
    with forced_form(form):
        dz, dw, db = backward(device, [[2 + 1j]], [[1j]], [[[1]]], 1)
    assert (dz.item(), dw.item(), db.item()) == (-1j, 2 - 1j, 1)


@every_form
def test_a5_a_step_against_the_gradient_lowers_the_loss(device: Device, form: Form) -> None:
    """L = |w z|^2 / 2 with w = 1 + 2i, z = 1 + 3i: without the conjugate the step would raise it."""
    z, w = np.array([[1 + 3j]]), np.array([[1 + 2j]])
    with forced_form(form):
        y = forward(device, z, w, [0], 1)
        _, dw, _ = backward(device, z, w, y, 1)
    np.testing.assert_allclose(dw, abs(z) ** 2 * w, rtol=1e-6)
    assert abs((w - 0.05 * dw) * z).item() < abs(y).item()
    assert abs((w - 0.05 * y.ravel() * z) * z).item() > abs(y).item()  # the published direction


@pytest.mark.parametrize(("length", "window", "step"), [(20, 4, 4), (17, 5, 2), (21, 4, 6)])
def test_twins_are_the_complex_formulas(exact: NumpyDevice, length: int, window: int, step: int) -> None:
    """y = W z + b, dz = conj(W) dy, dw = conj(z) dy, db = sum dy, in complex arithmetic."""
    z, w, b = random(0, 3, length), random(1, 6, window), random(2, 6)
    windows = np.lib.stride_tricks.sliding_window_view(z, window, 1)[:, ::step]
    y = forward(exact, z, w, b, step)
    np.testing.assert_allclose(y, windows @ w.T + b, rtol=1e-12)
    dy = random(3, *y.shape)
    dz, dw, db = backward(exact, z, w, dy, step)
    expected = np.zeros_like(z)
    for unit in range(y.shape[1]):
        expected[:, unit * step : unit * step + window] += dy[:, unit] @ w.conj()
    np.testing.assert_allclose(dz, expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(dw, np.einsum("nuf,nuk->fk", dy, windows.conj()), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(db, dy.sum((0, 1)), rtol=1e-12)


def test_it_is_the_restricted_real_layer(exact: NumpyDevice) -> None:
    """[Re y; Im y] = [[A, -B], [B, A]] [Re z; Im z] + [Re b; Im b] for w = A + iB."""
    z, w, b = random(0, 5, 4), random(1, 3, 4), random(2, 3)
    block = np.block([[w.real, -w.imag], [w.imag, w.real]])
    expected = np.hstack([z.real, z.imag]) @ block.T + np.hstack([b.real, b.imag])
    y = forward(exact, z, w, b, 4)[:, 0]
    np.testing.assert_allclose(np.hstack([y.real, y.imag]), expected, rtol=1e-12)


def test_sizes_that_do_not_fit_are_refused(device: Device) -> None:
    w, b, wide = device.array((1, 3, 2)), device.array((1, 2)), device.array((1, 2, 3, 2))
    with pytest.raises(ShapeError, match="5 units do not go with length 20, window 6, step 4"):
        complex_conv.forward(device.array((1, 10, 2)), w, b, wide, device.array((1, 5, 1, 2)), step=2)
