"""Old formats are brought up to date step by step."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from neuronet.storage import migrate
from neuronet.storage.hdf5 import ModelFile, read_model


def test_the_current_version_needs_no_step(model: ModelFile) -> None:
    assert migrate.migrate(model, migrate.FORMAT_VERSION) is model


def test_steps_run_in_order_from_the_version_of_the_file(
    saved: Path, model: ModelFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Suppose this were version 3, with versions 1 and 2 before it."""

    def to_2(old: ModelFile) -> ModelFile:
        old.spec["steps"] = ["to 2"]
        old.arrays["parameters/0/weights"] = old.arrays.pop("parameters/0/w")
        return old

    def to_3(old: ModelFile) -> ModelFile:
        return ModelFile(spec={**old.spec, "steps": [*old.spec["steps"], "to 3"]}, arrays=old.arrays)

    monkeypatch.setattr(migrate, "FORMAT_VERSION", 3)
    monkeypatch.setattr(migrate, "STEPS", {1: to_2, 2: to_3})
    read = read_model(saved)
    assert read.spec == {**model.spec, "steps": ["to 2", "to 3"]}
    assert "parameters/0/w" not in read.arrays
    np.testing.assert_array_equal(read.arrays["parameters/0/weights"], model.arrays["parameters/0/w"])


def test_there_is_a_step_for_every_older_version() -> None:
    assert sorted(migrate.STEPS) == list(range(1, migrate.FORMAT_VERSION))
    data = Path(__file__).parent / "data"
    for version in range(1, migrate.FORMAT_VERSION + 1):
        read_model(data / f"model_v{version}.h5")
