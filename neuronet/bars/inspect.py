"""inspect_bars: what a file holds and how it was understood, for people and as JSON, without training."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from neuronet.bars.bars import PRICES, Bars, span, stamp
from neuronet.bars.checks import gap_kinds
from neuronet.bars.findings import Findings
from neuronet.bars.options import option_of
from neuronet.bars.read import load_bars

if TYPE_CHECKING:
    import pandas as pd

TIED = "\x1f"  # a space at which no line ends
WIDTH, LABEL = 110, 14  # characters of a line, and of the words at its left
SIZES = 5  # sizes of gaps that the page lists
CUTS = 100  # gaps longer than max_gap that a report lists; the page has SIZES of them
WORDS = {  # counts on the page
    "rows": "rows of data in the file",
    "flat_bars": "bars without a move",
    "zero_volume": "bars without volume",
    "nonpositive": "bars with a price of 0 or less",
}
BY_WARNINGS = (
    "no_time", "no_price", "moved", "exact_duplicates", "conflicting_duplicates", "impossible", "zero_prices",
    "spikes", "not_in_time_zone", "dropped_flat", "no_volume", "bars",
)  # fmt: skip


@dataclass(frozen=True)
class BarsReport:
    """What was found in a bar file.

    decisions  encoding, separator, columns, time format, order, ... as in Bars.source, with the evidence
    counts     rows, and of each finding; bars, flat bars, bars without volume
    first      time and values of the first bar; last the same
    step_ns    most common distance of neighbours
    gaps       kind (weekend, session, other) -> {'count', 'largest_ns', 'by_size': {'2 days 1 h': 31, ...}}
    bad_lines  the first line numbers of impossible candles and lone prices of 0 that were kept
    warnings   one sentence each
    pieces     with max_gap, else None: {'max_gap_ns', 'count', 'bars' of the longest, 'cuts'}; cuts are
               {'before', 'gap_ns'} of the longest of those gaps, in order of time
    """

    symbol: str
    decisions: dict[str, Any]
    counts: dict[str, int]
    first: dict[str, Any]
    last: dict[str, Any]
    step_ns: int
    gaps: dict[str, dict[str, Any]]
    bad_lines: list[int]
    warnings: list[str]
    pieces: dict[str, Any] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return everything, JSON-able."""
        return asdict(self)

    def lines(self) -> list[str]:
        """Return a page for people, in lines of at most 110 characters."""
        count = self.counts["bars"]
        page = [
            f"{self.decisions['file']}: {count:,} bar{'s' if count != 1 else ''} of {span(self.step_ns)}",
            *_entry("symbol", [self.symbol]),
            *_entry("first", [_bar_line(self.first)]),
            *_entry("last", [_bar_line(self.last)]),
            "",
            "How it is read",
        ]
        page += [line for name, parts in self._decisions() for line in _entry(name, parts)]
        page += ["", "What it holds"]
        page += [line for name, parts in self._contents() for line in _entry(name, parts)]
        if self.warnings:
            page += ["", f"{len(self.warnings)} warning{'s' if len(self.warnings) > 1 else ''}"]
            page += [line for warning in self.warnings for line in _wrapped("  - ", warning)]
        return page

    def _decisions(self) -> Iterable[tuple[str, list[str]]]:
        """Yield each decision with its evidence in brackets."""
        found, why = self.decisions, self.decisions.get("evidence", {})
        for key in ("encoding", "separator"):
            if key in found:
                yield key, [_because(found[key], why.get(key, ""))]
        if "header" in found:
            header = f"none, the data begin in line {found['first_line']}"
            yield "header", [why["header"] if found["header"] else header]
        yield "columns", [f"{role} = {name}" for role, name in found["columns"].items()]
        if "time_format" in found:
            yield "time", [_because(found["time_format"], why.get("time_format", ""))]
        if "decimal" in found:
            groups = f", groups of thousands {found['thousands']!r}" if found["thousands"] else ""
            yield "numbers", [_because(f"decimal sign {found['decimal']!r}{groups}", why.get("decimal", ""))]
        zone = found["time_zone"]
        yield "clock", [zone if zone != "as written" else "as written (--tz or --utc-offset say what it is)"]
        yield "order", [found["order"]]
        if found.get("options"):
            yield "options", [f"{option_of(name)} {value}" for name, value in found["options"].items()]

    def _contents(self) -> Iterable[tuple[str, list[str]]]:
        for what, count in self.counts.items():
            if count and what not in BY_WARNINGS:
                yield f"{count:,}", [WORDS.get(what, what.replace("_", " "))]
        for kind, gaps in self.gaps.items():
            if gaps["count"]:
                sizes = [f"{count:,} of {size}" for size, count in list(gaps["by_size"].items())[:SIZES]]
                rest = len(gaps["by_size"]) - SIZES
                more = [f"{rest} more sizes, the largest {span(gaps['largest_ns'])}"] if rest > 0 else []
                word = "gaps" if gaps["count"] > 1 else "gap"
                yield f"{gaps['count']:,}", [f"{kind} {word}: {sizes[0]}", *sizes[1:], *more]
        if self.pieces is not None:
            yield f"{self.pieces['count']:,}", self._cut_up(self.pieces)

    def _cut_up(self, pieces: dict[str, Any]) -> list[str]:
        """Return words on the pieces between gaps longer than max_gap."""
        limit, count = span(pieces["max_gap_ns"]), pieces["count"]
        if count == 1:
            return [f"piece: no gap is longer than {limit}"]
        largest = sorted(pieces["cuts"], key=lambda cut: -cut["gap_ns"])[:SIZES]
        cuts = [f"{span(cut['gap_ns'])} before {cut['before']}" for cut in largest]
        rest = count - 1 - len(cuts)
        return [
            f"pieces between gaps longer than {limit}",
            f"the longest of {pieces['bars']:,} bars",
            *cuts,
            *([f"{rest:,} more"] if rest > 0 else []),
        ]


