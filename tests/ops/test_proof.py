from __future__ import annotations

import numpy as np
import pytest

from neuronet.cases.base import Case
from neuronet.cases.proof import SMALL
from neuronet.device.base import Device
from neuronet.ops import proof


@pytest.mark.parametrize("case", SMALL, ids=lambda case: f"{case.op} {case}")
def test_kernel_matches_its_twin(device: Device, case: Case) -> None:
    case.check(device)


def test_a_nan_is_the_maximum_of_its_windows(device: Device) -> None:
    x = device.put(np.array([1.0, np.nan, np.nan, 3.0, 2.0]).reshape(1, 5, 1))
    y, index = device.array((1, 4, 1)), device.array((1, 4, 1), np.int32)
    proof.forward(x, y, index, window=2, step=1)
    np.testing.assert_array_equal(y.read().ravel(), [np.nan, np.nan, np.nan, 3])
    np.testing.assert_array_equal(index.read().ravel(), [1, 0, 0, 0])
