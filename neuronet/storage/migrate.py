"""Bring a model of an older file format up to date, one version at a time.

To change the format: raise FORMAT_VERSION, add the step from the version before to STEPS, keep older
steps, and store a file of the new version in tests/storage/data.
"""

from __future__ import annotations

from collections.abc import Callable

from neuronet.storage.model import ModelFile

FORMAT_VERSION = 1
STEPS: dict[int, Callable[[ModelFile], ModelFile]] = {}  # version -> function to the next version


def migrate(model: ModelFile, from_version: int) -> ModelFile:
    """Return `model`, read from a file of format `from_version`, as this code writes it."""
    for version in range(from_version, FORMAT_VERSION):
        model = STEPS[version](model)
    return model
