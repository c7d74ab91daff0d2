"""A linear forecaster of the LTSF papers on ETTh1: history 336, horizon 96, every test window scored.

    python 03_etth1_linear.py ETTh1.csv

The file is the public ETT-small/ETTh1.csv (zhouhaoyi/ETDataset). The published NLinear reaches a test MSE of
0.374, DLinear 0.375 (Zeng et al., AAAI 2023); repeating the last value gives 1.294. Without a file, a made-up
series of the same shape shows the same code.
"""

import sys

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
    day = np.sin(2 * np.pi * (hours / 24 + rng.random(7)))
    return (
        3 * day + rng.standard_normal((len(hours), 7)).cumsum(axis=0) * 0.05 + rng.standard_normal(day.shape)
    )


def windows(rows: np.ndarray, first: int, last: int) -> nn.Source:
    """Samples whose forecasts lie in rows [first, last); their histories may begin before."""
    ahead = np.stack([rows[k : len(rows) - HORIZON + k] for k in range(1, HORIZON + 1)], axis=1)
    starts = np.arange(max(first - HISTORY, 0), last - HISTORY - HORIZON + 1)
    return nn.Source.windows(rows, ahead, starts, HISTORY)


rows = series()
rows = (rows - rows[:TRAIN].mean(0)) / rows[:TRAIN].std(0)  # scaled by the train part only
ends = np.cumsum([0, TRAIN, VALIDATION, TEST])
train, validation, test = (windows(rows, a, b) for a, b in zip(ends[:-1], ends[1:], strict=True))

channels = rows.shape[1]
net = nn.CNet(
    input_shape=(HISTORY, channels),
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

errors = nn.predict_source(net, test) - np.stack([rows[s + HISTORY :][:HORIZON] for s in test.starts])
last = np.stack([rows[s + HISTORY - 1] - rows[s + HISTORY :][:HORIZON] for s in test.starts])
print(f"{len(test):,} windows of the test part")
print(f"linear        MSE {np.mean(errors**2):.3f}  MAE {np.mean(np.abs(errors)):.3f}")
print(f"repeat last   MSE {np.mean(last**2):.3f}  MAE {np.mean(np.abs(last)):.3f}")
