from __future__ import annotations

import numpy as np
import pytest

from neuronet.device.base import Device
from neuronet.errors import ShapeError, SpecError
from neuronet.layers.conv import CNeuronConvOCL
from neuronet.layers.proof import CNeuronProofOCL
from neuronet.net import CNet
from neuronet.testing.gradcheck import gradcheck


@pytest.mark.parametrize(("window", "step"), [(3, 3), (4, 1), (2, 5), (11, 1)])
@pytest.mark.parametrize("shape", [(11, 3), (11,), (11, 2, 2)])
def test_gradients(window: int, step: int, shape: tuple[int, ...]) -> None:
    gradcheck([CNeuronProofOCL(window=window, step=step)], shape)


def test_f11_a_layer_below_gets_its_derivative() -> None:
    """Published: the backward kernel applies no derivative of the activation below."""
    below = CNeuronConvOCL(window=4, step=2, window_out=3, activation="TANH")
    gradcheck([below, CNeuronProofOCL(window=3, step=2)], (9, 2))


def test_f11_ties_share_no_gradient_twice(device: Device) -> None:
    """A flat input: the gradients of the input sum to that of the output, not to ``window`` times it."""
    net = CNet(input_shape=(6, 2), layers=[CNeuronProofOCL(window=3, step=3)], batch=1).build(device)
    net.input.needs_gradient = True
    net.feedForward(np.ones((1, 6, 2)))
    net.calcGradients(np.zeros((1, 2, 2)))
    above = net.layers[0].gradient.read()
    expected = np.zeros((1, 6, 2), np.float32)
    expected[:, ::3] = above
    np.testing.assert_array_equal(net.input.gradient.read(), expected)


def test_only_whole_windows_are_pooled(device: Device) -> None:
    net = CNet(input_shape=(6,), layers=[CNeuronProofOCL(window=3, step=2)], batch=1).build(device)
    net.feedForward(np.array([[1, 5, 2, 4, 3, 9]]))
    np.testing.assert_array_equal(net.getResults(), [[5, 4]])


def test_impossible_windows_are_refused(device: Device) -> None:
    with pytest.raises(SpecError, match="step=0 is not positive"):
        CNeuronProofOCL(window=2, step=0)
    with pytest.raises(ShapeError, match=r"CNeuronProofOCL: window=7 is longer than the input, 6 units"):
        CNeuronProofOCL(window=7, step=1).output_shape((6, 3))
