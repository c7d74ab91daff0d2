"""What a model file holds, and the rules for the arrays in it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from neuronet.errors import FileFormatError

GROUPS = ("parameters", "state", "optimizer", "training")
DTYPES = ("float32", "float64", "int32", "int64")


@dataclass
class ModelFile:
    """A model without classes: JSON documents and named arrays.

    spec      what to build: input shape, layers, loss, optimiser
    arrays    name -> array; a name is a path under one of GROUPS, such as "parameters/0/w"
    training  where training stands; may be {}
    bars      what the model expects of its bars; may be {}

    The documents come back as JSON has them: tuples as lists, keys as strings.
    """

    spec: dict[str, Any]
    arrays: dict[str, np.ndarray] = field(default_factory=dict)
    training: dict[str, Any] = field(default_factory=dict)
    bars: dict[str, Any] = field(default_factory=dict)


def checked_arrays(arrays: dict[str, np.ndarray], where: str) -> dict[str, np.ndarray]:
    """Return the arrays as a file holds them: native byte order, parameters in float32.

    Raises FileFormatError for a name outside GROUPS, another dtype, or a parameter that is not finite.
    """
    for name in arrays:
        _check_name(name, arrays, where)
    return {name: _checked(name, np.asarray(array), where) for name, array in arrays.items()}


def _check_name(name: str, arrays: dict[str, np.ndarray], where: str) -> None:
    parts = name.split("/")
    if (
        parts[0] not in GROUPS
        or len(parts) < 2
        or any(part in ("", ".", "..") for part in parts)
        or "\0" in name
    ):
        raise FileFormatError(
            f"{name!r} is no name for an array",
            where=where,
            fix=f"name it like 'parameters/0/w', under {', '.join(GROUPS)}",
        )
    for end in range(2, len(parts)):
        if (parent := "/".join(parts[:end])) in arrays:
            raise FileFormatError(
                f"{parent!r} is an array, so it cannot hold {name!r}",
                where=where,
                fix="rename one of the two",
            )


def _checked(name: str, array: np.ndarray, where: str) -> np.ndarray:
    native = array.dtype.newbyteorder("=")
    if native.name not in DTYPES:
        raise FileFormatError(
            f"{name} has dtype {array.dtype}, expected one of {', '.join(DTYPES)}",
            where=where,
            fix="convert the array",
        )
    is_parameter = name.startswith("parameters/")
    if is_parameter and native.name == "float64":
        native = np.dtype(np.float32)
    with np.errstate(over="ignore"):  # what is too large for float32 becomes infinite, and is refused below
        array = array.astype(native, copy=False)
    if is_parameter and not np.isfinite(array).all():
        bad = np.argwhere(~np.isfinite(array))
        first = tuple(int(i) for i in bad[0])
        raise FileFormatError(
            f"{name} has {len(bad):,} of {array.size:,} values that are not finite, first at {first}",
            where=where,
            fix="go back to an earlier model and train it with a lower learning rate or with clip_norm",
        )
    return array
