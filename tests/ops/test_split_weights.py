from __future__ import annotations

import numpy as np
import pytest

from neuronet.cases.base import Case
from neuronet.cases.dense import DenseUpdate
from neuronet.cases.split_weights import SMALL
from neuronet.device.base import Device
from neuronet.ops import adam, dense, split_weights
from neuronet.ops.forms import FORMS, Form, forced_form

every_form = pytest.mark.parametrize("form", [*FORMS, "Tensor"], ids=["plain", "CPU", "GPU", "Tensor"])


@every_form
@pytest.mark.parametrize("case", SMALL, ids=lambda case: f"{case.op} {case}")
def test_every_form_matches_the_twin(device: Device, case: Case, form: Form) -> None:
    with forced_form(form):
        case.check(device)


@pytest.mark.parametrize(
    ("form", "sizes", "some"),
    [
        ("", (100, 8, 8), 112),
        ("", (1024, 32, 32), 128),
        ("", (13376, 32, 1536), 320),
        ("GPU", (8192, 128, 512), 128),
        ("GPU", (512, 2048, 2048), 512),
        ("Tensor", (13376, 32, 1536), 320),
        ("CPU", (100, 8, 8), 128),
        ("CPU", (7680, 36, 36), 256),
        ("CPU", (30720, 32, 32), 960),
        ("CPU", (7680, 1080, 1080), 7680),
    ],
)
def test_parts_have_enough_rows_and_keep_a_device_busy(
    form: Form, sizes: tuple[int, int, int], some: int
) -> None:
    assert split_weights.rows_of_a_part(*sizes, form=form) == some


def test_a_gpu_has_large_tiles_where_weights_fill_them(device: Device) -> None:
    sizes, forms = ((36, 64), (32, 1536), (1536, 32), (36, 66), (37, 64)), {}
    for form in ("GPU", "Tensor"):
        with forced_form(form):
            forms[form] = [split_weights.form_of(*shape, device) for shape in sizes]
    assert forms == {"GPU": ["GPU", "", "", "", ""], "Tensor": ["Tensor", "Tensor", "Tensor", "", ""]}


@every_form
def test_fused_update_gives_the_bits_of_gradient_then_adam(device: Device, form: Form) -> None:
    case = DenseUpdate(300, 9, 6)
    inputs = case.rounded_inputs()
    fused, split = ({name: device.put(v, name=name) for name, v in inputs.items()} for _ in range(2))
    dw, db = device.array(case.w), device.array((case.outputs_count,))
    with forced_form(form):
        split_weights.update(**fused)
        split_weights.backward(split["x"], split["dz"], dw, db)
    for name, gradient in (("w", dw), ("b", db)):
        parts = (split[name], gradient, split[f"{name}_m"], split[f"{name}_v"])
        adam.step(*(part.view(part.size) for part in parts), split["hyper"])
    for name in case.changes:
        np.testing.assert_array_equal(fused[name].read(), split[name].read(), err_msg=name)


@pytest.mark.parametrize(("form", "taken"), [("", []), ("CPU", [2**15]), ("GPU", [2048, 2**15])])
def test_many_rows_take_it(
    device: Device, monkeypatch: pytest.MonkeyPatch, form: Form, taken: list[int]
) -> None:
    """A GPU for its many work-items, a CPU where rows outgrow its caches."""
    seen: list[int] = []
    monkeypatch.setattr(split_weights, "backward", lambda *arrays: seen.append(arrays[0].shape[0]))
    with forced_form(form):
        for rows in (8, 2048, 2**15):
            x, dz, dw, db = (device.array(s) for s in ((rows, 8), (rows, 8), (8, 8), (8,)))
            dense.backward_weights(x, dz, dw, db)
    assert seen == ([] if device.kind == "numpy" else taken)
