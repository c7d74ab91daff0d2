from __future__ import annotations

import numpy as np

from neuronet.device.base import Device
from neuronet.testing.guard import GUARD, Guard


def test_new_arrays_are_nan_or_their_values(device: Device) -> None:
    guard = Guard(device)
    assert np.isnan(guard.array((3, 5)).read()).all()
    np.testing.assert_array_equal(guard.array((7,), np.arange(7)).read(), np.arange(7))
    assert guard.overruns() == []


def test_writing_around_an_array_is_seen(device: Device) -> None:
    guard = Guard(device)
    guard.array((5,), name="sound")
    guard.array((5,), name="hurt")
    whole, _ = guard._owned[1]
    values = whole.read()
    values[GUARD + 5] = 0.0  # one behind
    values[GUARD - 1] = 0.0  # one before
    whole.write(values)
    assert guard.overruns() == ["hurt: 2 values written outside the array"]
