from __future__ import annotations

import numpy as np
import pytest

from neuronet.cases.base import Case
from neuronet.cases.spectrum_loss import SMALL
from neuronet.device.base import Device
from neuronet.device.numpy import NumpyDevice
from neuronet.errors import ShapeError
from neuronet.ops.spectrum_loss import spectrum_loss


@pytest.mark.parametrize("case", SMALL, ids=lambda case: f"{case.op} {case}")
def test_kernel_matches_its_twin(device: Device, case: Case) -> None:
    case.check(device)


def test_it_is_the_mean_modulus(device: Device) -> None:
    """Moduli 5 and 0 in row 0, 0 and 13 in row 1; no gradient where nothing is off, and no NaN."""
    y = np.zeros((2, 1, 2, 2))
    y[0, 0, 0], y[1, 0, 1] = (3, 4), (-5, 12)
    value, dy = device.array((2,)), device.array(y.shape).fill(1)
    spectrum_loss(device.put(y), device.array(y.shape), value, dy, weight=2)
    np.testing.assert_allclose(value.read(), [5, 13], rtol=1e-6)
    expected = np.zeros(y.shape)
    expected[0, 0, 0], expected[1, 0, 1] = (0.3, 0.4), (-5 / 26, 12 / 26)  # unit vectors times 2/(2*1*2)
    np.testing.assert_allclose(dy.read(), expected, rtol=1e-6)
    spectrum_loss(device.put(y), device.array(y.shape), value, dy, weight=2, add=True)
    np.testing.assert_allclose(dy.read(), 2 * expected, rtol=1e-6)


def test_gradient_of_the_mean_value(exact: NumpyDevice) -> None:
    rng = np.random.default_rng(0)
    y, target, direction = rng.standard_normal((3, 2, 3, 4, 2))
    value, dy = exact.array((2,)), exact.array(y.shape)

    def mean(values: np.ndarray) -> float:
        spectrum_loss(exact.put(values), exact.put(target), value, dy, weight=0.7)
        return float(value.read().mean())

    slope = (mean(y + 1e-6 * direction) - mean(y - 1e-6 * direction)) / 2e-6
    mean(y)
    np.testing.assert_allclose((dy.read() * direction).sum(), slope, rtol=1e-8)


def test_a_nan_is_not_hidden(device: Device) -> None:
    y = np.zeros((2, 1, 3, 2))
    y[1, 0, 2, 1] = np.nan
    value, dy = device.array((2,)), device.array(y.shape)
    spectrum_loss(device.put(y), device.array(y.shape), value, dy)
    np.testing.assert_array_equal(np.isnan(value.read()), [False, True])
    assert np.isnan(dy.read()[1, 0, 2]).all()


def test_shapes_that_do_not_fit_are_refused(device: Device) -> None:
    y = device.array((2, 3, 4, 2))
    with pytest.raises(ShapeError, match="'target' has shape"):
        spectrum_loss(y, device.array((2, 3, 5, 2)), device.array((2,)), y)
