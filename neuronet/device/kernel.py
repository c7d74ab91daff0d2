"""Kernels: a .cl signature is read once, and calls that break it are refused."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

import numpy as np

from neuronet.device.signature import Arg, KernelSpec, parse_kernels
from neuronet.errors import KernelError, NeuronetError

if TYPE_CHECKING:
    from neuronet.device.base import Device

INCLUDE = re.compile(r'#include "(\w+\.clh)"')  # of functions that several .cl files share
# Packages that hold .cl files, each with the package of its NumPy twins.
_PACKAGES: dict[str, str] = {"neuronet.kernels": "neuronet.reference"}


def register_kernels(kernels: str, reference: str) -> None:
    """Make the .cl files of package ``kernels``, with twins in package ``reference``, available too."""
    _PACKAGES[kernels] = reference
    all_kernels.cache_clear()


@cache
def all_kernels() -> dict[str, KernelSpec]:
    """Every kernel of every registered package by name."""
    found: dict[str, KernelSpec] = {}
    for kernels, reference in _PACKAGES.items():
        for path in sorted(resources.files(kernels).iterdir(), key=lambda p: p.name):
            if not path.name.endswith(".cl"):
                continue
            for spec in parse_kernels(path.read_text("utf-8"), path.name, kernels, reference):
                if spec.name in found:
                    raise KernelError(
                        f"kernel {spec.name!r} is declared twice",
                        where=f"{spec.where} and {found[spec.name].where}",
                        fix="rename one of them",
                    )
                found[spec.name] = spec
    return found


def read_source(package: str, file: str) -> str:
    """A .cl file with each ``#include "name.clh"`` in place; lines keep the numbers of their own file."""
    folder = resources.files(package)
    lines = folder.joinpath(file).read_text("utf-8").split("\n")
    for i, line in enumerate(lines):
        if found := INCLUDE.fullmatch(line):
            lines[i] = f"#line 1\n{folder.joinpath(found[1]).read_text('utf-8')}#line {i + 2}"
    return "\n".join(lines)


def kernel_spec(name: str) -> KernelSpec:
    try:
        return all_kernels()[name]
    except KeyError:
        raise KernelError(
            f"no kernel {name!r}",
            where="neuronet/kernels",
            fix=f"there are: {', '.join(sorted(all_kernels()))}",
        ) from None


@dataclass(frozen=True)
class Launch:
    """A checked call: arrays and scalars in the order of the signature, and the grid."""

    spec: KernelSpec
    values: tuple[Any, ...]
    grid: tuple[int, ...]


@dataclass(frozen=True)
class _Plan:
    """What calls with arrays of the same shapes share."""

    values: tuple[Any, ...]  # sizes and scalars filled in, None where an array goes
    grid: tuple[int, ...]


class Kernel:
    """A kernel on a device. Call it with keywords; sizes and grid come from the arrays' shapes."""

    def __init__(self, spec: KernelSpec, device: Device) -> None:
        self.spec, self.device = spec, device
        self._arrays = [(i, a.name) for i, a in enumerate(spec.args) if a.dims is not None]
        self._scalars = [(i, a) for i, a in enumerate(spec.args) if a.name in spec.scalars]
        self._count = len(self._arrays) + len(self._scalars)
        self._plans: dict[Any, _Plan] = {}

    def __call__(self, **given: Any) -> None:
        try:
            key = (
                *[given[name].signature for _, name in self._arrays],
                *[given[arg.name] for _, arg in self._scalars],
            )
            plan = self._plans.get(key) or self._plans.setdefault(key, self._plan(given))
            if len(given) != self._count:
                raise TypeError
            values = list(plan.values)
            for i, name in self._arrays:
                array = given[name]
                if array.device is not self.device:
                    raise TypeError
                values[i] = array
        except NeuronetError:
            raise
        except Exception as error:
            reason = self._explain(given)
            if reason is None:
                raise
            raise reason from error
        if all(plan.grid):
            self.device.run(Launch(self.spec, tuple(values), plan.grid))

    def _plan(self, given: Mapping[str, Any]) -> _Plan:
        if self._explain(given) is not None:
            raise TypeError
        sizes = self.spec.bind({name: given[name].shape for _, name in self._arrays})
        sizes |= {arg.name: given[arg.name] for _, arg in self._scalars}
        values = tuple(sizes[a.name] if a.dims is None else None for a in self.spec.args)
        for arg, value in zip(self.spec.args, values, strict=True):
            if value is not None and arg.dtype.kind == "i" and not -(2**31) <= value < 2**31:
                raise KernelError(f"{arg.name}={value} does not fit into an int", where=self.spec.where)
        return _Plan(values, self.spec.grid_size(sizes))

    def _explain(self, given: Mapping[str, Any]) -> KernelError | None:
        """What is wrong with a call. Runs once for each new combination of shapes."""
        wanted = {a.name: a for a in self.spec.args if a.dims is not None or a.name in self.spec.scalars}
        what = ""
        for name in sorted(wanted.keys() ^ given.keys()):
            what = f"{'missing' if name in wanted else 'unknown'} argument {name!r}"
            break
        else:
            for name, value in given.items():
                what = what or _misfit(wanted[name], value, self.device)
        if not what:
            return None
        fix = f"call it with {', '.join(str(a) for a in wanted.values())}"
        return KernelError(what, where=self.spec.where, fix=fix)


def _misfit(arg: Arg, value: Any, device: Device) -> str:
    """Why ``value`` cannot be passed for ``arg``, or an empty text."""
    if arg.dims is None:
        kinds = (int, np.integer) if arg.dtype.kind in "iu" else (int, float, np.number)
        fits = isinstance(value, kinds) and not isinstance(value, bool)
        return "" if fits else f"argument {arg.name!r} must be {arg.dtype.name}, got {value!r}"
    if not hasattr(value, "signature"):
        return f"argument {arg.name!r} must be a DeviceArray, got {type(value).__name__}"
    expected = device.dtype if arg.dtype.kind == "f" else arg.dtype
    if value.dtype != expected:
        return f"argument {arg.name!r} is {value.dtype.name}, expected {expected.name}"
    if value.device is not device:
        return f"argument {arg.name!r} lives on {value.device.name}, the kernel runs on {device.name}"
    return ""
