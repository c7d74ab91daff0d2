"""How good a forecast is: MASE, and the seasonal naive forecast that every model must beat."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from neuronet.errors import DataError

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Mase:
    """Mean absolute scaled error of one forecast.

    value        error / denominator; None where one of them is not defined or the denominator is 0
    error        mean |actual - forecast| over the known actual values; None if there are none
    denominator  mean |y[t] - y[t - season]| over the history; None if no such pair is known
    terms        how many pairs the denominator is the mean of
    """

    value: float | None
    error: float | None
    denominator: float | None
    terms: int


def mase(forecast: Floats, actual: Floats, history: Floats, season: int) -> Mase:
    """Scale the error of a forecast by that of the seasonal naive one-step forecast in the history.

    forecast, actual  [horizon]; actual values that are NaN (missing) are left out
    history           [n] what came before, the whole training part, not only what a model looked at;
                      pairs with a NaN are left out
    season            steps, from 1 on

    A history without a seasonal change (denominator 0), or not longer than a season, has no MASE: such series
    are left out of means and must be counted. Published tables differ here: some take infinity, some a
    small constant.

    Raises DataError for shapes that differ, a season below 1, or a forecast that is not finite.
    Hyndman & Koehler, Another look at measures of forecast accuracy, 2006.
    """
    forecast, actual, history = (np.asarray(a, np.float64) for a in (forecast, actual, history))
    _check_season(season)
    if forecast.shape != actual.shape or forecast.ndim != 1 or history.ndim != 1:
        raise DataError(
            f"forecast {forecast.shape}, actual {actual.shape}, history {history.shape}",
            where="mase",
            fix="give one forecast for each actual value, one series at a time",
        )
    if not np.isfinite(forecast).all():
        at = int(np.argmin(np.isfinite(forecast)))
        raise DataError(
            f"the forecast is {forecast[at]} at step {at + 1}", where="mase", fix="look at the model's input"
        )
    misses = np.abs(actual - forecast)
    misses = misses[~np.isnan(misses)]
    error = float(misses.mean()) if len(misses) else None
    changes = np.abs(history[season:] - history[:-season])
    changes = changes[~np.isnan(changes)]
    denominator = float(changes.mean()) if len(changes) else None
    value = error / denominator if error is not None and denominator else None
    return Mase(value, error, denominator, len(changes))


def seasonal_naive(history: Floats, season: int, horizon: int) -> Floats:
    """Repeat the last season: [horizon].

    Where the value one season back is missing (NaN), the latest known one at that place of the season is
    taken; where there is none, or the history is shorter than a season, the last known value.

    Raises DataError when no value is known, or for a season or horizon below 1.
    """
    history = np.asarray(history, np.float64)
    _check_season(season)
    known = np.flatnonzero(~np.isnan(history))
    if horizon < 1 or not len(known):
        raise DataError(
            f"horizon {horizon}" if horizon < 1 else "no value of the history is known",
            where="seasonal_naive",
            fix="give a horizon from 1 on" if horizon < 1 else "leave the series out",
        )
    last = np.full(season, history[known[-1]])
    phase = (known - len(history)) % season  # 0: what the first step ahead repeats
    last[phase] = history[known]  # the latest of a phase is written last
    return last[np.arange(horizon) % season]


def _check_season(season: int) -> None:
    if season < 1:
        raise DataError(f"the season is {season}", where="MASE", fix="give steps, from 1 on")
