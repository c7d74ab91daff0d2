"""Where OpenCL drivers come from: make pip-installed CPU runtimes visible, and name our cache folder.

On Linux an OpenCL loader reads `.icd` files, each holding the name of a driver's library. Wheels cannot write
to /etc/OpenCL/vendors, so `prepare` collects the system's entries and those of the installed wheels in a
private folder and names it in OCL_ICD_VENDORS. Nothing here imports pyopencl.
"""

from __future__ import annotations

import atexit
import functools
import hashlib
import importlib.metadata
import importlib.util
import logging
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

log = logging.getLogger(__name__)

USER_VARIABLES = ("OCL_ICD_VENDORS", "OCL_ICD_FILENAMES", "OPENCL_VENDOR_PATH")
SYSTEM_FOLDER = Path("/etc/OpenCL/vendors")
LOCKED = 60.0  # seconds after which a lock on the compiled kernels is taken to be left over


@dataclass(frozen=True)
class Entry:
    """One `.icd` file: its name, the library in it, and when the driver was last changed (ns)."""

    name: str
    library: str
    changed: int


@functools.cache
def prepare() -> None:
    """Make every OpenCL driver of this machine visible; call before the first `import pyopencl`.

    Leaves OCL_ICD_VENDORS and its relatives alone when the user has set one. Does nothing on Windows and
    macOS, where installers register drivers.
    """
    if not sys.platform.startswith("linux"):
        return
    folder = cache_folder()
    if any(os.environ.get(name) for name in USER_VARIABLES):
        return
    found = drivers()
    if any(Path(entry.library) in _wheel_libraries() for entry in found):
        os.environ["OCL_ICD_VENDORS"] = str(write_folder(found, folder))


@functools.cache
def cache_folder() -> Path:
    """This user's cache folder for neuronet, or a temporary one that ends with the process."""
    import platformdirs

    folder = platformdirs.user_cache_path("neuronet", appauthor=False)
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except OSError as error:
        scratch = Path(tempfile.mkdtemp(prefix="neuronet-"))
        atexit.register(shutil.rmtree, scratch, ignore_errors=True)
        log.info("cache folder %s is not writable (%s); using %s", folder, error, scratch)
    # Others fail there too: PoCL lists no device without a cache, pyopencl stops at the first build.
    os.environ.setdefault("POCL_CACHE_DIR", str(scratch / "pocl"))
    os.environ.setdefault("PYOPENCL_NO_CACHE", "1")
    return scratch


def program_cache() -> str:
    """Folder of compiled kernels for pyopencl, which locks it while it compiles.

    A process that is killed then leaves its lock, and every later build waits a minute for it and fails: a
    lock older than any build is taken away, and pyopencl told to compile without its cache if all else fails.
    """
    folder = cache_folder() / "programs"
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    os.environ.setdefault("PYOPENCL_CACHE_FAILURE_FATAL", "")
    lock = folder / "lock"
    try:
        if time.time() - lock.stat().st_mtime > LOCKED:
            lock.unlink(missing_ok=True)
            log.info("removed %s, which a process that is gone had left", lock)
    except FileNotFoundError:
        pass
    return str(folder)


@functools.cache
def drivers() -> tuple[Entry, ...]:
    """The OpenCL drivers that are registered or installed as wheels, each library once."""
    if os.environ.get("OCL_ICD_VENDORS"):
        return tuple(read_folder(Path(os.environ["OCL_ICD_VENDORS"])))
    entries = {entry.library: entry for entry in _registered()}
    names = {Path(library).name for library in entries}
    for library in _wheel_libraries():
        if library.name not in names:  # two copies of one runtime in a process would clash
            entry = Entry(f"{library.stem}.icd", str(library), library.stat().st_mtime_ns)
            entries[entry.library] = entry
    return tuple(entries.values())


def read_folder(folder: Path) -> Iterator[Entry]:
    """The usable entries of a folder of `.icd` files; none when there is no such folder."""
    for file in sorted(folder.glob("*.icd")):
        try:
            lines = file.read_text(encoding="utf-8").split("\n")
            changed = file.stat().st_mtime_ns
            library = Path(lines[0].strip())
            if library.is_absolute():  # else a name for the dynamic linker, as libnvidia-opencl.so.1
                changed = max(changed, library.stat().st_mtime_ns)
        except (OSError, UnicodeDecodeError) as error:
            log.debug("skipped %s: %s", file, error)
            continue
        if lines[0].strip():
            yield Entry(file.name, str(library), changed)


def write_folder(entries: tuple[Entry, ...], parent: Path) -> Path:
    """A folder below `parent` with one `.icd` file per entry. Processes may do this at the same time."""
    content = hashlib.sha256(repr(entries).encode()).hexdigest()[:16]
    folder = parent / f"icd-{content}"
    folder.mkdir(mode=0o700, exist_ok=True)
    for index, entry in enumerate(entries):
        target = folder / f"{index:02}-{entry.name}"
        if not target.exists():
            replace_text(target, entry.library + "\n")
            os.utime(target, ns=(entry.changed, entry.changed))  # a child process must read the same entries
    return folder


def replace_text(target: Path, text: str) -> None:
    """Write a small file so that a reader sees the old text or the new one, never a part."""
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=target.name, suffix=".tmp")
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)
    Path(name).replace(target)


def _registered() -> Iterator[Entry]:
    yield from read_folder(SYSTEM_FOLDER)
    yield from read_folder(Path(sys.prefix) / "etc/OpenCL/vendors")  # conda's


def _wheel_libraries() -> tuple[Path, ...]:
    """Drivers inside wheels that the loader does not find by itself."""
    found = list(_files("intel-opencl-rt", "libintelocl.so"))
    if not _loader_is_bundled():
        found += _files("pocl-binary-distribution", "libpocl*.so*")
    return tuple(found)


def _files(distribution: str, pattern: str) -> Iterator[Path]:
    try:
        files = importlib.metadata.files(distribution) or []
    except importlib.metadata.PackageNotFoundError:
        return
    for file in files:
        if file.match(pattern):
            path = Path(str(file.locate())).resolve()
            if path.exists():
                yield path


def _loader_is_bundled() -> bool:
    """Whether pyopencl is a wheel with its own loader, which also reads the `.icd` files beside itself."""
    spec = importlib.util.find_spec("pyopencl")
    if spec is None or spec.origin is None:
        return False
    return any((Path(spec.origin).parent / ".libs").glob("libOpenCL*"))
