from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from neuronet.cases.base import Case
from neuronet.cases.dense import HYPER
from neuronet.cases.loss import SMALL
from neuronet.device.array import DeviceArray
from neuronet.device.base import Device
from neuronet.ops import loss
from neuronet.ops.forms import FORMS, Form, forced_form


@pytest.mark.parametrize("form", FORMS, ids=["plain", "CPU", "GPU"])
@pytest.mark.parametrize("case", SMALL, ids=lambda case: f"{case.op} {case}")
def test_every_form_matches_the_twin(device: Device, case: Case, form: Form) -> None:
    with forced_form(form):
        case.check(device)


NET = {"loss": np.zeros(2), "hyper": HYPER, "step": np.array([70, 7, -1, 0])}


def test_the_sum_over_an_epoch_weighs_batches_by_their_rows(device: Device) -> None:
    net = {name: device.put(v) for name, v in NET.items()}
    for rows, value in ((4, 1.0), (2, 3.0)):
        y, target, dy = (
            device.put(np.full((rows, 5), value)),
            device.array((rows, 5)),
            device.array((rows, 5)),
        )
        loss.elementwise(y, target, dy, **net, kind="mse")
    np.testing.assert_allclose(net["loss"].read(), [4 * 1.0 + 2 * 9.0, 9.0], rtol=1e-6)


def _mse(device: Device, y: np.ndarray, **net: DeviceArray) -> None:
    loss.elementwise(device.put(y), device.array(y.shape), device.array(y.shape), **net, kind="mse")


def _mae(device: Device, y: np.ndarray, **net: DeviceArray) -> None:
    loss.elementwise(device.put(y), device.array(y.shape), device.array(y.shape), **net, kind="mae")


def _huber(device: Device, y: np.ndarray, **net: DeviceArray) -> None:
    loss.elementwise(device.put(y), device.array(y.shape), device.array(y.shape), **net, kind="huber")


def _quantile(device: Device, y: np.ndarray, **net: DeviceArray) -> None:
    target, levels = device.array((len(y), 1)), device.put(np.array([0.1, 0.9]))
    loss.quantile(device.put(y), target, levels, device.array(y.shape), **net)


def _cross_entropy(device: Device, y: np.ndarray, **net: DeviceArray) -> None:
    loss.cross_entropy(device.put(y), device.array((len(y),), np.int32), device.array(y.shape), **net)


def _action(device: Device, y: np.ndarray, **net: DeviceArray) -> None:
    y = np.tile(y, 3)[:, :5]
    loss.action(device.put(y), device.array((len(y), 3)), device.array(y.shape), **net)


@pytest.mark.parametrize("apply", [_mse, _mae, _huber, _quantile, _cross_entropy, _action])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("row", [0, 299])
def test_a_loss_that_is_not_finite_stops_updates_and_names_the_first_batch(
    device: Device, apply: Callable[..., None], bad: float, row: int
) -> None:
    net = {name: device.put(v) for name, v in NET.items()}
    y = np.ones((300, 2))
    apply(device, y, **net)
    assert net["hyper"].read()[8] == 1
    np.testing.assert_array_equal(net["step"].read(), [70, 7, -1, 0])
    y[row] = bad
    apply(device, y, **net)
    net["step"].write([71, 8, net["step"].read()[2], 0])
    apply(device, y, **net)
    assert net["hyper"].read()[8] == 0
    np.testing.assert_array_equal(net["step"].read(), [71, 8, 7, 0])
