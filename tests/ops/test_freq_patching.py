from __future__ import annotations

import numpy as np
import pytest

from neuronet.cases.base import Case
from neuronet.cases.freq_patching import SMALL
from neuronet.device.base import Device
from neuronet.device.numpy import NumpyDevice
from neuronet.errors import ShapeError
from neuronet.ops import freq_patching


@pytest.mark.parametrize("case", SMALL, ids=lambda case: f"{case.op} {case}")
def test_kernel_matches_its_twin(device: Device, case: Case) -> None:
    case.check(device)


@pytest.mark.parametrize(("patch", "step"), [(2, 3), (3, 2), (2, 2)])
def test_patches_hold_the_right_bins(device: Device, patch: int, step: int) -> None:
    """Each value says from where it comes: row, channel, bin, part."""
    rows, channels, bins = 2, 3, 8
    axes = np.ogrid[:rows, :channels, :bins, :2]
    x = sum(axis * 10.0**power for axis, power in zip(axes, (3, 2, 1, 0), strict=True))
    count = freq_patching.patches(bins, patch, step)
    z = device.array((rows, count, channels, patch, 2))
    freq_patching.forward(device.put(x), z, step=step)
    found = z.read()
    for row, part, channel, p in np.ndindex(rows, count, channels, patch):
        expected = 1000 * row + 100 * channel + 10 * (part * step + p)
        np.testing.assert_array_equal(found[row, part, channel, p], [expected, expected + 1])


def test_the_gradient_counts_how_many_patches_hold_a_bin(device: Device) -> None:
    dz = device.array((1, 3, 1, 4, 2)).fill(1)
    dx = device.array((1, 1, 9, 2))
    freq_patching.backward(dz, dx, step=2)
    np.testing.assert_array_equal(dx.read()[0, 0, :, 0], [1, 1, 2, 2, 2, 2, 1, 1, 0])
    dz = device.array((1, 3, 1, 2, 2)).fill(1)
    freq_patching.backward(dz, dx, step=3)
    np.testing.assert_array_equal(dx.read()[0, 0, :, 1], [1, 1, 0, 1, 1, 0, 1, 1, 0])


@pytest.mark.parametrize(("bins", "patch", "step"), [(49, 16, 8), (33, 4, 7), (20, 9, 1)])
def test_backward_is_the_adjoint(exact: NumpyDevice, bins: int, patch: int, step: int) -> None:
    rng = np.random.default_rng(0)
    x, count = rng.standard_normal((2, 3, bins, 2)), freq_patching.patches(bins, patch, step)
    y = rng.standard_normal((2, count, 3, patch, 2))
    z, dx = exact.array(y.shape), exact.array(x.shape)
    freq_patching.forward(exact.put(x), z, step=step)
    freq_patching.backward(exact.put(y), dx, step=step)
    np.testing.assert_allclose((z.read() * y).sum(), (x * dx.read()).sum(), rtol=1e-12)


@pytest.mark.parametrize(("patch", "step", "count"), [(5, 2, 2), (3, 0, 1), (2, 2, 1)])
def test_sizes_that_do_not_fit_are_refused(device: Device, patch: int, step: int, count: int) -> None:
    x, z = device.array((1, 1, 4, 2)), device.array((1, count, 1, patch, 2))
    with pytest.raises(ShapeError, match=f"{count} patches do not go with 4 bins, patches of {patch}"):
        freq_patching.forward(x, z, step=step)
