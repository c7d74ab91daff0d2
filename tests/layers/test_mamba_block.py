from __future__ import annotations

import numpy as np
import pytest

from neuronet.device.base import Device
from neuronet.device.numpy import NumpyDevice
from neuronet.errors import ShapeError
from neuronet.layers.mamba import CNeuronMambaOCL
from neuronet.layers.mamba_block import CNeuronMambaBlockOCL
from neuronet.net import CNet
from neuronet.testing.gradcheck import gradcheck


def block() -> CNeuronMambaBlockOCL:
    return CNeuronMambaBlockOCL(window_key=6, heads=2, state_size=2)


def test_gradients_through_two_blocks() -> None:
    gradcheck([block(), block()], (3, 3), batch=2)


def test_output_is_that_of_its_parts(exact: NumpyDevice) -> None:
    layer = block()
    net = CNet(input_shape=(4, 3), layers=[layer], batch=2).build(exact, seed=3)
    for p in net.pool.parameters:
        p.value.write(p.value.read() + 0.1)
    w = {p.name: p.value.read() for p in layer.parameters}
    alone = CNeuronMambaOCL(window_key=6, heads=2, state_size=2)
    inside = CNet(input_shape=(4, 3), layers=[alone], batch=2).build(exact)
    for p in alone.parameters:
        p.value.write(w[f"mamba/{p.name}"])

    def norm(index: int, x: np.ndarray) -> np.ndarray:
        nx = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5)
        return w[f"norm{index}/gamma"] * nx + w[f"norm{index}/beta"]

    x = np.random.default_rng(0).standard_normal((2, 4, 3))
    middle = x + inside.predict(norm(0, x))
    z = norm(1, middle) @ w["ff0/w"][0].T + w["ff0/b"][0]
    expected = middle + np.where(z < 0, 0.01 * z, z) @ w["ff1/w"][0].T + w["ff1/b"][0]
    np.testing.assert_allclose(net.predict(x), expected, rtol=1e-10)


def test_streaming_equals_the_full_pass(device: Device) -> None:
    full = CNet(input_shape=(66, 3), layers=[block(), block()], batch=2).build(device, seed=1)
    live = CNet(input_shape=(1, 3), layers=[block(), block()], batch=2).build(device)
    live.set_arrays(full.arrays())
    x, found = np.random.default_rng(0).standard_normal((2, 66, 3)), []
    for t in range(66):
        live.input.output.write(x[:, t : t + 1])
        for prev, layer in live.pairs:
            layer.stream(prev)  # type: ignore[attr-defined]
        found.append(live.getResults())
    np.testing.assert_allclose(np.concatenate(found, axis=1), full.predict(x), rtol=0, atol=1e-5)


def test_a_flat_input_is_refused(exact: NumpyDevice) -> None:
    with pytest.raises(ShapeError, match="is not \\[units, window\\]"):
        CNet(input_shape=(12,), layers=[block()]).build(exact)
