"""A linear forecaster from RevIN, transpose and convolution on an own series: it must find the seasons."""

from __future__ import annotations

import numpy as np

import neuronet as nn

HISTORY, HORIZON, CHANNELS, SPLIT = 96, 24, 3, 1200


def test_linear_net_learns_a_seasonal_series(device: nn.NumpyDevice) -> None:
    """Period-24 sines on random walks with noise of 0.3: the MSE's floor is 0.09 plus the walk's."""
    rng, t = np.random.default_rng(0), np.arange(1600)[:, None]
    walk = 0.02 * rng.standard_normal((1600, CHANNELS)).cumsum(axis=0)
    rows = np.sin(2 * np.pi * (t / 24 + rng.random(CHANNELS))) + walk + 0.3 * rng.standard_normal(walk.shape)
    ahead = np.stack([rows[k : len(rows) - HORIZON + k] for k in range(1, HORIZON + 1)], axis=1)
    starts = np.arange(len(rows) - HISTORY - HORIZON + 1)
    train, test = starts[: SPLIT - HISTORY - HORIZON], starts[SPLIT:]

    layers = [
        nn.CNeuronRevINOCL(),
        nn.CNeuronTransposeOCL(),
        nn.CNeuronConvOCL(window=HISTORY, step=HISTORY, window_out=HORIZON, activation="NONE"),
        nn.CNeuronTransposeOCL(),
        nn.CNeuronRevINDenormOCL(layers=0),
    ]
    net = nn.CNet(input_shape=(HISTORY, CHANNELS), layers=layers, batch=64, optimizer=nn.Adam(lr=3e-3)).build(
        device, seed=0
    )
    nn.fit(net, nn.Source.windows(rows, ahead, train, HISTORY), epochs=8)

    truth = ahead[test + HISTORY - 1]
    model = nn.predict_source(net, nn.Source.windows(rows, None, test, HISTORY))
    last = rows[test + HISTORY - 1][:, None]
    season = np.stack([rows[test + HISTORY - 24 + k] for k in range(HORIZON)], axis=1)
    mse = {
        n: float(np.mean((f - truth) ** 2)) for n, f in (("model", model), ("last", last), ("season", season))
    }
    assert mse["model"] < 0.15, mse
    assert mse["model"] < 0.75 * mse["season"] < mse["last"], mse
