"""What is not bars is refused with a sentence; how the options reach the reader."""

from __future__ import annotations

from pathlib import Path

import pytest

from neuronet.bars.bars import stamp
from neuronet.bars.read import read_bars
from neuronet.errors import DataError


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "x.csv: the file is empty\nFix: export it again"),
        ("\n \n", "x.csv: the file is empty"),
        ("time,open,high,low,close,volume\n", "x.csv: no bars: no line has prices"),
        ("time,open,high,low,close\n2024-01-01,nan,1,1,1\n", "x.csv: no bars: no row has all of open, high"),
        ("2021.03.30 00:00:00,18.07,17.1,up,0.1\n" * 3, "not bars: 'up' in column 4 is no low price"),
        ("1,14589;1,1457;1,14665;1,14601\n" * 3, "not bars: no column holds times"),
        ("Date;close\n2003.07.09 10:00;113390\n", "these are closes only, no bars; the columns are"),
        ("time,symbol,side,price,qty\n2024-01-01,A,buy,1.1,5\n", "not bars: no column for open, high, low"),
        ("Price,Close,Close\nTicker,AAA,BBB\nDate,,\n2024-01-01,1.5,2.5\n", "2 symbols side by side"),
        ("<html><body>Sign in</body></html>\n", "no line has prices; the first is '<html>"),
        ("# nothing\n# here\n", "x.csv: no bars: only comments"),
        ('time,o,h,l,c\n2024-01-01,1,1,1,"1\n2024-01-02,1,1,1,"1\n', "without a partner"),
        ("PK\x03\x04", "cannot be unpacked: File is not a zip file"),
        ("a\0b,c", "zero bytes inside"),
    ],
)  # fmt: skip
def test_what_is_not_bars(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes(text.encode())
    with pytest.raises(DataError) as caught:
        read_bars(path)
    assert message in str(caught.value)
    assert "\nFix: " in str(caught.value)
    assert str(caught.value).count("x.csv") == 1  # a place is named once


@pytest.mark.parametrize("join", ["T", " "])
def test_a_time_may_be_an_hour(join: str, tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    lines = [f"2024-01-{1 + i // 24:02}{join}{i % 24:02},1,2,0.5,1" for i in range(30)]
    path.write_text("\n".join(["time,open,high,low,close", *lines]))
    bars = read_bars(path)
    assert (len(bars), bars.step) == (30, 3_600 * 10**9)
    assert stamp(bars.time[-1]) == "2024-01-02 05:00:00"


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"none.csv: cannot be read: No such file"):
        read_bars(tmp_path / "none.csv")
