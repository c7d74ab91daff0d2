from __future__ import annotations

import numpy as np
import pytest

from neuronet.device.base import Device
from neuronet.errors import ShapeError, SpecError
from neuronet.layers.dense import CNeuronDenseOCL
from neuronet.layers.fourier import CNeuronFourierOCL
from neuronet.net import CNet
from neuronet.testing.gradcheck import gradcheck


def test_gradients_through_all_four() -> None:
    layers = [
        CNeuronFourierOCL(transform="rfft"),
        CNeuronFourierOCL(transform="fft"),
        CNeuronFourierOCL(transform="ifft"),
        CNeuronFourierOCL(transform="irfft", length=7),
        CNeuronFourierOCL(transform="fft"),
        CNeuronDenseOCL(neurons=2),
    ]
    gradcheck([*layers], (2, 7))


def test_it_is_numpys_transform_on_each_variable(device: Device) -> None:
    x = np.random.default_rng(0).standard_normal((5, 3, 10)).astype(np.float32)
    net = CNet(input_shape=(3, 10), layers=[CNeuronFourierOCL(transform="rfft")], batch=2).build(device)
    expected = np.fft.rfft(x)
    found = net.predict(x)
    assert found.shape == (5, 3, 6, 2)
    np.testing.assert_allclose(found[..., 0], expected.real, atol=1e-5)
    np.testing.assert_allclose(found[..., 1], expected.imag, atol=1e-5)


@pytest.mark.parametrize("length", [9, 10, 600])
def test_there_and_back(device: Device, length: int) -> None:
    x = np.random.default_rng(0).standard_normal((3, 2, length)).astype(np.float32)
    odd = length if length % 2 else None  # an even length is the default
    for layers in (
        [CNeuronFourierOCL(transform="rfft"), CNeuronFourierOCL(transform="irfft", length=odd)],
        [CNeuronFourierOCL(), CNeuronFourierOCL(transform="ifft")],
    ):
        found = CNet(input_shape=(2, length), layers=layers, batch=2).build(device).predict(x)
        np.testing.assert_allclose(found if found.ndim == 3 else found[..., 0], x, atol=4e-6)


@pytest.mark.parametrize(
    ("transform", "shape"),
    [
        ("fft", (8,)),
        ("fft", (2, 8, 3)),
        ("ifft", (2, 8)),
        ("rfft", (2, 8, 2)),
        ("irfft", (2, 5)),
        ("irfft", (2, 2, 5, 2)),
    ],
)
def test_an_input_that_is_not_the_transforms_is_refused(transform: str, shape: tuple[int, ...]) -> None:
    with pytest.raises(ShapeError, match=rf"a sample has shape .*; {transform} reads \[variables"):
        CNeuronFourierOCL(transform=transform).output_shape(shape)


def test_fields_that_do_not_fit_are_refused() -> None:
    with pytest.raises(SpecError, match="transform='dft' is unknown"):
        CNeuronFourierOCL(transform="dft").output_shape((2, 8))
    with pytest.raises(SpecError, match="length=8 is for irfft only"):
        CNeuronFourierOCL(transform="fft", length=8).output_shape((2, 8))
    with pytest.raises(SpecError, match="length='8' is no whole number"):
        CNeuronFourierOCL(transform="irfft", length="8").output_shape((2, 5, 2))  # type: ignore[arg-type]
    with pytest.raises(ShapeError, match="a signal of length 7 has not the 5 bins") as found:
        CNeuronFourierOCL(transform="irfft", length=7).output_shape((2, 5, 2))
    assert "length=8 or length=9" in str(found.value)
