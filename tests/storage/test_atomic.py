"""A name holds a whole model, whatever happens to the process, the disk or other processes."""

from __future__ import annotations

import errno
import os
import random
import time
from collections.abc import Callable
from pathlib import Path
from subprocess import Popen

import numpy as np
import pytest

from neuronet.errors import FileFormatError
from neuronet.storage import atomic
from neuronet.storage.hdf5 import ModelFile, read_model, write_model, write_test

# saves models whose every value is the same number, one after the other
WRITER = """
import sys, time
import numpy as np
from neuronet.storage.hdf5 import ModelFile, write_model
path, first, step, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
end = time.monotonic() + 30
for k in range(first, first + step * count, step):
    arrays = {f"parameters/{i}/w": np.full((50, 100), k, np.float32) for i in range(9)}
    write_model(path, ModelFile(spec={"k": k}, arrays=arrays, training={"k": k}))
    if k == first:
        print("saved", flush=True)
    if time.monotonic() > end:
        break
"""


def whole(path: Path) -> int:
    """Check that all parts of the model come from one save, and return its number."""
    model = read_model(path)
    k = model.spec["k"]
    assert model.training == {"k": k}
    assert len(model.arrays) == 9
    assert all((array == k).all() and array.shape == (50, 100) for array in model.arrays.values())
    return int(k)


def names(folder: Path) -> list[str]:
    return sorted(p.name for p in folder.iterdir())


def test_killed_while_saving_50_times(tmp_path: Path, start: Callable[..., Popen[str]]) -> None:
    rng = random.Random(5)
    path = tmp_path / "model.h5"
    upcoming = start(WRITER, path, 0, 1, 100_000)
    for kill in range(50):
        writer = upcoming
        if kill < 49:  # starts while this one saves: Python needs longer to start than we need to kill
            upcoming = start(WRITER, path, (kill + 1) * 100_000, 1, 100_000)
        assert writer.stdout.readline() == "saved\n"
        time.sleep(rng.uniform(0, 0.02))
        before = set(names(tmp_path))
        deadline = time.monotonic() + 0.1
        while kill % 2 and not set(names(tmp_path)) - before and time.monotonic() < deadline:
            pass  # every second kill waits for a temporary file, so that it hits the middle of a save
        writer.kill()
        writer.wait()
        whole(path)
    leftovers = list(tmp_path.glob(".model.h5.*.tmp"))
    assert leftovers, "no kill hit a save: the test has shown nothing"
    for leftover in leftovers:
        os.utime(leftover, (0, 0))
    write_model(path, ModelFile(spec={}))
    assert names(tmp_path) == ["model.h5"]


def test_two_writers_of_one_file(tmp_path: Path, start: Callable[..., Popen[str]]) -> None:
    path = tmp_path / "model.h5"
    writers = [start(WRITER, path, first, 2, 60) for first in (0, 1)]
    assert all(writer.stdout.readline() == "saved\n" for writer in writers)
    while any(writer.poll() is None for writer in writers):
        whole(path)
    assert [writer.returncode for writer in writers] == [0, 0]
    assert whole(path) in (118, 119)
    assert names(tmp_path) == ["model.h5"]


def test_full_disk(
    saved: Path, model: ModelFile, start: Callable[..., Popen[str]], same: Callable[..., bool]
) -> None:
    pytest.importorskip(
        "resource", reason="Windows has no limit for file sizes that stands in for a full disk"
    )
    code = """
import resource, sys
import numpy as np
from neuronet.errors import FileFormatError
from neuronet.storage.hdf5 import ModelFile, write_model, write_test
resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536))
write_test(sys.argv[1])
try:
    write_model(sys.argv[1], ModelFile(spec={}, arrays={"parameters/w": np.ones(100_000, np.float32)}))
except FileFormatError as error:
    print(error)
resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 65536))
try:
    write_test(sys.argv[1])
except FileFormatError as error:
    print(error)
"""
    program = start(code, saved)
    output = program.communicate()[0].splitlines()
    assert program.returncode == 0
    for line in output[0], output[2]:
        assert line.startswith(f"{saved}: could not be written: File too large")
    for line in output[1], output[3]:
        assert line.startswith("Fix: free some disk space")
    assert same(read_model(saved), model)
    assert names(saved.parent) == ["model.h5"]


