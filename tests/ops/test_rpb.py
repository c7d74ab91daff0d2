from __future__ import annotations

import numpy as np
import pytest

from neuronet.cases.base import Case
from neuronet.cases.dense import HYPER
from neuronet.cases.rpb import SMALL, RpbUpdate
from neuronet.device.base import Device
from neuronet.ops import adam, rpb
from neuronet.ops.forms import FORMS, Form, forced_form

every_form = pytest.mark.parametrize("form", FORMS, ids=["plain", "CPU", "GPU"])


@every_form
@pytest.mark.parametrize("case", SMALL, ids=lambda case: f"{case.op} {case}")
def test_every_form_matches_the_twin(device: Device, case: Case, form: Form) -> None:
    with forced_form(form):
        case.check(device)


@every_form
@pytest.mark.parametrize("size", [(3, (2, 3)), (300, (4, 3)), (40, (5, 3, 7))])
def test_fused_update_gives_the_bits_of_gradient_then_adam(
    device: Device, form: Form, size: tuple[int, tuple[int, ...]]
) -> None:
    case = RpbUpdate(*size)
    inputs = case.rounded_inputs()
    fused, split = ({name: device.put(v, name=name) for name, v in inputs.items()} for _ in range(2))
    dw = device.array(case.shape)
    with forced_form(form):
        rpb.update(**fused)
        rpb.backward(split["dscore"], dw)
    arrays = (split["w"], dw, split["m"], split["v"])
    adam.step(*(array.view(array.size) for array in arrays), split["hyper"])
    for name in case.changes:
        np.testing.assert_array_equal(fused[name].read(), split[name].read(), err_msg=name)


@every_form
@pytest.mark.parametrize("gradient", [1e-4, 3.0])
def test_g11_a_first_step_has_the_size_of_the_rate(device: Device, form: Form, gradient: float) -> None:
    """NeuroNet's has the size 3.16 for any gradient, then the weight is clamped to 0.001."""
    beta1, beta2, lr = 0.9, 0.999, 0.01
    w, m, v = device.put(np.full((1, 2), 0.25)), device.array((1, 2)), device.array((1, 2))
    hyper = np.r_[[lr, beta1, beta2, 1e-8, 1 / (1 - beta1), 1 / (1 - beta2), 0, 0], 1]
    assert hyper.shape == np.shape(HYPER)
    with forced_form(form):
        rpb.update(device.put(gradient * np.array([[[1.0, -1.0]]])), w, m, v, device.put(hyper))
    np.testing.assert_allclose(w.read(), [[0.25 - lr, 0.25 + lr]], rtol=1e-4)


@every_form
def test_g12_a_shared_bias_gets_the_sum_over_all_units_and_samples(device: Device, form: Form) -> None:
    dscore = np.random.default_rng(0).standard_normal((3, 70, 2, 5))
    dw = device.array((1, 2, 5))
    with forced_form(form):
        rpb.backward(device.put(dscore), dw)
    np.testing.assert_allclose(dw.read()[0], dscore.sum((0, 1)), rtol=1e-4, atol=1e-4)
