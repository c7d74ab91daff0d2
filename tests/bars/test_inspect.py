"""inspect_bars: decisions, counts and gaps."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from neuronet.bars.bars import Bars
from neuronet.bars.dialect import sniff
from neuronet.bars.inspect import inspect_bars
from neuronet.bars.synthetic import make_bars, write_mt5

HOUR = 3_600 * 10**9


def test_report_of_a_sound_file(tmp_path: Path) -> None:
    bars = make_bars(600)
    write_mt5(bars, tmp_path / "EURUSD_H1.csv")
    report = inspect_bars(tmp_path / "EURUSD_H1.csv")
    assert report.symbol == "EURUSD"
    assert report.first == {"time": "2023-01-02 00:00:00", "volume": bars.volume[0]} | {
        name: getattr(bars, name)[0] for name in ("open", "high", "low", "close")
    }
    assert report.last["time"] == "2023-02-03 23:00:00"
    assert (report.counts["bars"], report.counts["rows"], report.step_ns) == (600, 600, HOUR)
    assert report.gaps["weekend"] == {"count": 4, "largest_ns": 49 * HOUR, "by_size": {"2 days 1 h": 4}}
    assert report.gaps["session"]["count"] == report.gaps["other"]["count"] == 0
    assert report.warnings == []
    assert json.loads(json.dumps(report.to_dict()))["decisions"]["separator"] == "tab"
    page = "\n".join(report.lines())
    assert "EURUSD_H1.csv: 600 bars of 1 h" in page
    assert "weekend gaps: 4 of 2 days 1 h" in page
    assert "time = '<DATE>' (column 1) + '<TIME>' (column 2)" in page


def test_gaps_are_told_apart(tmp_path: Path) -> None:
    bars = make_bars(960)
    hour = bars.time // HOUR % 24
    keep = hour != 22  # closed for an hour each day
    keep[300:305] = False  # an outage
    some = Bars(*(getattr(bars, n)[keep] for n in ("time", "open", "high", "low", "close", "volume")))  # type: ignore[arg-type]
    write_mt5(some, tmp_path / "bars.csv")
    report = inspect_bars(tmp_path / "bars.csv")
    counts = {kind: gaps["count"] for kind, gaps in report.gaps.items()}
    assert counts == {"weekend": 7, "session": 40, "other": 1}
    outage = str(some.time[np.argmax(some.time > bars.time[299])].view("datetime64[ns]"))[:13].replace(
        "T", " "
    )
    assert report.warnings == [f"1 gap besides weekends and sessions, the largest 6 h before {outage}:00:00"]


def test_max_gap_shows_the_pieces(tmp_path: Path) -> None:
    bars = make_bars(360)  # two weekends and a bit, and an outage
    keep = np.ones(360, bool)
    keep[50:55] = False
    write_mt5(
        Bars(*(getattr(bars, n)[keep] for n in ("time", "open", "high", "low", "close", "volume"))),  # type: ignore[arg-type]
        tmp_path / "bars.csv",
    )
    assert inspect_bars(tmp_path / "bars.csv").pieces is None
    none = inspect_bars(tmp_path / "bars.csv", max_gap=49 * HOUR)
    assert none.pieces == {"max_gap_ns": 49 * HOUR, "count": 1, "bars": 355, "cuts": []}
    assert "  1             piece: no gap is longer than 2 days 1 h" in none.lines()
    report = inspect_bars(tmp_path / "bars.csv", max_gap=5 * HOUR)
    assert report.pieces is not None
    assert report.pieces["cuts"] == [
        {"before": "2023-01-04 07:00:00", "gap_ns": 6 * HOUR},
        {"before": "2023-01-09 00:00:00", "gap_ns": 49 * HOUR},
        {"before": "2023-01-16 00:00:00", "gap_ns": 49 * HOUR},
    ]
    assert (report.pieces["count"], report.pieces["bars"]) == (4, 120)
    page = " ".join(" ".join(report.lines()).split())
    assert (
        "4 pieces between gaps longer than 5 h, the longest of 120 bars, 2 days 1 h before 2023-01-09" in page
    )
    assert all(len(line) <= 110 for line in report.lines())


def test_dialect_says_why(tmp_path: Path) -> None:
    path = tmp_path / "ibov.csv"
    rows = ['"28.12.2023","134.185","134.194","134.392","133.832","7,81M","-0,01%"'] * 3
    path.write_text(
        '\ufeff"Data","Ultimo","Abertura","Maxima","Minima","Vol.","Var%"\n' + "\n".join(rows),
        encoding="utf-8",
    )
    dialect = sniff(path)
    assert dialect.encoding == "utf-8-sig"
    assert (dialect.number_format.decimal, dialect.number_format.thousands) == (",", ".")
    assert dialect.columns == {"close": 1, "open": 2, "high": 3, "low": 4}
    assert dialect.volumes == (5,)
    assert dialect.evidence["decimal"] == "as in '7,81M'"
