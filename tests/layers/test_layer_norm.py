from __future__ import annotations

import numpy as np
import pytest

from neuronet.device.array import Shape
from neuronet.device.base import Device
from neuronet.device.numpy import NumpyDevice
from neuronet.errors import NeuronetError, ShapeError, SpecError
from neuronet.layers.conv import CNeuronConvOCL
from neuronet.layers.layer_norm import MOST_CHUNKS, CNeuronLayerNormOCL
from neuronet.net import CNet
from neuronet.testing.compare import assert_matches
from neuronet.testing.gradcheck import gradcheck


@pytest.mark.parametrize("shape", [(2,), (5, 3), (2, 3, 4)])
@pytest.mark.parametrize("rows", [4, 1])
def test_gradients(shape: Shape, rows: int) -> None:
    gradcheck([CNeuronLayerNormOCL(eps=1e-2)], shape, batch=4, rows=rows)


def test_gradients_behind_another_layer() -> None:
    layers = [CNeuronConvOCL(window=3, step=3, window_out=4, activation="TANH"), CNeuronLayerNormOCL()]
    gradcheck(layers, (5, 3))


def test_output(device: Device) -> None:
    norm = CNeuronLayerNormOCL()
    net = CNet(input_shape=(3, 5), layers=[norm], batch=2).build(device)
    gamma, beta = np.arange(1.0, 6), np.arange(5.0) - 2
    norm.gamma.value.write(gamma)
    norm.beta.value.write(beta)
    x = 3 * np.random.default_rng(0).standard_normal((2, 3, 5)) + 100
    net.feedForward(x)
    nx = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5)
    np.testing.assert_allclose(net.getResults(), gamma * nx + beta, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("rows", [33, 20, 1])
def test_weight_gradients_of_many_units_in_full_and_partial_batches(device: Device, rows: int) -> None:
    norm = CNeuronLayerNormOCL()
    net = CNet(input_shape=(513, 2), layers=[norm], batch=33).build(device)
    assert norm.parts.shape[0] == MOST_CHUNKS
    rng = np.random.default_rng(0)
    x, target = rng.standard_normal((rows, 513, 2)), rng.standard_normal((rows, 513, 2))
    net.feedForward(x)
    net.calcGradients(target)
    dy, nx = norm.gradient.read().astype(np.float64), net.getResults().astype(np.float64)
    terms = rows * 513
    assert_matches(norm.beta.gradient.read(), dy.sum((0, 1)), terms=terms, name="beta")
    assert_matches(norm.gamma.gradient.read(), (dy * nx).sum((0, 1)), terms=terms, name="gamma")


@pytest.mark.parametrize(
    ("eps", "shape", "error"), [(1e-5, (4, 1), ShapeError), (1e-5, (), ShapeError), (0.0, (4, 3), SpecError)]
)
def test_impossible_declarations_are_refused(
    eps: float, shape: Shape, error: type[NeuronetError], exact: NumpyDevice
) -> None:
    with pytest.raises(error, match="CNeuronLayerNormOCL"):
        CNet(input_shape=shape, layers=[CNeuronLayerNormOCL(eps=eps)]).build(exact)
