"""Driver entries: what is read, what is written, and what the user set is left alone."""

from __future__ import annotations

import os
import stat
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import platformdirs
import pytest

from neuronet.device import icd

LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason=".icd files are used on Linux only")


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A machine with one registered driver, one wheel with a driver, and an empty cache folder."""
    environment = dict(os.environ)
    for name in (*icd.USER_VARIABLES, "POCL_CACHE_DIR", "PYOPENCL_NO_CACHE"):
        os.environ.pop(name, None)
    system, wheel = tmp_path / "vendors", tmp_path / "lib" / "libintelocl.so"
    system.mkdir()
    (system / "nvidia.icd").write_text("libnvidia-opencl.so.1\n", encoding="utf-8")
    wheel.parent.mkdir()
    wheel.touch()
    monkeypatch.setattr(icd, "SYSTEM_FOLDER", system)
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "prefix"))
    monkeypatch.setattr(icd, "_wheel_libraries", lambda: (wheel,))
    monkeypatch.setattr(platformdirs, "user_cache_path", lambda *_, **__: tmp_path / "cache é")
    forget()
    yield tmp_path
    forget()
    os.environ.clear()
    os.environ.update(environment)


def forget() -> None:
    for function in (icd.prepare, icd.cache_folder, icd.drivers):
        function.cache_clear()


def libraries(folder: Path) -> list[str]:
    return [file.read_text(encoding="utf-8").strip() for file in sorted(folder.glob("*.icd"))]


def test_read_folder_keeps_only_usable_entries(tmp_path: Path) -> None:
    driver = tmp_path / "driver.so"
    driver.touch()
    os.utime(driver, ns=(10**18, 4 * 10**18))
    (tmp_path / "a.icd").write_text(f"{driver}\nsecond line\n", encoding="utf-8")
    (tmp_path / "b.icd").write_text("libpocl.so.2", encoding="utf-8")
    (tmp_path / "c.icd").write_text("/opt/anaconda1anaconda2anaconda3/lib/libintelocl.so\n", encoding="utf-8")
    (tmp_path / "d.icd").write_text("\n", encoding="utf-8")
    (tmp_path / "e.icd").write_bytes(b"\xff\xfe\xff")
    (tmp_path / "f.txt").write_text("libother.so", encoding="utf-8")
    (tmp_path / "g.icd").mkdir()
    found = {entry.name: entry for entry in icd.read_folder(tmp_path)}
    assert {name: entry.library for name, entry in found.items()} == {
        "a.icd": str(driver),
        "b.icd": "libpocl.so.2",
    }
    assert found["a.icd"].changed == 4 * 10**18  # the driver's own time, later than its entry's
    assert found["b.icd"].changed == (tmp_path / "b.icd").stat().st_mtime_ns


def test_read_folder_without_folder() -> None:
    assert list(icd.read_folder(Path("/nonexistent"))) == []


def test_write_folder_is_keyed_by_content_and_private(tmp_path: Path) -> None:
    entries = (icd.Entry("pocl.icd", "libpocl.so.2", 5), icd.Entry("pocl.icd", "/x/libpocl.so", 6))
    folder = icd.write_folder(entries, tmp_path)
    assert libraries(folder) == ["libpocl.so.2", "/x/libpocl.so"]  # equal names do not hide each other
    assert icd.write_folder(entries, tmp_path) == folder
    assert icd.write_folder((icd.Entry("pocl.icd", "libpocl.so.2", 7),), tmp_path) != folder
    if os.name == "posix":
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    again = [(entry.library, entry.changed) for entry in icd.read_folder(folder)]
    assert again[0] == ("libpocl.so.2", 5)  # the times survive, so a child process knows the same drivers


def test_write_folder_at_the_same_time(tmp_path: Path) -> None:
    entries = tuple(icd.Entry(f"{i}.icd", f"lib{i}.so", i) for i in range(7))
    with ThreadPoolExecutor(8) as pool:
        folders = set(pool.map(lambda _: icd.write_folder(entries, tmp_path), range(40)))
    (folder,) = folders
    assert libraries(folder) == [f"lib{i}.so" for i in range(7)]
    assert len(list(folder.iterdir())) == 7, "no temporary file stays"


@LINUX
def test_prepare_adds_wheels_to_the_registered_drivers(machine: Path) -> None:
    icd.prepare()
    folder = Path(os.environ["OCL_ICD_VENDORS"])
    assert folder.parent == machine / "cache é"
    assert libraries(folder) == ["libnvidia-opencl.so.1", str(machine / "lib" / "libintelocl.so")]
    assert "POCL_CACHE_DIR" not in os.environ


@LINUX
@pytest.mark.parametrize("name", icd.USER_VARIABLES)
def test_prepare_leaves_the_users_choice_alone(
    machine: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(name, "/nonexistent")
    before = dict(os.environ)
    icd.prepare()
    assert dict(os.environ) == before
    assert not list((machine / "cache é").iterdir())


@LINUX
def test_prepare_sets_nothing_when_no_wheel_has_a_driver(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(icd, "_wheel_libraries", tuple)
    icd.prepare()
    assert "OCL_ICD_VENDORS" not in os.environ


@LINUX
def test_prepare_does_not_load_a_registered_runtime_twice(machine: Path) -> None:
    installed = machine / "opt" / "libintelocl.so"
    installed.parent.mkdir()
    installed.touch()
    (machine / "vendors" / "intel.icd").write_text(str(installed), encoding="utf-8")
    icd.prepare()
    assert "OCL_ICD_VENDORS" not in os.environ
    assert [Path(entry.library).parent.name for entry in icd.drivers()] == ["opt", ""]


@LINUX
def test_unwritable_cache_gives_drivers_a_temporary_one(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (machine / "file").touch()
    monkeypatch.setattr(platformdirs, "user_cache_path", lambda *_, **__: machine / "file" / "neuronet")
    os.environ["PYOPENCL_NO_CACHE"] = "0"
    icd.prepare()
    folder = icd.cache_folder()
    assert folder.name.startswith("neuronet-")
    assert Path(os.environ["OCL_ICD_VENDORS"]).parent == folder
    assert os.environ["POCL_CACHE_DIR"] == str(folder / "pocl")
    assert os.environ["PYOPENCL_NO_CACHE"] == "0", "a value of the user's wins"


def test_prepare_does_nothing_on_windows(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    before = dict(os.environ)
    icd.prepare()
    assert dict(os.environ) == before
    assert not (machine / "cache é").exists()


def test_replace_text_leaves_one_file(tmp_path: Path) -> None:
    target = tmp_path / "a.json"
    for text in ("old", "новый\n"):
        icd.replace_text(target, text)
        assert target.read_text(encoding="utf-8") == text
    assert list(tmp_path.iterdir()) == [target]


def test_a_lock_that_a_killed_process_left_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With it every build would wait a minute and then fail; a lock in use is young and stays."""
    monkeypatch.setattr(icd, "cache_folder", lambda: tmp_path)
    monkeypatch.delenv("PYOPENCL_CACHE_FAILURE_FATAL", raising=False)
    lock = Path(icd.program_cache()) / "lock"
    lock.touch()
    icd.program_cache()
    assert lock.exists()
    old = time.time() - icd.LOCKED - 1.0
    os.utime(lock, (old, old))
    icd.program_cache()
    assert not lock.exists()
    assert os.environ["PYOPENCL_CACHE_FAILURE_FATAL"] == ""  # pyopencl reads it without a default
    monkeypatch.delenv("PYOPENCL_CACHE_FAILURE_FATAL")
