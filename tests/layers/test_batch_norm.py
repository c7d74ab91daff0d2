from __future__ import annotations

import numpy as np
import pytest

from neuronet.activations import Activation
from neuronet.device.array import Shape
from neuronet.device.base import Device
from neuronet.device.numpy import NumpyDevice
from neuronet.errors import SpecError
from neuronet.layers.batch_norm import CNeuronBatchNormOCL
from neuronet.layers.dense import CNeuronDenseOCL
from neuronet.net import CNet
from neuronet.optim.adam import Adam
from neuronet.testing.gradcheck import gradcheck


def make_net(
    device: Device, *, shape: Shape = (3,), batch: int = 1, **fields: object
) -> tuple[CNet, CNeuronBatchNormOCL]:
    norm = CNeuronBatchNormOCL(**fields)  # type: ignore[arg-type]
    net = CNet(input_shape=shape, layers=[norm], batch=batch, optimizer=Adam(lr=0.01))
    return net.build(device), norm


class Warm(CNeuronBatchNormOCL):
    """A layer that has seen samples before."""

    def allocate(self, input_shape: Shape, rng: np.random.Generator) -> None:
        super().allocate(input_shape, rng)
        self.running_mean.write(rng.standard_normal(self.running_mean.shape))
        self.running_variance.write(rng.uniform(0.5, 2, self.running_variance.shape))
        self.count.fill(7)


@pytest.mark.parametrize("activation", Activation)
@pytest.mark.parametrize("rows", [6, 5])
def test_gradients_over_a_batch(activation: Activation, rows: int) -> None:
    gradcheck([CNeuronBatchNormOCL(activation=activation)], (3, 2), batch=6, rows=rows)


@pytest.mark.parametrize("batch_size", [5, 1000])  # the memory is full, or not yet
@pytest.mark.parametrize("batch", [1, 4])
def test_gradients_of_one_sample(batch: int, batch_size: int) -> None:
    gradcheck([Warm(batch_size=batch_size, activation="TANH")], (3, 2), batch=batch, rows=1)


def test_output_over_a_batch(device: Device) -> None:
    net, norm = make_net(device, shape=(2, 2), batch=4)
    norm.gamma.value.write([1, 2, 1, 1])
    norm.beta.value.write([0, 0, 5, 0])
    x = np.random.default_rng(0).standard_normal((4, 2, 2))
    net.feedForward(x)
    expected = (x - x.mean(0)) / np.sqrt(x.var(0) + 1e-5) * [[1, 2], [1, 1]] + [[0, 0], [5, 0]]
    np.testing.assert_allclose(net.getResults(), expected, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(norm.running_mean.read(), x.mean(0).ravel(), rtol=1e-5)
    np.testing.assert_allclose(norm.running_variance.read(), x.var(0, ddof=1).ravel(), rtol=1e-5)
    np.testing.assert_array_equal(norm.count.read(), 4)


def test_running_statistics_find_mean_and_variance(device: Device) -> None:
    rng = np.random.default_rng(0)
    for batch in (1, 16):
        net, _ = make_net(device, batch=batch, batch_size=512)
        for _ in range(1024 // batch):
            net.feedForward(rng.standard_normal((batch, 3)) * [1, 2, 0.5] + [0, 10, -1])
        net.TrainMode(False)
        y = net.predict(rng.standard_normal((400, 3)) * [1, 2, 0.5] + [0, 10, -1])
        np.testing.assert_allclose(y.mean(0), 0, atol=0.25)
        np.testing.assert_allclose(y.std(0), 1, atol=0.2)


def test_a_last_batch_of_one_row_is_normalised_by_the_running_statistics(device: Device) -> None:
    net, norm = make_net(device, batch=8)
    x = np.random.default_rng(0).standard_normal((8, 3)) + 4
    net.feedForward(x)
    net.feedForward(x[:1] + 1)
    mean = (8 * x.mean(0) + x[0] + 1) / 9
    variance = (8 * x.var(0, ddof=1) + (x[0] + 1 - mean) ** 2) / 9
    expected = (x[:1] + 1 - mean) / np.sqrt(variance + 1e-5)
    np.testing.assert_allclose(net.getResults(), expected, rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(norm.count.read(), 9)


def test_gradient_in_evaluation_takes_statistics_as_constants(exact: NumpyDevice) -> None:
    net, norm = make_net(exact, batch=4)
    x = np.random.default_rng(0).standard_normal((4, 3))
    net.feedForward(x)
    net.TrainMode(False)
    net.input.needs_gradient = True  # type: ignore[misc]
    net.feedForward(x)
    net.calcGradients(np.zeros((4, 3)))
    slope = norm.gradient.read() / np.sqrt(norm.running_variance.read() + 1e-5)
    np.testing.assert_allclose(net.input.gradient.read(), slope, rtol=1e-12)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"batch_size": 1}, "batch_size=1 "),
        ({"batch_size": 2**24 + 1}, "batch_size="),
        ({"eps": 0.0}, "eps="),
    ],
)
def test_impossible_fields_are_refused(fields: dict[str, object], words: str, exact: NumpyDevice) -> None:
    with pytest.raises(SpecError, match=words):
        make_net(exact, **fields)


