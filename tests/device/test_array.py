from __future__ import annotations

import numpy as np
import pytest

from neuronet.device.base import Device
from neuronet.device.numpy import NumpyDevice
from neuronet.errors import DeviceError, ShapeError


def test_a_new_array_is_zero_and_keeps_what_is_written(any_device: Device) -> None:
    array = any_device.array((2, 3), name="x")
    np.testing.assert_array_equal(array.read(), np.zeros((2, 3)))
    values = np.arange(6.0).reshape(3, 2).T  # not C-ordered, and float64
    assert array.write(values) is array
    np.testing.assert_array_equal(array.read(), values)
    assert (array.size, array.nbytes, array.dtype) == (6, 24, np.float32)
    assert repr(array) == f"<x float32[2, 3] on {any_device.name}>"


def test_put_makes_integers_int32_and_all_else_float(any_device: Device) -> None:
    assert any_device.put([1, 2]).dtype == np.int32
    assert any_device.put([1.0, 2]).dtype == np.float32
    assert any_device.put(np.array([True, False])).dtype == np.float32
    assert NumpyDevice(np.float64).put(np.float32([1])).dtype == np.float64


def test_reading_gives_a_copy(any_device: Device) -> None:
    array = any_device.put([1.0])
    array.read()[0] = 5
    assert array.read()[0] == 1


def test_views_and_rows_share_memory(any_device: Device) -> None:
    array = any_device.put(np.arange(6.0).reshape(3, 2))
    array.view(2, 3).fill(7)
    array.rows(2).write([[1, 2], [3, 4]])
    np.testing.assert_array_equal(array.read(), [[1, 2], [3, 4], [7, 7]])
    array.rows(1).fill(0)
    np.testing.assert_array_equal(array.read(), [[0, 0], [3, 4], [7, 7]])
    assert array.rows(0).read().shape == (0, 2)


def test_a_part_starts_at_its_offset(any_device: Device) -> None:
    step = max(1, any_device.alignment // 4)
    array = any_device.array((3 * step,))
    array.part(step, (step,), "middle").fill(1)
    np.testing.assert_array_equal(array.read(), np.repeat([0, 1, 0], step))


def test_the_front_of_an_array_is_its_own_memory(any_device: Device) -> None:
    """So is scratch: a tape held many sub-buffers of it, and NVIDIA's driver crashed in releasing these."""
    array = any_device.array((8,))
    front = array.part(0, (2, 2), "front")
    assert front.memory is array.memory
    front.fill(1.0)
    np.testing.assert_array_equal(array.read(), [1, 1, 1, 1, 0, 0, 0, 0])
    long, short = any_device.scratch((5, 3)), any_device.scratch((4,))
    assert long.memory is short.memory


def test_what_does_not_fit_is_refused(any_device: Device) -> None:
    array = any_device.array((3, 2), name="x")
    with pytest.raises(ShapeError, match=r"cannot write values of shape \(2, 3\) into <x float32\[3, 2\]"):
        array.write(np.zeros((2, 3)))
    with pytest.raises(ShapeError, match=r"cannot view <x .*> as \(5,\): sizes differ"):
        array.view(5)
    with pytest.raises(ShapeError, match="cannot take 4 rows of <x "):
        array.rows(4)
    for offset in (-32, 1, 4096):
        with pytest.raises(ShapeError, match=rf"cannot take \[6\] from element {offset} of <x "):
            array.part(offset, (6,))


def test_a_numpy_device_has_two_precisions_and_limited_memory() -> None:
    with pytest.raises(DeviceError, match="dtype float16 is not float32 or float64"):
        NumpyDevice(np.float16)
    with pytest.raises(DeviceError, match=r"weights \[1099511627776, 4096\] does not fit into memory"):
        NumpyDevice().array((2**40, 2**12), name="weights")


def test_scratch_is_one_piece_of_memory_that_grows(any_device: Device) -> None:
    small = any_device.scratch((2, 3)).write(np.full((2, 3), 7.0))
    np.testing.assert_array_equal(any_device.scratch((4,)).read(), np.full(4, 7.0))
    assert any_device.scratch((100, 3)).shape == (100, 3)
    np.testing.assert_array_equal(small.read(), np.full((2, 3), 7.0))  # a tape may still hold it
