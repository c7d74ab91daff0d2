"""The generalised Pareto distribution of what exceeds a high level, fitted without scipy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from neuronet.errors import DataError

Floats = NDArray[np.float64]

FEWEST = 10  # excesses below which no tail is fitted
_FLAT = 1e-9  # |shape| below which the distribution is taken as the exponential one


@dataclass(frozen=True)
class Pareto:
    """P(Y > y) = (1 + shape y / scale)^(-1/shape) for y >= 0; exp(-y / scale) for shape 0.

    shape  > 0: heavy tail, without moments from order 1/shape on; < 0: ends at -scale / shape
    scale  > 0, in units of y
    """

    shape: float
    scale: float

    def survival(self, y: Floats) -> Floats:
        """Return P(Y > y)."""
        y = np.maximum(np.asarray(y, np.float64), 0.0) / self.scale
        if abs(self.shape) < _FLAT:
            return np.exp(-y)
        return np.asarray(np.maximum(1.0 + self.shape * y, 0.0) ** (-1.0 / self.shape))

    def exceeded(self, rate: float) -> float:
        """Return the y that is exceeded at ``rate``, in (0, 1]: survival(y) = rate."""
        if abs(self.shape) < _FLAT:
            return float(-self.scale * np.log(rate))
        return float(self.scale * np.expm1(-self.shape * np.log(rate)) / self.shape)


def fit_pareto(excesses: Floats) -> Pareto:
    """Fit shape and scale to excesses > 0, at least 10, by Zhang and Stephens' estimator.

    With t = -shape / scale, the likelihood is maximal in the shape at k(t) = -mean log(1 - t y), so that a
    profile likelihood of t alone remains. Its maximum is the maximum-likelihood estimate (Grimshaw 1993),
    which does not always exist; the mean of t under it, on a grid that the data fix, does, costs one
    pass, and is at least as accurate. Then shape = -k(t), scale = k(t) / t.

    Raises DataError for too few excesses or one that is not > 0 and finite.
    Zhang & Stephens, A new and efficient estimation method for the generalized Pareto distribution,
    Technometrics 51, 2009.
    """
    y = np.sort(np.asarray(excesses, np.float64).ravel())
    if len(y) < FEWEST:
        raise DataError(
            f"{len(y)} excesses are too few to fit a tail", where="fit_pareto", fix=f"give at least {FEWEST}"
        )
    if not np.isfinite(y).all() or y[0] <= 0.0:
        raise DataError(
            "an excess is not a finite number above 0",
            where="fit_pareto",
            fix="give score - level of the scores above the level",
        )
    unit = y[-1]
    y = y / unit  # so that no power over- or underflows
    n, points = len(y), 20 + int(len(y) ** 0.5)
    quarter = y[int(n / 4 + 0.5) - 1]
    t = 1.0 + (1.0 - np.sqrt(points / (np.arange(1, points + 1) - 0.5))) / (3.0 * quarter)
    t = t[np.abs(t) > _FLAT]  # at 0 itself k / t is a limit; its neighbours on the grid stand for it
    k = -np.mean(np.log1p(-t[:, None] * y), axis=1)
    likelihood = n * (np.log(t / k) + k - 1.0)
    weight = np.exp(likelihood - likelihood.max())
    best = float(np.sum(t * weight) / np.sum(weight))
    if abs(best) < _FLAT:
        return Pareto(0.0, float(y.mean() * unit))
    shape = float(np.mean(np.log1p(-best * y)))
    return Pareto(shape, -shape / best * float(unit))
