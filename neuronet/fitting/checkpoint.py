"""Checkpoints: a model file that also holds what resuming needs.

Its model is the best epoch; under ``training/last`` lie the latest weights, state and moments.
"""

from __future__ import annotations

from typing import Any

from neuronet.device.base import Device
from neuronet.errors import FileFormatError
from neuronet.fitting.state import TrainingState
from neuronet.net import CNet
from neuronet.storage.model import ModelFile

LAST = "training/last/"


def to_file(net: CNet, state: TrainingState, bars: dict[str, Any]) -> ModelFile:
    """What to save: the best weights as the model, the latest ones for resuming."""
    latest = state.last or net.arrays()
    best = state.best or latest
    arrays = dict(best)
    if state.best:
        arrays |= {LAST + name: values for name, values in latest.items()}
    return ModelFile(spec=net.spec(), arrays=arrays, training=state.document(), bars=bars)


def from_file(model: ModelFile, device: Device, *, where: str = "model file") -> tuple[CNet, TrainingState]:
    """The net with its latest weights, and the state to give to ``fit``."""
    if not model.training:
        raise FileFormatError("holds no training to resume", where=where, fix="train without --resume")
    best = {name: values for name, values in model.arrays.items() if not name.startswith("training/")}
    latest = {name.removeprefix(LAST): v for name, v in model.arrays.items() if name.startswith(LAST)}
    net = CNet.from_spec(model.spec).build(device)
    net.set_arrays(latest or best, where)
    return net, TrainingState.from_document(model.training, best if latest else {})
