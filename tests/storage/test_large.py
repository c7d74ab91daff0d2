"""Large HDF5 files: what h5py reads is what was given, the seal fits, and no copy is made on the way."""

from __future__ import annotations

import time
import tracemalloc
from pathlib import Path

import h5py
import numpy as np
import pytest

from neuronet.errors import FileFormatError
from neuronet.storage.large import write_large
from neuronet.storage.seal import seal_fits


def test_round_trip(tmp_path: Path) -> None:
    path = tmp_path / "large ü.h5"
    random = np.random.Generator(np.random.PCG64(1))
    arrays = {
        "a/b/c": [random.random((5, 3)).astype(np.float32), random.random((0, 3)).astype(np.float32)],
        "a/d": [np.arange(7), np.arange(100, 30_000)[::3]],
        "e": [np.full((2, 4), -3, np.int32)],
    }
    text = "x" * 100_000  # longer than an attribute may be
    write_large(path, attributes={"format": "test", "n": 3}, documents={"document": text}, arrays=arrays)
    with path.open("rb") as file:
        assert seal_fits(file) is True
    with h5py.File(path) as root:
        assert dict(root.attrs) == {"format": "test", "n": 3}
        assert root["document"][()] == text.encode()
        for name, pieces in arrays.items():
            want = np.concatenate(pieces)
            assert root[name].dtype == want.dtype
            np.testing.assert_array_equal(root[name][()], want)
    first = path.read_bytes()
    time.sleep(1.05)  # HDF5 may keep times, in seconds
    write_large(path, attributes={"format": "test", "n": 3}, documents={"document": text}, arrays=arrays)
    assert path.read_bytes() == first


def test_no_copy_in_memory(tmp_path: Path) -> None:
    data = np.zeros((1_000_000, 6), np.float32)
    tracemalloc.start()
    write_large(tmp_path / "x.h5", attributes={}, documents={}, arrays={"x": [data]})
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2_000_000 < data.nbytes


def test_a_missing_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="there is no folder"):
        write_large(tmp_path / "no" / "x.h5", attributes={}, documents={}, arrays={"x": [np.zeros(3)]})
