from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from neuronet.device.base import Device
from neuronet.device.numpy import NumpyDevice
from neuronet.errors import SpecError
from neuronet.layers.tae import CNeuronTAE
from neuronet.net import CNet
from neuronet.testing.gradcheck import gradcheck


def tae(**fields: Any) -> CNeuronTAE:
    return CNeuronTAE(**({"window_out": 3, "heads": 2, "dimension": 2, "layers": 1} | fields))


def test_gradients() -> None:
    gradcheck([tae()], (5, 2), batch=2)
    gradcheck([tae(layers=2, window_out=2, dimension=1)], (3, 3), batch=2)


def test_a_branch_has_its_own_projections_and_feed_forward_part(exact: NumpyDevice) -> None:
    layer = tae()
    net = CNet(input_shape=(5, 4), layers=[layer], batch=2).build(exact, seed=1)
    x = np.random.default_rng(0).standard_normal((2, 5, 4))
    net.feedForward(x)
    dy = np.random.default_rng(1).standard_normal((2, 5, 6))
    dy[:, :, 3:] = 0.0  # a loss of the classification alone
    net.set_rows(2)
    layer.gradient.write(dy)
    layer.calcInputGradients(net.input)
    layer.calcWeightGradients(net.input)
    zero = {p.name for p in layer.parameters if not p.gradient.read().any()}
    regression = {p.name for p in layer.parameters if p.name.startswith("regression/")}
    names = [f"joint/feed_forward0/{ff}/dense1/{key}" for ff in ("ff0", "ff1") for key in ("w", "b")]
    assert zero == regression | set(names)  # the layer norms in front of them see both branches


def test_values_of_the_shared_attention_are_its_queries(exact: NumpyDevice) -> None:
    layer = tae()
    CNet(input_shape=(5, 4), layers=[layer]).build(exact)
    shapes = {p.name: p.shape for p in layer.parameters}
    assert shapes["joint/attention0/channels/project/w"] == (1, 2 * 4, 6)
    assert shapes["regression/block0/attention/channels/project/w"] == (1, 3 * 4, 3)


def test_the_first_half_is_not_touched_by_the_regression(device: Device) -> None:
    layer = tae(layers=2)
    net = CNet(input_shape=(5, 4), layers=[layer], batch=2).build(device, seed=1)
    x = np.random.default_rng(0).standard_normal((2, 5, 4))
    before = net.predict(x)
    for p in layer.parameters:
        if p.name.startswith("regression/"):
            p.value.write(p.value.read() + 0.5)
    after = net.predict(x)
    np.testing.assert_array_equal(after[:, :, :3], before[:, :, :3])
    assert (after[:, :, 3:] != before[:, :, 3:]).any()


def test_misfits_are_refused(exact: NumpyDevice) -> None:
    for fields, text in (
        ({"heads": 3}, "do not divide among two branches"),
        ({"window_out": 1}, "window_out=1"),
        ({"layers": 0}, "layers=0 is not positive"),
    ):
        with pytest.raises(SpecError, match=text):
            CNet(input_shape=(5, 4), layers=[tae(**fields)]).build(exact)
