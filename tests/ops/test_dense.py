from __future__ import annotations

import numpy as np
import pytest

from neuronet.cases.base import Case
from neuronet.cases.dense import SMALL, DenseBackwardWeights, DenseUpdate
from neuronet.device.base import Device
from neuronet.errors import ShapeError
from neuronet.ops import adam, dense
from neuronet.ops.forms import FORMS, Form, forced_form


@pytest.mark.parametrize("form", FORMS, ids=["plain", "CPU", "GPU"])
@pytest.mark.parametrize("case", SMALL, ids=lambda case: f"{case.op} {case}")
def test_every_form_matches_the_twin(device: Device, case: Case, form: Form) -> None:
    with forced_form(form):
        case.check(device)


@pytest.mark.parametrize("size", [(2050, 17, 230), (2048, 7, 235)])
def test_many_rows_and_outputs_on_a_cpu(device: Device, size: tuple[int, int, int]) -> None:
    """A work-item then has 32 filters."""
    with forced_form("CPU"):
        DenseBackwardWeights(*size).check(device)


@pytest.mark.parametrize("form", FORMS, ids=["plain", "CPU", "GPU"])
@pytest.mark.parametrize("size", [(1, 65, 33), (7, 9, 17), (65, 40, 66), (2050, 17, 230)])
def test_fused_update_gives_the_bits_of_gradient_then_adam(
    device: Device, form: Form, size: tuple[int, int, int]
) -> None:
    case = DenseUpdate(*size)
    inputs = case.rounded_inputs()
    fused, split = ({name: device.put(v, name=name) for name, v in inputs.items()} for _ in range(2))
    dw, db = device.array(case.w), device.array((case.outputs_count,))
    with forced_form(form):
        dense.update(**fused)
        dense.backward_weights(split["x"], split["dz"], dw, db)
    for name, gradient in (("w", dw), ("b", db)):
        parts = (split[name], gradient, split[f"{name}_m"], split[f"{name}_v"])
        adam.step(*(part.view(part.size) for part in parts), split["hyper"])
    for name in case.changes:
        np.testing.assert_array_equal(fused[name].read(), split[name].read(), err_msg=name)


def test_a_stopped_training_changes_no_weight(device: Device) -> None:
    case = DenseUpdate(3, 20, 9)
    inputs = case.rounded_inputs()
    inputs["hyper"][8] = 0
    for form in FORMS:
        arrays = {name: device.put(v, name=name) for name, v in inputs.items()}
        with forced_form(form):
            dense.update(**arrays)
        for name in case.changes:
            np.testing.assert_array_equal(arrays[name].read(), inputs[name], err_msg=f"{name} {form}")


def test_wrong_shape_names_kernel_argument_and_dimension(device: Device) -> None:
    x, w, b, y = (device.array(shape) for shape in ((3, 40), (4, 40), (4,), (3, 5)))
    with pytest.raises(
        ShapeError, match=r"FeedForward\w*: argument 'y' .* outputs=4 \(set by argument 'w'\)"
    ):
        dense.forward(x, w, b, y, activation=-1)
