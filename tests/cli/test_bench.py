from __future__ import annotations

import json
from typing import Any

import pytest

from neuronet.cases import bench as timing
from neuronet.cases.elementwise import Copy
from neuronet.cases.matmul import MatMul
from neuronet.cases.step import NextStep
from neuronet.cli import bench
from neuronet.device.array import DeviceArray
from neuronet.device.base import Device
from neuronet.device.numpy import NumpyDevice
from neuronet.errors import DeviceError


class Doubled(Copy):
    op = "elementwise.doubled"

    def run(self, **arrays: DeviceArray) -> None:
        super().run(**arrays)
        if arrays["target"].dtype == "float32":
            arrays["target"].write(2 * arrays["target"].read())


class TooLarge(Copy):
    op = "elementwise.too_large"

    def run(self, **arrays: DeviceArray) -> None:
        raise DeviceError("1 GB is too much", where="numpy")


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    cases: list[Any] = [MatMul(1, 64, 64, 64), Copy(1000), NextStep(30, 8, 10)]
    monkeypatch.setattr(bench, "large_cases", lambda: cases)
    for name, value in {"SECONDS": 0.0, "COPIED": 2**12, "PROBE_STEPS": 8, "ITEMS_PER_UNIT": 64}.items():
        monkeypatch.setattr(timing, name, value)
    return cases


def test_each_case_has_its_line_beside_the_devices_peaks(run: Any) -> None:
    result = run("bench")
    assert result.exit_code == 0, result.stdout
    head, _, header, *lines = result.stdout.splitlines()
    assert head.startswith("numpy float32: copies ")
    assert "GB/s, computes " in head
    assert header.split() == ["op", "ms", "GFLOP/s", "GB/s", "of", "peak", "sizes"]
    assert [line.split()[0] for line in lines] == ["matmul.matmul", "elementwise.copy", "step.next_step"]
    ms, gflops = (float(cell) for cell in lines[0].split()[1:3])
    assert gflops == pytest.approx(2 * 64**3 / ms / 1e6, rel=1e-2)
    assert lines[1].split()[2] == "-"  # bytes are what counts in a copy


def test_op_chooses_by_the_start_of_the_name(run: Any) -> None:
    found = json.loads(run("bench", "elem", "--json").stdout)
    assert [case["op"] for case in found["cases"]] == ["elementwise.copy"]
    case = found["cases"][0]
    assert case["bytes"] == pytest.approx(8000 / case["seconds"])
    assert case["share"] == pytest.approx(case["bytes"] / found["peaks"]["copy"])
    assert (case["limit"], case["problem"], case["sizes"]) == ("memory", "", "n=1000")


@pytest.mark.parametrize(
    ("op", "like"),
    [
        ("foo", ""),
        ("MatMull", "; like it: matmul.matmul"),
        ("copy", "; like it: elementwise.copy"),
        ("nextstep", "; like it: step.next_step"),
        ("step.n", None),
    ],
)
def test_a_name_without_ops_brings_up_the_nearest(run: Any, op: str, like: str | None) -> None:
    result = run("bench", op, "--list")
    if like is None:
        assert (result.exit_code, result.stdout) == (0, "step.next_step\n")
        return
    assert (result.exit_code, result.stdout) == (2, "")
    said = " ".join(result.stderr.split())
    assert said.endswith(f"no op starts with '{op}'{like}; 'neuronet bench --list' prints all")


def test_at_most_three_names_are_brought_up_the_likest_first() -> None:
    names = ["conv.forward", "dense.forward", "causal_conv.forward", "causal_conv.backward", "dot.forward"]
    assert bench.nearest("causalconv", names) == ["causal_conv.forward", "causal_conv.backward"]
    assert bench.nearest("forwrad", names) == ["conv.forward", "dense.forward", "causal_conv.forward"]
    assert bench.nearest("", []) == []


def test_list_prints_the_names_and_measures_nothing(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "find_device", lambda _: pytest.fail("no device is needed"))
    names = ["matmul.matmul", "elementwise.copy", "step.next_step"]
    assert run("bench", "--list").stdout.splitlines() == names
    assert json.loads(run("bench", "--list", "--json").stdout) == names


def test_a_wrong_or_too_large_case_is_not_timed(run: Any, small: list[Any]) -> None:
    small[:] = [TooLarge(100), Doubled(100)]
    result = run("bench")
    assert result.exit_code == 1
    assert "n=100: 1 GB is too much" in result.stdout
    line = result.stdout.splitlines()[-1].split()
    assert line[:6] == ["elementwise.doubled", "-", "-", "-", "FAILED", "n=100:"]
    assert "worst relative error 1.00e+00" in result.stdout


def test_at_least_20_runs_are_timed_and_each_starts_from_the_same_values() -> None:
    case, device = NextStep(30, 8, 10), NumpyDevice()  # a step of 30 would leave its table after 20 runs
    arrays = timing._arrays(case, device)
    assert len(timing._times(case, arrays, device)) >= 20
    assert arrays["step"].read()[1] == 10


def test_it_runs_on_opencl(device: Device, small: list[Any]) -> None:
    peaks = timing.measure_peaks(device)
    assert peaks.copy > 1e6
    assert peaks.flops > 1e6
    for case in small:
        result = timing.measure(case, device, peaks)
        assert result.problem == ""
        assert 0 < result.seconds < 5
