"""The seal: a SHA-256 of the whole file, in one line of text behind the HDF5 data.

HDF5's own checksums cover the numbers of an array but not names, shapes, attributes and scalars. The seal
covers every byte, and is checked before HDF5 parses anything: damaged metadata can crash the HDF5 library.
HDF5 readers ignore bytes behind the data; a program that changes the file cuts them off, which leaves a valid
file without a seal.
"""

from __future__ import annotations

import hashlib
import os
from typing import BinaryIO

_START = b"\nneuronet sha256 "
_SIZE = len(_START) + 64 + 1


def seal(data: bytes | memoryview) -> bytes:
    """Return the line that goes behind `data`."""
    return seal_line(hashlib.sha256(data).hexdigest())


def seal_line(digest: str) -> bytes:
    """The same from the SHA-256 itself, in hex, of data that are never in memory as a whole."""
    return _START + digest.encode() + b"\n"


def seal_fits(file: BinaryIO) -> bool | None:
    """Compare the seal with the bytes before it; None when the file has no seal."""
    size = file.seek(0, os.SEEK_END) - _SIZE
    if size < 0:
        return None
    file.seek(size)
    line = file.read(_SIZE)
    if not line.startswith(_START):
        return None
    digest = hashlib.sha256()
    file.seek(0)
    while size > 0 and (block := file.read(min(size, 1 << 20))):
        digest.update(block)
        size -= len(block)
    return line == _START + digest.hexdigest().encode() + b"\n"
