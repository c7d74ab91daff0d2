from __future__ import annotations

import numpy as np
import pytest

from neuronet.cases.base import Case
from neuronet.cases.soft_update import SMALL
from neuronet.device.base import Device
from neuronet.device.numpy import NumpyDevice
from neuronet.errors import SpecError
from neuronet.ops.soft_update import soft_update


@pytest.mark.parametrize("case", SMALL, ids=lambda case: f"{case.op} {case}")
def test_kernel_matches_its_twin(device: Device, case: Case) -> None:
    case.check(device)


def test_it_moves_by_a_share_of_the_difference(exact: NumpyDevice) -> None:
    """After k updates the distance to a source that stays is (1 - tau)^k of what it was."""
    target, source = exact.put(np.array([0.0, 4.0])), exact.put(np.array([1.0, -4.0]))
    for _ in range(3):
        soft_update(target, source, tau=0.25)
    np.testing.assert_allclose(target.read(), [1 - 0.75**3, -4 + 8 * 0.75**3], rtol=1e-15)
    soft_update(target, source, tau=1.0)
    np.testing.assert_array_equal(target.read(), source.read())


@pytest.mark.parametrize("tau", [0.0, -0.1, 1.5, float("nan")])
def test_e20_a_tau_that_cannot_be_is_refused(exact: NumpyDevice, tau: float) -> None:
    """NeuroNet's WeightsUpdate returns true for tau > 1 and does nothing."""
    with pytest.raises(SpecError, match="tau cannot be"):
        soft_update(exact.put(np.zeros(1)), exact.put(np.ones(1)), tau=tau)
