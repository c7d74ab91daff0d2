"""Archives, code pages, UTF-16 from which a byte is missing; and the lines at which a file was cut."""

from __future__ import annotations

import gzip
import io
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from neuronet.bars.bars import Bars
from neuronet.bars.read import read_bars
from neuronet.errors import DataError

Writer = Callable[..., Path]
Same = Callable[..., None]
Rewriter = Callable[..., Path]


def _zip(files: dict[str, bytes]) -> bytes:
    memory = io.BytesIO()
    with zipfile.ZipFile(memory, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return memory.getvalue()


def test_archives(bars: Bars, write: Writer, same: Same, tmp_path: Path) -> None:
    raw = write(bars).read_bytes()
    packed = tmp_path / "EURUSD_H1.csv.gz"
    packed.write_bytes(gzip.compress(raw))
    same(read_bars(packed), bars)
    assert read_bars(packed).symbol == "EURUSD"
    packed.write_bytes(gzip.compress(raw)[:-20])
    with pytest.raises(DataError, match="cannot be unpacked"):
        read_bars(packed)
    archive = tmp_path / "BTCUSDT-1h.zip"
    archive.write_bytes(_zip({"BTCUSDT.csv": raw, "__MACOSX/x": b""}))
    same(read_bars(archive), bars)
    archive.write_bytes(_zip({"a.csv": raw, "b.csv": raw}))
    with pytest.raises(DataError, match=r"the archive holds 2 files: a.csv, b.csv\nFix: unpack it"):
        read_bars(archive)
    archive.write_bytes(_zip({"[Content_Types].xml": b"", "xl/workbook.xml": b""}))
    with pytest.raises(DataError, match=r"this is an Excel workbook.*\nFix: save the sheet as CSV"):
        read_bars(archive)


@pytest.mark.parametrize(
    ("start", "what"),
    [(b"PAR1", "a Parquet file"), (b"\xd0\xcf\x11\xe0", "an Excel workbook"), (b"BZh9", "a bzip2 archive")],
)
def test_other_kinds_of_files(start: bytes, what: str, tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(start + bytes(100))
    with pytest.raises(DataError, match=f"this is {what}, not a text file"):
        read_bars(tmp_path / "x")


@pytest.mark.parametrize(
    ("encoding", "header"),
    [
        ("cp1252", "Datum;Eröffnung;Hoch;Tief;Schluss;Stücke"),
        ("cp1251", "Дата;Открытие;Максимум;Минимум;Закрытие;Объем"),
        ("gb18030", "时间;开盘;最高;最低;收盘;成交量"),
        ("shift_jis", "日時;始値;高値;安値;終値;出来高"),
        ("cp949", "날짜;시가;고가;저가;종가;거래량"),
        ("cp1250", "Data;Otwarcie;Najwyższy;Najniższy;Zamknięcie;Wolumen"),
        ("utf-8-sig", "Tarih;Acilis;Yüksek;Düşük;Kapanis;Hacim"),
        ("utf-16", "Дата;Открытие;Максимум;Минимум;Закрытие;Объем"),
    ],
)
def test_headers_in_code_pages(encoding: str, header: str, bars: Bars, write: Writer, same: Same) -> None:
    read = read_bars(write(bars, header=header, separator=";", encoding=encoding))
    same(read, bars)
    assert read.source["encoding"] == encoding
    assert read.source["evidence"]["encoding"]


def test_utf16_with_a_missing_byte(bars: Bars, write: Writer) -> None:
    path = write(bars, encoding="utf-16")
    raw = path.read_bytes()
    path.write_bytes(raw[:3_001] + raw[3_002:])
    with pytest.raises(DataError, match=r"line \d+ is damaged: a byte too many or too few"):
        read_bars(path)


def test_a_number_that_was_cut_at_the_end(bars: Bars, write: Writer, same: Same) -> None:
    path = write(bars, header=None, order=("open", "high", "low", "close"), number=lambda v: f"{v:.5f}")
    text = path.read_text()
    path.write_text(text[:-1])  # the line end only
    same(read_bars(path), bars, ("time", "close"))
    path.write_text(text[:-3])
    read = read_bars(path)
    same(read, bars[:-1], ("time", "close"))
    assert read.source["warnings"] == ["line 360, the last, ends within a number and was dropped"]


def test_footers(bars: Bars, write: Writer, same: Same) -> None:
    path = write(bars)
    path.write_text(path.read_text() + '"Highest: 1.2"\n"Source: Some Bank, Somewhere"\n')
    read = read_bars(path)
    same(read, bars)
    assert len(read.source["warnings"]) == 2
    assert read.source["warnings"][1].startswith("line 362 is no bar and was left out: '\"Highest")


def test_a_bar_behind_a_comment_sign_is_told(bars: Bars, write: Writer, rewrite: Rewriter) -> None:
    path = write(bars)
    lines = path.read_text().splitlines()
    path = rewrite(path, [*lines[:20], "#" + lines[20], *lines[21:], "# the end"])
    read = read_bars(path)
    assert len(read) == len(bars) - 1
    assert read.source["warnings"][0] == "a bar behind a # was left out: line 21"
    lines = write(bars, header=None).read_text("utf-8").splitlines()
    path = rewrite(path, ["# made by hand, 2023, 5, 6 and 7, or so", "#" + lines[0][1:], *lines[1:]])
    assert read_bars(path).source["warnings"] == ["a bar behind a # was left out: line 2"]


def test_names_and_fields_of_different_number(bars: Bars, write: Writer, same: Same) -> None:
    path = write(bars, header="time,open,high,low close,volume")
    with pytest.raises(
        DataError, match=r"the header has 5 names, the lines have 6 fields: .*\nFix: .*--columns"
    ):
        read_bars(path)
    numbers = {name: i for i, name in enumerate(("time", "open", "high", "low", "close", "volume"))}
    same(read_bars(path, columns=numbers), bars)


def test_progress(bars: Bars, write: Writer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("neuronet.bars.table.CHUNK", 100)
    seen: list[tuple[int, int]] = []
    read_bars(write(bars), on_progress=lambda done, total: seen.append((done, total)))
    assert seen == [(99, 360), (199, 360), (299, 360), (360, 360)]


def test_a_zone_that_the_cells_name(bars: Bars, write: Writer) -> None:
    path = write(bars, time="%Y%m%d %H:%M:%S US/Eastern", header="Date,Open,High,Low,Close,Volume")
    read = read_bars(path)
    np.testing.assert_array_equal(read.time, bars.time + 5 * 3_600 * 10**9)  # winter
    assert read.source["time_zone"] == "US/Eastern"