def inspect_bars(
    source: str | Path | pd.DataFrame, *, max_gap: int | None = None, **options: Any
) -> BarsReport:
    """Read bars with read_bars' options and report on them. Raises DataError as read_bars does.

    max_gap  in ns: report also into which pieces longer gaps cut the bars
    """
    bars, findings = load_bars(source, **options)
    return report_on(bars, findings, max_gap=max_gap)


def report_on(bars: Bars, findings: Findings, *, max_gap: int | None = None) -> BarsReport:
    """Summarise bars and what was found while reading them."""
    counts = {
        **findings.counts,
        "bars": len(bars),
        "flat_bars": int((bars.high == bars.low).sum()),
        "zero_volume": int((bars.volume == 0.0).sum()),
    }
    return BarsReport(
        bars.symbol,
        {key: value for key, value in bars.source.items() if key != "warnings"},
        counts,
        _bar(bars, 0),
        _bar(bars, len(bars) - 1),
        bars.step,
        {kind: _gap_sizes(bars, rows) for kind, rows in gap_kinds(bars).items()},
        findings.bad_lines,
        findings.warnings,
        None if max_gap is None else _pieces(bars, max_gap),
    )


def _pieces(bars: Bars, max_gap: int) -> dict[str, Any]:
    gaps = np.diff(bars.time)
    rows = np.flatnonzero(gaps > max_gap) + 1
    sizes = np.diff(np.concatenate([[0], rows, [len(bars)]]))
    largest = np.sort(rows[np.argsort(-gaps[rows - 1], kind="stable")[:CUTS]])
    cuts = [{"before": stamp(bars.time[row]), "gap_ns": int(gaps[row - 1])} for row in largest]
    return {"max_gap_ns": max_gap, "count": len(sizes), "bars": int(sizes.max()), "cuts": cuts}


def _gap_sizes(bars: Bars, rows: np.ndarray[Any, np.dtype[np.int64]]) -> dict[str, Any]:
    sizes, counts = np.unique(bars.time[rows] - bars.time[rows - 1], return_counts=True)
    order = np.argsort(-counts, kind="stable")
    return {
        "count": len(rows),
        "largest_ns": int(sizes[-1]) if len(sizes) else 0,
        "by_size": {span(int(sizes[i])): int(counts[i]) for i in order},
    }


def _bar(bars: Bars, row: int) -> dict[str, Any]:
    return {"time": stamp(bars.time[row])} | {
        name: float(getattr(bars, name)[row]) for name in (*PRICES, "volume")
    }


def _bar_line(bar: dict[str, Any]) -> str:
    return f"{bar['time']}  " + "  ".join(f"{name} {value:.10g}" for name, value in list(bar.items())[1:])


def _because(what: str, why: str) -> str:
    return f"{what} ({why})" if why and why != what else what


def _entry(name: str, parts: list[str]) -> list[str]:
    """One decision: its name at the left, its parts at the right, wrapped between them."""
    whole = [part.replace(" ", TIED) if len(parts) > 1 else part for part in parts]
    return [line.replace(TIED, " ") for line in _wrapped(f"  {name:<{LABEL}}", ", ".join(whole))]


def _wrapped(left: str, text: str) -> list[str]:
    return textwrap.wrap(
        text, WIDTH, initial_indent=left, subsequent_indent=" " * len(left), break_on_hyphens=False
    )
