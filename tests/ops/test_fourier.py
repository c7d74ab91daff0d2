from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from neuronet.cases.base import Case
from neuronet.cases.fourier import SMALL
from neuronet.device.base import Device
from neuronet.device.numpy import NumpyDevice
from neuronet.errors import ShapeError, SpecError
from neuronet.ops import fourier
from neuronet.ops.forms import FORMS, Form, forced_form

every_form = pytest.mark.parametrize("form", FORMS, ids=["plain", "CPU", "GPU"])
both = pytest.mark.parametrize("matrix", [True, False], ids=["matrix", "fast"])
every_transform = pytest.mark.parametrize(
    ("transform", "is_complex"),
    [("fft", True), ("fft", False), ("ifft", True), ("rfft", False), ("irfft", True)],
    ids=["fft", "fft of reals", "ifft", "rfft", "irfft"],
)
LENGTHS = [1, 2, 3, 5, 7, 8, 96, 97, 192, 1000, 1024]


def pairs(z: NDArray[np.complex128]) -> NDArray[np.float64]:
    return np.stack([z.real, z.imag], -1)


def run(
    device: Device, transform: str, length: int, x: NDArray[np.float64], matrix: bool | None = None
) -> NDArray[np.float64]:
    """The transform of x [rows, ...]."""
    plan = fourier.Plan(device, transform, length, len(x), complex_input=x.ndim == 3, matrix=matrix)
    y = device.array((len(x), *plan.outputs[: plan.outputs[1]]))
    fourier.forward(plan, device.put(x), y)
    return y.read()


def adjoint(
    device: Device, transform: str, length: int, dy: NDArray[np.float64], is_complex: bool, matrix: bool
) -> NDArray[np.float64]:
    plan = fourier.Plan(device, transform, length, len(dy), complex_input=is_complex, matrix=matrix)
    dx = device.array((len(dy), *plan.inputs[: plan.inputs[1]]))
    fourier.backward(plan, device.put(dy), dx)
    return dx.read()


def numpy_result(transform: str, length: int, x: NDArray[np.float64]) -> NDArray[np.float64]:
    given = x[..., 0] + 1j * x[..., 1] if x.ndim == 3 else x
    n = {"n": length} if transform == "irfft" else {}
    found = getattr(np.fft, transform)(given, **n)
    return found if transform == "irfft" else pairs(found)


def random_input(transform: str, length: int, is_complex: bool, rows: int = 3) -> NDArray[np.float64]:
    entries = fourier.bins(length) if transform == "irfft" else length
    shape = (rows, entries, 2) if is_complex else (rows, entries)
    return np.random.default_rng(length).standard_normal(shape).astype(np.float32).astype(np.float64)


@every_form
@pytest.mark.parametrize("case", SMALL, ids=lambda case: f"{case.op} {case}")
def test_every_form_matches_the_twin(device: Device, case: Case, form: Form) -> None:
    with forced_form(form):
        case.check(device)


@both
def test_a7_the_transform_of_1_2_3_4(device: Device, matrix: bool) -> None:
    """The published FFT exchanges bits, then writes over what it exchanged: it gives 11, -2-i, -3, -2+i."""
    found = run(device, "fft", 4, np.array([[1.0, 2, 3, 4]]), matrix)
    np.testing.assert_array_equal(found, [[[10, 0], [-2, 2], [-2, 0], [-2, -2]]])


@pytest.mark.parametrize(
    ("length", "matrix"),
    [(n, m) for m in (True, False) for n in LENGTHS if n <= fourier.MATRIX or not m],
)
def test_a7_the_inverse_gives_the_signal_back_at_any_length(
    device: Device, length: int, matrix: bool
) -> None:
    """The published FFT gives 0.75, 3.25, 3.25, 3.75 for 1, 2, 3, 4, and knows powers of two only."""
    x = random_input("fft", length, True)
    back = run(device, "ifft", length, run(device, "fft", length, x, matrix), matrix)
    np.testing.assert_allclose(back, x, atol=4e-6)
    x = random_input("rfft", length, False)
    back = run(device, "irfft", length, run(device, "rfft", length, x, matrix), matrix)
    np.testing.assert_allclose(back, x, atol=4e-6)


