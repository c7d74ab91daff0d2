"""CNeuronCATCH: half of a spectrum is enough, penalties by hand, heads, and what cannot be declared."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import neuronet as nn
from neuronet.device.base import Device
from neuronet.device.numpy import NumpyDevice
from neuronet.errors import ShapeError, SpecError
from neuronet.layers import CNeuronCATCH
from neuronet.layers.dropout import CNeuronDropoutOCL
from neuronet.ops import elementwise

SMALL: dict[str, Any] = {
    "window": 3, "step": 2, "width": 6, "hidden": 6, "heads": 2, "dimension": 2, "blocks": 2, "features": 4,
}  # fmt: skip
TIME, CHANNELS = 9, 3


def net_of(device: Device, *, batch: int = 4, seed: int = 0, **changes: Any) -> nn.CNet:
    body = CNeuronCATCH(**SMALL | changes)
    return nn.CNet(input_shape=(TIME, CHANNELS), layers=[body], batch=batch).build(device, seed=seed)


def exact() -> NumpyDevice:
    return NumpyDevice(np.float64)


def windows(n: int = 4, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((n, TIME, CHANNELS))


@pytest.mark.parametrize("time", [8, 9])
def test_the_half_spectrum_holds_the_whole_one(time: int) -> None:
    """The bins of a real window beyond time / 2 mirror the others."""
    x = np.random.default_rng(1).standard_normal((2, time, 2))
    seen = []
    for half in (True, False):
        body = CNeuronCATCH(**SMALL, half=half)
        net = nn.CNet(input_shape=(time, 2), layers=[body], batch=2).build(exact())
        net.feedForward(x)
        seen.append(body.seen.output.read())
    half, whole = (s[..., 0] + 1j * s[..., 1] for s in seen)
    np.testing.assert_allclose(half, np.fft.rfft(x.swapaxes(1, 2), axis=-1), atol=1e-12)
    np.testing.assert_allclose(whole, np.fft.fft(x.swapaxes(1, 2), axis=-1), atol=1e-12)
    bins = time // 2 + 1
    np.testing.assert_allclose(whole[..., :bins], half, atol=1e-12)
    np.testing.assert_allclose(
        whole[..., bins:], half[..., 1 : (time + 1) // 2].conj()[..., ::-1], atol=1e-12
    )


def test_heads_that_give_back_the_spectrum_give_back_the_window() -> None:
    """With the spectrum made replaced by the one seen and a merge of the identity, output = input."""
    net, x = net_of(exact()), windows()
    body = net.layers[0]
    assert isinstance(body, CNeuronCATCH)
    for p in body.merge.parameters:
        p.value.write(np.eye(TIME).reshape(p.shape) if p.value.size == TIME * TIME else np.zeros(p.shape))
    original = body.made.feedForward

    def copy(prev: Any, second: Any = None) -> None:
        original(prev)
        elementwise.copy(body.seen.output, body.made.output)

    body.made.feedForward = copy  # type: ignore[method-assign]
    net.feedForward(x)
    np.testing.assert_allclose(net.getResults(), x, atol=1e-12)


def test_the_penalty_by_hand() -> None:
    """frequency x mean |spectrum made - seen|, and the attentions' own parts."""
    net, x = net_of(exact(), frequency=0.3, correlation=0.0), windows()
    body = net.layers[0]
    assert isinstance(body, CNeuronCATCH)
    net.feedForward(x)
    apart = body.made.output.read() - body.seen.output.read()
    want = 0.3 * np.hypot(apart[..., 0], apart[..., 1]).reshape(4, -1).mean(axis=1)
    assert body.penalty is not None
    np.testing.assert_allclose(body.penalty.read(), want, rtol=1e-9)
    assert want.min() > 0.0

    with_both = net_of(exact(), frequency=0.3, correlation=0.2)
    both = with_both.layers[0]
    assert isinstance(both, CNeuronCATCH)
    with_both.feedForward(x)
    parts = [a.penalty.read() for a in both.fusion.attentions if a.penalty is not None]
    assert len(parts) == 2
    assert both.penalty is not None
    np.testing.assert_allclose(both.penalty.read() - sum(parts), want, rtol=1e-9)


def test_correlation_is_shared_by_the_blocks() -> None:
    weights = {
        blocks: [
            a.correlation for a in _body(net_of(exact(), blocks=blocks, correlation=0.6)).fusion.attentions
        ]
        for blocks in (1, 3)
    }
    assert weights[1] == [0.6]
    assert weights[3] == pytest.approx([0.2] * 3)


