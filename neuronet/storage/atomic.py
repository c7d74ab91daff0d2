"""Replace a file as a whole: its name holds the old bytes or the new ones, never a part of them."""

from __future__ import annotations

import contextlib
import glob
import os
import time
import uuid
from collections.abc import Iterable
from pathlib import Path

from neuronet.errors import FileFormatError

_LEFTOVER_AGE = 3600.0  # seconds; a temporary file older than this has lost its writer


def replace_file(path: Path, parts: Iterable[bytes | memoryview]) -> None:
    """Write `parts` to a temporary file beside `path`, flush it to the disk, then rename it to `path`.

    On any failure `path` keeps what it had, and the temporary file is removed.
    Raises FileFormatError for what the file system refuses: a full disk, a missing folder, no permission.
    """
    path = _target(path)
    temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex[:12]}.tmp")
    try:
        _write_synced(temporary, parts)
        _rename(temporary, path)
    except OSError as error:
        raise _refused(path, error) from error
    finally:  # after the rename there is nothing left to remove; after kill -9 the next writer removes it
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
    _sync_folder(path.parent)
    _remove_leftovers(path)


def write_test(path: str | os.PathLike[str]) -> None:
    """Check that a model can be written to `path`, before hours of training; leaves nothing behind.

    Raises FileFormatError when the folder is missing or read-only, the disk is full, or `path` is no file.
    """
    target = _target(Path(path))
    trial = target.with_name(f".{target.name}.{uuid.uuid4().hex[:12]}.tmp")
    try:
        _write_synced(trial, [bytes(4096)])
    except OSError as error:
        raise _refused(target, error) from error
    finally:
        with contextlib.suppress(OSError):
            trial.unlink(missing_ok=True)


def _target(path: Path) -> Path:
    """Follow links, so that the file behind a link is replaced and not the link; refuse what is no file."""
    try:
        path = path.resolve()
        if path.exists() and not path.is_file():
            kind = "a folder" if path.is_dir() else "a device or pipe"
            raise FileFormatError(
                f"is {kind}, so no file can be written there",
                where=str(path),
                fix="give the name of a file",
            )
        if not path.parent.is_dir():
            raise FileFormatError(
                f"cannot be written: there is no folder {path.parent}",
                where=str(path),
                fix="create the folder first",
            )
        if path.exists() and not os.access(path, os.W_OK):
            raise FileFormatError(
                "cannot be written: the file is read-only",
                where=str(path),
                fix="choose another name, or make it writable",
            )
    except (OSError, RuntimeError, ValueError) as error:  # a loop of links, a name too long, a NUL in it
        raise _refused(path, error) from error
    return path


def _write_synced(path: Path, parts: Iterable[bytes | memoryview]) -> None:
    with path.open("xb") as file:
        for part in parts:
            file.write(part)
        file.flush()
        os.fsync(file.fileno())


def _rename(source: Path, target: Path) -> None:
    """Windows refuses to rename while another program (a virus scanner) has a file open: try for a second."""
    for pause in (0.05, 0.15, 0.3, 0.5):
        with contextlib.suppress(PermissionError):
            source.replace(target)
            return
        time.sleep(pause)
    source.replace(target)


def _sync_folder(folder: Path) -> None:
    """Make the rename itself durable, where folders can be opened (not on Windows)."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _remove_leftovers(path: Path) -> None:
    """Remove temporary files of writers that were killed."""
    for leftover in path.parent.glob(f".{glob.escape(path.name)}.*.tmp"):
        with contextlib.suppress(OSError):
            if time.time() - leftover.stat().st_mtime > _LEFTOVER_AGE:
                leftover.unlink()


def _refused(path: Path, error: Exception) -> FileFormatError:
    reason = getattr(error, "strerror", None) or str(error)
    return FileFormatError(
        f"could not be written: {reason}; what it held before is unchanged",
        where=str(path),
        fix="free some disk space or choose a folder that you may write to, then save again",
    )
