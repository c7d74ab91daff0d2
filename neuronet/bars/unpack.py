"""The bytes of a file, unpacked and in UTF-8: gzip, zip, byte order marks, UTF-16, code pages."""

from __future__ import annotations

import gzip
import io
import lzma
import re
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from neuronet.bars.names import role_of
from neuronet.errors import DataError

GZIP, ZIP = b"\x1f\x8b", b"PK\x03\x04"
BINARY = {
    b"\x89HDF": "an HDF5 file, damaged at its start",
    b"%PDF": "a PDF",
    b"\xd0\xcf\x11\xe0": "an Excel workbook",
    b"PAR1": "a Parquet file",
    b"Rar!": "a RAR archive",
    b"7z\xbc\xaf": "a 7z archive",
    b"BZh": "a bzip2 archive",
    b"\xfd7zXZ": "an xz archive",
    b"\x28\xb5\x2f\xfd": "a Zstandard archive",
}
# Code pages that exports use; UTF-8 comes first for a file in which a byte was damaged.
CODE_PAGES = (
    "utf-8", "cp1252", "cp1251", "gb18030", "shift_jis", "cp1250", "cp1254", "cp949", "big5", "cp866",
    "koi8-r", "mac-roman",
)  # fmt: skip
DAMAGED = "the header can be read so, but some bytes are not valid"
# UTF-16 from which a byte is missing: what was ASCII becomes a long run of characters from anywhere.
_SHIFTED = re.compile(r"[^\x00-\x7f]{50}")
HEAD = 40  # lines among which a header is looked for
_BROKEN = (OSError, EOFError, ValueError, RuntimeError, NotImplementedError)
_BROKEN += (zlib.error, zipfile.BadZipFile, lzma.LZMAError)  # type: ignore[assignment]


def read_bytes(path: Path) -> bytes:
    """Return a file's bytes; of a gzip or of a zip of one file, those inside. DataError when unusable."""
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise DataError(
            f"cannot be read: {error.strerror or error}", where=str(path), fix="check the path"
        ) from None
    if raw.startswith((GZIP, ZIP)):
        try:
            raw = gzip.decompress(raw) if raw.startswith(GZIP) else _unzip(raw, path.name)
        except _BROKEN as error:
            raise DataError(
                f"cannot be unpacked: {error}", where=path.name, fix="download it again, or unpack it first"
            ) from None
    for mark, what in BINARY.items():
        if raw.startswith(mark):
            raise DataError(
                f"this is {what}, not a text file", where=path.name, fix="unpack it, or export as CSV"
            )
    return raw


def _unzip(raw: bytes, where: str) -> bytes:
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        names = [name for name in archive.namelist() if not name.endswith("/") and "__MACOSX" not in name]
        if any(name.startswith(("xl/", "word/")) for name in names):
            raise DataError(
                "this is an Excel workbook, not a text file", where=where, fix="save the sheet as CSV"
            )
        if len(names) != 1:
            raise DataError(
                f"the archive holds {len(names)} files: {', '.join(names[:5])}",
                where=where,
                fix="unpack it and give one of them",
            )
        return archive.read(names[0])


def to_utf8(raw: bytes, where: str) -> tuple[bytes, str, str]:
    """Return the text in UTF-8 without a byte order mark, the encoding that it had, and why that one."""
    encoding, why = _encoding(raw)
    if encoding in ("ascii", "utf-8") and why != DAMAGED:
        return raw, encoding, why
    if encoding.startswith("utf-16"):
        raw = raw[: len(raw) // 2 * 2]  # a file that was cut may end within a character
    text = raw.decode(encoding, errors="replace")
    if encoding.startswith("utf-16") and (lost := _SHIFTED.search(text)):
        raise DataError(
            f"line {text.count(chr(10), 0, lost.start()) + 1} is damaged: a byte too many or too few",
            where=where,
            fix="export or copy the file again",
        )
    return text.encode("utf-8"), encoding, why


def _encoding(raw: bytes) -> tuple[str, str]:
    for mark, name in ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16")):
        if raw.startswith(mark):
            return name, "the file begins with its mark"
    head = np.frombuffer(raw[: min(len(raw), 4096) // 2 * 2], np.uint8)
    if len(head) > 8:
        even, odd = np.mean(head[0::2] == 0), np.mean(head[1::2] == 0)
        if odd > 0.8 and even < 0.2:
            return "utf-16-le", "every second byte is zero"
        if even > 0.8 and odd < 0.2:
            return "utf-16-be", "every second byte is zero"
    if raw.isascii():
        return "ascii", "all bytes are ASCII"
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError:
        page = _code_page(raw)
        return page, DAMAGED if page == "utf-8" else "it is not UTF-8, and so the header can be read"
    return "utf-8", "all bytes are valid UTF-8"


def _code_page(raw: bytes) -> str:
    """Take the code page under which a line at the top has the most names of columns; else Windows-1252."""
    lines = raw.split(b"\n", HEAD)[:HEAD]
    known = {page: max(_known_names(lines, page)) for page in CODE_PAGES}
    best = max(known, key=known.__getitem__)
    return best if known[best] > known["cp1252"] else "cp1252"


def _known_names(lines: list[bytes], page: str) -> Iterator[int]:
    for line in lines:
        text = line.decode(page, errors="replace")
        for separator in "\t;|,":
            names = [name.strip().strip('"') for name in text.split(separator)]
            yield sum(role_of(name) is not None for name in names if "\ufffd" not in name)
