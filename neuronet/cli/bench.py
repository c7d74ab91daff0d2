"""``neuronet bench``."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from difflib import SequenceMatcher

import click

from neuronet.cases.all import large_cases
from neuronet.cases.bench import Timing, measure, measure_peaks
from neuronet.cli.options import device_option, json_option
from neuronet.cli.output import Progress, print_json, table
from neuronet.device.find import find_device

NEAR, ALIKE = 3, 0.6  # most names that a wrong one brings up, and how like it they are at least


@click.command()
@click.argument("op", default="")
@click.option("--list", "only_list", is_flag=True, help="Print the names of these ops, and measure nothing.")
@device_option
@json_option
def command(op: str, only_list: bool, device: str | None, as_json: bool) -> None:
    """Measure how fast the ops whose names start with OP run on a device; all ops without it.

    First two probes find what the device can do: copying arrays and multiplying numbers. Each case is then
    checked against NumPy and timed: the median of at least 20 runs, launch included. "of peak" is its share
    of the probe that limits it more; above 100 % of "memory", the arrays stay in the caches. Exit code 1
    when a case is wrong.
    """
    cases = [case for case in large_cases() if case.op.startswith(op)]
    names = list(dict.fromkeys(case.op for case in cases))
    if not names:
        near = nearest(op, list(dict.fromkeys(case.op for case in large_cases())))
        like = f"; like it: {', '.join(near)}" if near else ""
        what = f"no op starts with {op!r}{like}; 'neuronet bench --list' prints all"
        raise click.BadParameter(what, param_hint="OP")
    if only_list:
        print_json(names) if as_json else click.echo("\n".join(names))
        return
    found = find_device(device)
    with Progress("bench") as progress:
        progress.show(0, len(cases), "probes")
        peaks = measure_peaks(found)
        timings = []
        for done, case in enumerate(cases):
            progress.show(done, len(cases), case.op)
            timings.append(measure(case, found, peaks))
    if as_json:
        rows = [dataclasses.asdict(timing) for timing in timings]
        print_json({"device": found.name, "peaks": dataclasses.asdict(peaks), "cases": rows})
    else:
        head = f"{found.name}: copies {peaks.copy / 1e9:.1f} GB/s, computes {peaks.flops / 1e9:.1f} GFLOP/s"
        header = ("op", "ms", "GFLOP/s", "GB/s", "of peak", "sizes")
        click.echo(f"{head}\n\n{table(map(_row, timings), header)}")
    if any(timing.problem for timing in timings):
        raise click.exceptions.Exit(1)


def nearest(op: str, names: Sequence[str]) -> list[str]:
    """The ``NEAR`` names, 'file.function', that are, or hold, something most like ``op``; [] if none does."""
    wanted = op.lower()

    def likeness(name: str) -> float:
        parts = (name, *name.split("."))
        alike = max(SequenceMatcher(None, wanted, part, autojunk=False).ratio() for part in parts)
        return alike + (wanted in name)

    return [name for name in sorted(names, key=likeness, reverse=True)[:NEAR] if likeness(name) >= ALIKE]


def _row(timing: Timing) -> tuple[str | float | None, ...]:
    if timing.problem:
        return timing.op, None, None, None, "FAILED", f"{timing.sizes}: {timing.problem}"
    return (
        timing.op,
        1e3 * timing.seconds,
        timing.flops / 1e9 or None,
        timing.bytes / 1e9,
        f"{timing.share:4.0%} {timing.limit}",
        timing.sizes,
    )
