from __future__ import annotations

import pytest

from neuronet.cases.base import Case
from neuronet.cases.concatenate import SMALL
from neuronet.device.base import Device
from neuronet.errors import ShapeError
from neuronet.ops import concatenate


@pytest.mark.parametrize("case", SMALL, ids=lambda case: f"{case.op} {case}")
def test_kernel_matches_its_twin(device: Device, case: Case) -> None:
    case.check(device)


def test_parts_that_do_not_add_up_are_refused(device: Device) -> None:
    a, b, out = (device.array((2, n), name=name) for n, name in ((3, "a"), (4, "b"), (8, "out")))
    with pytest.raises(ShapeError, match=r"concatenate: <a .*3\].* and <b .*4\].* are not <out .*8\]"):
        concatenate.forward(a, b, out)
    with pytest.raises(ShapeError, match="are not"):
        concatenate.backward(out, a, b)
    with pytest.raises(ShapeError, match="at column 5 is not a part of"):
        concatenate.backward_one(out, b, offset=5)
