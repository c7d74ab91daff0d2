"""Model: what the whole networks of the articles share: their net, and the file they are kept in."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable
from dataclasses import fields
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from neuronet.declared import check_fields, to_spec
from neuronet.device.base import Device
from neuronet.errors import DataError, FileFormatError, SpecError
from neuronet.net import CNet
from neuronet.storage.hdf5 import read_model, write_model
from neuronet.storage.model import ModelFile

Array = NDArray[Any]
LARGEST = float(np.finfo(np.float32).max)


class Model:
    """A declared network: its fields are its spec, its net exists once it is built, fitted or loaded."""

    written_by: ClassVar[str] = "its save()"  # what writes its files, for messages

    def __post_init__(self) -> None:
        check_fields(self)
        self._net: CNet | None = None
        self._answering: dict[Hashable, CNet] = {}  # see answering
        self._weights_of: tuple[CNet, int, int] | None = None

    @property
    def net(self) -> CNet:
        """The net, once built, fitted or loaded; SpecError before."""
        if self._net is None:
            name = type(self).__name__
            raise SpecError("has no weights yet", where=name, fix=f"call fit, or take {name}.load(path)")
        return self._net

    @net.setter
    def net(self, net: CNet) -> None:
        self._net = net

    def spec(self) -> dict[str, Any]:
        """The declaration as plain JSON data."""
        return to_spec(self)

    @property
    def state_of_weights(self) -> tuple[CNet, int, int]:
        """Another value after each training step, file or ``set_arrays``."""
        return self.net, self.net.steps, self.net.revision

    def answering(self, size: Hashable, declare: Callable[[], CNet], *, keep: int = 16) -> CNet:
        """The net of ``declare`` with the weights of ``net``, in evaluation mode, for answers of this size.

        The last ``keep`` of them stay until a training step, a file or ``set_arrays`` changes the weights.
        """
        if self.state_of_weights != self._weights_of:
            self._answering, self._weights_of = {}, self.state_of_weights
        if size not in self._answering:
            while len(self._answering) >= keep:
                del self._answering[next(iter(self._answering))]
            made = declare().build(self.net.device)
            made.set_arrays(self.weights())
            made.TrainMode(False)
            self._answering[size] = made
        return self._answering[size]

    def weights(self) -> dict[str, Array]:
        """Host copies of what an answer needs, under the paths that they have in a file."""
        return {k: v for k, v in self.net.arrays().items() if not k.startswith("optimizer/")}

    def file(self, training: dict[str, Any] | None = None) -> ModelFile:
        """What ``save`` writes, with a document on the training."""
        return ModelFile(spec=self.net.spec(), arrays=self.weights(), training=training or {})

    def save(self, path: str | Path) -> None:
        """Write the model as HDF5; the file is replaced whole or not at all."""
        write_model(path, self.file())

    @classmethod
    def load(cls, path: str | Path, device: Device | None = None) -> Self:
        """The model in a file of ``save``, in evaluation mode. FileFormatError when it holds another."""
        return cls.from_file(read_model(path), device, where=str(path))

    @classmethod
    def from_file(cls, file: ModelFile, device: Device | None = None, *, where: str) -> Self:
        """FileFormatError when ``file`` holds another model."""
        builder = dict(file.spec.get("builder") or {})
        if builder.pop("class", None) != cls.__name__:
            fix = f"give a file that {cls.written_by} wrote"
            raise FileFormatError(f"holds no {cls.__name__}", where=where, fix=fix)
        known = {f.name for f in fields(cls)}  # type: ignore[arg-type]  # every model is a dataclass
        if unknown := sorted(builder.keys() - known):
            raise SpecError(f"unknown field {', '.join(unknown)}", where=where, fix="pip install -U neuronet")
        model = cls(**builder)
        model.restore(file, device, where)
        return model

    def restore(self, file: ModelFile, device: Device | None, where: str) -> None:
        """Take the net from ``file``, which holds a model of this class."""
        self.net = CNet.from_file(file, device, where=where)


def real_numbers(values: Any) -> NDArray[np.float64]:
    """``values`` as float64. ValueError when they are no array of real numbers."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", np.exceptions.ComplexWarning)
            return np.asarray(values, np.float64)
    except (TypeError, np.exceptions.ComplexWarning) as error:
        raise ValueError(str(error)) from None


def check_finite(values: Array, name: str, where: str) -> None:
    """DataError naming the first of ``values`` [n, ..., numbers] that float32 does not hold, and its row."""
    bad = ~(np.abs(values) <= LARGEST)
    if bad.any():
        row, *_, column = (int(i) for i in np.argwhere(bad)[0])
        what = f"{name.format(row)} has {values[bad][0]:g} in column {column}"
        raise DataError(what, where=where, fix="correct it, or leave it out")