# --- errata: each fails on the published formula ---------------------------------------------


def test_f6_a_constant_input_gives_zero_from_the_first_sample_on(device: Device) -> None:
    """Published: the first output is a left-over 1.0, then 1.414, 0.961, 0.768, 0.657 for the constant 4."""
    net, _ = make_net(device)
    for _ in range(5):
        net.feedForward(np.full((1, 3), 4.0))
        np.testing.assert_array_equal(net.getResults(), 0)


@pytest.mark.parametrize("batch", [1, 4])
def test_f7_gamma_and_beta_are_trained_from_the_first_step(device: Device, batch: int) -> None:
    """Published: only once the sample count is 100 times the number at which it stops counting."""
    net, norm = make_net(device, batch=batch, batch_size=10)
    rng = np.random.default_rng(0)
    for step in range(60):
        x = rng.standard_normal((batch, 3))
        net.feedForward(x)
        if step == 5:
            net.calcGradients(3 * net.getResults() + 2)
            dz = norm.gradient.read()
            nx = (net.getResults() - norm.beta.value.read()) / norm.gamma.value.read()
            np.testing.assert_allclose(norm.beta.gradient.read(), dz.sum(0), rtol=1e-4)
            np.testing.assert_allclose(norm.gamma.gradient.read(), (dz * nx).sum(0), rtol=1e-3, atol=1e-6)
        net.backProp(3 * net.getResults() + 2)
    assert (norm.gamma.value.read() > 1.05).all()
    assert (norm.beta.value.read() > 0.3).all()


@pytest.mark.parametrize(
    ("x", "mean", "variance", "samples", "expected"),
    [(1.101, 1.1, 1e-6, 10_000, 999.8), (55, 50, 100, 100, 0.0991)],
)
def test_f8_input_gradient_of_the_running_form(
    exact: NumpyDevice, x: float, mean: float, variance: float, samples: int, expected: float
) -> None:
    """Published: 134315 and 1.60, from mean * x where -(x - mean) belongs."""
    net, norm = make_net(exact, shape=(1,), batch_size=samples, eps=1e-13)
    norm.running_mean.fill(mean)
    norm.running_variance.fill(variance)
    norm.count.fill(samples)
    net.input.needs_gradient = True  # type: ignore[misc]
    net.feedForward([[x]])
    net.calcGradients(net.getResults() - 0.5)  # dL/dy of the mean square is 1
    assert norm.gradient.read().item() == pytest.approx(1)
    assert net.input.gradient.read().item() == pytest.approx(expected, rel=1e-3)


def test_f9_decay_is_scaled_by_the_rate_and_a_zero_gradient_is_harmless(device: Device) -> None:
    """Published: gamma falls by l1 itself with every step, and 0 / 0 for a zero gradient."""
    norm = CNeuronBatchNormOCL()
    net = CNet(input_shape=(3,), layers=[norm], batch=4, optimizer=Adam(lr=1e-2, l1=1e-2)).build(device)
    net.feedForward(np.random.default_rng(0).standard_normal((4, 3)))
    net.backProp(net.getResults())
    np.testing.assert_allclose(norm.gamma.value.read(), 1 - 1e-4, rtol=1e-6)
    np.testing.assert_array_equal(norm.beta.value.read(), 0)


@pytest.mark.parametrize("batch", [1, 5])
def test_f10_evaluation_does_not_depend_on_order_and_changes_nothing(device: Device, batch: int) -> None:
    """Published: statistics go on moving with every sample that is only looked at."""
    rng = np.random.default_rng(0)
    layers = [CNeuronBatchNormOCL(activation="GELU"), CNeuronDenseOCL(neurons=2)]
    net = CNet(input_shape=(3,), layers=layers, batch=batch).build(device)
    for _ in range(4):
        net.feedForward(rng.standard_normal((batch, 3)))
        net.backProp(rng.standard_normal((batch, 2)))
    before, x = net.arrays(), 5 * rng.standard_normal((11, 3))
    forwards, backwards = net.predict(x), net.predict(x[::-1])[::-1]
    np.testing.assert_allclose(forwards, backwards, rtol=1e-5, atol=1e-6)
    for name, values in net.arrays().items():
        np.testing.assert_array_equal(values, before[name], err_msg=name)
