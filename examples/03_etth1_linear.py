"""A linear forecaster of the LTSF papers on ETTh1: history 336, horizon 96, every test window scored.

    python 03_etth1_linear.py ETTh1.csv

The file is the public ETTh1.csv (zhouhaoyi/ETDataset). NLinear is published with a test MSE of 0.374, DLinear
with 0.375 (Zeng et al., AAAI 2023). Without a file, a made-up series runs through the same code.
"""

import sys
from itertools import pairwise

import numpy as np
import pandas as pd

import neuronet as nn

HISTORY, HORIZON = 336, 96
MONTH = 30 * 24 if len(sys.argv) > 1 else 200  # hours; the made-up series is shorter
TRAIN, VALIDATION, TEST = 12 * MONTH, 4 * MONTH, 4 * MONTH  # the split of the papers


def series() -> np.ndarray:
    if len(sys.argv) > 1:
        return pd.read_csv(sys.argv[1]).drop(columns="date").to_numpy(float)
    hours, rng = np.arange(TRAIN + VALIDATION + TEST)[:, None], np.random.default_rng(0)
    noise = rng.standard_normal((len(hours), 7))
    return 3 * np.sin(2 * np.pi * (hours / 24 + rng.random(7))) + noise + 0.05 * noise.cumsum(axis=0)


def windows(rows: np.ndarray, first: int, last: int) -> nn.Source:
    """Samples whose forecasts lie in rows [first, last); their histories may begin before."""
    ahead = np.stack([rows[k : len(rows) - HORIZON + k] for k in range(1, HORIZON + 1)], axis=1)
    starts = np.arange(max(first - HISTORY, 0), last - HISTORY - HORIZON + 1)
    return nn.Source.windows(rows, ahead, starts, HISTORY)


rows = series()
rows = (rows - rows[:TRAIN].mean(0)) / rows[:TRAIN].std(0)  # scaled by the train part only
ends = np.cumsum([0, TRAIN, VALIDATION, TEST])
train, validation, test = (windows(rows, a, b) for a, b in pairwise(ends))
net = nn.CNet(
    input_shape=(HISTORY, rows.shape[1]),
    layers=[
        nn.CNeuronRevINOCL(),  # each window by its own mean and deviation
        nn.CNeuronTransposeOCL(),  # [time, channels] -> [channels, time]
        nn.CNeuronConvOCL(window=HISTORY, step=HISTORY, window_out=HORIZON, activation="NONE"),
        nn.CNeuronTransposeOCL(),
        nn.CNeuronRevINDenormOCL(layers=0),  # back to the scale of the window
    ],
    batch=64,
    optimizer=nn.Adam(lr=1e-3),
).build(nn.find_device(), seed=0)
nn.fit(net, train, validation=validation, epochs=10, patience=3)

truth = np.stack([rows[s + HISTORY :][:HORIZON] for s in test.starts])
last = np.stack([rows[s + HISTORY - 1] for s in test.starts])[:, None]
for name, forecast in {"linear": nn.predict_source(net, test), "repeat last": last}.items():
    e = forecast - truth
    print(f"{name:12} MSE {np.mean(e**2):.3f}  MAE {np.mean(np.abs(e)):.3f}  ({len(e):,} windows)")
