from __future__ import annotations

import numpy as np
import pytest

from neuronet.device.base import Device
from neuronet.errors import ShapeError, SpecError
from neuronet.layers.conv import CNeuronConvOCL
from neuronet.layers.last_units import CNeuronLastUnitsOCL
from neuronet.net import CNet
from neuronet.testing.gradcheck import gradcheck


@pytest.mark.parametrize("count", [1, 2, 3])
def test_gradients(count: int) -> None:
    below = CNeuronConvOCL(window=4, step=4, window_out=5, activation="TANH")
    gradcheck([below, CNeuronLastUnitsOCL(units_count=count)], (3, 4), rows=2)


@pytest.mark.parametrize("count", [1, 4, 7])
def test_the_newest_units_pass(device: Device, count: int) -> None:
    x = np.random.default_rng(0).standard_normal((3, 7, 5)).astype(np.float32)
    net = CNet(input_shape=(7, 5), layers=[CNeuronLastUnitsOCL(units_count=count)], batch=2).build(device)
    np.testing.assert_array_equal(net.predict(x), x[:, -count:])


def test_impossible_counts_are_refused() -> None:
    with pytest.raises(ShapeError, match=r"input \[3, 2\] has no 4 units"):
        CNeuronLastUnitsOCL(units_count=4).output_shape((3, 2))
    with pytest.raises(SpecError, match="units_count=0 is not positive"):
        CNeuronLastUnitsOCL(units_count=0).output_shape((3, 2))
