from __future__ import annotations

import pytest

from neuronet.cases.base import Case
from neuronet.cases.probe import SMALL
from neuronet.device.base import Device


@pytest.mark.parametrize("case", SMALL, ids=lambda case: f"{case.op} {case}")
def test_kernel_matches_its_twin(device: Device, case: Case) -> None:
    case.check(device)
