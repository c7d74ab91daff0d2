"""Where each array of a net lies in a model file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

from neuronet.device.array import DeviceArray
from neuronet.errors import FileFormatError
from neuronet.layers.base import CNeuronBaseOCL


def named_arrays(layers: Sequence[CNeuronBaseOCL]) -> dict[str, DeviceArray]:
    """Parameters, state and moments of built ``layers`` by their paths in a file."""
    found = {}
    for i, layer in enumerate(layers):
        for p in layer.parameters:
            found[f"parameters/{i}/{p.name}"] = p.value
            found[f"optimizer/m/{i}/{p.name}"] = p.m
            found[f"optimizer/v/{i}/{p.name}"] = p.v
            if p.slow:  # its gradients add up over steps
                found[f"optimizer/g/{i}/{p.name}"] = p.gradient
        for name, array in layer.states.items():
            found[f"state/{i}/{name}"] = array
    return found


def write_arrays(targets: dict[str, DeviceArray], values: dict[str, NDArray[Any]], where: str) -> None:
    """Write ``values`` into ``targets``; what only an optimiser has may be missing.

    Raises FileFormatError naming ``where`` for another array that is missing, and for one of another shape.
    """
    for name, target in targets.items():
        if name not in values:
            if name.startswith("optimizer/"):
                continue
            raise FileFormatError(f"{name} is missing", where=where, fix="train the model again")
        if values[name].shape != target.shape:
            raise FileFormatError(
                f"{name} has shape {values[name].shape}, the net needs {target.shape}",
                where=where,
                fix="the file was changed by another program: restore a copy or train again",
            )
        target.write(values[name])
