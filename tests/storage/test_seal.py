"""The line behind the data that holds its SHA-256."""

from __future__ import annotations

import hashlib
import io

import pytest

from neuronet.storage.seal import seal, seal_fits


@pytest.mark.parametrize("data", [b"", b"abc", bytes(range(256)) * 9001], ids=["empty", "short", "long"])
def test_seal(data: bytes) -> None:
    line = seal(data)
    assert line == b"\nneuronet sha256 " + hashlib.sha256(data).hexdigest().encode() + b"\n"
    assert seal_fits(io.BytesIO(data + line)) is True
    assert seal_fits(io.BytesIO(b"x" + data + line)) is False
    assert seal_fits(io.BytesIO(data + line[:-1] + b"x")) is False
    assert seal_fits(io.BytesIO(data + line[:-1])) is None
    assert seal_fits(io.BytesIO(data)) is None
