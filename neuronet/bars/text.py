"""A text file as UTF-8 bytes and a table of its lines: encodings, line ends, fields a line."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from neuronet.bars.unpack import read_bytes, to_utf8
from neuronet.errors import DataError

BLOCK = 1 << 24
SPACES = {  # odd characters -> what they stand for: groups of thousands, minus; a mark in the middle
    "\u00a0": " ",
    "\u202f": " ",
    "\u2009": " ",
    "\u2019": "'",
    "\u2212": "-",
    "\ufeff": "",
}


@dataclass(frozen=True, eq=False)
class Text:
    """A file in UTF-8 without a byte order mark, the encoding that it had and why, what was cut away."""

    name: str
    data: bytes
    encoding: str
    why: str
    notes: tuple[str, ...] = field(default=())

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """Offset of each line, and at the end the offset behind the last one."""
        size = len(self.data)
        ends = [
            np.flatnonzero(np.frombuffer(self.data, np.uint8, min(BLOCK, size - at), at) == 10) + at + 1
            for at in range(0, size, BLOCK)
        ]
        starts = np.concatenate([np.zeros(1, np.int64), *ends])
        return starts if starts[-1] == size else np.append(starts, size)

    @property
    def lines(self) -> int:
        return len(self.starts) - 1

    def line(self, row: int) -> str:
        """Return line ``row`` (from 0) without its end."""
        return self.data[self.starts[row] : self.starts[row + 1]].decode("utf-8").rstrip("\r\n")

    def is_blank(self, row: int) -> bool:
        """Whether a line holds nothing, or only a comment."""
        line = self.line(row).strip()
        return not line or line.startswith("#")

    def fields(self, separator: str) -> NDArray[np.int32]:
        """Count the fields of each line; separators in quotes don't count; 0 for blank lines and comments."""
        counts = np.zeros(self.lines, np.int64)
        quotes = b'"' in self.data
        first, size = 0, len(self.data)
        while first < self.lines:
            begin = int(self.starts[first])
            last = max(int(np.searchsorted(self.starts, begin + BLOCK, "right")) - 1, first + 1)
            edges = self.starts[first : last + 1] - begin
            block = np.frombuffer(self.data, np.uint8, min(int(edges[-1]), size - begin), begin)
            hits = block == ord(separator)
            if quotes:
                seen = np.cumsum(block == ord('"'))
                before = np.concatenate([[0], seen])[edges[:-1]]
                hits &= (seen - np.repeat(before, np.diff(edges))) % 2 == 0
            places = np.flatnonzero(hits)
            counts[first:last] = np.diff(np.searchsorted(places, edges))
            first = last
        result = (counts + 1).astype(np.int32)
        result[self.comments] = 0
        for row in np.flatnonzero(counts == 0):
            if self.is_blank(int(row)):
                result[row] = 0
        return result

    @cached_property
    def comments(self) -> list[int]:
        """Rows of the lines that begin with #."""
        return np.flatnonzero(np.frombuffer(self.data, np.uint8)[self.starts[:-1]] == ord("#")).tolist()


def read_text(path: str | Path) -> Text:
    """Read a file, unpack and decode it (see unpack.py), and unify line ends and odd spaces.

    Raises DataError when the file is missing, empty, or not text.
    """
    path = Path(path)
    whole, encoding, why = to_utf8(read_bytes(path), path.name)
    notes: list[str] = []
    size = len(whole)
    whole = whole.rstrip(b"\0")
    if len(whole) < size:
        notes.append(f"{size - len(whole)} zero bytes at the end were cut off")
    if b"\0" in whole:
        raise DataError("zero bytes inside: not a text file", where=path.name, fix="export the bars as CSV")
    if not whole.isascii():
        for odd, plain in SPACES.items():
            whole = whole.replace(odd.encode("utf-8"), plain.encode())
    if whole.count(b"\r") != whole.count(b"\r\n"):
        whole = whole.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    if not whole.strip():
        raise DataError("the file is empty", where=path.name, fix="export it again")
    return Text(path.name, whole, encoding, why, tuple(notes))