def _body(net: nn.CNet) -> CNeuronCATCH:
    body = net.layers[0]
    assert isinstance(body, CNeuronCATCH)
    return body


def test_residual_heads_by_hand() -> None:
    """u + ReLU(A u) three times, then a linear layer; the halves of features are re and im."""
    net, x = net_of(exact(), residual_heads=True), windows()
    body = _body(net)
    rng = np.random.default_rng(3)
    for p in net.pool.parameters:
        p.value.write(p.value.read() + 0.1 * rng.standard_normal(p.shape))
    net.feedForward(x)
    units = body.fusion.output.read()  # [batch, patches * channels, features]
    bins, features = TIME // 2 + 1, SMALL["features"]
    patches = units.shape[1] // CHANNELS
    u = units.reshape(4, patches, CHANNELS, 2, features // 2).transpose(0, 3, 2, 1, 4)
    u = u.reshape(4, 2, CHANNELS, -1)
    weights = [p.value.read() for p in body.made.head.parameters]
    assert len(weights) == 8
    for i, (w, b) in enumerate(zip(weights[::2], weights[1::2], strict=True)):
        outputs = bins if i == 3 else u.shape[-1]
        made = np.einsum("bvci,voi->bvco", u, w.reshape(2, outputs, -1)) + b.reshape(2, 1, outputs)
        u = made if i == 3 else u + np.maximum(made, 0.0)
    np.testing.assert_allclose(body.made.output.read(), u.transpose(0, 2, 3, 1), rtol=1e-9, atol=1e-12)


def test_training_hides_and_evaluation_shows(device: Device) -> None:
    net, x = net_of(device, hidden_share=0.5), windows().astype(np.float32)
    whole = net_of(device)
    whole.set_arrays(net.arrays())
    for one in (net, whole):
        one.TrainMode(False)
        one.feedForward(x)
    np.testing.assert_array_equal(net.getResults(), whole.getResults())
    body = _body(net)
    hide = body.fusion.links[0]
    assert isinstance(hide, CNeuronDropoutOCL)
    net.TrainMode(True)
    net.feedForward(x)
    units, shown = body.units.output.read(), hide.output.read()
    gone = shown == 0.0
    assert 0.35 < gone.mean() < 0.65
    np.testing.assert_allclose(shown[~gone], 2.0 * units[~gone], rtol=1e-6)
    np.testing.assert_array_equal(body.fusion.mask.z.read(), np.zeros_like(body.fusion.mask.z.read()))


def test_the_mask_opens_everything_before_it_has_learned(device: Device) -> None:
    net = net_of(device)
    net.TrainMode(False)
    net.feedForward(windows().astype(np.float32))
    np.testing.assert_array_equal(_body(net).fusion.mask.output.read(), 1.0)


def test_a_batch_of_one_is_the_same_as_among_others(device: Device) -> None:
    net, x = net_of(device), windows(11).astype(np.float32)
    together = net.predict(x)
    for i in (0, 4, 10):
        np.testing.assert_allclose(net.predict(x[i : i + 1])[0], together[i], rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"window": 6}, ShapeError, "window=6 is longer than the spectrum, 5 bins of 9 times"),
        ({"features": 3, "residual_heads": True}, SpecError, "features=3 is odd"),
        ({"width": 5, "complex_layers": True}, SpecError, "width=5 is odd"),
        ({"width": 1}, SpecError, "width=1 is below 2"),
        ({"evaluation": "often"}, SpecError, "evaluation='often' is unknown"),
        ({"frequency": -0.1}, SpecError, r"frequency=-0.1, .*\nFix: choose frequency from 0"),
        ({"probability": 1.0}, SpecError, "probability=1.0"),
        ({"hidden_share": -0.1}, SpecError, "hidden_share=-0.1"),
        ({"blocks": 0}, SpecError, "blocks=0 is not positive"),
        ({"heads_kv": 3}, SpecError, "heads_kv=3 for 2 heads"),
        ({"mask_mode": "soft"}, SpecError, "mask_mode='soft'"),
    ],
)
def test_what_cannot_be_is_refused(changes: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        net_of(NumpyDevice(), **changes)


def test_an_input_that_is_no_window_of_channels() -> None:
    net = nn.CNet(input_shape=(9,), layers=[CNeuronCATCH(**SMALL)])
    with pytest.raises(ShapeError, match=r"input \[9\] is not \[time, channels\]"):
        net.build(NumpyDevice())
