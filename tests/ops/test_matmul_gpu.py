from __future__ import annotations

import pytest

from neuronet.cases.base import Case
from neuronet.cases.matmul_wide import SMALL
from neuronet.device.base import Device
from neuronet.ops import matmul_wide
from neuronet.ops.forms import forced_form


@pytest.mark.parametrize("case", SMALL, ids=lambda case: f"{case.op} {case}")
def test_matches_the_twin(device: Device, case: Case) -> None:
    case.check(device)


def test_only_a_gpu_with_many_results_takes_it(device: Device) -> None:
    small, large = device.array((2, 64, 64)), device.array((1, 128 * 12, 128 * 8))
    with forced_form("GPU"):
        assert not matmul_wide.fits(small, 64, 64)
        assert matmul_wide.fits(large, 128 * 12, 128 * 8)
    with forced_form("CPU"):
        assert not matmul_wide.fits(large, 128 * 12, 128 * 8)