@pytest.mark.parametrize("call", ["fsync", "replace"])
@pytest.mark.parametrize(
    ("failure", "raised"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), FileFormatError),
        (KeyboardInterrupt(), KeyboardInterrupt),
    ],
)
def test_a_failure_at_any_step_changes_nothing(
    saved: Path,
    model: ModelFile,
    same: Callable[..., bool],
    monkeypatch: pytest.MonkeyPatch,
    call: str,
    failure: BaseException,
    raised: type[BaseException],
) -> None:
    def fail(*_: object) -> None:
        raise failure

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fail) if call == "fsync" else patch.setattr(Path, "replace", fail)
        with pytest.raises(raised) as error:
            write_model(saved, ModelFile(spec={"new": 1}))
    if raised is FileFormatError:
        assert "No space left on device" in str(error.value)
    assert same(read_model(saved), model)
    assert names(saved.parent) == ["model.h5"]


def test_a_rename_that_windows_refuses_is_tried_again(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rename, calls = Path.replace, []

    def refuse_twice(source: Path, target: Path) -> Path:
        calls.append(source)
        if len(calls) < 3:
            raise PermissionError(errno.EACCES, "Access is denied")
        return rename(source, target)

    monkeypatch.setattr(Path, "replace", refuse_twice)
    write_model(saved, ModelFile(spec={"new": 1}))
    assert len(calls) == 3
    assert read_model(saved).spec == {"new": 1}


def test_only_old_leftovers_of_this_name_are_removed(tmp_path: Path) -> None:
    path = tmp_path / "[m]!.h5"
    old, new, other = (
        tmp_path / name for name in (".[m]!.h5.12ab.tmp", ".[m]!.h5.34cd.tmp", ".m.h5.56ef.tmp")
    )
    for leftover in old, new, other:
        leftover.write_bytes(b"")
    for leftover in old, other:
        os.utime(leftover, (time.time() - atomic._LEFTOVER_AGE - 10,) * 2)
    write_model(path, ModelFile(spec={}))
    assert names(tmp_path) == sorted([path.name, new.name, other.name])


def test_write_test_leaves_nothing_behind(tmp_path: Path) -> None:
    write_test(str(tmp_path / "model.h5"))
    assert names(tmp_path) == []


def test_where_no_model_can_be_written(saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "folder.h5").mkdir()
    before = names(tmp_path)
    for path, expected in [
        (tmp_path / "folder.h5", "is a folder"),
        (tmp_path / "none" / "m.h5", f"there is no folder {tmp_path.resolve() / 'none'}"),
        (saved / "m.h5", "there is no folder"),
        (tmp_path / "a\0b.h5", "could not be written"),
        (tmp_path / ("n" * 300), "could not be written"),
        (Path(os.devnull), "is a device"),
    ]:
        for write in write_test, lambda path: write_model(path, ModelFile(spec={})):
            with pytest.raises(FileFormatError, match="Fix: ") as error:
                write(path)
            if path != Path(os.devnull) or os.name != "nt":
                assert expected in str(error.value)
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may write to any file: chmod would not show it
    with pytest.raises(FileFormatError, match="the file is read-only"):
        write_test(saved)
    assert names(tmp_path) == before


@pytest.mark.skipif(os.name == "nt", reason="Windows: links need a privilege, and files have no mode")
def test_links_and_modes_are_kept_as_for_any_new_file(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "plain").write_bytes(b"")
    (tmp_path / "link.h5").symlink_to(tmp_path / "real" / "model.h5")
    write_model(tmp_path / "link.h5", ModelFile(spec={"k": 1}))
    assert (tmp_path / "link.h5").is_symlink()
    assert read_model(tmp_path / "real" / "model.h5").spec == {"k": 1}
    assert (tmp_path / "real" / "model.h5").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_arrays_may_change_after_the_call(tmp_path: Path) -> None:
    w = np.ones(4, np.float32)
    write_model(tmp_path / "m.h5", ModelFile(spec={}, arrays={"parameters/w": w}))
    w[:] = 2
    np.testing.assert_array_equal(
        read_model(tmp_path / "m.h5").arrays["parameters/w"], np.ones(4, np.float32)
    )
