"""Declared things: keyword dataclasses that are saved, printed and compared by their fields.

Layers, losses, optimisers and schedules are declared. Each family has a registry from class name to
class; ``to_spec`` and ``from_spec`` turn an object into plain JSON data and back.
"""

from __future__ import annotations

import dataclasses
from enum import Enum
from typing import Any, get_args, get_type_hints

import numpy as np

from neuronet.errors import SpecError

Registry = dict[str, type]


def check_fields(declared: Any) -> None:
    """For ``__post_init__``: "TANH" becomes an enum's member, a list a tuple; other types are refused."""
    name = type(declared).__name__
    for field, kind in _hints(type(declared)).items():
        value = getattr(declared, field)
        if (enum := _enum(kind)) is not None:
            value = _member(enum, value, name, field)
        elif kind is int and (not isinstance(value, int | np.integer) or isinstance(value, bool)):
            raise SpecError(f"{field} must be a whole number, got {value!r}", where=name, fix="pass an int")
        elif kind is float and (not isinstance(value, int | float | np.number) or isinstance(value, bool)):
            raise SpecError(f"{field} must be a number, got {value!r}", where=name, fix="pass a float")
        elif kind is bool and not isinstance(value, bool | np.bool_):
            raise SpecError(f"{field} must be True or False, got {value!r}", where=name, fix="pass a bool")
        elif isinstance(value, list):
            value = tuple(value)
        else:
            continue
        object.__setattr__(declared, field, value)  # frozen dataclasses are declared too


def to_spec(declared: Any) -> dict[str, Any]:
    """Class name, version where the class has one, and fields, as plain JSON data."""
    version = {"version": declared.version} if hasattr(declared, "version") else {}
    fields = {f.name: _plain(getattr(declared, f.name)) for f in dataclasses.fields(declared)}
    return {"class": type(declared).__name__, **version, **fields}


def from_spec(registry: Registry, spec: dict[str, Any], kind: str) -> Any:
    """The object that ``spec`` describes; SpecError when its class, version or a field is unknown."""
    fields = {name: _restored(registry, value, kind) for name, value in spec.items()}
    name, version = fields.pop("class", None), fields.pop("version", 1)
    if name not in registry:
        known = ", ".join(sorted(registry))
        raise SpecError(
            f"unknown {kind} {name!r}", fix=f"choose one of {known}, or import the module that defines it"
        )
    cls = registry[name]
    if version > getattr(cls, "version", 1):
        what = f"has version {version}, this neuronet knows {getattr(cls, 'version', 1)}"
        raise SpecError(what, where=name, fix="pip install -U neuronet")
    known_fields = {f.name: f for f in dataclasses.fields(cls)}
    fix = f"its fields are: {', '.join(known_fields) or 'none'}"
    if unknown := sorted(fields.keys() - known_fields.keys()):
        raise SpecError(f"unknown field {', '.join(map(repr, unknown))}", where=name, fix=fix)
    if missing := [
        n
        for n, f in known_fields.items()
        if n not in fields and f.default is dataclasses.MISSING and f.default_factory is dataclasses.MISSING
    ]:
        raise SpecError(f"missing field {', '.join(map(repr, missing))}", where=name, fix=fix)
    return cls(**fields)


def _hints(cls: Any) -> dict[str, Any]:
    hints = get_type_hints(cls)
    return {f.name: hints[f.name] for f in dataclasses.fields(cls)}


def _enum(kind: Any) -> type[Enum] | None:
    """The enum in a field's type, such as Activation in ``Activation | str``."""
    kinds = get_args(kind) or (kind,)
    return next((k for k in kinds if isinstance(k, type) and issubclass(k, Enum)), None)


def _plain(value: Any) -> Any:
    if isinstance(value, Enum):
        return value.name
    if dataclasses.is_dataclass(value):
        return to_spec(value)
    if isinstance(value, tuple):
        return [_plain(v) for v in value]
    return value.item() if isinstance(value, np.generic) else value


def _restored(registry: Registry, value: Any, kind: str) -> Any:
    """Nested declarations of the same family, such as a schedule inside an optimiser."""
    return from_spec(registry, value, kind) if isinstance(value, dict) and "class" in value else value


def _member(kind: type[Enum], value: Any, where: str, field: str) -> Enum:
    try:
        return kind[value.upper()] if isinstance(value, str) else kind(value)
    except (KeyError, ValueError):
        names = ", ".join(kind.__members__)
        raise SpecError(f"{field}={value!r} is unknown", where=where, fix=f"choose one of {names}") from None
