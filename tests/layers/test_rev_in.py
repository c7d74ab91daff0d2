from __future__ import annotations

import numpy as np
import pytest

from neuronet.device.array import Shape
from neuronet.device.base import Device
from neuronet.device.numpy import NumpyDevice
from neuronet.errors import NeuronetError, ShapeError, SpecError
from neuronet.layers.rev_in import CNeuronRevINOCL
from neuronet.net import CNet
from neuronet.testing.gradcheck import gradcheck


@pytest.mark.parametrize("rows", [3, 1])
def test_gradients_without_a_partner(rows: int) -> None:
    gradcheck([CNeuronRevINOCL(eps=1e-2)], (5, 4), rows=rows)


def test_output_and_statistics(device: Device) -> None:
    norm = CNeuronRevINOCL()
    net = CNet(input_shape=(7, 3), layers=[norm], batch=4).build(device)
    norm.gamma.value.write([1, -2, 0.5])
    norm.beta.value.write([0, 1, 2])
    x = np.random.default_rng(0).standard_normal((2, 7, 3)) * [1, 20, 3] + [5, 0, -1]
    net.feedForward(x)  # a partial batch
    mean, deviation = x.mean(1), np.sqrt(x.var(1) + 1e-5)
    expected = (x - mean[:, None]) / deviation[:, None] * [1, -2, 0.5] + [0, 1, 2]
    np.testing.assert_allclose(net.getResults(), expected, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(norm.mean.read(), mean, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(norm.deviation.read(), deviation, rtol=1e-5)


@pytest.mark.parametrize(
    ("eps", "shape", "error"),
    [
        (1e-5, (12,), ShapeError),
        (1e-5, (1, 3), ShapeError),
        (1e-5, (2, 3, 4), ShapeError),
        (-1.0, (4, 3), SpecError),
    ],
)
def test_impossible_declarations_are_refused(
    eps: float, shape: Shape, error: type[NeuronetError], exact: NumpyDevice
) -> None:
    with pytest.raises(error, match="CNeuronRevINOCL"):
        CNet(input_shape=shape, layers=[CNeuronRevINOCL(eps=eps)]).build(exact)
