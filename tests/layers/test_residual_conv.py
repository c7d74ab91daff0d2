from __future__ import annotations

import numpy as np
import pytest

from neuronet.activations import Activation
from neuronet.device.array import Shape
from neuronet.device.base import Device
from neuronet.device.numpy import NumpyDevice
from neuronet.errors import NeuronetError, ShapeError, SpecError
from neuronet.layers.base import CNeuronBaseOCL
from neuronet.layers.conv import CNeuronConvOCL
from neuronet.layers.residual_conv import CResidualConv
from neuronet.net import CNet
from neuronet.testing.gradcheck import gradcheck


def per_unit(window: int, window_out: int) -> CNeuronConvOCL:
    return CNeuronConvOCL(window=window, step=window, window_out=window_out, activation="TANH")


@pytest.mark.parametrize("activation", [Activation.GELU, Activation.TANH])
@pytest.mark.parametrize("rows", [6, 5])
def test_gradients(activation: Activation, rows: int) -> None:
    gradcheck([CResidualConv(window=3, window_out=4, activation=activation)], (4, 3), batch=6, rows=rows)


@pytest.mark.parametrize(("window", "window_out"), [(3, 5), (5, 3)])
def test_f17_gradient_reaches_the_input_through_both_branches(window: int, window_out: int) -> None:
    """Published: the first convolution is skipped, and its norm writes into the input's gradient.

    The previous layer's gradient has window values a unit, the branch has window_out.
    """
    layers: list[CNeuronBaseOCL] = [per_unit(2, window), CResidualConv(window=window, window_out=window_out)]
    gradcheck(layers, (4, 2), batch=8)


def test_output_is_that_of_its_parts(exact: NumpyDevice) -> None:
    block = CResidualConv(window=3, window_out=4)
    net = CNet(input_shape=(2, 3), layers=[block], batch=5).build(exact, seed=3)
    x = np.random.default_rng(0).standard_normal((5, 2, 3))
    net.feedForward(x)
    weights = {p.name: p.value.read() for p in block.parameters}

    def conv(index: int, values: np.ndarray) -> np.ndarray:
        return values @ weights[f"conv{index}/w"][0].T + weights[f"conv{index}/b"][0]

    def norm(values: np.ndarray) -> np.ndarray:
        return (values - values.mean(0)) / np.sqrt(values.var(0) + 1e-5)

    z = norm(conv(0, x))
    hidden = 0.5 * z * (1 + np.tanh(np.sqrt(2 / np.pi) * (z + 0.044715 * z**3)))
    total = norm(conv(1, hidden)) + norm(conv(2, x))
    expected = (total - total.mean(-1, keepdims=True)) / np.sqrt(total.var(-1, keepdims=True) + 1e-5)
    np.testing.assert_allclose(net.getResults(), expected, rtol=1e-10)


def test_evaluation_reaches_the_inner_norms_and_changes_nothing(device: Device) -> None:
    rng = np.random.default_rng(0)
    net = CNet(input_shape=(4, 3), layers=[CResidualConv(window=3, window_out=5)], batch=4).build(device)
    for _ in range(4):
        net.feedForward(rng.standard_normal((4, 4, 3)))
        net.backProp(rng.standard_normal((4, 4, 5)))
    before, x = net.arrays(), rng.standard_normal((9, 4, 3))
    assert {
        f"state/0/norm{i}/{name}" for i in range(3) for name in ("mean", "variance", "count")
    } < before.keys()
    forwards, backwards = net.predict(x), net.predict(x[::-1])[::-1]
    np.testing.assert_allclose(forwards, backwards, rtol=1e-5, atol=1e-6)
    for name, values in net.arrays().items():
        np.testing.assert_array_equal(values, before[name], err_msg=name)


@pytest.mark.parametrize(
    ("window_out", "shape", "error"),
    [(4, (12,), ShapeError), (4, (4, 2), ShapeError), (1, (4, 3), SpecError)],
)
def test_impossible_declarations_are_refused(
    window_out: int, shape: Shape, error: type[NeuronetError], exact: NumpyDevice
) -> None:
    with pytest.raises(error, match="CResidualConv"):
        CNet(input_shape=shape, layers=[CResidualConv(window=3, window_out=window_out)]).build(exact)
