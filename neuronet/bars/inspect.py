"""inspect_bars: what a file holds and how it was understood, for people and as JSON, without training."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from neuronet.bars.bars import PRICES, Bars, span, stamp
from neuronet.bars.checks import Findings, gap_kinds
from neuronet.bars.read import load_bars

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class BarsReport:
    """What was found in a bar file.

    decisions  encoding, separator, columns, time format, order, ... as in Bars.source
    counts     rows, and of each finding; bars, flat bars, bars without volume
    first      time and values of the first bar; last the same
    step_ns    most common distance of neighbours
    gaps       kind (weekend, session, other) -> {'count', 'largest_ns', 'by_size': {'2 days 1 h': 31, ...}}
    bad_lines  the first line numbers of impossible candles and zero prices that were kept
    warnings   one sentence each
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

    def to_dict(self) -> dict[str, Any]:
        """Return everything, JSON-able."""
        return asdict(self)

    def lines(self) -> list[str]:
        """Return a page for people."""
        columns = ", ".join(f"{role} = {name}" for role, name in self.decisions["columns"].items())
        page = [
            f"{self.decisions['file']}: {self.counts['bars']} bars of {span(self.step_ns)}",
            f"  symbol   {self.symbol}",
            f"  first    {_bar_line(self.first)}",
            f"  last     {_bar_line(self.last)}",
            f"  columns  {columns}",
        ]
        for key in ("encoding", "separator", "time_format", "decimal", "order", "time_zone"):
            if key in self.decisions:
                page.append(f"  {key.replace('_', ' '):<11} {self.decisions[key]}")
        page += [f"  because: {sentence}" for sentence in self.decisions.get("evidence", [])]
        page += [f"  {what.replace('_', ' ')}: {count}" for what, count in self.counts.items() if count]
        for kind, gaps in self.gaps.items():
            if gaps["count"]:
                sizes = ", ".join(f"{count} of {size}" for size, count in list(gaps["by_size"].items())[:5])
                page.append(f"  {kind} gaps: {gaps['count']}, largest {span(gaps['largest_ns'])}; {sizes}")
        page += [f"  warning: {warning}" for warning in self.warnings]
        return page


def inspect_bars(source: str | Path | pd.DataFrame, **options: Any) -> BarsReport:
    """Read bars with read_bars' options and report on them. Raises DataError as read_bars does."""
    bars, findings = load_bars(source, **options)
    return report_on(bars, findings)


def report_on(bars: Bars, findings: Findings) -> BarsReport:
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
    )


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
