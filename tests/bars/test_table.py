"""Lines that are cut, glued, blank or long; cells that are no numbers; which volume is taken."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from neuronet.bars.bars import Bars
from neuronet.bars.read import read_bars
from neuronet.bars.synthetic import make_bars
from neuronet.errors import DataError

Writer = Callable[..., Path]
Same = Callable[..., None]
Rewriter = Callable[..., Path]
COLUMNS = ("time", "open", "high", "low", "close", "volume")


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


def test_a_word_among_the_prices_costs_its_row_only(
    bars: Bars, write: Writer, same: Same, rewrite: Rewriter
) -> None:
    path = write(bars)
    lines = _lines(path)
    lines[200] = lines[200].replace(lines[200].split(",")[1], "error")
    read = read_bars(rewrite(path, lines))
    keep = np.arange(len(bars)) != 199
    same(read, Bars(*(getattr(bars, n)[keep] for n in COLUMNS)))  # type: ignore[arg-type]
    assert read.source["warnings"][0] == "1 row without open dropped: line 201"


def test_cut_last_line(bars: Bars, write: Writer, same: Same, rewrite: Rewriter) -> None:
    path = write(bars)
    lines = _lines(path)
    for cut in ("2023-01-20 23:00:00,1.1,1.2,1.08", "2023-01-2"):
        read = read_bars(rewrite(path, [*lines[:-1], cut], end=""))
        same(read, bars[:-1])
        assert read.source["warnings"][0].startswith("line 361, the last, has ")
    same(read_bars(rewrite(path, lines, end="")), bars)


def test_ragged_line_in_the_middle(bars: Bars, write: Writer, rewrite: Rewriter) -> None:
    path = write(bars)
    lines = _lines(path)
    glued = [*lines[:50], lines[50] + lines[51], *lines[52:]]
    with pytest.raises(
        DataError, match=r"bars.csv:51: 11 fields instead of 6: '2023-01-04 01:00:00,.*\nFix: repair"
    ):
        read_bars(rewrite(path, glued))
    short = [*lines[:50], lines[50].rsplit(",", 2)[0], *lines[51:]]
    with pytest.raises(DataError, match=r"bars.csv:51: 4 fields instead of 6"):
        read_bars(rewrite(path, short))


def test_blank_lines_comments_zero_bytes_trailing_commas(
    bars: Bars, write: Writer, same: Same, rewrite: Rewriter
) -> None:
    path = write(bars)
    lines = _lines(path)
    same(
        read_bars(rewrite(path, ["# mine", "", *lines[:100], "", "   ", "# note", *lines[100:], "", ""])),
        bars,
    )
    same(read_bars(rewrite(path, [line + ",," for line in lines])), bars)
    path.write_bytes("\n".join(lines).encode() + b"\n" + b"\0" * 512)
    read = read_bars(path)
    same(read, bars)
    assert read.source["warnings"] == ["512 zero bytes at the end were cut off"]


def test_tick_volume_before_a_real_volume_of_zero(
    bars: Bars, write: Writer, same: Same, rewrite: Rewriter
) -> None:
    path = write(bars)
    lines = _lines(path)
    for ticks, real in (("tick_volume", "real_volume"), ("<TICKVOL>", "<VOL>")):
        header = f"time,open,high,low,close,{real},{ticks}"
        rows = [line.rsplit(",", 1)[0] + ",0," + line.rsplit(",", 1)[1] for line in lines[1:]]
        same(read_bars(rewrite(path, [header, *rows])), bars)
        swapped = [line.rsplit(",", 1)[0] + "," + line.rsplit(",", 1)[1] + ",0" for line in lines[1:]]
        same(read_bars(rewrite(path, [header, *swapped])), bars)
    no_volume = read_bars(rewrite(path, [line.rsplit(",", 1)[0] for line in lines]))
    same(no_volume, bars, COLUMNS[:5])
    assert no_volume.volume.tolist() == [0.0] * len(bars)


def test_volume_of_int32_max(bars: Bars, write: Writer, same: Same) -> None:
    volume = bars.volume.copy()
    volume[5] = 2_147_483_647
    big = Bars(bars.time, bars.open, bars.high, bars.low, bars.close, volume)
    same(read_bars(write(big)), big)


def test_a_long_file_in_several_chunks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, same: Same, rewrite: Rewriter
) -> None:
    from neuronet.bars import table, text
    from neuronet.bars.synthetic import write_mt5

    bars = make_bars(2_000, step="1m")
    write_mt5(bars, tmp_path / "bars.csv")
    monkeypatch.setattr(table, "CHUNK", 300)
    monkeypatch.setattr(text, "BLOCK", 1_000)
    same(read_bars(tmp_path / "bars.csv"), bars)
    lines = _lines(tmp_path / "bars.csv")
    lines[1_500] += "\t1"
    with pytest.raises(DataError, match=r"bars.csv:1501: 10 fields instead of 9"):
        read_bars(rewrite(tmp_path / "bars.csv", lines))
