"""The smoke test: a driver that aborts, hangs or miscompiles is reported, and the outcome is remembered."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from neuronet.device import icd, smoke
from neuronet.device.find import DeviceInfo, list_devices
from neuronet.errors import DeviceError

INFO = DeviceInfo(0, "Fake", "Card", "gpu", 4, 2**30, 2**28, 2**15, 256, False, "OpenCL 1.2", "9.1")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(icd, "cache_folder", lambda: tmp_path)
    return tmp_path


def child(monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    monkeypatch.setattr(smoke, "CHILD", code)


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("import sys; sys.exit('error: unknown target CPU generic')", "error: unknown target CPU generic"),
        ("import sys; sys.exit(3)", "the test process ended with exit code 3"),
        pytest.param(
            "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
            "(signal 9)",
            marks=pytest.mark.skipif(os.name != "posix", reason="signals end processes on POSIX only"),
        ),
    ],
)
def test_failure_is_named(monkeypatch: pytest.MonkeyPatch, code: str, reason: str) -> None:
    child(monkeypatch, code)
    assert reason in smoke.problem(INFO, retry=False)
    with pytest.raises(DeviceError, match=r"Fake / Card: driver 9\.1 does not work: .*") as caught:
        INFO.open()
    assert reason in str(caught.value)
    assert "choose another device" in caught.value.fix


def test_hanging_driver_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    child(monkeypatch, "import time; time.sleep(30)")
    monkeypatch.setattr(smoke, "TIMEOUT", 0.3)
    assert smoke.problem(INFO, retry=False) == "a test kernel did not end within 0 s"


def test_success_is_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    child(monkeypatch, "pass")
    assert smoke.problem(INFO, retry=True) == ""
    child(monkeypatch, "raise SystemExit('must not run again')")
    assert smoke.problem(INFO, retry=True) == ""


def test_failure_is_remembered_until_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    child(monkeypatch, "raise SystemExit('broken')")
    assert smoke.problem(INFO, retry=False) == "broken"
    child(monkeypatch, "pass")
    assert smoke.problem(INFO, retry=False) == "broken"
    assert smoke.problem(INFO, retry=True) == ""
    assert smoke.problem(INFO, retry=False) == ""


def test_another_driver_or_cpu_is_tested_again(monkeypatch: pytest.MonkeyPatch) -> None:
    child(monkeypatch, "pass")
    smoke.problem(INFO, retry=False)
    monkeypatch.setattr(smoke, "_cpu_model", lambda: "other CPU")
    smoke.problem(INFO, retry=False)
    monkeypatch.setattr(icd, "drivers", lambda: (icd.Entry("a.icd", "liba.so", 1),))
    smoke.problem(INFO, retry=False)
    assert len(json.loads(smoke.memory_file().read_text(encoding="utf-8"))) == 3


@pytest.mark.parametrize("content", ["", "{", "[]", "\x00"])
def test_damaged_memory_is_replaced(monkeypatch: pytest.MonkeyPatch, content: str) -> None:
    smoke.memory_file().write_text(content, encoding="utf-8")
    monkeypatch.setattr(smoke, "_test", lambda _: "")
    assert smoke.problem(INFO, retry=False) == ""
    assert list(json.loads(smoke.memory_file().read_text(encoding="utf-8")).values()) == [""]


def test_memory_that_cannot_be_written_is_no_error(monkeypatch: pytest.MonkeyPatch, cache: Path) -> None:
    monkeypatch.setattr(icd, "cache_folder", lambda: cache / "missing")
    monkeypatch.setattr(smoke, "_test", lambda _: "")
    assert smoke.problem(INFO, retry=False) == ""


def test_every_device_of_this_machine() -> None:
    devices = [info for info in list_devices() if info.kind in ("gpu", "cpu")]
    if not devices:
        pytest.skip("no OpenCL GPU or CPU on this machine")
    problems = [smoke.problem(info, retry=False) for info in devices]
    assert "" in problems
    assert set(problems) - {""} == {
        p for p in problems if "unknown target CPU" in p
    }  # PoCL older than the CPU


def test_child_refuses_another_device() -> None:
    with pytest.raises(SystemExit, match=r"device 0 is .*, not Fake / Card"):
        smoke.run(0, INFO.label)
