"""Model files of study: encoder and actor as one net of the task policy, and beside it all that learns on.

So 'predict', 'backtest', 'evaluate' and 'collect --actor' read them as any other model.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neuronet.bars.scaling import Scaler
from neuronet.device.base import Device
from neuronet.errors import FileFormatError
from neuronet.net import CNet
from neuronet.storage.hdf5 import read_model, write_model
from neuronet.storage.model import ModelFile
from neuronet.study.networks import Networks, forecaster
from neuronet.study.settings import StudySettings
from neuronet.train.contract import Contract

Array = NDArray[Any]
FRONT = "training/study/"


@dataclass(frozen=True, eq=False)
class Units:
    """How numbers of the market become numbers for the nets, found on the training part.

    state     scaler of account and time, [16]; forecast: of the returns of each step ahead
    unit      share of the stake that is a reward of 1
    gain      mean and standard deviation of the gains that weigh imitation
    lots      volume of a position of 1 in the experience
    """

    state: Scaler
    forecast: Scaler
    unit: float
    gain: tuple[float, float]
    lots: float

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON data; ``from_dict`` gives it back."""
        scalers = {"state": self.state.to_dict(), "forecast": self.forecast.to_dict()}
        return {**scalers, "unit": self.unit, "gain": list(self.gain), "lots": self.lots}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Units:
        mean, deviation = data["gain"]
        state, forecast = (Scaler.from_dict(data[name]) for name in ("state", "forecast"))
        return cls(state, forecast, data["unit"], (mean, deviation), data["lots"])


@dataclass(eq=False)
class Studied:
    """What a file of study holds. ``progress`` is JSON data and arrays of the program that wrote it last."""

    networks: Networks
    contract: Contract
    units: Units
    progress: dict[str, Any]
    arrays: dict[str, Array]

    def write(self, path: str | Path) -> None:
        """Write the file: whole, or not at all."""
        net = joined(self.networks)
        arrays = {k: v for k, v in net.arrays().items() if not k.startswith("optimizer/")}
        arrays |= {FRONT + name: array for name, array in self.networks.arrays().items()}
        arrays |= {f"training/progress/{name}": array for name, array in self.arrays.items()}
        document = {
            "program": "study",
            "study": self.networks.settings.to_dict(),
            "units": self.units.to_dict(),
            "progress": self.progress,
        }
        write_model(path, ModelFile(net.spec(), arrays, document, self.contract.to_dict()))

    @classmethod
    def read(cls, path: str | Path, device: Device) -> Studied:
        """The nets of a file, on ``device``. FileFormatError when another program wrote it."""
        return cls.of(read_model(path), device, str(path))

    @classmethod
    def of(cls, file: ModelFile, device: Device, where: str) -> Studied:
        """The same of a file that has been read."""
        document = file.training
        if document.get("program") != "study":
            raise FileFormatError(
                "holds no actor that learns", where=where, fix="give a file that 'neuronet study' wrote"
            )
        settings = StudySettings.from_dict(document["study"])
        body = CNet.from_spec({**file.spec, "layers": file.spec["layers"][:-2], "loss": None}).build(device)
        body.set_arrays({k: v for k, v in file.arrays.items() if not k.startswith("training/")}, where)
        body.TrainMode(False)
        head = forecaster(int(np.prod(body.output_shape)), settings).build(device)
        networks = Networks(body, head, settings, device)
        networks.set_arrays(_under(FRONT, file.arrays), where)
        contract, units = Contract.from_dict(file.bars, where), Units.from_dict(document["units"])
        kept = _under("training/progress/", file.arrays)
        return cls(networks, contract, units, document["progress"], kept)


def joined(networks: Networks) -> CNet:
    """Encoder and actor as one net, built on their device: windows in, z out."""
    encoder, actor = networks.encoder, networks.actor
    layers = [layer.spec() for layer in (*encoder.layers, *actor.layers)]
    net = CNet.from_spec({**encoder.spec(), "layers": layers, "loss": "policy"}).build(networks.device)
    arrays = {k: v for k, v in encoder.arrays().items() if not k.startswith("optimizer/")}
    for path, array in actor.arrays().items():
        kind, index, *rest = path.split("/")
        if kind == "parameters":
            arrays["/".join([kind, str(int(index) + len(encoder.layers)), *rest])] = array
    net.set_arrays(arrays)
    net.TrainMode(False)
    return net


def _under(front: str, arrays: dict[str, Array]) -> dict[str, Array]:
    return {name.removeprefix(front): array for name, array in arrays.items() if name.startswith(front)}
