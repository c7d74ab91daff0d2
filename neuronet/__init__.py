"""neuronet: neural nets for price bars in NumPy and OpenCL, after MQL5's NeuroNet.

    import neuronet as nn

Everything public (listed in api.py) is here under one name, imported on first use so that the command line
starts at once; importing touches no OpenCL. The tree below is: device (arrays, kernels), ops (functions),
layers, losses, optim, storage, net, fitting, bars, series, prior, models, train.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from neuronet.api import *  # noqa: F403

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    if name.startswith("__") and name != "__all__":
        raise AttributeError(name)
    api = import_module("neuronet.api")
    return globals()[name] if name in globals() else getattr(api, name)  # a package, or a public name


def __dir__() -> list[str]:
    return sorted({*globals(), *import_module("neuronet.api").__all__})
