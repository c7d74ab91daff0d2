from __future__ import annotations

import numpy as np
import pytest

from neuronet.cases.base import Case
from neuronet.cases.ring import SMALL
from neuronet.device.base import Device
from neuronet.ops import ring


@pytest.mark.parametrize("case", SMALL, ids=lambda case: f"{case.op} {case}")
def test_matches_the_twin(device: Device, case: Case) -> None:
    case.check(device)


def test_the_oldest_row_goes(device: Device) -> None:
    count, memory = device.put(np.array([0], np.int32)), device.array((1, 3, 1))
    limits, ages = device.array((1, 2, 2), np.int32), device.array((1, 3))
    memory.fill(0.0)
    ages.fill(0.0)
    for t in range(5):
        ring.append(device.put(np.array([[10.0 + t]])), count, memory)
        ring.seen(count, limits, ages, step=0.5)
        ring.advance(count)
        assert limits.read().tolist() == [[[0, min(t + 1, 3)]] * 2]
    assert memory.read().ravel().tolist() == [13.0, 14.0, 12.0]
    assert ages.read().ravel().tolist() == [-1.5, -2.0, -1.0]
    assert count.read().tolist() == [5]
