"""Arrays that take memory at first use, and that share it where no launch needs two of them."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from neuronet.device.array import DeviceArray
from neuronet.device.base import Device
from neuronet.device.sharing import Uses, shared
from neuronet.device.tape import Tape
from neuronet.ops import elementwise


def brief(device: Device, *sizes: int) -> list[DeviceArray]:
    return [device.array((n,), name=f"array {n}", at_first_use=True) for n in sizes]


def test_memory_is_taken_at_first_use_and_is_zero(any_device: Device) -> None:
    (array,) = brief(any_device, 5)
    view, part = array.view(5, 1), array.rows(2)
    assert not array.memory.is_there
    np.testing.assert_array_equal(part.read(), np.zeros(2))
    array.fill(3.0)
    np.testing.assert_array_equal(view.read(), np.full((5, 1), 3.0))


def test_uses_notes_launches_and_runs_none(any_device: Device) -> None:
    a, b, c = brief(any_device, 4, 4, 4)
    with Uses(any_device) as uses:
        a.fill(1.0)
        elementwise.copy(a, b)
        elementwise.copy(b, c)
    assert [uses.spans[array.memory] for array in (a, b, c)] == [(0, 1), (1, 2), (2, 2)]
    assert not any(array.memory.is_there for array in (a, b, c))
    np.testing.assert_array_equal(c.read(), np.zeros(4))


def test_arrays_that_are_never_needed_together_share(any_device: Device) -> None:
    a, b, c, d = arrays = brief(any_device, 4, 3, 4, 2)

    def work() -> None:
        a.fill(7.0)
        elementwise.copy(a.rows(3), b)  # needs a and b
        elementwise.copy(b, c.rows(3))  # a is free, b and c are needed
        elementwise.copy(c.rows(2), d)

    with Uses(any_device) as uses:
        work()
    with shared(arrays, uses):
        assert a.storage is c.storage
        assert b.storage is d.storage
        assert a.storage is not b.storage
        work()
        np.testing.assert_array_equal(d.read(), [7.0, 7.0])
    assert not any(array.memory.is_there for array in arrays)
    np.testing.assert_array_equal(d.read(), np.zeros(2))  # its own memory again


def test_memory_that_is_there_is_left_alone(any_device: Device) -> None:
    a, b = brief(any_device, 4, 4)
    a.fill(1.0)
    with Uses(any_device) as uses:
        a.fill(2.0)
        b.fill(2.0)
    with shared([a, b], uses):
        assert a.storage is not b.storage
        np.testing.assert_array_equal(a.read(), np.ones(4))
    np.testing.assert_array_equal(a.read(), np.ones(4))


def test_integers_and_floats_do_not_share(any_device: Device) -> None:
    (a,) = brief(any_device, 4)
    whole = any_device.array((4,), np.int32, at_first_use=True)
    with Uses(any_device) as uses:
        a.fill(1.0)
        whole.fill(1)
    with shared([a, whole], uses):
        assert a.storage is not whole.storage


def test_an_error_inside_gives_the_memory_back(any_device: Device) -> None:
    (a,) = brief(any_device, 4)
    uses = Uses(any_device)

    def note() -> None:
        with uses:
            a.fill(1.0)
            raise ZeroDivisionError

    def share() -> None:
        with shared([a], uses):
            assert a.memory.is_there
            raise ZeroDivisionError

    for fails in (note, share):
        with pytest.raises(ZeroDivisionError):
            fails()
        assert any_device.uses is None
        assert not a.memory.is_there


def test_a_tape_keeps_the_memory_that_its_kernels_were_given(device: Device) -> None:
    """A kernel holds no reference to its buffers."""
    a, b = brief(device, 4, 4)
    with Uses(device) as uses:
        a.fill(1.0)
        elementwise.copy(a, b)
    with shared([a, b], uses), Tape(device) as tape:
        elementwise.copy(a, b)
        handles = [a.storage, b.storage]
    assert not a.memory.is_there
    references = [sys.getrefcount(handle) for handle in handles]
    tape.replay()
    del tape
    assert [sys.getrefcount(handle) for handle in handles] == [n - 1 for n in references]
