"""Damaged and foreign files: every one is told from a good one, and named."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from neuronet.errors import FileFormatError
from neuronet.storage.hdf5 import ModelFile, read_model
from neuronet.storage.seal import seal

SEAL = len(seal(b""))

KINDS = {
    "is empty (0 bytes)": b"",
    "is a web page": b"\r\n <!DOCTYPE html><html><body>404</body></html>",
    "is a zip archive": b"PK\x03\x04\x14\x00\x00\x00config.json",
    "is a Git LFS pointer": b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 34560\n",
    "is text ('time,open,close')": b"time,open,close\n2024-01-01 00:00:00,1.1,1.10023\n",
    "is text ('Zeit;Schluß')": "\ufeffZeit;Schluß\n1;2\n".encode(),
    "is packed with gzip": b"\x1f\x8b\x08\x00\x00\x00",
    "is a Python pickle": b"\x80\x04\x95\x00\x00",
    "was copied as text": b"\x89HDF\n\x1a\n\x00\x00",
    "holds zeros only": bytes(4096),
    "starts with the bytes 01 02 ff": b"\x01\x02\xff",
    "its 8 bytes end inside the HDF5 header": b"\x89HDF\r\n\x1a\n",
    "its HDF5 superblock has version 255": b"\x89HDF\r\n\x1a\n\xff" + bytes(500),
    "it has 508 of 4,294,967,296 bytes": b"\x89HDF\r\n\x1a\n" + bytes(36) + b"\1" + bytes(463),
}


def outcome(path: Path, model: ModelFile, same: Callable[..., bool]) -> str:
    """Read a file that may be damaged: the message of the refusal, or "right"; all else fails the test."""
    try:
        read = read_model(path)
    except FileFormatError as error:
        return error.what
    assert same(read, model), "damage went unnoticed: other values were read"
    return "right"


@pytest.mark.parametrize("expected", KINDS)
def test_kinds_of_files(tmp_path: Path, expected: str, model: ModelFile, same: Callable[..., bool]) -> None:
    path = tmp_path / "model.h5"
    path.write_bytes(KINDS[expected])
    assert expected in outcome(path, model, same)


def test_truncated_at_any_length(saved: Path, model: ModelFile, same: Callable[..., bool]) -> None:
    good = saved.read_bytes()
    hdf5 = len(good) - SEAL
    lengths = [*range(0, 100), *range(100, hdf5 - 100, 101), *range(hdf5 - 100, len(good))]
    for length in lengths:
        saved.write_bytes(good[:length])
        what = outcome(saved, model, same)
        if length == hdf5:  # all of the content is there, only the seal is not
            assert what == "right"
        elif length >= 48:
            assert f"{length:,} of {hdf5:,} bytes" in what or "neither model nor checksum" in what
        else:
            assert "is damaged" in what or length < 8


def test_a_flipped_bit_anywhere_is_found(saved: Path, model: ModelFile, same: Callable[..., bool]) -> None:
    good = saved.read_bytes()
    rng = np.random.default_rng(3)
    places = {*range(512), *rng.integers(0, len(good), 700).tolist(), *range(len(good) - SEAL, len(good))}
    for place in places:
        bad = bytearray(good)
        bad[place] ^= 1 << int(rng.integers(8))
        saved.write_bytes(bad)
        assert outcome(saved, model, same) != "right", place
    assert len(places) > 1000


def test_lost_sectors_and_added_bytes_are_found(
    saved: Path, model: ModelFile, same: Callable[..., bool]
) -> None:
    good = saved.read_bytes()
    for start in range(0, len(good), 512):
        bad = good[:start] + bytes(512) + good[start + 512 :]
        if bad == good:  # the sector held zeros
            continue
        saved.write_bytes(bad)
        assert outcome(saved, model, same) != "right", start
    saved.write_bytes(good + b"\n")
    assert "is damaged" in outcome(saved, model, same)


def test_a_wrong_checksum_names_its_dataset_when_there_is_no_seal(
    saved: Path, model: ModelFile, same: Callable[..., bool]
) -> None:
    data = bytearray(saved.read_bytes()[:-SEAL])
    data[data.index(model.arrays["parameters/0/w"].tobytes()) + 5] ^= 16
    saved.write_bytes(data)
    assert "checksum or data of /parameters/0/w" in outcome(saved, model, same)
