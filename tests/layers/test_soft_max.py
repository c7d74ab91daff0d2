from __future__ import annotations

import numpy as np
import pytest

from neuronet.device.base import Device
from neuronet.errors import ShapeError, SpecError
from neuronet.layers.dense import CNeuronDenseOCL
from neuronet.layers.soft_max import CNeuronSoftMaxOCL
from neuronet.net import CNet
from neuronet.testing.gradcheck import gradcheck


def _predict(device: Device, x: np.ndarray, heads: int = 1) -> np.ndarray:
    layers = [CNeuronSoftMaxOCL(heads=heads)]
    return CNet(input_shape=x.shape[1:], layers=layers, batch=len(x)).build(device).predict(x)


@pytest.mark.parametrize(("shape", "heads"), [((5,), 1), ((3, 4), 3), ((2, 6), 4)])
def test_gradients(shape: tuple[int, ...], heads: int) -> None:
    gradcheck([CNeuronSoftMaxOCL(heads=heads)], shape)


def test_f12_a_softmax_is_not_a_ratio_to_the_largest(device: Device) -> None:
    """Published: exp(x / max|x|) gives .175 .177 .178 .470, and NaN for zeros."""
    y = _predict(device, np.array([[1.0, 2, 3, 100], [0, 0, 0, 0], [-1000, 0, 1000, 1000]]))
    np.testing.assert_allclose(y, [[0, 0, 0, 1], [0.25] * 4, [0, 0, 0.5, 0.5]], atol=1e-6)


def test_f12_a_layer_below_gets_its_derivative() -> None:
    """Published: the backward pass ignores the previous layer's activation."""
    gradcheck([CNeuronDenseOCL(neurons=6, activation="TANH"), CNeuronSoftMaxOCL(heads=2)], (5,))


def test_every_head_sums_to_one(device: Device) -> None:
    y = _predict(device, np.random.default_rng(0).standard_normal((3, 4, 6)), heads=8)
    assert y.shape == (3, 4, 6)
    np.testing.assert_allclose(y.reshape(3, 8, 3).sum(axis=2), 1, rtol=1e-6)


def test_heads_that_do_not_divide_the_input_are_refused() -> None:
    with pytest.raises(ShapeError, match="10 values per sample do not divide into 3 heads"):
        CNeuronSoftMaxOCL(heads=3).output_shape((5, 2))
    with pytest.raises(SpecError, match="heads=0 is not positive"):
        CNeuronSoftMaxOCL(heads=0)
