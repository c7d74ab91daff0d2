from __future__ import annotations

import numpy as np
import pytest

from neuronet.device.base import Device
from neuronet.errors import ShapeError, SpecError
from neuronet.layers.dense import CNeuronDenseOCL
from neuronet.layers.fourier import CNeuronFourierOCL
from neuronet.layers.freq_patching import CNeuronFreqPatching
from neuronet.net import CNet
from neuronet.testing.gradcheck import gradcheck


@pytest.mark.parametrize(("window", "step"), [(3, 2), (2, 3)])
def test_gradients(window: int, step: int) -> None:
    patching = CNeuronFreqPatching(window=window, step=step)
    gradcheck([CNeuronFourierOCL(), patching, CNeuronDenseOCL(neurons=2)], (2, 8))


def test_patches_come_first_then_channels(device: Device) -> None:
    x = np.random.default_rng(0).standard_normal((3, 2, 9, 2)).astype(np.float32)
    net = CNet(input_shape=(2, 9, 2), layers=[CNeuronFreqPatching(window=4, step=2)], batch=2).build(device)
    found = net.predict(x)
    assert found.shape == (3, 3, 2, 4, 2)
    for patch in range(3):
        np.testing.assert_array_equal(found[:, patch], x[:, :, 2 * patch : 2 * patch + 4])


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(SpecError, match="step=0 is not positive"):
        CNeuronFreqPatching(window=4, step=0).output_shape((2, 9, 2))
    with pytest.raises(ShapeError, match=r"shape \[2, 9\], expected \[channels, bins, 2\]"):
        CNeuronFreqPatching(window=4, step=2).output_shape((2, 9))
    with pytest.raises(ShapeError, match="window=10 is longer than the spectrum, 9 bins"):
        CNeuronFreqPatching(window=10, step=2).output_shape((2, 9, 2))