@both
def test_a8_the_gradient_of_the_forward_transform_goes_the_other_way(device: Device, matrix: bool) -> None:
    """G = (0, i, 0, 0) is the gradient of Im X[1] = -sum x[n] sin(2 pi n / 4).

    dX[1]/dx[n] = exp(-2 pi i n / 4), so the gradient is 0, -1, 0, 1. ATFNet runs the forward kernel on the
    gradient, whose real part is 0, 1, 0, -1: its negative.
    """
    dy = np.zeros((1, 4, 2))
    dy[0, 1, 1] = 1
    found = adjoint(device, "fft", 4, dy, False, matrix)
    np.testing.assert_allclose(found, [[0, -1, 0, 1]], atol=1e-7)


@both
def test_a8_the_gradient_of_the_inverse_has_its_factor(device: Device, matrix: bool) -> None:
    """ATFNet leaves 1/N out of the gradient of the inverse: 1 where 1/4 is right."""
    dy = np.zeros((1, 4, 2))
    dy[0, 0, 0] = 1
    found = adjoint(device, "ifft", 4, dy, True, matrix)
    np.testing.assert_array_equal(found[0, :, 0], [0.25] * 4)


@both
@every_transform
@pytest.mark.parametrize("length", LENGTHS)
def test_twin_is_numpys_transform(transform: str, is_complex: bool, length: int, matrix: bool) -> None:
    x = random_input(transform, length, is_complex)
    found = run(NumpyDevice(np.float64), transform, length, x, matrix)
    expected = numpy_result(transform, length, x)
    np.testing.assert_allclose(found, expected, atol=1e-12 * length)


@both
@every_transform
@pytest.mark.parametrize("length", LENGTHS)
def test_backward_is_the_adjoint(transform: str, is_complex: bool, length: int, matrix: bool) -> None:
    """<A x, y> = <x, A* y>, over all numbers of a row as reals."""
    exact = NumpyDevice(np.float64)
    x = random_input(transform, length, is_complex)
    image = run(exact, transform, length, x, matrix)
    y = np.random.default_rng(1).standard_normal(image.shape)
    back = adjoint(exact, transform, length, y, is_complex, matrix)
    assert back.shape == x.shape
    np.testing.assert_allclose((image * y).sum(), (x * back).sum(), rtol=1e-11, atol=1e-11)


@every_transform
@pytest.mark.parametrize("length", [96, 256, 509, 1000, 4096])
def test_float32_is_right_to_a_few_millionths(
    device: Device, transform: str, is_complex: bool, length: int
) -> None:
    """The largest error over the root mean square; a matrix only up to 256, as its error grows faster."""
    x = random_input(transform, length, is_complex)
    expected = numpy_result(transform, length, x)
    scale = np.sqrt(np.mean(expected**2))
    error = np.abs(run(device, transform, length, x) - expected).max() / scale
    assert error < 3e-6


def test_one_plan_takes_fewer_rows_and_gives_the_same_bits(device: Device) -> None:
    x = random_input("rfft", 600, False, rows=5)
    whole, part = run(device, "rfft", 600, x), device.array((2, 301, 2))
    plan = fourier.Plan(device, "rfft", 600, 5)
    for _ in range(2):
        fourier.forward(plan, device.put(x[:2]), part)
        np.testing.assert_array_equal(part.read(), whole[:2])


def test_sizes_that_do_not_fit_are_refused(device: Device) -> None:
    plan = fourier.Plan(device, "rfft", 8, 3)
    good, out = device.array((3, 8)), device.array((3, 5, 2))
    for x, y in [
        (device.array((3, 7)), out),
        (good, device.array((3, 8, 2))),
        (device.array((3, 4, 2)), out),
        (good, device.array((2, 5, 2))),
        (device.array((4, 8)), device.array((4, 5, 2))),
    ]:
        with pytest.raises(ShapeError, match=r"rfft of length 8: . has shape .* expected \[rows, [58]"):
            fourier.forward(plan, x, y)
    with pytest.raises(SpecError, match="transform='dct' is unknown"):
        fourier.Plan(device, "dct", 8, 3)
    with pytest.raises(ShapeError, match="length 0 and 3 rows"):
        fourier.Plan(device, "fft", 0, 3)
