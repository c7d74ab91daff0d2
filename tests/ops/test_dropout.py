from __future__ import annotations

import numpy as np
import pytest

from neuronet.cases.base import Case
from neuronet.cases.dropout import SMALL
from neuronet.device.base import Device
from neuronet.ops import dropout
from neuronet.reference.dropout import random_bits
from neuronet.testing.guard import Guard


@pytest.mark.parametrize("case", SMALL, ids=lambda case: f"{case.op} {case}")
def test_kernel_matches_its_twin(device: Device, case: Case) -> None:
    case.check(device)


@pytest.mark.parametrize("n", [1, 2, 3, 5, 6, 7, 257, 1025])
def test_f25_the_tail_of_an_odd_size_stays_inside_its_array(device: Device, n: int) -> None:
    """Published: the tail of a size not divisible by 4 is written at index i + k, behind the array."""
    guard = Guard(device)
    x, out = guard.array((n,), np.ones(n), name="x"), guard.array((n,), name="out")
    dropout.apply(x, device.put([1]), device.put([0, 0, 0, 0]), out, probability=0.5)
    assert guard.overruns() == []
    assert set(out.read()) <= {0.0, 2.0}


@pytest.mark.parametrize(("key", "step"), [(0, 0), (123456789, 4321), (-1, -2)])
def test_random_numbers_are_those_of_the_twin_bit_for_bit(device: Device, key: int, step: int) -> None:
    """An element is kept at the threshold of its random number, and dropped one above it."""
    n = 1500
    random = random_bits(n, key, step)
    x, out = device.put(np.ones(n)), device.array((n,))
    arrays = {"inputs": x, "key": device.put([key]), "step": device.put([step, 0, 0, 0]), "out": out}
    for i in (0, 1, 255, 256, 700, 1023, 1024, 1499):
        number = int(random[i])
        device.kernel("Dropout")(**arrays, threshold=number, scale=1.0)
        assert out.read()[i] == 1
        device.kernel("Dropout")(**arrays, threshold=number + 1, scale=1.0)
        assert out.read()[i] == 0


def test_the_share_of_zeros_and_the_mean_are_right(device: Device) -> None:
    n, p = 200_000, 0.3
    out = device.array((n,))
    dropout.apply(device.put(np.ones(n)), device.put([7]), device.put([3, 0, 0, 0]), out, probability=p)
    sigma = (p * (1 - p) / n) ** 0.5
    assert abs(np.mean(out.read() == 0) - p) < 4 * sigma
    assert abs(out.read().mean(dtype=np.float64) - 1) < 4 * sigma / (1 - p)
