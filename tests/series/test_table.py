"""Series from CSV, bar and .tsf files: layouts, missing values, gaps, errors with their line."""

from __future__ import annotations

import logging
from pathlib import Path

import numpy as np
import pytest

from neuronet.errors import DataError
from neuronet.series.frequency import Frequency
from neuronet.series.table import read_series

HOUR = 3_600 * 10**9


def write(folder: Path, text: str, name: str = "load.csv", encoding: str = "utf-8") -> Path:
    path = folder / name
    path.write_bytes(text.encode(encoding))
    return path


def test_time_and_value(tmp_path: Path) -> None:
    (one,) = read_series(
        write(tmp_path, "time,value\n2024-02-28 23:00,1.5\n2024-02-29 00:00,?\n2024-02-29 01:00,\n")
    )
    assert (one.name, one.frequency, one.gaps) == ("value", Frequency(1, "h"), 0)
    np.testing.assert_array_equal(one.values, [1.5, np.nan, np.nan])
    np.testing.assert_array_equal(np.diff(one.times), [HOUR, HOUR])
    assert str(one.times.view("datetime64[ns]")[0])[:16] == "2024-02-28T23:00"


def test_several_columns_whose_names_may_be_numbers(tmp_path: Path) -> None:
    text = (
        "date,0,1,OT\n1990/1/1 0:00,0.7855,1.611,5\n1990/1/2 0:00,0.7818,1.61,6\n1990/1/3 0:00,0.78,1.6,7\n"
    )
    path = write(tmp_path, text)
    found = read_series(path)
    assert [one.name for one in found] == ["0", "1", "OT"]
    np.testing.assert_array_equal(found[0].values, [0.7855, 0.7818, 0.78])
    assert found[2].frequency == Frequency(1, "d")
    (named,) = read_series(path, "1")
    np.testing.assert_array_equal(named.values, [1.611, 1.61, 1.6])
    (numbered,) = read_series(path, 3)
    assert numbered.name == "OT"
    with pytest.raises(DataError, match="no column 'OTT'; the columns are date, 0, 1, OT"):
        read_series(path, "OTT")


def test_decimal_comma_cp1252_newest_first(tmp_path: Path) -> None:
    text = "Datum;Wärme °C\n03.01.2024;1,5\n02.01.2024;2,25\n01.01.2024;-3,0\n"
    (one,) = read_series(write(tmp_path, text, encoding="cp1252"))
    assert one.name == "Wärme °C"
    np.testing.assert_array_equal(one.values, [-3, 2.25, 1.5])
    assert np.all(np.diff(one.times) == 24 * HOUR)


@pytest.mark.parametrize(
    ("text", "frequency", "start"),
    [
        ("Month,Passengers\n1949-01,112\n1949-02,118\n1949-03,132\n", "1 month", "1949-01-01T00:00"),
        ("Year,Sunspots\n1701,11\n1702,16\n1703,23\n", "1 year", "1701-01-01T00:00"),
        ("q,v\n2001Q2,1\n2001Q3,2\n2001Q4,4\n", "1 quarter", "2001-04-01T00:00"),
        ("1704067200,2\n1704070800,4\n1704074400,7\n", "1 h", "2024-01-01T00:00"),
        ("2024-01-31,2\n2024-02-29,4\n2024-03-31,7\n", "1 month", "2024-01-31T00:00"),
    ],
)
def test_times_of_other_looks(tmp_path: Path, text: str, frequency: str, start: str) -> None:
    (one,) = read_series(write(tmp_path, text))
    assert str(one.frequency) == frequency
    assert str(one.times.view("datetime64[ns]")[0])[:16] == start
    assert len(one) == 3


def test_gaps_are_kept_and_warned_of_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    text = "date,a,b\n2024-01-01,1,2\n2024-01-02,2,3\n2024-01-05,3,4\n2024-01-06,4,5\n"
    with caplog.at_level(logging.WARNING):
        found = read_series(write(tmp_path, text))
    assert [one.gaps for one in found] == [1, 1]
    assert [r.getMessage() for r in caplog.records] == [
        "load.csv: 1 of 3 steps between times are not 1 day; the values stay as they are"
    ]
    assert read_series(write(tmp_path, text), frequency=Frequency(12, "h"))[0].gaps == 3


