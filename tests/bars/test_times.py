"""Time formats from samples, and columns of them to nanoseconds."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from neuronet.bars.times import NO_TIME, TimeFormat, find_time_format, parse_times, shape_of
from neuronet.errors import DataError


@pytest.mark.parametrize(
    ("cell", "utc"),
    [
        ("2024.01.31 13:05:00", "2024-01-31T13:05:00"),
        ("2024.01.31 13:05", "2024-01-31T13:05"),
        ("2024-01-31", "2024-01-31"),
        ("20240131", "2024-01-31"),
        ("20240131 130500", "2024-01-31T13:05:00"),
        ("20240131130500", "2024-01-31T13:05:00"),
        ("2024-01-31T13:05:00Z", "2024-01-31T13:05:00"),
        ("2024-01-31T13:05:00+09:00", "2024-01-31T04:05:00"),
        ("2024-01-31 13:05:00-0500", "2024-01-31T18:05:00"),
        ("31.01.2024 13:05:00.250", "2024-01-31T13:05:00.250"),
        ("31.01.2024 13:05:00.000 GMT+0800", "2024-01-31T05:05:00"),
        ("1/31/2024 9:05", "2024-01-31T09:05"),
        ("01/31/2024 01:05:00 PM", "2024-01-31T13:05:00"),
        ("Jan 31, 2024", "2024-01-31"),
        ("31-Jan-2024 13:05", "2024-01-31T13:05"),
        ("2024-01-31 01-PM", "2024-01-31T13:00"),
        ("2024-01-31T13", "2024-01-31T13:00"),
        ("2024-01-31 13", "2024-01-31T13:00"),
        ("2024-01-31T13Z", "2024-01-31T13:00"),
        ("2024-01-31T13+02:00", "2024-01-31T11:00"),
        ("20240131T13", "2024-01-31T13:00"),
        ("2024.01.31 9", "2024-01-31T09:00"),
        ("25670131 01:05:00 PM", "2024-01-31T13:05:00"),
        ("1706706300", "2024-01-31T13:05:00"),
        ("1706706300.5", "2024-01-31T13:05:00.5"),
        ("1706706300000", "2024-01-31T13:05:00"),
        ("1706706300000000", "2024-01-31T13:05:00"),
        ("1706706300000000000", "2024-01-31T13:05:00"),
        ("45322.5451388889", "2024-01-31T13:05:00"),
    ],
)
def test_formats(cell: str, utc: str) -> None:
    form = find_time_format([cell], where="file")
    assert form is not None
    time, units = parse_times(pd.Series([cell, "rubbish"]), form)
    assert time.view("datetime64[ns]")[0] == np.datetime64(utc, "ns")
    assert time[1] == NO_TIME
    assert len(units) == (form.kind == "epoch")


@pytest.mark.parametrize(
    "cell",
    [
        "1.10043",
        "1518",
        "",
        "AAPL",
        "12345678",
        "99:99",
        "2024",
        "13",
        "2024-01-31T",
        "2024-01-31 31",
        "2024-01-31 1.5",
    ],
)
def test_not_times(cell: str) -> None:
    assert not shape_of(cell) or shape_of(cell).startswith(" ")
    assert find_time_format([cell], where="file") is None


def test_day_first_by_an_impossible_month() -> None:
    cells = ["01/02/2024", "05/02/2024", "13/02/2024"]
    form = find_time_format(cells, where="file")
    assert form is not None
    assert form.pattern == "%d/%m/%Y"
    form = find_time_format(["02/01/2024", "02/13/2024"], where="file")
    assert form is not None
    assert form.pattern == "%m/%d/%Y"


def test_day_first_by_the_order_of_bars() -> None:
    cells = [f"01/{month % 12 + 1:02}/{2023 + month // 12}" for month in range(20)]  # monthly bars
    form = find_time_format(cells, where="file")
    assert form is not None
    assert form.pattern == "%d/%m/%Y"
    assert "follow each other" in form.evidence


def test_day_first_by_bars_that_follow_each_other() -> None:
    cells = [f"{day:02d}/06/2024 {hour:02d}:00" for day in range(3, 7) for hour in range(24)]
    form = find_time_format(cells, where="file")
    assert form is not None
    assert form.pattern == "%d/%m/%Y %H:%M"


def test_short_years() -> None:
    cells = [f"{day:02d}.01.24 10:00" for day in range(2, 20)]
    form = find_time_format(cells, where="file")
    assert form is not None
    assert form.pattern == "%d.%m.%y %H:%M"
    form = find_time_format([f"24.01.{day:02d}" for day in range(2, 20)], where="file")
    assert form is not None
    assert form.pattern == "%y.%m.%d"


@pytest.mark.parametrize(
    "cells",
    [
        ["01/02/2024", "02/02/2024", "03/02/2024"],  # days of February, or of three months
        ["05/06/2024 10:00", "05/06/2024 11:00"],
        ["24/01/12"],
    ],
)
def test_undecidable_dates(cells: list[str]) -> None:
    with pytest.raises(DataError, match=r"cannot be told apart: .*\nFix: .*--date-format dmy, mdy or ymd"):
        find_time_format(cells, where="file")
    form = find_time_format(cells, where="file", date_format="mdy")
    assert form is not None
    assert form.pattern.startswith("%m/%d/")


def test_the_unit_of_an_epoch_may_change() -> None:
    cells = pd.Series(["1704067200", "1704070800000", "1704074400000000", "17", "99999999999999"])
    time, units = parse_times(cells, TimeFormat("epoch"))
    start = np.datetime64("2024-01-01", "ns").astype(np.int64)
    assert time[:3].tolist() == [start, start + 3_600 * 10**9, start + 7_200 * 10**9]
    assert time[3] == NO_TIME
    assert time[4] == NO_TIME  # the year 5138
    assert units == {"s": 1, "ms": 1, "µs": 1}


def test_nanoseconds_keep_every_digit() -> None:
    time, _ = parse_times(pd.Series(["1704067200123456789", "1704067200123456790"]), TimeFormat("epoch"))
    assert time.tolist() == [1704067200123456789, 1704067200123456790]


def test_years_out_of_reach_are_no_time() -> None:
    time, _ = parse_times(pd.Series(["9999-01-01", "0001-01-01"]), TimeFormat("text", "%Y-%m-%d"))
    assert time.tolist() == [NO_TIME, NO_TIME]


def test_one_damaged_date_does_not_decide() -> None:
    hours = [f"0{day}/03/2024 {hour:02}:00" for day in (4, 5, 6, 7) for hour in range(24)]
    for cell in ("44/03/2024 07:00", "04/33/2024 07:00", "04/13/2024 07:00", "14/03/2024 07:00"):
        cells = [*hours[:7], cell, *hours[8:]]
        form = find_time_format(cells, where="file")
        assert form is not None
        assert form.pattern == "%d/%m/%Y %H:%M"
    with pytest.raises(DataError, match="--date-format"):
        find_time_format(["01/02/2024 23:00", "01/13/2024 00:00", "01/03/2024 01:00"], where="file")
