from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from neuronet.device.base import Device
from neuronet.device.numpy import NumpyDevice
from neuronet.errors import ShapeError, SpecError
from neuronet.layers.multi_windows_conv import CNeuronMultiWindowsConvOCL
from neuronet.net import CNet
from neuronet.testing.gradcheck import gradcheck


@pytest.mark.parametrize("windows", [(1,), (2,), (3, 5), (5, 3), (1, 3, 5, 7)])
@pytest.mark.parametrize("variables", [1, 3])
def test_gradients(windows: tuple[int, ...], variables: int) -> None:
    layer = CNeuronMultiWindowsConvOCL(windows=windows, window_out=2, variables=variables)
    gradcheck([layer], (variables, 2 * sum(windows)), batch=2)


def test_each_window_sees_its_own_block(device: Device) -> None:
    layer = CNeuronMultiWindowsConvOCL(windows=(1, 3), window_out=2, variables=2, activation="NONE")
    net = CNet(input_shape=(2, 3, 4), layers=[layer], batch=5).build(device)
    assert net.output_shape == (2, 3, 4)
    x, w, b = (
        np.random.default_rng(0).standard_normal((5, 2, 3, 4)),
        layer.w.value.read(),
        layer.b.value.read(),
    )
    expected = np.concatenate([x[..., :1] @ w[:1] + b[0], x[..., 1:] @ w[1:] + b[1]], -1)
    np.testing.assert_allclose(net.predict(x), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("windows", [(), (3, 0), (2.5,), (True,), 3])
def test_windows_that_make_no_sense_are_refused(exact: NumpyDevice, windows: Any) -> None:
    layer = CNeuronMultiWindowsConvOCL(windows=windows, window_out=2)
    with pytest.raises(SpecError, match="are not positive whole numbers"):
        CNet(input_shape=(8,), layers=[layer]).build(exact)


@pytest.mark.parametrize("field", ["window_out", "variables"])
def test_fields_that_are_not_positive_are_refused(exact: NumpyDevice, field: str) -> None:
    layer = CNeuronMultiWindowsConvOCL(**{"windows": (2,), "window_out": 2, field: 0})
    with pytest.raises(SpecError, match=f"{field}=0 is not positive"):
        CNet(input_shape=(8,), layers=[layer]).build(exact)


def test_inputs_that_do_not_divide_are_refused(exact: NumpyDevice) -> None:
    for variables, what in ((3, "8 values per sample do not divide into 3"), (1, "8 values per variable do")):
        layer = CNeuronMultiWindowsConvOCL(windows=(2, 3), window_out=2, variables=variables)
        with pytest.raises(ShapeError, match=what):
            CNet(input_shape=(8,), layers=[layer]).build(exact)
