"""Errata E9, E12 and D10: what the published optimisers do to weights behind the formula's back."""

from __future__ import annotations

import numpy as np
import pytest

from neuronet.device.array import DeviceArray
from neuronet.device.base import Device
from neuronet.ops import adam, conv, sgd
from neuronet.optim.adam import Adam
from neuronet.optim.sgd import SGD


def _hyper(device: Device, optimizer: Adam | SGD, go: float = 1.0) -> DeviceArray:
    return device.put(np.r_[optimizer.rates(0), go])


def test_e9_adam_does_not_clamp_weights(device: Device, exact: Device) -> None:
    """Published: MAX_WEIGHT = 1e-3 turns (0.3, -0.2) into (0.001, -0.001) at the first step."""
    for d in (device, exact):
        w, g = d.put(np.array([0.3, -0.2])), d.put(np.array([1.0, 1.0]))
        adam.step(w, g, d.array((2,)), d.array((2,)), _hyper(d, Adam(lr=1e-3)))
        np.testing.assert_allclose(w.read(), [0.299, -0.201], rtol=1e-5)


def test_e12_one_bad_gradient_freezes_no_weight(device: Device, exact: Device) -> None:
    """Published: NaN enters dw and stays, so that good gradients change nothing any more.

    Here a loss that is not finite stops the update (hyper[8] = 0), and dw stays what it was.
    """
    for d in (device, exact):
        w, g, m = d.put(np.array([0.5])), d.put(np.array([np.nan])), d.array((1,))
        sgd.step(w, g, m, _hyper(d, SGD(lr=0.1), go=0.0))
        assert (w.read().item(), g.read().item(), m.read().item()) == (0.5, 0.0, 0.0)
        g.write([2.0])
        sgd.step(w, g, m, _hyper(d, SGD(lr=0.1)))
        assert w.read().item() == pytest.approx(0.3)


@pytest.mark.parametrize("size", [1.0, 1e-3, 1e-5])
def test_d10_a_first_adam_step_has_the_size_of_the_rate(device: Device, exact: Device, size: float) -> None:
    """Published, convolution: v >= 1e-6, so a gradient of 1e-5 moves a weight by a hundredth of the rate."""
    for d in (device, exact):
        hyper = _hyper(d, Adam(lr=1e-2, eps=1e-12))
        w, b = d.array((1, 1, 2)), d.array((1, 1))
        moments = [d.array(a.shape) for a in (w, w, b, b)]
        x, dz = d.put(np.array([[[1.0, -1.0, 1.0]]])), d.put(size * np.array([2.0, 1.0]).reshape(1, 1, 2, 1))
        conv.update(x, dz, w, b, *moments, hyper, step=1)
        np.testing.assert_allclose(w.read().ravel(), [-1e-2, 1e-2], rtol=1e-3)
        np.testing.assert_allclose(b.read().ravel(), [-1e-2], rtol=1e-3)
