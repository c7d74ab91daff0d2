from __future__ import annotations

import json
from typing import Any

import pytest

from neuronet.cases import all as cases_all
from neuronet.cases.all import all_cases, large_cases
from neuronet.cases.elementwise import Add, Copy
from neuronet.cases.transpose import SMALL
from neuronet.cli import selfcheck
from neuronet.device.array import DeviceArray
from neuronet.device.find import working_devices

FEW = """
import sys
from neuronet.cases import transpose, all
all.all_cases = lambda: transpose.SMALL
from neuronet.cli import main, selfcheck
selfcheck.tape_problems = lambda device: []
main()
"""


class Shifted(Copy):
    """Writes one place too far to the right, on every device but the twins'."""

    op = "elementwise.shifted"

    def run(self, **arrays: DeviceArray) -> None:
        if arrays["target"].dtype == "float32":
            arrays["source"].write([0.0, *arrays["source"].read()[:-1]])
        super().run(**arrays)


class Coarse(Add):
    op = "elementwise.coarse"

    def run(self, **arrays: DeviceArray) -> None:
        super().run(**arrays)
        if arrays["out"].dtype == "float32":
            arrays["out"].write(arrays["out"].read() * 1.001)


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    cases = [*SMALL, Copy(7), Copy(1001)]
    monkeypatch.setattr(selfcheck, "all_cases", lambda: cases)
    monkeypatch.setattr(selfcheck, "tape_problems", lambda device: [])  # see tests/device/test_tape.py
    return cases


def test_every_op_has_its_line(run: Any) -> None:
    result = run("selfcheck")
    assert result.exit_code == 0, result.stdout
    lines = [line.split() for line in result.stdout.splitlines()]
    assert lines[0] == ["numpy", "float32", "against", "NumPy", "in", "float64"]
    ops = {case.op for case in all_cases() if not case.tensor_cores}  # NumPy has none
    assert len(ops) > 20
    assert "matmul_tensor.dense" not in result.stdout
    shown = {" ".join(line[:-3]): line[-3:] for line in lines[3:] if len(line) > 3}
    for op in ops:
        passed, error, allowed = shown[op]
        count = sum(case.op == op for case in all_cases())
        assert passed == f"{count}/{count}"
        assert 0 <= float(error) <= float(allowed) < 1e-3
    assert lines[-1][-2:] == ["all", "right"]
    assert ["tape", "against", "launches", "1/1", "-", "-"] in lines


def test_json_has_the_same(run: Any, few: list[Any]) -> None:
    found = json.loads(run("selfcheck", "--json").stdout)
    assert (found["device"], found["kind"], found["failed"]) == ("numpy float32", "numpy", 0)
    copies = next(op for op in found["ops"] if op["op"] == "elementwise.copy")
    assert (copies["cases"], copies["passed"], copies["error"], copies["problems"]) == (2, 2, 0, [])


def test_a_wrong_kernel_fails_with_its_numbers_and_exit_code_1(run: Any, few: list[Any]) -> None:
    few += [Shifted(7), Coarse(33), Coarse(44)]
    result = run("selfcheck")
    assert result.exit_code == 1
    lines = [line.split() for line in result.stdout.splitlines()]
    assert [line[:2] for line in lines if line[-1:] == ["FAILED"]] == [
        ["elementwise.shifted", "0/1"],
        ["elementwise.coarse", "0/2"],
        [str(len({case.op for case in few}) + 1), "ops,"],
    ]
    assert "elementwise.shifted: n=7: target: worst relative error " in result.stdout
    assert "elementwise.coarse: n=44 multiplyer=1.0: out: worst relative error " in result.stdout
    assert json.loads(run("selfcheck", "--json").stdout)["failed"] == 2


def test_it_checks_the_chosen_device(run: Any, few: list[Any]) -> None:
    for info in working_devices():
        result = run("selfcheck", "--device", info.index)
        assert result.exit_code == 0, result.stdout + result.stderr
        assert result.stdout.startswith(f"{'numpy float32' if info.kind == 'numpy' else info.name} against")


def test_without_opencl_it_warns_and_checks_numpy(python: Any) -> None:
    done = python("-c", FEW, "selfcheck", OCL_ICD_VENDORS="/nonexistent")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("numpy float32 against NumPy in float64")
    assert done.stderr.startswith(
        "warning: computing with NumPy, which is slow: no OpenCL device (no OpenCL pl"
    )
    assert done.stderr.count("\n") == 1


def test_warnings_as_errors_do_not_stop_it(python: Any) -> None:
    done = python("-W", "error", "-c", FEW, "selfcheck", PYOPENCL_NO_CACHE="1")
    assert done.returncode == 0, done.stderr
    assert "all right" in done.stdout
    assert "Warning" not in done.stderr


def test_all_cases_come_from_every_module_of_ops() -> None:
    stems = {module.__name__.rpartition(".")[2] for module in cases_all._modules()}
    assert {"conv", "dense", "matmul", "probe", "step"} <= stems
    assert not stems & {"base", "all", "bench", "tape", "layers"}
    assert {case.op.partition(".")[0] for case in all_cases()} == stems
    # on tensor cores the large products of matmul_gpu run; elsewhere these would take minutes
    assert {case.op.partition(".")[0] for case in large_cases()} == stems - {"probe", "matmul_tensor"}
