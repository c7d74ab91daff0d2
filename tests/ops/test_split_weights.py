from __future__ import annotations

import numpy as np
import pytest

from neuronet.cases.base import Case
from neuronet.cases.dense import DenseUpdate
from neuronet.cases.split_weights import SMALL
from neuronet.device.base import Device
from neuronet.ops import adam, dense, split_weights
from neuronet.ops.forms import forced_form


@pytest.mark.parametrize("case", SMALL, ids=lambda case: f"{case.op} {case}")
def test_matches_the_twin(device: Device, case: Case) -> None:
    case.check(device)


@pytest.mark.parametrize(
    ("sizes", "some"),
    [((100, 8, 8), 128), ((1024, 32, 32), 128), ((13376, 32, 1536), 640), ((512, 2048, 2048), 512)],
)
def test_parts_have_enough_rows_and_keep_a_gpu_busy(sizes: tuple[int, int, int], some: int) -> None:
    assert split_weights.rows_of_a_part(*sizes) == some


def test_fused_update_gives_the_bits_of_gradient_then_adam(device: Device) -> None:
    case = DenseUpdate(300, 9, 6)
    inputs = case.rounded_inputs()
    fused, split = ({name: device.put(v, name=name) for name, v in inputs.items()} for _ in range(2))
    dw, db = device.array(case.w), device.array((case.outputs_count,))
    split_weights.update(**fused)
    split_weights.backward(split["x"], split["dz"], dw, db)
    for name, gradient in (("w", dw), ("b", db)):
        parts = (split[name], gradient, split[f"{name}_m"], split[f"{name}_v"])
        adam.step(*(part.view(part.size) for part in parts), split["hyper"])
    for name in case.changes:
        np.testing.assert_array_equal(fused[name].read(), split[name].read(), err_msg=name)


def test_a_gpu_takes_it_for_many_rows(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    monkeypatch.setattr(split_weights, "backward", lambda *arrays: seen.append(arrays[0].shape))
    with forced_form("GPU"):
        for rows in (2048, 8):
            x, dz, dw, db = (device.array(s) for s in ((rows, 8), (rows, 8), (8, 8), (8,)))
            dense.backward_weights(x, dz, dw, db)
    assert seen == ([] if device.kind == "numpy" else [(2048, 8)])
