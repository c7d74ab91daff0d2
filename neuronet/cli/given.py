"""What was given as a model or as experience: a message for another kind of file."""

from __future__ import annotations

from pathlib import Path

import h5py

from neuronet.errors import FileFormatError, TextError
from neuronet.market.experience_file import FORMAT
from neuronet.storage.diagnose import check_bytes

MARKS = (b"\xff\xfe", b"\xfe\xff")  # of UTF-16, in which MetaTrader exports bars
BLANK = "\ufeff \r\n\t"


def check_model(path: Path) -> None:
    """Raise FileFormatError for text or experience in place of a model; what else it is, its reader says."""
    if text := _text(path):
        fix = "give a .h5 file, as 'neuronet train' writes it, and data where the command wants data"
        raise FileFormatError(f"{text}, where a model is wanted", where=str(path), fix=fix)
    if _is_experience(path):
        raise FileFormatError(
            "holds experience of 'neuronet collect', not a model",
            where=str(path),
            fix=f"learn a model from it: neuronet study {path} -o actor.h5",
        )


def check_experience(path: Path) -> None:
    """Raise FileFormatError for text in place of experience; what else it is, its reader says."""
    if text := _text(path):
        raise FileFormatError(
            f"{text}, where experience is wanted",
            where=str(path),
            fix=f"if these are bars, let agents trade them first: neuronet collect {path} -o experience.h5",
        )


def _text(path: Path) -> str:
    """What a file of text is, with its beginning; '' for other files, and for none."""
    if _is_hdf5(path):
        return ""
    try:
        with path.open("rb") as file:
            head = file.read(512)
            check_bytes(file, str(path))
    except OSError:
        return ""
    except TextError:
        pass
    except FileFormatError:
        if not head.startswith(MARKS):
            return ""  # a web page, a pickle, ...: the reader names them
    text = head.decode("utf-16" if head.startswith(MARKS) else "utf-8", errors="replace")
    kind = "is a CSV" if path.suffix.lower() == ".csv" else "is text"
    return f"{kind} ({(text.strip(BLANK).splitlines() or [''])[0][:40]!r})"


def _is_hdf5(path: Path) -> bool:
    try:
        return bool(h5py.is_hdf5(path))
    except OSError:
        return False


def _is_experience(path: Path) -> bool:
    if not _is_hdf5(path):
        return False
    try:
        with h5py.File(path, "r") as root:
            kind = root.attrs.get("format", "")
    except Exception:  # a damaged file, of which its reader says more
        return False
    return (kind.decode() if isinstance(kind, bytes) else str(kind)) == FORMAT
