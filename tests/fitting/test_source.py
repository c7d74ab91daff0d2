"""Source and Feed: units that stand behind each window."""

from __future__ import annotations

import re

import numpy as np
import pytest

import neuronet as nn
from neuronet.device.base import Device
from neuronet.device.numpy import NumpyDevice
from neuronet.errors import DataError, ShapeError
from neuronet.fitting.fit import fit, predict_source
from neuronet.fitting.source import Feed, Source
from neuronet.net import CNet

RNG = np.random.default_rng(0)
ROWS, SECOND, BEHIND = RNG.standard_normal((40, 3)), RNG.random((40, 2)), RNG.standard_normal((40, 2, 3))
STARTS, HISTORY = np.array([5, 0, 30, 7, 33]), 6


def samples() -> tuple[np.ndarray, np.ndarray]:
    """Each window with the two units of its last row behind it, and their second inputs."""
    last = STARTS + HISTORY - 1
    windows = [np.concatenate([ROWS[s : t + 1], BEHIND[t]]) for s, t in zip(STARTS, last, strict=True)]
    second = [SECOND[[*range(s, t + 1), t, t]] for s, t in zip(STARTS, last, strict=True)]
    return np.stack(windows), np.stack(second)


def net_of(device: Device, units: int = HISTORY + 2) -> CNet:
    """Every value of both inputs reaches the output."""
    layers = [nn.CNeuronTSPositionEncoder(periods=(60, 3_600), freqs=1), nn.CNeuronDenseOCL(neurons=3)]
    net = CNet(input_shape=(units, 3), second_shape=(units, 2), layers=layers, batch=2, loss="mse")
    return net.build(device, seed=1)


def test_units_behind_windows_reach_the_net(device: Device) -> None:
    net, source = net_of(device), Source.windows(ROWS, None, STARTS, HISTORY, SECOND, BEHIND)
    wanted = net.predict(*samples())
    np.testing.assert_allclose(predict_source(net, source), wanted, rtol=1e-6, atol=1e-6)


def test_training_and_validation_have_them_too(exact: NumpyDevice) -> None:
    """The same weights as from ready samples, in the same order."""
    targets = RNG.standard_normal((40, 3))
    source = Source.windows(ROWS, targets, STARTS, HISTORY, SECOND, BEHIND)
    x, second = samples()
    ready = Source.arrays(x, targets[STARTS + HISTORY - 1], second)
    results = []
    for given in (source, ready):
        net = net_of(exact)
        state = fit(net, given, epochs=3, validation=given, patience=None)
        results.append(np.concatenate([[h["validation"] for h in state.history], net.pool.values.read()]))
    np.testing.assert_allclose(*results, rtol=1e-10)


def test_what_does_not_fit_is_named(exact: NumpyDevice) -> None:
    def windows(behind: np.ndarray) -> Source:
        return Source.windows(ROWS, None, STARTS, HISTORY, SECOND, behind)

    with pytest.raises(
        ShapeError, match=re.escape("behind windows have shape (40, 2, 4), expected [bars, n, 3]")
    ):
        windows(RNG.standard_normal((40, 2, 4)))
    with pytest.raises(ShapeError, match="samples use 39 rows, behind has 38"):
        windows(BEHIND[:38])
    with pytest.raises(ShapeError, match=re.escape("samples are 8 x 3 values, the net takes [7, 3]")):
        Feed(net_of(exact, 7), windows(BEHIND), "data")
    broken = BEHIND.copy()
    broken[[4, 37, 39]] = np.nan  # no window ends there
    windows(broken).check_finite("data")
    broken[38, 1, 2] = np.nan
    with pytest.raises(DataError, match="data: behind row 38 holds a value that is not finite"):
        windows(broken).check_finite("data")
