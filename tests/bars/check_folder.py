"""Compare what the reader finds in a folder of bar files with an expected.json there. Not a test of pytest's.

    python tests/bars/check_folder.py FOLDER

expected.json is a list of {file, bars, first, last, bar_step, gaps_gt_step, first_bar, last_bar, ...}. A file
must be refused when it has no 'bars', one value a bar (only closes), or most times twice (several symbols).
Prints a line a file and exits 1 if one disagrees.
"""

from __future__ import annotations

import json
import logging
import math
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from neuronet.bars.inspect import report_on
from neuronet.bars.read import load_bars
from neuronet.errors import DataError


def refusable(want: dict[str, Any]) -> bool:
    """Whether a file is no series of bars."""
    return "bars" not in want or len(want["first_bar"]) < 4 or 2 * want["duplicate_stamps"] > want["bars"]


def disagreements(path: Path, want: dict[str, Any]) -> tuple[list[str], str]:
    """Return what differs, and a note on what was read."""
    try:
        bars, findings = load_bars(path)
    except DataError as error:
        return ([] if refusable(want) else ["refused"]), str(error).replace("\n", " ")
    if refusable(want):
        return ["should be refused"], f"read as {len(bars)} bars"
    report = report_on(bars, findings)
    counts = report.counts
    steps = np.diff(bars.time)
    double = counts.get("exact_duplicates", 0) + counts.get("conflicting_duplicates", 0)
    seen: dict[str, Any] = {
        "bars": len(bars) + double,
        "first": report.first["time"],
        "last": report.last["time"],
        "duplicate_stamps": double,
        "bar_step_s": bars.step / 1e9,
        "gaps_gt_step": int((steps > bars.step).sum()),
        "largest_gap_s": float(steps.max()) / 1e9,
        "nonpositive": counts["nonpositive"],
        "flat_bars": counts["flat_bars"],
        "bad_time_rows": counts["no_time"],
        "impossible": counts["impossible"],
    }
    expected = {key: want.get(key) for key in seen} | {
        "bar_step_s": _seconds(want["bar_step"]),
        "largest_gap_s": _seconds(want["largest_gap"]),
        "impossible": want["high_lt_low"] + want["close_outside"],
    }
    for end in ("first", "last"):
        values = want[f"{end}_bar"]
        got = [report.__getattribute__(end)[n] for n in ("open", "high", "low", "close", "volume")]
        if len(values) == 4 or (len(values) > 4 and values[4] is None):
            values, got = values[:4], got[:4]
        if len(values) != len(got) or not all(map(math.isclose, values, got)):
            return [f"{end}_bar {got} not {values}"], ""
    wrong = [f"{key} {seen[key]} not {expected[key]}" for key in seen if seen[key] != expected[key]]
    return wrong, "; ".join(findings.warnings)


def _seconds(text: str) -> float:
    days, _, clock = text.partition(" days ")
    hours, minutes, seconds = (float(part) for part in clock.split(":"))
    return float(days) * 86_400 + hours * 3_600 + minutes * 60 + seconds


def main(folder: Path) -> int:
    """Print the table; return the exit code."""
    logging.disable()
    wanted = json.loads((folder / "expected.json").read_text(encoding="utf-8"))
    agreed = 0
    for want in wanted:
        start = time.perf_counter()
        wrong, note = disagreements(folder / want["file"], want)
        agreed += not wrong
        took = time.perf_counter() - start
        print(
            f"{'ok  ' if not wrong else 'DIFF'} {took:5.2f} s  {want['file']}: {'; '.join(wrong)}  [{note}]"
        )
    print(f"{agreed} of {len(wanted)} agree")
    return int(agreed < len(wanted))


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
