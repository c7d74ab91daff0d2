from __future__ import annotations

import numpy as np
import pytest

from neuronet.cases.base import Case
from neuronet.cases.dense import DenseUpdate
from neuronet.cases.few_weights import SMALL
from neuronet.device.base import Device
from neuronet.ops import adam, dense, few_weights
from neuronet.ops.forms import forced_form


@pytest.mark.parametrize("case", SMALL, ids=lambda case: f"{case.op} {case}")
def test_matches_the_twin(device: Device, case: Case) -> None:
    case.check(device)


def test_fused_update_gives_the_bits_of_gradient_then_adam(device: Device) -> None:
    case = DenseUpdate(300, 9, 6)
    inputs = case.rounded_inputs()
    fused, split = ({name: device.put(v, name=name) for name, v in inputs.items()} for _ in range(2))
    dw, db = device.array(case.w), device.array((case.outputs_count,))
    few_weights.update(**fused)
    few_weights.backward(split["x"], split["dz"], dw, db)
    for name, gradient in (("w", dw), ("b", db)):
        parts = (split[name], gradient, split[f"{name}_m"], split[f"{name}_v"])
        adam.step(*(part.view(part.size) for part in parts), split["hyper"])
    for name in case.changes:
        np.testing.assert_array_equal(fused[name].read(), split[name].read(), err_msg=name)


def test_a_gpu_takes_it_for_many_rows_and_few_weights(
    device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []
    monkeypatch.setattr(few_weights, "backward", lambda *arrays: seen.append(arrays[0].shape))
    with forced_form("GPU"):
        for rows, inputs in ((2048, 8), (8, 8), (2048, 4096)):
            x, dz, dw, db = (device.array(s) for s in ((rows, inputs), (rows, 8), (8, inputs), (8,)))
            dense.backward_weights(x, dz, dw, db)
    assert seen == [(2048, 8)]
