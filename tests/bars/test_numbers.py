"""Decimal signs and groups of thousands, from evidence only."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from neuronet.bars.numbers import NumberFormat, find_number_format, parse_numbers
from neuronet.errors import DataError


@pytest.mark.parametrize(
    ("cells", "decimal", "thousands"),
    [
        (["1.1", "1.10043", "644"], ".", ""),
        (["1,1", "1,10043", "1518"], ",", ""),
        (["1,08294", "2.597"], ",", "."),
        (["1,238.48", "0.10%", "452.90K"], ".", ","),
        (["134.185", "7,81M", "-0,01%"], ",", "."),
        (["157.123", "157.100"], ".", ""),
        (["4'321.50"], ".", "'"),
        (["4 321,50"], ",", " "),
        (["1.234.567"], ",", "."),
        (["3.60E-05", "0.009582"], ".", ""),
        (["0.123"], ".", ""),
        (["100", "101"], ".", ""),
    ],
)
def test_evidence(cells: list[str], decimal: str, thousands: str) -> None:
    form = find_number_format(cells, where="file")
    assert (form.decimal, form.thousands) == (decimal, thousands)


def test_undecidable() -> None:
    with pytest.raises(DataError, match=r"(?s)'1,085' may be .*--decimal"):
        find_number_format(["1,084", "1,085"], where="file")
    with pytest.raises(DataError, match=r"'1\.5' has a decimal point and '1,5' a decimal comma"):
        find_number_format(["1.5", "1,5"], where="file")
    assert find_number_format(["1,084"], where="file", decimal=",") == NumberFormat(",", "", "as asked for")
    assert find_number_format(["1,084"], where="file", decimal=".").thousands == ","


def test_values() -> None:
    german = parse_numbers(
        pd.Series(["1.234,5", "7,81M", " 12 ", "x", None, "3%"]), NumberFormat(",", "."), endings=True
    )
    np.testing.assert_array_equal(german, [1234.5, 7_810_000.0, 12.0, np.nan, np.nan, np.nan])
    english = parse_numbers(pd.Series(["43.44K", "1.5B", "1e-5"]), NumberFormat(), endings=True)
    np.testing.assert_allclose(english, [43_440.0, 1.5e9, 1e-5], rtol=1e-15)


def test_what_is_no_number_is_not_made_one() -> None:
    cells = pd.Series(["1.08K", "1_0", "1.2.3", "0x10", "1,085", "1 085", "$1.5", "-2"])
    np.testing.assert_array_equal(parse_numbers(cells, NumberFormat()), [np.nan] * 6 + [1.5, -2.0])
    grouped = pd.Series(["1,238.48", "12,38.48", "1,2", "1,23,456.5", "1238.5", "1.238,48"])
    np.testing.assert_array_equal(
        parse_numbers(grouped, NumberFormat(".", ",")), [1238.48, np.nan, np.nan, 123_456.5, 1238.5, np.nan]
    )
    np.testing.assert_array_equal(parse_numbers(pd.Series(["1.5", "1,5"]), NumberFormat(",")), [np.nan, 1.5])
