"""Channels from one file or several: joined times, changes of prices, and what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from neuronet.bars.bars import Bars
from neuronet.bars.store import write_bars
from neuronet.errors import DataError
from neuronet.series.channels import Channels
from neuronet.series.read_channels import read_channels

DAY = 86_400 * 10**9
BARS = """Date,Open,High,Low,Close,Volume,Spread
2024-01-01,10,12,9,10,99,5
2024-01-02,10,20,10,20,199,6
2024-01-03,20,40,5,10,99,7
"""


def write(folder: Path, text: str, name: str = "load.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def days(first: int, last: int) -> str:
    """Bars of days of January 2024 whose close is the day."""
    lines = ["Date,Open,High,Low,Close"]
    lines += [f"2024-01-{day:02d},{day},{day},{day},{day}" for day in range(first, last + 1)]
    return "\n".join(lines) + "\n"


def test_columns_of_a_table(tmp_path: Path) -> None:
    path = write(tmp_path, "time,load,wind\n2024-01-01,1,2\n2024-01-02,2,3\n2024-01-03,4,2\n")
    found = read_channels(path)
    assert (found.names, found.timed, found.notes) == (("load", "wind"), True, ())
    np.testing.assert_array_equal(found.values, [[1, 2], [2, 3], [4, 2]])
    np.testing.assert_array_equal(np.diff(found.times), [DAY, DAY])
    assert found.when(1) == "2024-01-02 00:00:00"
    one = read_channels(path, ["wind"])
    assert one.names == ("wind",)
    np.testing.assert_array_equal(one.values[:, 0], [2, 3, 2])
    with pytest.raises(DataError, match="no column 'sun'") as error:
        read_channels(path, ["sun"])
    assert error.value.fix == "choose from load, wind"


@pytest.mark.parametrize(
    "text",
    ["a,b\n1.5,2\n2.5,3\n4,2\n", "t,a,b\n0,1.5,2\n1,2.5,3\n2,4,2\n", "a;b\n1,5;2,00\n2,5;3,00\n4,0;2,00\n"],
)
def test_without_times_rows_are_positions(tmp_path: Path, text: str) -> None:
    found = read_channels(write(tmp_path, text))
    assert (found.names, found.timed) == (("a", "b"), False)
    np.testing.assert_array_equal(found.times, [0, 1, 2])
    np.testing.assert_array_equal(found.values, [[1.5, 2], [2.5, 3], [4, 2]])
    assert any("no column of times: rows are numbered from 0" in note for note in found.notes)
    assert found.when(2) == "row 2"


def test_missing_values_are_refused_or_left_out(tmp_path: Path) -> None:
    text = "time,a,b\n2024-01-01,1,2\n2024-01-02,,3\n2024-01-03,4,\n2024-01-04,5,6\n"
    path = write(tmp_path, text)
    with pytest.raises(
        DataError, match="2 of 4 rows have no value: 2024-01-02 00:00:00 in a; 2024-01-03 00:00:00 in b"
    ):
        read_channels(path)
    found = read_channels(path, missing="drop")
    np.testing.assert_array_equal(found.values, [[1, 2], [5, 6]])
    assert any("these rows were left out" in note for note in found.notes)
    untimed = write(tmp_path, "a,b\n1.5,2\n,3\n4,2\n", "u.csv")
    with pytest.raises(DataError, match="1 of 3 rows have no value: row 1 in a"):
        read_channels(untimed)


def test_changes_of_one_bar_file(tmp_path: Path) -> None:
    """All prices against the close before; the volume by its own, plus 1."""
    found = read_channels(write(tmp_path, BARS, "EURUSD_D1.csv"))
    assert found.names == ("open", "high", "low", "close", "volume")
    ln2 = np.log(2.0)
    np.testing.assert_allclose(
        found.values, [[0, ln2, 0, ln2, ln2], [0, ln2, -2 * ln2, -ln2, -ln2]], atol=1e-15
    )
    assert len(found) == 2
    assert found.notes[0] == "log changes of open, high, low, close, volume"
    assert "never change: open" in found.notes[1]  # reported, and kept
    assert found.constant == ("open",)


def test_chosen_columns_and_plain_values_of_bars(tmp_path: Path) -> None:
    path = write(tmp_path, BARS)
    plain = read_channels(path, ["close", "volume"], changes="no")
    np.testing.assert_array_equal(plain.values, [[10, 99], [20, 199], [10, 99]])
    high = read_channels(path, ["High"])
    np.testing.assert_allclose(high.values[:, 0], np.log([2.0, 2.0]))
    other = read_channels(path, ["Spread"])  # no part of a bar: as it is
    np.testing.assert_array_equal(other.values[:, 0], [5, 6, 7])


def test_a_lone_price_of_0_has_no_logarithm_and_the_lowest_other_is_taken(tmp_path: Path) -> None:
    path = write(tmp_path, BARS.replace("2024-01-02,10,", "2024-01-02,0,"))
    found = read_channels(path, ["open"])
    np.testing.assert_allclose(found.values[:, 0], [0, 0])
    np.testing.assert_array_equal(read_channels(path, ["open"], changes="no").values[:, 0], [10, 0, 20])


def test_volume_that_says_nothing_is_left_out(tmp_path: Path) -> None:
    found = read_channels(write(tmp_path, days(1, 5)))
    assert found.names == ("open", "high", "low", "close")
    assert "load.csv: volume never changes and was left out" in found.notes


def test_several_bar_files_are_joined_on_time(tmp_path: Path) -> None:
    first = write(tmp_path, days(1, 6), "EURUSD_D1.csv")
    second = write(tmp_path, days(3, 9).replace("2024-01-05,5,5,5,5\n", ""), "GBPUSD_D1.csv")
    found = read_channels([first, second])
    assert found.names == ("EURUSD", "GBPUSD")
    # Days 3, 4 and 6: both channels span the two days over the missing bar.
    np.testing.assert_allclose(found.values, np.log([[4 / 3, 4 / 3], [6 / 4, 6 / 4]]))
    assert found.when(0) == "2024-01-04 00:00:00"
    assert found.notes[0].startswith("EURUSD: 3 of 6 rows dropped")
    assert found.notes[1].startswith("GBPUSD: 3 of 6 rows dropped")
    two = read_channels([first, second], ["high", "close"], changes="no")
    assert two.names == ("EURUSD high", "EURUSD close", "GBPUSD high", "GBPUSD close")
    np.testing.assert_array_equal(two.values[:, 2], [3, 4, 6])


def test_stored_bars_and_a_table_together(tmp_path: Path) -> None:
    times = np.datetime64("2024-01-01", "ns").astype(np.int64) + DAY * np.arange(4)
    price = np.array([1.0, 2.0, 4.0, 2.0])
    write_bars(tmp_path / "eur.h5", Bars(times, price, price, price, price, price, "EURUSD"))
    load = write(tmp_path, "time,value\n2024-01-01,5\n2024-01-02,7\n2024-01-03,6\n2024-01-05,1\n")
    found = read_channels([tmp_path / "eur.h5", load])
    assert found.names == ("EURUSD", "load")
    np.testing.assert_allclose(found.values, [[np.log(2), 7], [np.log(2), 6]])


def test_one_symbol_twice_is_named_by_file(tmp_path: Path) -> None:
    files = [write(tmp_path, days(1, 4), f"EURUSD_{name}.csv") for name in ("mine", "theirs")]
    assert read_channels(files).names == ("EURUSD_mine", "EURUSD_theirs")


def test_files_that_cannot_be_joined(tmp_path: Path) -> None:
    first, second = write(tmp_path, days(1, 4), "EURUSD.csv"), write(tmp_path, days(5, 9), "GBPUSD.csv")
    with pytest.raises(DataError, match=r"no time in common: EURUSD 2024-01-01 .* to 2024-01-04"):
        read_channels([first, second])
    untimed = write(tmp_path, "a,b\n1.5,2\n2.5,3\n")
    with pytest.raises(DataError, match="load has no column of times"):
        read_channels([first, untimed])
    with pytest.raises(DataError, match="no file is given"):
        read_channels([])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("time,a,b\n2024-01-01,1,2\n2024-01-01,2,3\n2024-01-03,4,2\n", "occurs a second time"),
        ("time,a,a\n2024-01-01,1,2\n2024-01-02,2,3\n2024-01-03,4,2\n", "name is that of two columns"),
        ("a,b\n1.5,2\n2.5,x\n4,2\n", r"load.csv:3: 'x' in 'b' \(column 2\) is no number"),
        ("a,b\nx,y\nz,w\n", "no column holds times or numbers"),
        (
            "Some words, in lines\nof which, no two, are alike\nor numbers\n",
            "no column holds times or numbers",
        ),
        (
            BARS.replace(",10,99,5", ",-10,99,5"),
            "what open is compared with needs logarithms, and 1 of 3 rows",
        ),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_what_is_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read_channels(write(tmp_path, text))


def test_choices_that_are_none(tmp_path: Path) -> None:
    path = write(tmp_path, BARS)
    with pytest.raises(DataError, match="changes is 'log'"):
        read_channels(path, changes="log")
    with pytest.raises(DataError, match="missing is 'fill'"):
        read_channels(path, missing="fill")


def test_arrays_as_channels() -> None:
    found = Channels(np.arange(3), np.array([[1.0, 5], [2, 5], [4, 5]]), ("a", "b"), timed=False)
    assert found.constant == ("b",)
    assert found.select(["b", "a"]).names == ("b", "a")
    assert len(found[1:]) == 2
    with pytest.raises(DataError, match="no channel 'c'"):
        found.select(["c"])
    np.testing.assert_allclose(found.changes({"a": found.values[:, 0]}).values, [[np.log(2), 5]] * 2)
    np.testing.assert_allclose(found.changes({}, ["a"]).values[:, 0], np.log([3 / 2, 5 / 3]))


@pytest.mark.parametrize(
    ("times", "values", "names", "message"),
    [
        ([0, 1], [[1.0], [2.0]], ("a", "b"), r"values \(2, 1\), times \(2,\), 2 names"),
        ([0, 0], [[1.0], [2.0]], ("a",), "time does not ascend at row 1"),
        ([0, 1], [[1.0], [np.nan]], ("a",), "1 of 2 rows have no finite value: row 1 in a"),
        ([0, 1], [[1.0, 2], [3, 4]], ("a", "a"), "'a' names more than one channel"),
        ([], np.zeros((0, 1)), ("a",), "no values"),
    ],
)
def test_arrays_that_are_no_channels(
    times: list[int], values: object, names: tuple[str, ...], message: str
) -> None:
    with pytest.raises(DataError, match=message):
        Channels(np.array(times, np.int64), np.array(values), names, timed=False)


def test_a_price_without_a_logarithm_is_named() -> None:
    found = Channels(np.arange(3), np.array([[1.0], [0.0], [-1.0]]), ("a",), timed=False)
    with pytest.raises(DataError, match="a needs logarithms, and 2 of 3 rows have none, the first at row 1"):
        found.changes({"a": found.values[:, 0]})
