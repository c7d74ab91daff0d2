"""``neuronet --version``: what a report of a fault should state."""

from __future__ import annotations

import platform
from importlib import metadata

LIBRARIES = ("neuronet", "numpy", "pyopencl", "h5py", "pandas", "click")


def version_lines() -> list[str]:
    """Versions of neuronet, Python and the libraries, and the device of find_device() untested."""
    from neuronet.device.find import candidates, list_devices

    versions = {name: _version(name) for name in LIBRARIES}
    versions["Python"] = f"{platform.python_version()} on {platform.platform()}"
    devices = list_devices()
    versions["device"] = (candidates(devices) or devices[-1:])[0].label
    return [f"{name:9} {version}" for name, version in versions.items()]


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "not installed"
