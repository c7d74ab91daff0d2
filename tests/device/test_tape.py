from __future__ import annotations

import numpy as np
import pytest

from neuronet.cases.tape import tape_problems
from neuronet.device.base import Device
from neuronet.device.tape import Tape
from neuronet.errors import KernelError
from neuronet.ops import elementwise


def test_replaying_runs_the_same_launches_on_new_values(any_device: Device) -> None:
    x, y, total = any_device.put([1.0, 2.0]), any_device.array((2,)), any_device.array((2,))
    with Tape(any_device) as tape:
        y.fill(0.5)
        elementwise.add(x, y, y)
        elementwise.add(total, y, total, multiplyer=2)
    assert len(tape) == 3
    np.testing.assert_array_equal(total.read(), [3, 5])  # recording runs them too
    x.write([10.0, 20.0])
    tape.replay()
    np.testing.assert_array_equal(total.read(), [27, 51])
    elementwise.add(x, x, y)  # outside the tape: not recorded, and does not disturb it
    tape.replay()
    np.testing.assert_array_equal(total.read(), [75, 143])


def test_one_kernel_recorded_twice_keeps_both_sets_of_arguments(any_device: Device) -> None:
    a, b, out1, out2 = (any_device.put([float(i)]) for i in range(1, 5))
    with Tape(any_device) as tape:
        elementwise.copy(a, out1)
        elementwise.copy(b, out2)
    a.write([7.0])
    tape.replay()
    assert [out1.read()[0], out2.read()[0]] == [7, 2]


def test_a_transfer_cannot_be_recorded(any_device: Device) -> None:
    x = any_device.array((2,), name="x")
    with (
        Tape(any_device),
        pytest.raises(KernelError, match=r"cannot read <x .* while a tape records\nFix: move"),
    ):
        x.read()
    with Tape(any_device), pytest.raises(KernelError, match="cannot write <x "):
        x.write([1.0, 2.0])
    x.write([1.0, 2.0])
    np.testing.assert_array_equal(x.read(), [1, 2])


def test_an_error_ends_the_recording(any_device: Device) -> None:
    with pytest.raises(ZeroDivisionError), Tape(any_device):
        raise ZeroDivisionError
    assert any_device.tape is None


def test_a_training_gives_the_same_bits_with_and_without_a_tape(
    any_device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NEURONET_TAPE", "0")
    assert not Tape.enabled()
    assert tape_problems(any_device) == []
    assert not Tape.enabled()  # it puts the variable back
