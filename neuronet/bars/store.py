"""Bars in HDF5: written once by 'neuronet convert', read back as they are, fast."""

from __future__ import annotations

import io
import json
import logging
from dataclasses import fields
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from neuronet.bars.bars import PRICES, Bars
from neuronet.bars.findings import Findings
from neuronet.bars.options import ReadOptions, option_of
from neuronet.errors import DataError, FileFormatError
from neuronet.storage.atomic import replace_file
from neuronet.storage.diagnose import check_bytes
from neuronet.storage.seal import seal

log = logging.getLogger(__name__)

FORMAT, VERSION = "neuronet bars", 1
SIGNATURE = b"\x89HDF\r\n\x1a\n"
ARRAYS = ("time", *PRICES, "volume")
CONVERT = "convert the original file again"


def is_hdf5(path: str | Path) -> bool:
    """Whether a file begins as HDF5 files do; False also for what cannot be read."""
    try:
        with Path(path).open("rb") as file:
            return file.read(len(SIGNATURE)) == SIGNATURE
    except OSError:
        return False


def write_bars(path: str | Path, bars: Bars, findings: Findings | None = None) -> None:
    """Save bars with how they were read: ``path`` then holds all of it, or, on any failure, what it held.

    Raises FileFormatError for what the file system refuses.
    """
    document = {
        "symbol": bars.symbol,
        "step": bars.step,
        "source": bars.source,
        "findings": None if findings is None else _plain(findings),
    }
    memory = io.BytesIO()  # HDF5 does not survive a full disk: it writes to memory, Python to the disk
    with h5py.File(memory, "w", libver="earliest") as root:
        root.attrs.update(format=FORMAT, format_version=VERSION)
        root.create_dataset("document", data=np.bytes_(json.dumps(document).encode("ascii")))
        for name in ARRAYS:
            root.create_dataset(name, data=getattr(bars, name))
    view = memory.getbuffer()
    replace_file(Path(path), [view, seal(view)])


def read_stored(path: str | Path, options: ReadOptions) -> tuple[Bars, Findings]:
    """Read what write_bars wrote, after a check of every byte. Raises DataError for anything else."""
    where = Path(path).name
    try:
        with Path(path).open("rb") as file:
            check_bytes(file, where)
            with h5py.File(file, "r") as root:
                _check_kind(root, where)
                document = json.loads(bytes(root["document"][()]))
                arrays = {name: root[name][()] for name in ARRAYS}
    except FileFormatError as error:
        raise DataError(error.what, where=where, fix=f"copy it again, or {CONVERT}") from None
    except DataError:
        raise
    except Exception as error:  # on a strange file h5py raises OSError, KeyError, RuntimeError and more
        raise DataError(f"is damaged: {error}", where=where, fix=f"copy it again, or {CONVERT}") from None
    source = document["source"]
    _check_options(source.get("options", {}), document["symbol"], options, where)
    bars = Bars(**arrays, symbol=document["symbol"], step=document["step"], source=source)
    findings = Findings(where, **(document["findings"] or {"warnings": source.get("warnings", [])}))
    for warning in findings.warnings:
        log.info("%s: when it was converted: %s", where, warning)
    return bars, findings


def _plain(findings: Findings) -> dict[str, Any]:
    return {f.name: getattr(findings, f.name) for f in fields(findings) if f.name != "where"}


def _check_kind(root: h5py.File, where: str) -> None:
    kind = root.attrs.get("format", b"")
    kind = kind.decode() if isinstance(kind, bytes) else str(kind)
    if kind == "neuronet":
        raise DataError(
            "this is a model, not bars",
            where=where,
            fix="give a file of bars, and the model where the command wants a model",
        )
    if kind != FORMAT:
        inside = ", ".join(list(root)[:5]) or "nothing"
        raise DataError(
            f"is HDF5, but there are no bars of neuronet inside (it holds: {inside})",
            where=where,
            fix="export the bars as CSV, or give a file that 'neuronet convert' wrote",
        )
    version = int(root.attrs.get("format_version", 0))
    if version > VERSION:
        raise DataError(
            f"was written in format {version}, this neuronet reads formats up to {VERSION}",
            where=where,
            fix="update neuronet: pip install --upgrade neuronet",
        )


def _check_options(stored: dict[str, Any], symbol: str, options: ReadOptions, where: str) -> None:
    """Options are settled when bars are converted; the same ones may be given again."""
    known = {**stored, "symbol": symbol}
    for name, value in options.chosen().items():
        if known.get(name) != value:
            raise DataError(
                f"{option_of(name)} comes too late: these bars were read already",
                where=where,
                fix=f"give {option_of(name)} to 'neuronet convert'",
            )
