"""``neuronet selfcheck``."""

from __future__ import annotations

import time
from typing import Any

import click

from neuronet.cases.all import all_cases
from neuronet.cases.base import Case
from neuronet.cases.tape import tape_problems
from neuronet.cli.options import device_option, json_option
from neuronet.cli.output import Progress, print_json, table
from neuronet.device.base import Device
from neuronet.device.find import find_device
from neuronet.errors import DeviceError, KernelError

SHOWN = 3  # problems an op


@click.command()
@device_option
@json_option
def command(device: str | None, as_json: bool) -> None:
    """Compare every kernel on a device with NumPy in float64, and a tape with plain launches.

    One line an op: how many cases agree, and the largest error in them, relative to the root mean square,
    beside the largest allowed. Exit code 1 when any case fails.
    """
    found, start = find_device(device), time.perf_counter()
    ops: dict[str, list[Case]] = {}
    for case in all_cases():
        if found.tensor_cores or not case.tensor_cores:
            ops.setdefault(case.op, []).append(case)
    results = []
    with Progress("selfcheck") as progress:
        for done, (op, cases) in enumerate(ops.items()):
            progress.show(done, len(ops), op)
            results.append(_check(op, cases, found))
        results.append(_check_tape(found))
    failed = sum(result["passed"] < result["cases"] for result in results)
    if as_json:
        print_json({"device": found.name, "kind": found.kind, "failed": failed, "ops": results})
    else:
        _print(found, results, failed, time.perf_counter() - start)
    if failed:
        raise click.exceptions.Exit(1)


def _check(op: str, cases: list[Case], device: Device) -> dict[str, Any]:
    error, bound, problems, passed = 0.0, 0.0, [], 0
    for case in cases:
        try:
            outcome = case.examine(device)
        except (KernelError, DeviceError) as wrong:  # does not build or run: the others may work
            problems.append(f"{case}: {wrong}")
            continue
        problems += [f"{case}: {problem}" for problem in outcome.problems]
        passed += not outcome.problems
        if outcome.error * bound >= error * outcome.bound:  # nearest to its bound so far
            error, bound = outcome.error, outcome.bound
    unique = list(dict.fromkeys(problems))
    return {
        "op": op,
        "cases": len(cases),
        "passed": passed,
        "error": error,
        "bound": bound,
        "problems": unique,
    }


def _check_tape(device: Device) -> dict[str, Any]:
    problems = tape_problems(device)
    result = {"op": "tape against launches", "cases": 1, "passed": int(not problems)}
    return result | {"error": None, "bound": None, "problems": problems}


def _print(device: Device, results: list[dict[str, Any]], failed: int, seconds: float) -> None:
    click.echo(f"{device.name} against NumPy in float64\n")
    rows = [
        (r["op"], f"{r['passed']}/{r['cases']}", r["error"], r["bound"], "" if _passed(r) else "FAILED")
        for r in results
    ]
    click.echo(table(rows, ("op", "passed", "worst error", "allowed", "")))
    for result in results:
        for problem in result["problems"][:SHOWN]:
            click.echo(f"\n{result['op']}: {problem}")
    cases = sum(result["cases"] for result in results)
    verdict = f"{failed} of {len(results)} FAILED" if failed else "all right"
    click.echo(f"\n{len(results)} ops, {cases} cases in {seconds:.1f} s: {verdict}")


def _passed(result: dict[str, Any]) -> bool:
    return bool(result["passed"] == result["cases"])
