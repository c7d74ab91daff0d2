"""From bars to an evaluated forecast in Python: what ``neuronet train`` does, step by step."""

from pathlib import Path

import numpy as np

import neuronet as nn

HISTORY, HORIZON = 120, 12
bars = nn.read_bars(Path(__file__).parent / "data" / "SYNTH_H1.csv")
features = nn.make_features(bars, ["returns"])  # row t knows nothing later than the close of bar t
targets = nn.forecast_targets(bars, HORIZON)  # log(close[t+k] / close[t]), k = 1..12
starts = nn.window_starts(bars, history=HISTORY, horizon=HORIZON, warmup=features.warmup)
part = nn.split_by_time(starts, bars.time, history=HISTORY, horizon=HORIZON)

seen = slice(features.warmup, part.train[-1] + HISTORY)  # scalers know the train part only
rows = nn.Scaler.fit(features.values[seen], features.names).transform(features.values)
scale = targets[seen].std()
train, validation, test = (
    nn.Source.windows(rows, targets / scale, s, HISTORY) for s in (part.train, part.validation, part.test)
)

net = nn.CNet(
    input_shape=(HISTORY, len(features.names)),
    layers=[
        nn.CNeuronConvOCL(window=20, step=20, window_out=8, activation="TANH"),  # 4 bars of 5 features
        nn.CNeuronConvOCL(window=40, step=40, window_out=8, activation="TANH"),
        nn.CNeuronDenseOCL(neurons=HORIZON),
    ],
    batch=64,
    optimizer=nn.Adam(lr=3e-4, l2=0.1),
).build(nn.find_device(), seed=0)
state = nn.fit(net, train, validation=validation, epochs=20, patience=5)
net.save("forecast.h5")

truth = targets[part.test + HISTORY - 1]
error = nn.predict_source(net, test) * scale - truth
print(f"best epoch {state.best_epoch}, {len(part.test):,} test windows")
rmse = {"model": error, "last value": truth}
print("RMSE", ", ".join(f"{name} {1e4 * np.sqrt(np.mean(e**2)):.2f} bp" for name, e in rmse.items()))