def test_columns_without_numbers_are_left_out(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    text = ",ds,y,kind,none\n0,2024-01-01,5,x,\n1,2024-01-02,7,y,\n2,2024-01-03,8,z,\n"
    with caplog.at_level(logging.WARNING):
        found = read_series(write(tmp_path, text))
    assert [one.name for one in found] == ["y"]
    assert "column 'kind' holds no numbers" in caplog.text
    assert "column 'none' holds no value" in caplog.text


BARS = "Date,Open,High,Low,Close,Volume\n" + "".join(
    f"2024-01-{day:02d},{day},{day + 2},{day - 0.5},{day + 1},{10 * day}\n" for day in range(1, 6)
)


def test_bars_give_their_closes(tmp_path: Path) -> None:
    path = write(tmp_path, BARS, "EURUSD_D1.csv")
    (one,) = read_series(path)
    assert (one.name, one.frequency) == ("EURUSD", Frequency(1, "d"))
    np.testing.assert_array_equal(one.values, [2, 3, 4, 5, 6])
    np.testing.assert_array_equal(read_series(path, "Volume")[0].values, [10, 20, 30, 40, 50])
    bare = write(tmp_path, BARS.partition("\n")[2], "bare.csv")
    np.testing.assert_array_equal(read_series(bare)[0].values, [2, 3, 4, 5, 6])


def test_four_columns_that_are_no_candles_stay_four_series(tmp_path: Path) -> None:
    text = "2024-01-01,2,9,8,1\n2024-01-02,4,3,3,3\n2024-01-03,7,1,9,2\n"
    assert len(read_series(write(tmp_path, text))) == 4


def test_tsf_by_content(tmp_path: Path) -> None:
    text = "@relation x\n@attribute series_name string\n@frequency daily\n@data\nA:1,2\nB:3\n"
    path = write(tmp_path, text, "set.txt")
    assert [one.name for one in read_series(path)] == ["A", "B"]
    np.testing.assert_array_equal(read_series(path, "B")[0].values, [3])
    with pytest.raises(DataError, match="no series 'C'; there are 2: A, B"):
        read_series(path, "C")


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        (
            "time,v\n2024-01-01,1\n2024-01-02,x7\n2024-01-03,3\n",
            "load.csv:3",
            "'x7' in 'v' .column 2. is no number",
        ),
        (
            "time,v\n2024-01-01,1\n2024-01-02,2\n2024-01-03,inf\n",
            "load.csv:4",
            "'inf' in 'v' .column 2. is no",
        ),
        (
            "time,v\n2024-01-01,1\nfoo,2\n2024-01-03,3\n2024-01-04,3\n",
            "load.csv:3",
            "'foo' is no time written as",
        ),
        (
            "time,v\n2024-01-01,1\n2024-01-02,2\n2024-01-01,3\n",
            "load.csv:4",
            "2024-01-01 00:00:00 occurs a second",
        ),
        ("time,v\n2024-01-01,1\n2024-01-03,2\n2024-01-02,3\n", "load.csv:4", "out of order"),
        ("time,v\n2024-01-01,1\n2024-01-02,2,9\n2024-01-03,3\n", "load.csv:3", "3 fields instead of 2"),
        (
            "a,b\n1,2\n3,4\n5,7\n",
            "load.csv",
            "no column holds times; the columns are 'a, b'; a line is '1,2'",
        ),
        ("time,v\n2024-01-01,a\n2024-01-02,b\n", "load.csv", "no column holds numbers"),
        ("date,v\n03/02/2024,1\n04/02/2024,2\n", "load.csv", "day and month cannot be told apart"),
        ("time,v\n2024-01-01,1\n", "load.csv", "1 time stamp: no frequency"),
        ("some\nwords\n", "load.csv", "one field a line"),
        ("time,v\nfoo,2\n2024-01-03,3\n2024-01-04,3\n", "load.csv:2", "'foo' is no time"),
        ("", "load.csv", "the file is empty"),
    ],
)
def test_errors(tmp_path: Path, text: str, place: str, message: str) -> None:
    with pytest.raises(DataError, match=message) as caught:
        read_series(write(tmp_path, text))
    assert caught.value.where == place
    assert caught.value.fix


def test_options(tmp_path: Path) -> None:
    path = write(tmp_path, "date,v\n03/02/2024,1\n04/02/2024,2\n")
    (one,) = read_series(path, date_format="dmy")
    assert str(one.times.view("datetime64[ns]")[0])[:10] == "2024-02-03"
    odd = write(tmp_path, "t,v\n2024|060,1\n2024|061,2\n", "odd.csv")
    (one,) = read_series(odd, date_format="%Y|%j")
    assert str(one.times.view("datetime64[ns]")[0])[:10] == "2024-02-29"
    with pytest.raises(DataError, match="no column holds times"):
        read_series(odd, date_format="%d.%m.%Y")
    with pytest.raises(DataError, match="tz can be chosen for bars only"):
        read_series(path, date_format="dmy", tz="UTC")


def test_a_name_twice_is_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "twice.csv"
    path.write_text("time,x,x\n2024-01-01,1,2\n2024-01-02,3,4\n", encoding="utf-8")
    assert [one.values.tolist() for one in read_series(path)] == [[1, 3], [2, 4]]
    assert "twice.csv: 'x' names more than one series" in caplog.text
