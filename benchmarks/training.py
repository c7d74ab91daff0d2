"""What ``neuronet train --model`` trains by default on 50,000 hourly bars: the net, and its windows."""

from __future__ import annotations

import dataclasses
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from peers import EPS

import neuronet as nn
from neuronet.bars.synthetic import make_bars, write_mt5
from neuronet.fitting.source import Source
from neuronet.models.catch import HELD, MOST_STEPS, UPDATES
from neuronet.optim.bi_level import BiLevel
from neuronet.optim.schedules import WarmupCosine
from neuronet.series.read_channels import read_channels
from neuronet.train.channels_contract import ChannelSettings, test_rows
from neuronet.train.default_net import default_net
from neuronet.train.prepare import prepare
from neuronet.train.second_input import second_input
from neuronet.train.settings import Settings

BARS = 50_000
MODELS = ("conv", "mamba4cast", "dfft", "stca", "catch")
WARM, MASK_LR = 20, 1e-4  # of Catch.fit: a part of the steps, and the mask's rate


@dataclass(frozen=True)
class Work:
    """A net as declared, not built, with an optimiser whose eps lets results be compared; and its windows."""

    model: str
    net: nn.CNet
    source: Source

    @property
    def batches(self) -> int:
        """Steps of an epoch."""
        return -(-len(self.source) // self.net.batch)

    def weights(self) -> dict[str, np.ndarray]:
        """Initial values by layer and name, as building from seed 0 draws them."""
        self.net.build(nn.find_device("numpy"), seed=0)
        return initial(self.net)

    def samples(self, count: int) -> tuple[np.ndarray, np.ndarray | None, np.ndarray]:
        """Inputs, second inputs and targets of the first windows, [count, ...] each."""
        source = self.source
        at = source.starts[:count, None] + np.arange(source.history)
        x = source.rows[at]
        second = None if source.second is None else source.second[at]
        return x, second, x if source.targets is None else source.targets[at[:, -1]]

    def part(self, batches: int) -> Source:
        """So many batches' windows, spread over all."""
        starts = self.source.starts
        count = min(len(starts), batches * self.net.batch)
        return dataclasses.replace(self.source, starts=starts[:: len(starts) // count][:count])


def initial(net: nn.CNet) -> dict[str, np.ndarray]:
    """The values that a net was built with."""
    return {
        f"{i}/{p.name}": p.initial.astype(np.float32)
        for i, layer in enumerate(net.layers)
        for p in layer.parameters
    }


def work_of(model: str, *, drawn: bool = True, history: int | None = None) -> Work:
    """The default training of ``model``, or that with windows of ``history`` bars, not for catch.

    drawn  CATCH draws its mask and hides parts of patches, as in training
    """
    return _channels(drawn) if model == "catch" else _bars(model, history or Settings().history)


def _bars(model: str, history: int) -> Work:
    """All windows are for training: nothing is held back."""
    settings = Settings(model=model, history=history, validation=0.0, test=0.0)
    prepared = prepare(make_bars(BARS), settings)
    net = default_net(settings, len(prepared.features.names))
    optimizer: Any = net.optimizer
    net.optimizer = dataclasses.replace(optimizer, eps=EPS)
    prepared = dataclasses.replace(prepared, second=second_input(net, prepared.bars))
    return Work(model, net, prepared.source(prepared.split.train))


def _channels(drawn: bool) -> Work:
    """As Catch.fit: without the rows for tests and those held back, every second window."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "BARS_H1.csv"
        write_mt5(make_bars(BARS), path)
        channels = read_channels(path)
    settings = ChannelSettings().resolved(channels)
    model = settings.model()
    if not drawn:
        model = dataclasses.replace(model, hidden_share=0.0)
    rows = channels.values[: len(channels) - test_rows(channels, settings)]
    rows = rows[: len(rows) - int(HELD * len(rows))]
    rows = (rows - rows.mean(axis=0)) / rows.std(axis=0)
    starts = np.arange(0, len(rows) - model.context + 1, settings.stride, dtype=np.int32)
    batches, epochs, lr = -(-len(starts) // settings.batch), settings.epochs or 1, settings.lr or 1e-3
    steps = epochs * batches
    optimizer = BiLevel(
        lr=WarmupCosine(lr, steps // WARM, steps),
        slow_lr=MASK_LR,
        every=max(1, min(batches // UPDATES, MOST_STEPS)),
        eps=EPS,
    )
    net = model.declare(rows.shape[1], optimizer, batch=settings.batch)
    return Work("catch", net, Source(rows.astype(np.float32), starts, model.context, itself=True))


def hold_mask(net: nn.CNet) -> None:
    """Let a built CATCH choose its mask as in evaluation while all else trains."""
    body: Any = net.layers[1]
    mask = body.fusion.mask
    mask.TrainMode(False)
    mask.TrainMode = lambda flag: None
