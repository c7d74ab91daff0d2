"""Every case: what each op's module in this package lists."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType

import neuronet.cases
from neuronet.cases.base import Case


def all_cases() -> list[Case]:
    """The small cases of every op, of awkward sizes: for tests and ``neuronet selfcheck``."""
    return [case for module in _modules() for case in module.SMALL]


def large_cases() -> list[Case]:
    """The large cases of every op, of sizes as in real nets: for ``neuronet bench``."""
    return [case for module in _modules() for case in module.LARGE]


def _modules() -> Iterator[ModuleType]:
    for found in iter_modules(neuronet.cases.__path__, "neuronet.cases."):
        module = import_module(found.name)
        if hasattr(module, "SMALL"):
            yield module
