"""CNeuronMaskAttentionComplex: what a mask closes has no effect, and heads share keys."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import neuronet as nn
from neuronet.device.base import Device
from neuronet.device.numpy import NumpyDevice
from neuronet.errors import ShapeError, SpecError
from neuronet.layers import CNeuronMaskAttentionComplex

CHANNELS, PATCHES, WIDTH = 4, 2, 6


def net_of(device: Device, **changes: Any) -> nn.CNet:
    fields = {"channels": CHANNELS, "heads": 2, "dimension": 2} | changes
    shape, second = (PATCHES * CHANNELS, WIDTH), (PATCHES, CHANNELS, CHANNELS)
    body = CNeuronMaskAttentionComplex(**fields)
    net = nn.CNet(input_shape=shape, layers=[body], batch=3, second_shape=second)
    return net.build(device, seed=1)


def inputs() -> np.ndarray:
    return np.random.default_rng(0).standard_normal((3, PATCHES * CHANNELS, WIDTH)).astype(np.float32)


def mask(value: float) -> np.ndarray:
    return np.full((3, PATCHES, CHANNELS, CHANNELS), value, np.float32)


def test_a_closed_channel_has_no_effect_in_hard_mode(device: Device) -> None:
    net, x, closed = net_of(device), inputs(), mask(1.0)
    closed[:, :, :3, 3] = 0.0  # nobody may look at channel 3 but itself
    before = net.predict(x, closed).reshape(3, PATCHES, CHANNELS, WIDTH)
    moved = x.reshape(3, PATCHES, CHANNELS, WIDTH).copy()
    moved[:, :, 3] += 5.0
    after = net.predict(moved.reshape(x.shape), closed).reshape(before.shape)
    np.testing.assert_array_equal(after[:, :, :3], before[:, :, :3])
    assert np.abs(after[:, :, 3] - before[:, :, 3]).min() > 0.0
    opened = net.predict(moved.reshape(x.shape), mask(1.0)).reshape(before.shape)
    assert np.abs(opened[:, :, :3] - before[:, :, :3]).max() > 1e-3


def test_the_reference_mask_leaks() -> None:
    """Closed logits are -ln(1e10) before the scaling: a weight of exp(-23 / sqrt(4)), not of 0."""
    x, closed = inputs(), mask(0.0)
    hard, leaking = (
        net_of(NumpyDevice(), mask_mode=mode).predict(x, closed) for mode in ("hard", "reference")
    )
    assert np.abs(hard - leaking).max() > 1e-7
    moved = x.copy()
    moved[:, 3] += 5.0
    assert (
        np.abs(net_of(NumpyDevice(), mask_mode="reference").predict(moved, closed) - leaking)[:, 0].max()
        > 0.0
    )


def test_patches_do_not_mix(device: Device) -> None:
    net, x = net_of(device), inputs()
    before = net.predict(x, mask(1.0))
    moved = x.copy()
    moved[:, CHANNELS:] += 1.0
    np.testing.assert_array_equal(net.predict(moved, mask(1.0))[:, :CHANNELS], before[:, :CHANNELS])


def test_alone_a_channel_is_its_own_value() -> None:
    """With a closed mask the attention of each channel is v of itself, whatever q and k."""
    net, x = net_of(NumpyDevice(np.float64)), inputs().astype(np.float64)
    net.feedForward(x, mask(0.0).astype(np.float64))
    body = net.layers[0]
    assert isinstance(body, CNeuronMaskAttentionComplex)
    qkv = body.qkv.output.read().reshape(3, PATCHES * CHANNELS, 6, 4)  # 2 heads of q, 2 of k, 2 of v
    np.testing.assert_allclose(
        body.attention.output.read(), qkv[:, :, 4:].reshape(3, PATCHES * CHANNELS, 8), rtol=1e-9
    )


def test_heads_share_keys_and_have_fewer_weights() -> None:
    counts = {kv: net_of(NumpyDevice(), heads=4, heads_kv=kv).pool.count for kv in (1, 2, 4)}
    per_head = 2 * (2 * 2) * (WIDTH + 1)  # a key and a value of 2 complex numbers
    assert counts[2] - counts[1] == per_head
    assert counts[4] - counts[2] == 2 * per_head


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"channels": 3}, ShapeError, r"input \[8, 6\] is not \[patches \* 3 channels, width\]"),
        ({"channels": 2}, ShapeError, r"the second input is \(2, 4, 4\), expected \(4, 2, 2\)"),
        ({"heads": 0}, SpecError, "heads=0 is not positive"),
        ({"heads_kv": 0}, SpecError, "heads_kv=0 for 2 heads"),
        ({"mask_mode": "none"}, SpecError, r"mask_mode='none'\nFix: choose hard or reference"),
        ({"temperature": 0.0}, SpecError, "temperature=0.0"),
        ({"correlation": -1.0}, SpecError, "correlation=-1.0"),
    ],
)
def test_what_cannot_be_is_refused(changes: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        net_of(NumpyDevice(), **changes)


def test_a_second_input_is_needed() -> None:
    body = CNeuronMaskAttentionComplex(channels=4, heads=1, dimension=1)
    with pytest.raises(SpecError, match="takes a second input, the net has none"):
        nn.CNet(input_shape=(8, 6), layers=[body])
