"""Zero-shot evaluation: the end of each series held out, forecast by a model that never saw the set."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from neuronet.errors import DataError
from neuronet.series.metrics import Mase, mase, seasonal_naive
from neuronet.series.series import Series

Forecaster = Callable[
    [list[Series], int], Sequence[NDArray[np.floating]]
]  # histories, horizon -> [horizon] each
BATCH = 64


@dataclass(frozen=True)
class ZeroShot:
    """One row of the table. Means are over the series that have a MASE, the same ones for naive and model.

    denominator  mean of the series' denominators, in their own unit
    terms        pairs that the denominators are means of, in all
    naive        mean MASE of the seasonal naive forecast; None if no series has one
    model        mean MASE of the model; None without a model
    undefined    series without a MASE: flat, too short for a season, or nothing known in the held-out part
    scores       (naive, model) one a series, NaN where undefined or without a model; [series, 2]
    """

    series: int
    horizon: int
    season: int
    denominator: float | None
    terms: int
    naive: float | None
    model: float | None
    undefined: int
    scores: NDArray[np.float64]


def zero_shot(
    series: Sequence[Series],
    horizon: int,
    season: int,
    forecaster: Forecaster | None = None,
    *,
    batch: int = BATCH,
    context: int | None = None,
) -> ZeroShot:
    """Hold out the last ``horizon`` values of each series and forecast them from all before.

    season      steps, of the seasonal naive forecast and of MASE's denominator
    forecaster  called with up to ``batch`` histories and the horizon; returns an array [horizon] for each;
                None: seasonal naive only
    context     the denominator takes only the last ``context`` values of a history; None: all of it

    Definition: one window a series, the last one. MASE of a series = mean |error| over the horizon / mean
    |y[t] - y[t - season]| over its whole history (see metrics.mase). The table has the plain mean over
    series, those without a MASE left out and counted. With seasons 12 monthly and 4 quarterly this gives
    the published seasonal naive columns of hospital (horizon 12: 0.920528), m1_monthly (18: 1.314461),
    m3_quarterly (8: 1.425344), tourism_monthly (24: 1.630940) and tourism_quarterly (8: 1.698989). Their
    histories are all shorter than 512 values, so they do not tell whether a table scales by the whole
    history or by a context of 512: for sets of longer series tables differ in that.

    Raises DataError, with the series' name, when one is not longer than the horizon, no value of its history
    is known, or a forecast has a wrong shape or is not finite.
    """
    if horizon < 1 or batch < 1 or (context is not None and context < 1) or not series:
        raise DataError(
            f"{len(series)} series, horizon {horizon}, batch {batch}, context {context}",
            where="zero_shot",
            fix="give at least one series, and numbers from 1 on",
        )
    for one in series:
        if len(one) <= horizon:
            raise DataError(
                f"{len(one)} values are too few to hold out {horizon}",
                where=f"series {one.name!r}",
                fix="take a shorter horizon, or leave the series out",
            )
    scores = np.full((len(series), 2), np.nan)
    scales: list[Mase] = []
    for first in range(0, len(series), batch):
        part = series[first : first + batch]
        histories = [one[:-horizon] for one in part]
        forecasts = None if forecaster is None else _forecast(forecaster, histories, horizon)
        for i, (one, history) in enumerate(zip(part, histories, strict=True)):
            actual, past = one.values[-horizon:], history.values
            try:
                naive = seasonal_naive(past, season, horizon)
                scaled = past if context is None else past[-context:]
                results = [mase(naive, actual, scaled, season)]
                if forecasts is not None:
                    results.append(mase(forecasts[i], actual, scaled, season))
            except DataError as error:
                raise DataError(error.what, where=f"series {one.name!r}", fix=error.fix) from None
            if results[0].value is not None:
                scores[first + i, : len(results)] = [result.value for result in results]
                scales.append(results[0])
    return ZeroShot(
        series=len(series),
        horizon=horizon,
        season=season,
        denominator=float(np.mean([scale.denominator for scale in scales])) if scales else None,
        terms=sum(scale.terms for scale in scales),
        naive=_mean(scores[:, 0]),
        model=_mean(scores[:, 1]),
        undefined=len(series) - len(scales),
        scores=scores,
    )


def _mean(scores: NDArray[np.float64]) -> float | None:
    known = scores[~np.isnan(scores)]
    return float(known.mean()) if len(known) else None


def _forecast(forecaster: Forecaster, histories: list[Series], horizon: int) -> list[NDArray[np.float64]]:
    """Call the forecaster and check the shapes of what it returns."""
    made = [np.asarray(values, np.float64) for values in forecaster(histories, horizon)]
    if len(made) != len(histories) or any(values.shape != (horizon,) for values in made):
        shapes = sorted({values.shape for values in made})
        raise DataError(
            f"{len(made)} forecasts of shape {shapes} for {len(histories)} histories and horizon {horizon}",
            where=f"forecaster, series {histories[0].name!r} and following",
            fix="return one array [horizon] for each history",
        )
    return made
