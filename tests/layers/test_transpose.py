from __future__ import annotations

import numpy as np
import pytest

from neuronet.device.base import Device
from neuronet.errors import ShapeError
from neuronet.layers.conv import CNeuronConvOCL
from neuronet.layers.transpose import CNeuronTransposeOCL
from neuronet.net import CNet
from neuronet.testing.gradcheck import gradcheck


def test_gradients() -> None:
    below = CNeuronConvOCL(window=4, step=2, window_out=3, activation="TANH")
    gradcheck([below, CNeuronTransposeOCL()], (6, 2))


def test_rows_become_columns(device: Device) -> None:
    x = np.random.default_rng(0).standard_normal((3, 5, 7)).astype(np.float32)
    net = CNet(input_shape=(5, 7), layers=[CNeuronTransposeOCL()], batch=2).build(device)
    np.testing.assert_array_equal(net.predict(x), x.transpose(0, 2, 1))


def test_a_line_is_refused() -> None:
    with pytest.raises(ShapeError, match=r"a sample has shape \[7\], expected \[count, window\]"):
        CNeuronTransposeOCL().output_shape((7,))
