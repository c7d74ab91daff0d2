from __future__ import annotations

import numpy as np
import pytest

from neuronet.device.array import Shape
from neuronet.device.base import Device
from neuronet.device.numpy import NumpyDevice
from neuronet.errors import NeuronetError, ShapeError, SpecError
from neuronet.layers.base import CNeuronBaseOCL
from neuronet.layers.conv import CNeuronConvOCL
from neuronet.layers.dense import CNeuronDenseOCL
from neuronet.layers.rev_in import CNeuronRevINOCL
from neuronet.layers.rev_in_denorm import CNeuronRevINDenormOCL
from neuronet.net import CNet
from neuronet.optim.adam import Adam
from neuronet.testing.gradcheck import gradcheck


def per_unit(window_out: int, window: int = 4) -> CNeuronConvOCL:
    return CNeuronConvOCL(window=window, step=window, window_out=window_out, activation="TANH")


@pytest.mark.parametrize("rows", [3, 2])
@pytest.mark.parametrize(
    "layers",
    [
        [CNeuronRevINOCL(), CNeuronRevINDenormOCL()],
        [CNeuronRevINOCL(), per_unit(4), CNeuronRevINDenormOCL()],
        [
            per_unit(4),
            CNeuronRevINOCL(),
            per_unit(3),
            per_unit(4, 3),
            CNeuronRevINDenormOCL(layers=1),
            per_unit(2),
        ],
        [CNeuronRevINOCL(), CNeuronDenseOCL(neurons=3), CNeuronRevINDenormOCL(feature=2)],
        [CNeuronRevINOCL(), per_unit(1), CNeuronRevINDenormOCL(feature=0)],
    ],
    ids=["alone", "forecast", "inside", "one feature", "one column"],
)
def test_gradients_of_both_partners(layers: list[CNeuronBaseOCL], rows: int) -> None:
    """Through mean and deviation to the input, and to gamma and beta from both sides."""
    gradcheck(layers, (5, 4), rows=rows)


def test_it_undoes_its_partner_for_every_gamma(device: Device) -> None:
    norm = CNeuronRevINOCL()
    net = CNet(input_shape=(9, 4), layers=[norm, CNeuronRevINDenormOCL()], batch=3).build(device)
    norm.gamma.value.write([0.01, -3, 0.5, -1e-4])
    norm.beta.value.write([0, 1, -1, 0])
    x = np.random.default_rng(0).standard_normal((2, 9, 4)) * [1, 10, 0.1, 1] + [0, 50, 1, 0]
    net.feedForward(x)
    np.testing.assert_allclose(net.getResults(), x, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("column", [(), (1,)])
def test_one_feature_takes_its_own_statistics(exact: NumpyDevice, column: Shape) -> None:
    head: CNeuronBaseOCL = (
        CNeuronDenseOCL(neurons=3) if not column else CNeuronConvOCL(window=8, step=4, window_out=1)
    )
    norm = CNeuronRevINOCL()
    layers = [norm, head, CNeuronRevINDenormOCL(feature=1)]
    net = CNet(input_shape=(4, 4), layers=layers, batch=2).build(exact)
    norm.gamma.value.write([1, -2, 1, 1])
    norm.beta.value.write([0, 3, 0, 0])
    x = np.random.default_rng(0).standard_normal((2, 4, 4)) + 10
    net.feedForward(x)
    y, mean, deviation = head.output.read(), x.mean(1)[:, 1], np.sqrt(x.var(1)[:, 1] + 1e-5)
    assert y.shape == (2, 3, *column)
    per_sample = (2, 1, *[1 for _ in column])
    expected = (y - 3) / -2 * deviation.reshape(per_sample) + mean.reshape(per_sample)
    np.testing.assert_allclose(net.getResults(), expected, rtol=1e-12)


def test_training_layer_by_layer_and_at_once_give_the_same_bits(device: Device) -> None:
    """Its gradients of the partner's gamma and beta are there before the partner is updated."""
    rng = np.random.default_rng(0)
    x, target = rng.standard_normal((3, 5, 4)), device.put(rng.standard_normal((3, 5, 4)))
    results = []
    for split in (True, False):
        layers = [CNeuronRevINOCL(), per_unit(4), CNeuronRevINDenormOCL()]
        net = CNet(input_shape=(5, 4), layers=layers, batch=3, optimizer=Adam(lr=0.05)).build(device)
        net.split_updates = split
        net.optimizer.hyper.write([*net.optimizer.rates(0), 1])
        for _ in range(3):
            net.feedForward(x)
            net.apply_loss(target)
            net.descend()
        results.append(net.arrays())
    for name, values in results[0].items():
        np.testing.assert_array_equal(values, results[1][name], err_msg=name)
    assert np.abs(results[0]["parameters/0/gamma"] - 1).max() > 0.01


@pytest.mark.parametrize(("gamma", "slope"), [(0.5, 4.0), (2.0, 1.0), (-0.5, -4.0), (1e-4, 2e4)])
def test_f14_backward_has_the_slope_of_forward(exact: NumpyDevice, gamma: float, slope: float) -> None:
    """Published: gamma 0.5 and variance 4 give slope 4 forward and 2 backward; wrong sign below 0."""
    norm, forecast = CNeuronRevINOCL(eps=1e-12), CNeuronDenseOCL(neurons=1)
    net = CNet(input_shape=(2, 1), layers=[norm, forecast, CNeuronRevINDenormOCL(feature=0)], batch=1).build(
        exact
    )
    norm.gamma.value.fill(gamma)
    x, outputs = [[[1.0], [5.0]]], []  # mean 3, variance 4
    for bias in (0.0, 1.0):
        forecast.w.value.fill(0)
        forecast.b.value.fill(bias)
        net.feedForward(x)
        outputs.append(net.getResults().item())
    assert outputs[0] == pytest.approx(3)
    assert outputs[1] - outputs[0] == pytest.approx(slope)
    net.calcGradients(net.getResults() - 0.5)  # dL/dx of the mean square is 1
    assert forecast.gradient.read().item() == pytest.approx(slope)


@pytest.mark.parametrize(
    ("layers", "error", "words"),
    [
        ([CNeuronRevINDenormOCL()], SpecError, "layers=0 is not a layer before"),
        ([per_unit(4), CNeuronRevINDenormOCL()], SpecError, "layers=0 is CNeuronConvOCL"),
        ([CNeuronRevINOCL(), CNeuronRevINDenormOCL(layers=-2)], SpecError, "layers=-2"),
        ([CNeuronRevINDenormOCL(layers=1), CNeuronRevINOCL()], SpecError, "layers=1 is not a layer before"),
        ([CNeuronRevINOCL(), CNeuronRevINDenormOCL(), CNeuronRevINDenormOCL()], SpecError, "undone twice"),
        ([CNeuronRevINOCL(), CNeuronRevINDenormOCL(feature=4)], SpecError, "feature=4 is not one of the 4"),
        (
            [CNeuronRevINOCL(), CNeuronRevINDenormOCL(feature=1)],
            ShapeError,
            r"expected \[units\] or \[units, 1\]",
        ),
        ([CNeuronRevINOCL(), per_unit(3), CNeuronRevINDenormOCL()], ShapeError, r"expected \[units, 4\]"),
    ],
)
def test_impossible_declarations_are_refused(
    layers: list[CNeuronBaseOCL], error: type[NeuronetError], words: str, exact: NumpyDevice
) -> None:
    with pytest.raises(error, match=words):
        CNet(input_shape=(5, 4), layers=layers).build(exact)
