"""Products on tensor cores; other devices run the same kernels with what stands for the cores in OpenCL C."""

from __future__ import annotations

import numpy as np
import pytest

from neuronet.cases.base import Case
from neuronet.cases.matmul_tensor import KERNELS, SMALL
from neuronet.device.base import Device
from neuronet.ops.matmul_gpu import product
from neuronet.reference.matmul_tensor import tf32


@pytest.mark.parametrize("case", SMALL, ids=str)
def test_matches_the_twin(device: Device, case: Case) -> None:
    case.check(device)


def times(a: np.ndarray, b: np.ndarray, kernel: str, device: Device) -> np.ndarray:
    c = device.array((1, len(a), b.shape[1]))
    product(device.put(a[None]), device.put(b[None]), c, kernel=kernel)
    return c.read()[0]


@pytest.mark.parametrize("kernel", KERNELS)
def test_errors_are_those_of_the_precision(device: Device, kernel: str) -> None:
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal(shape).astype(np.float32) for shape in ((64, 128), (128, 64)))
    exact = a.astype(np.float64) @ b.astype(np.float64)
    error = np.abs(times(a, b, kernel, device) - exact).max() / np.sqrt(np.mean(exact**2))
    if kernel == "MatMultTF32":
        assert 1e-4 < error < 2e-3
    else:
        assert error < 2e-6


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_number_keeps_its_24_bits(device: Device, kernel: str) -> None:
    """With ones on the diagonal the product is the matrix; TF32 is what it rounds to."""
    rng = np.random.default_rng(1)
    a = (rng.standard_normal((32, 32)) * 10.0 ** rng.integers(-20, 20, (32, 32))).astype(np.float32)
    got = times(a, np.eye(32, dtype=np.float32), kernel, device)
    if kernel == "MatMultTF32":
        np.testing.assert_array_equal(got, tf32(a))
    else:
        np.testing.assert_allclose(got, a, rtol=2.0**-23)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("bits", [0x7FC00000, 0x7FFFFFFF, 0x7F800001, 0xFFFFFFFF, 0x7F800000])
def test_what_is_not_finite_stays_so(device: Device, kernel: str, bits: int) -> None:
    """Rounding by whole numbers would make a NaN of all ones a zero."""
    a = np.ones((4, 4), np.float32)
    a.view(np.uint32)[1, 2] = bits
    for left, right, wrong in ((a, np.ones_like(a), np.s_[1, :]), (np.ones_like(a), a, np.s_[:, 2])):
        got = times(left, right, kernel, device)
        assert not np.isfinite(got[wrong]).any()
        assert np.isfinite(got).sum() == 12


def test_halves_round_away_from_zero() -> None:
    x = np.array([1 + 2.0**-11, -1 - 2.0**-11, 1 + 2.0**-11 - 2.0**-23, 0.0, np.inf, 2.0**100])
    np.testing.assert_array_equal(tf32(x), [1 + 2.0**-10, -1 - 2.0**-10, 1.0, 0.0, np.inf, 2.0**100])
