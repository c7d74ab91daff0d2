"""Reading .tsf files: header, attributes, encodings, missing values, errors with their line."""

from __future__ import annotations

import gzip
import logging
from pathlib import Path

import numpy as np
import pytest

from neuronet.errors import DataError
from neuronet.series.frequency import Frequency
from neuronet.series.tsf import is_tsf, read_tsf

GOOD = """# A comment: with a colon
#
@relation Sales
@attribute series_name string
@attribute start_timestamp date
@attribute state string
@attribute size numeric
@frequency monthly
@horizon 2
@missing true
@equallength false
@data
A:1979-01-31 06-00-00:Zürich:3:1,?,2.5,-4e2
# between
B:1999-12-01 00-00-00:Bern:4:7,8

"""


def write(folder: Path, text: str, encoding: str = "utf-8") -> Path:
    path = folder / "sales.tsf"
    path.write_bytes(text.encode(encoding))
    return path


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252"])
@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_a_whole_file(tmp_path: Path, encoding: str, ends: str) -> None:
    file = read_tsf(write(tmp_path, GOOD.replace("\n", ends), encoding))
    assert (file.name, file.horizon, file.frequency) == ("Sales", 2, Frequency(1, "m"))
    assert file.encoding == encoding.removesuffix("-sig")
    assert file.attributes["size"] == "numeric"
    assert [d["state"] for d in file.details] == ["Zürich", "Bern"]
    assert file.notes == ()
    first, second = file.series
    assert (first.name, second.name) == ("A", "B")
    np.testing.assert_array_equal(first.values, [1, np.nan, 2.5, -400])
    expected = ["1979-01-31T06", "1979-02-28T06", "1979-03-31T06", "1979-04-30T06"]
    np.testing.assert_array_equal(first.times.view("datetime64[ns]"), np.array(expected, "datetime64[ns]"))
    np.testing.assert_array_equal(second.values, [7, 8])


def test_packed_files(tmp_path: Path) -> None:
    path = tmp_path / "sales.tsf.gz"
    path.write_bytes(gzip.compress(GOOD.encode()))
    assert is_tsf(path)
    assert len(read_tsf(path).series) == 2


def test_is_tsf_looks_inside(tmp_path: Path) -> None:
    for name, text, expected in (
        ("a.txt", GOOD, True), ("b.csv", "time,value\n@relation,1\n", False), ("c.txt", "# only\n", False)
    ):  # fmt: skip
        (tmp_path / name).write_text(text, "utf-8")
        assert is_tsf(tmp_path / name) is expected
    (tmp_path / "packed").write_bytes(gzip.compress(GOOD.encode()))
    assert is_tsf(tmp_path / "packed")
    assert not is_tsf(tmp_path / "nowhere.csv")


def test_without_start_and_name(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    text = "@attribute state string\n@frequency daily\n@data\nBern:1,2\nGenf:3\n"
    with caplog.at_level(logging.WARNING):
        file = read_tsf(write(tmp_path, text))
    assert [one.name for one in file.series] == ["T1", "T2"]
    np.testing.assert_array_equal(file.series[0].times, [0, 86_400 * 10**9])
    assert "begin on 1970-01-01" in file.notes[0]
    assert "begin on 1970-01-01" in caplog.text
    assert file.horizon is None


def test_a_header_that_is_wrong_is_noted(tmp_path: Path) -> None:
    text = GOOD.replace("@missing true", "@missing false").replace("@equallength false", "@equallength true")
    notes = read_tsf(write(tmp_path, text)).notes
    assert notes == (
        "the header says that no value is missing, but 1 are",
        "the header says that all series are equally long, but they have 2 to 4 values",
    )


def test_the_frequency_can_be_given(tmp_path: Path) -> None:
    text = GOOD.replace("@frequency monthly\n", "")
    with pytest.raises(DataError, match="no @frequency"):
        read_tsf(write(tmp_path, text))
    assert read_tsf(write(tmp_path, text), frequency=Frequency(1, "y")).series[1].frequency == Frequency(
        1, "y"
    )


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("-4e2", "x", 13, "value 4 is 'x', no number"),
        ("-4e2", "inf", 13, "value 4 is 'inf', no number"),
        ("-4e2", "", 13, "value 4 is '', no number"),
        (":3:1,", ":1,", 13, "3 attributes before the values, the header declares 4"),
        (":3:1,", ":three:1,", 13, "attribute size is 'three'"),
        ("1999-12-01", "1999-13-01", 15, "start_timestamp is '1999-13-01 00-00-00', no date"),
        ("1999-12-01", "1500-12-01", 15, "1678"),
        ("@frequency monthly", "@frequency often", 8, "unknown frequency 'often'"),
        ("@horizon 2", "@horizon two", 9, "@horizon is 'two'"),
        ("@missing true", "@missing maybe", 10, "@missing is 'maybe'"),
        ("@missing true", "@colour red", 10, "unknown tag '@colour'"),
        ("@attribute size numeric", "@attribute size number", 7, "@attribute size number"),
        ("@attribute size", "@attribute state", 7, "declared twice"),
        ("@data\n", "", 12, "begins with @ or #"),
    ],
)
def test_errors_name_the_line(tmp_path: Path, old: str, new: str, line: int, message: str) -> None:
    assert old in GOOD
    with pytest.raises(DataError, match=message) as caught:
        read_tsf(write(tmp_path, GOOD.replace(old, new, 1)))
    assert caught.value.where == f"sales.tsf:{line}"
    assert caught.value.fix


def test_cut_files_are_refused(tmp_path: Path) -> None:
    for part, message in ((GOOD.split("@data")[0], "no line @data"), (GOOD.split("A:")[0], "no series")):
        with pytest.raises(DataError, match=message):
            read_tsf(write(tmp_path, part))
