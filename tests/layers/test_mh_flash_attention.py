from __future__ import annotations

import numpy as np
import pytest

from neuronet.device.base import Device
from neuronet.device.numpy import NumpyDevice
from neuronet.errors import ShapeError, SpecError
from neuronet.layers.conv import CNeuronConvOCL
from neuronet.layers.mh_flash_attention import CNeuronMHFlashAttentionOCL
from neuronet.net import CNet
from neuronet.testing.gradcheck import gradcheck

HEADS, DIMENSION = 4, 3


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("heads_kv", [None, 2, 1])
def test_gradients_of_self_attention(heads_kv: int | None, causal: bool) -> None:
    below = CNeuronConvOCL(window=2, step=2, window_out=3, activation="TANH")
    attention = CNeuronMHFlashAttentionOCL(heads=4, dimension=2, heads_kv=heads_kv, causal=causal)
    gradcheck([below, attention], (5, 2), rows=2)


@pytest.mark.parametrize("causal", [False, True])
def test_gradients_of_cross_attention(causal: bool) -> None:
    attention = CNeuronMHFlashAttentionOCL(heads=2, dimension=2, heads_kv=1, causal=causal, cross=True)
    gradcheck([attention], (3, 4), second_shape=(6, 2), rows=2)


def plain(x: np.ndarray, kv: np.ndarray, net: CNet, heads_kv: int, *, causal: bool) -> np.ndarray:
    """The same in one line a head, from the layer's weights."""
    arrays = [p.value.read().astype(np.float64) for p in net.pool.parameters]
    inner, each = HEADS * DIMENSION, heads_kv * DIMENSION
    if len(arrays) == 4:  # q, k and v in one layer
        w_q, w_kv = arrays[0][0, :inner], arrays[0][0, inner:]
        b_q, b_kv = arrays[1][0, :inner], arrays[1][0, inner:]
    else:
        w_q, b_q, w_kv, b_kv = (a[0] for a in arrays[:4])
    q = x @ w_q.T + b_q
    k, v = np.split(kv @ w_kv.T + b_kv, [each], axis=-1)
    found = np.empty((*x.shape[:2], inner))
    for h in range(HEADS):
        of, to = slice(h * DIMENSION, (h + 1) * DIMENSION), h * heads_kv // HEADS * DIMENSION
        s = q[..., of] @ k[..., to : to + DIMENSION].swapaxes(1, 2) / np.sqrt(DIMENSION)
        if causal:
            later = kv.shape[1] - x.shape[1]
            s = np.where(np.arange(kv.shape[1]) <= np.arange(x.shape[1])[:, None] + later, s, -np.inf)
        p = np.exp(s - s.max(axis=-1, keepdims=True))
        found[..., of] = p / p.sum(axis=-1, keepdims=True) @ v[..., to : to + DIMENSION]
    return np.asarray(found @ arrays[-2][0].T + arrays[-1].ravel())


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("heads_kv", [4, 2])
def test_output_is_plain_attention(device: Device, heads_kv: int, causal: bool) -> None:
    rng = np.random.default_rng(0)
    x, kv = rng.standard_normal((2, 19, 5)), rng.standard_normal((2, 37, 2))
    how = {"heads": HEADS, "dimension": DIMENSION, "heads_kv": heads_kv, "causal": causal}
    alone = CNet(input_shape=(19, 5), layers=[CNeuronMHFlashAttentionOCL(**how)], batch=2)  # type: ignore[arg-type]
    cross = CNet(
        input_shape=(19, 5),
        second_shape=(37, 2),
        layers=[CNeuronMHFlashAttentionOCL(**how, cross=True)],  # type: ignore[arg-type]
        batch=2,
    )
    for net, seen in ((alone, x), (cross, kv)):
        net.build(device, seed=3)
        given = (x,) if seen is x else (x, kv)
        expected = plain(x, seen, net, heads_kv, causal=causal)
        np.testing.assert_allclose(net.predict(*given), expected, rtol=1e-5, atol=1e-5)


def test_impossible_declarations_are_refused(exact: NumpyDevice) -> None:
    for layer, shape, second, error, fix in (
        (CNeuronMHFlashAttentionOCL(heads=4, dimension=2, heads_kv=3), (4, 3), None, SpecError, "a divisor"),
        (CNeuronMHFlashAttentionOCL(heads=0, dimension=2), (4, 3), None, SpecError, "heads >= 1"),
        (CNeuronMHFlashAttentionOCL(heads=2, dimension=2), (12,), None, ShapeError, "two axes"),
        (CNeuronMHFlashAttentionOCL(heads=2, dimension=2, cross=True), (4, 3), (6,), ShapeError, "cross out"),
    ):
        with pytest.raises(error, match=fix):
            CNet(input_shape=shape, second_shape=second, layers=[layer]).build(exact)
