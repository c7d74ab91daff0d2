"""Zero-shot forecasts of series as rows: the library functions behind the command."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from neuronet.bars.bars import stamp
from neuronet.models.mamba4cast import MEDIAN, Mamba4Cast
from neuronet.series.series import Series


@dataclass(frozen=True, eq=False)
class Forecast:
    """What a model says of a series: values in the series' unit at the stamps of its next steps.

    times      [steps] int64 ns
    median     [steps]; quantiles [steps, levels]
    """

    series: Series
    times: NDArray[np.int64]
    median: NDArray[np.float64]
    levels: tuple[float, ...]
    quantiles: NDArray[np.float64]

    @property
    def steps(self) -> int:
        return len(self.times)


def forecast_series(
    model: Mamba4Cast, series: Sequence[Series], horizon: int, levels: Sequence[float] = (0.1, 0.9)
) -> list[Forecast]:
    """Forecast each series from all of it, ``levels`` beside the median. Raises what forecast_many raises."""
    made = model.forecast_many(series, horizon, (MEDIAN, *levels))
    return [
        Forecast(one, one.future(horizon), values[:, 0], tuple(levels), values[:, 1:])
        for one, values in zip(series, made, strict=True)
    ]


def csv_lines(forecasts: Sequence[Forecast]) -> Iterator[str]:
    """series,time,forecast and a column for each level, numbers with 8 digits."""
    yield ",".join(["series", "time", "forecast", *(f"q{level:g}" for level in forecasts[0].levels)]) + "\n"
    for one in forecasts:
        name = (
            f'"{one.series.name.replace(chr(34), chr(34) * 2)}"'
            if _quoted(one.series.name)
            else one.series.name
        )
        for time, median, row in zip(one.times, one.median, one.quantiles, strict=True):
            yield ",".join([name, stamp(time), *(f"{value:.8g}" for value in (median, *row))]) + "\n"


def _quoted(name: str) -> bool:
    # csv.writer that ends lines with \n leaves a \r bare, and readers then see two lines
    return any(mark in name for mark in ',"\n\r')
