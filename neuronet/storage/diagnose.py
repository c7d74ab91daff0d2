"""What is wrong with a file, told from its first bytes and its size, before HDF5 opens it."""

from __future__ import annotations

import os
from typing import BinaryIO

from neuronet.errors import FileFormatError, TextError
from neuronet.storage.seal import seal_fits

COPY_AGAIN = "copy or download it again, or use an earlier model"
_SIGNATURE = b"\x89HDF\r\n\x1a\n"
_OTHER = "give the .h5 file that neuronet saved"

# first bytes -> what the file is, what to do
_KINDS = [
    (
        b"version https://git-lfs",
        "is a Git LFS pointer, not the model itself",
        "fetch the model: git lfs pull",
    ),
    (b"PK\x03\x04", "is a zip archive (a .keras or .pt model?), not HDF5", f"unpack it, or {_OTHER}"),
    (b"\x1f\x8b", "is packed with gzip", "unpack it: gunzip"),
    (b"\x80", "is a Python pickle, which neuronet never executes", _OTHER),
    (b"\x89HDF\n", "was copied as text, which changed its line ends", "copy it again in binary mode"),
    (b"\0" * 64, "holds zeros only where its header should be", COPY_AGAIN),
]


def check_bytes(file: BinaryIO, where: str) -> None:
    """Raise FileFormatError unless the file is a complete HDF5 file whose seal, if any, fits; TextError for
    text.
    """
    size = file.seek(0, os.SEEK_END)
    file.seek(0)
    head = file.read(512)
    if not head.startswith(_SIGNATURE):
        kind, what, fix = _kind(head)
        raise kind(what, where=where, fix=fix)

    fits = seal_fits(file)
    if fits is None:  # no seal: some other program wrote or changed the file, or its end is missing
        expected = _hdf5_size(head, where)
        if size < expected:
            raise _damaged(f"it has {size:,} of {expected:,} bytes", where)
        if size > expected:
            raise _damaged(f"its last {size - expected:,} bytes are neither model nor checksum", where)
    elif not fits:
        raise _damaged(f"its {size:,} bytes do not fit the checksum at its end", where)


def _kind(head: bytes) -> tuple[type[FileFormatError], str, str]:
    if not head:
        return FileFormatError, "is empty (0 bytes)", COPY_AGAIN
    for start, what, fix in _KINDS:
        if head.startswith(start):
            return FileFormatError, what, fix
    text = head.decode("utf-8", errors="replace").strip("\ufeff \r\n\t")
    if text[:100].lower().startswith(("<!doctype html", "<html", "<?xml", "<head")):
        return FileFormatError, "is a web page, perhaps the error page of a download", COPY_AGAIN
    if text and all(c.isprintable() or c in "\r\n\t" for c in text[:100]):
        return TextError, f"is text ({text.splitlines()[0][:40]!r}), not a model; a CSV of bars?", _OTHER
    return FileFormatError, f"is not an HDF5 file: it starts with the bytes {head[:8].hex(' ')}", _OTHER


def _hdf5_size(head: bytes, where: str) -> int:
    """Return the size that the HDF5 superblock states, in bytes."""
    version = head[8] if len(head) > 8 else 0
    offset = {0: 40, 1: 44, 2: 28, 3: 28}.get(version)
    if offset is None:
        raise _damaged(f"its HDF5 superblock has version {version}, expected 0 to 3", where)
    if len(head) < offset + 8:
        raise _damaged(f"its {len(head)} bytes end inside the HDF5 header", where)
    return int.from_bytes(head[offset : offset + 8], "little")


def _damaged(what: str, where: str) -> FileFormatError:
    return FileFormatError(f"is damaged: {what}", where=where, fix=COPY_AGAIN)
