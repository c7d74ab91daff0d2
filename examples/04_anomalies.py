"""Two symbols whose correlation breaks: found by a net that has seen normal bars only, without labels.

The series are made up, and each alone looks as ever. The same with files: ``neuronet train EURUSD.csv
GBPUSD.csv --model catch -o model.h5`` and ``neuronet anomalies model.h5 EURUSD.csv GBPUSD.csv``.
"""

import os

import numpy as np

import neuronet as nn
from neuronet.anomaly.alarms import alarms_csv, find_alarms
from neuronet.anomaly.baselines import WindowPca
from neuronet.anomaly.metrics import auc_roc
from neuronet.anomaly.scores import total
from neuronet.anomaly.synthetic import make_planted

FAST = "NEURONET_EXAMPLE_FAST" in os.environ
TRAIN, TEST = (3_000, 1_500) if FAST else (10_000, 2_000)

made = make_planted(TRAIN + TEST, seed=3, clean=TRAIN)  # hourly; four breaks of 48 hours in the test part
train, test = made.returns[:TRAIN], made.returns[TRAIN:]  # [hours, symbols]
labels, times = made.labels[TRAIN:], made.times[TRAIN:]

model = nn.models.Catch.for_changes()  # nn.models.Catch() for sensors and other levels
state = model.fit(train, epochs=12 if FAST else 24, lr=3e-3, device=nn.find_device(), seed=0)
model.save("anomalies.h5")

scores = model.score(test)  # one an hour; windows side by side, as when they stream in
smooth = model.score(test, stride=4)  # the mean of overlapping windows
found = {"net": scores, "net, overlapping": smooth}
found["PCA of both"] = total(WindowPca.fit(train, components=32).scores(test))
found["PCA of one"] = total(WindowPca.fit(train[:, :1]).scores(test[:, :1]))
for name, values in found.items():
    print(f"{name:17} AUC-ROC {auc_roc(values, labels):.3f}")

threshold = model.threshold(rate=0.01)  # from hours of the train part that were held back
print(f"threshold {threshold.describe()}")
alarms = find_alarms(model.contributions(test), threshold.value, times, made.names, join=12)
print("".join(alarms_csv(alarms)), end="")
inside = sum(labels[a.first : a.last + 1].any() for a in alarms)
print(f"{inside} of {len(alarms)} alarms are in a break; {np.mean(scores[~labels] > threshold.value):.2%} of")
print("the normal hours are above the threshold")
