"""Forecasts as rows: values in the series' unit at its next stamps, in a CSV that every reader takes."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest

from neuronet.device.numpy import NumpyDevice
from neuronet.errors import SpecError
from neuronet.models.mamba4cast import Mamba4Cast
from neuronet.series.frequency import Frequency
from neuronet.series.series import Series
from neuronet.train.forecast import Forecast, csv_lines, forecast_series

MONTH = Frequency(1, "m")


def series(values: list[float], name: str = "sales", start: str = "2023-10-31") -> Series:
    first = int(np.datetime64(start, "ns").astype(np.int64))
    return Series(name, np.array(values), MONTH.stamps(first, len(values)), MONTH)


@pytest.fixture(scope="module")
def model() -> Mamba4Cast:
    sizes = {"context": 16, "horizon": 3, "width": 4, "depth": 1, "heads": 1, "state_size": 2}
    return Mamba4Cast(**sizes, levels=(0.1, 0.5, 0.9), periods=(86_400,)).build(  # type: ignore[arg-type]
        NumpyDevice(), batch=4, seed=2
    )


def test_median_and_levels_beside_it(model: Mamba4Cast) -> None:
    made = [series([3.0, 4.0, 6.0, 5.0]), series([100.0, 90.0], "b")]
    found = forecast_series(model, made, 3, (0.9, 0.2))
    want = model.forecast_many(made, 3, (0.5, 0.9, 0.2))
    for one, given, values in zip(found, made, want, strict=True):
        assert one.series is given
        assert (one.levels, one.steps) == ((0.9, 0.2), 3)
        np.testing.assert_array_equal(one.median, values[:, 0])
        np.testing.assert_array_equal(one.quantiles, values[:, 1:])
        assert np.all(one.quantiles[:, 0] > one.quantiles[:, 1])
    stamps = found[0].times.astype("datetime64[ns]").astype("datetime64[D]").astype(str)
    assert stamps.tolist() == ["2024-02-29", "2024-03-31", "2024-04-30"]  # month ends stay month ends
    with pytest.raises(SpecError, match=r"are not between 0\.1 and 0\.9"):
        forecast_series(model, made, 3, (0.95,))


def test_no_levels_leave_the_median(model: Mamba4Cast) -> None:
    (one,) = forecast_series(model, [series([3.0, 4.0])], 2, ())
    assert one.quantiles.shape == (2, 0)
    assert next(csv_lines([one])) == "series,time,forecast\n"


def test_lines() -> None:
    one = series([1.0, 2.0])
    times = one.future(2)
    first = Forecast(
        one, times, np.array([1.5, 123456.789012]), (0.1, 0.25), np.array([[1.0, 2.0], [-3e-9, 4e12]])
    )
    assert "".join(csv_lines([first])) == (
        "series,time,forecast,q0.1,q0.25\n"
        "sales,2023-12-31 00:00:00,1.5,1,2\n"
        "sales,2024-01-31 00:00:00,123456.79,-3e-09,4e+12\n"
    )


@pytest.mark.parametrize(
    "name", ["a,b", 'say "hi"', "two\nlines", "a\rb", "plain", "", "Wärme °C", "; tab\t"]
)
def test_every_name_survives_a_csv_reader(name: str) -> None:
    one = series([1.0, 2.0], name)
    text = "".join(csv_lines([Forecast(one, one.future(1), np.array([1.0]), (), np.empty((1, 0)))]))
    rows = list(csv.reader(io.StringIO(text, newline="")))
    assert rows == [["series", "time", "forecast"], [name, "2023-12-31 00:00:00", "1"]]
