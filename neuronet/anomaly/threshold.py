"""Thresholds without labels, at a stated rate of false alarms: from the scores of a part that is normal."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neuronet.anomaly.pareto import fit_pareto
from neuronet.errors import DataError

Floats = NDArray[np.float64]

RATE = 0.001  # false alarms a row
TAIL, LARGEST = 0.02, 0.1  # share of the scores that the tail is fitted to, and for few scores at most
FEWEST = 30  # scores in the tail


@dataclass(frozen=True)
class Threshold:
    """A row is an alarm when its score is above ``value``.

    rate    share of normal rows that are expected above it, in (0, 1)
    method  'quantile' or 'pot'
    scores  how many it was found from; they are worth ``independent`` independent ones (``effective``): a
            rate well below 1 / independent is not more than a guess, and the true one is likely to be higher
    detail  of 'pot': level, tail (scores above it), shape and scale of the Pareto distribution
    """

    value: float
    rate: float
    method: str
    scores: int
    independent: float
    detail: dict[str, float]

    def above(self, scores: Floats) -> NDArray[np.bool_]:
        """Return which of ``scores`` are alarms."""
        return np.asarray(scores) > self.value

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON or a model file; ``Threshold(**data)`` gives the same back."""
        return {"value": self.value, "rate": self.rate, "method": self.method} | {
            "scores": self.scores,
            "independent": self.independent,
            "detail": dict(self.detail),
        }

    def describe(self) -> str:
        """Return a sentence for people."""
        if self.method == "quantile":
            how = f"by the order of {self.scores:,} scores"
        else:
            how = (
                f"by a Pareto tail (shape {self.detail['shape']:.3f}) of the highest "
                f"{self.detail['tail']:,.0f} of {self.scores:,} scores"
            )
        rows = 1.0 / self.rate
        rare = f"{rows:,.0f}" if rows < 1e12 else f"{rows:.3g}"
        text = f"{self.value:.6g}: about 1 normal row in {rare} is above it, {how}"
        if self.rate * self.independent >= 1.0:
            return text
        return text + (
            f"; expect more: neighbours are alike, so these are worth about {self.independent:,.0f} "
            "independent scores"
        )


def quantile_threshold(scores: Floats, rate: float = RATE) -> Threshold:
    """Return the score that at most ``rate`` of new scores exceed, if they come like these.

    It is the ceil((1 - rate)(n + 1))-th smallest of n scores: a further score, exchangeable with these, is
    above it with probability <= rate, whatever the distribution (the quantile of conformal prediction; Vovk
    et al., Algorithmic Learning in a Random World, 2005). Scores of neighbouring rows are alike, so it holds
    only as far as ``independent`` of them reach: rates from 1 / independent on.

    Raises DataError for a rate outside (0, 1), a score that is not finite, or fewer than 1 / rate - 1 scores.
    """
    values = _checked(scores, rate)
    n = len(values)
    rank = math.ceil((1.0 - rate) * (n + 1) - 1e-9)
    if rank > n:
        raise DataError(
            f"{n} scores are too few for a rate of {rate:g}: none of them is so rarely exceeded",
            where="quantile_threshold",
            fix=f"give at least {fewest(rate, 'quantile')} scores, choose a rate >= {least_rate(n):g}, "
            "or the method 'pot', which extrapolates",
        )
    value = float(np.partition(values, rank - 1)[rank - 1])
    return Threshold(value, rate, "quantile", n, effective(values), {})


def pot_threshold(scores: Floats, rate: float = RATE, *, tail: float | None = None) -> Threshold:
    """Return a threshold from the peaks over a level: it reaches rates for which there are too few scores.

    The level is exceeded by a share ``tail`` of the scores; a generalised Pareto distribution G is fitted to
    what is above it, and the threshold is level + y with tail x P(G > y) = rate.

    tail  None is 2 %, or as much as gives 30 scores, at most 10 %; a tail that reaches into the bulk of the
          scores gives wrong thresholds

    Raises DataError for a rate outside (0, 1) or not below ``tail``, a score that is not finite, fewer than
    30 scores in the tail, or scores that are all alike there.
    Pickands 1975; Siffer et al., Anomaly Detection in Streams with Extreme Value Theory, KDD 2017.
    """
    values = _checked(scores, rate)
    n = len(values)
    if tail is None:
        tail = min(max(TAIL, FEWEST / n), LARGEST)
    if not 0.0 < tail < 1.0 or rate >= tail:
        raise DataError(
            f"a rate of {rate:g} from a tail of {tail:g} of the scores",
            where="pot_threshold",
            fix="choose rate < tail < 1, or the method 'quantile' for rates that are no extremes",
        )
    count = int(tail * n + 1e-9)
    if count < FEWEST:
        raise DataError(
            f"{n} scores are too few: the highest {tail:.0%} are {count}, and a tail needs {FEWEST}",
            where="pot_threshold",
            fix=f"give at least {math.ceil(FEWEST / tail - 1e-9)} scores, choose a larger tail, "
            "or the method 'quantile'",
        )
    level = float(np.partition(values, n - count - 1)[n - count - 1])
    excesses = values[values > level] - level
    if len(excesses) < FEWEST:
        raise DataError(
            f"only {len(excesses)} of {n} scores are above the level {level:.6g}, {tail:.0%} were asked for: "
            "too many scores are equal",
            where="pot_threshold",
            fix="choose the method 'quantile', or look at why the scores repeat",
        )
    fitted = fit_pareto(excesses)
    share = len(excesses) / n
    if rate >= share:
        raise DataError(
            f"only {share:.3g} of the scores are above the level, which is not more than the rate {rate:g}",
            where="pot_threshold",
            fix="choose a smaller rate, or the method 'quantile'",
        )
    detail = {
        "level": level,
        "tail": float(len(excesses)),
        "shape": fitted.shape,
        "scale": fitted.scale,
    }
    return Threshold(level + fitted.exceeded(rate / share), rate, "pot", n, effective(values), detail)


def fewest(rate: float, method: str) -> int:
    """Return how many scores a threshold for ``rate`` needs at least, by 'quantile' or 'pot'."""
    return math.ceil((1.0 / rate - 1.0 if method == "quantile" else FEWEST / LARGEST) - 1e-9)


def least_rate(scores: int) -> float:
    """Return the smallest rate, of two digits, for which ``scores`` are enough for 'quantile'."""
    exact = 1.0 / (scores + 1)
    unit = 10.0 ** (math.floor(math.log10(exact)) - 1)
    return float(f"{math.ceil(exact / unit - 1e-9) * unit:.2g}")


def effective(scores: Floats) -> float:
    """Return how many independent scores [rows] are worth as much: rows / (1 + 2 sum of autocorrelations).

    Of ranks, so that a few high scores don't decide; summed up to the first lag with none left.
    Geyer, Practical Markov Chain Monte Carlo, Statistical Science 7, 1992, on where to end the sum.
    """
    n = len(scores)
    _, place, count = np.unique(scores, return_inverse=True, return_counts=True)
    rank = (np.cumsum(count) - (count - 1) / 2.0)[place]
    rank -= rank.mean()
    power = np.abs(np.fft.rfft(rank, 2 * n)) ** 2
    products = np.fft.irfft(power, 2 * n)[:n]
    if not products[0] > 0.0:  # all are equal
        return 1.0
    lagged = products[1:] / products[0]
    ends = np.flatnonzero(lagged <= 0.0)
    related = float(np.sum(lagged[: ends[0]])) if len(ends) else float(np.sum(lagged))
    return max(1.0, n / (1.0 + 2.0 * related))


def _checked(scores: Floats, rate: float) -> Floats:
    values = np.asarray(scores, np.float64)
    if not 0.0 < rate < 1.0:
        raise DataError(
            f"the rate is {rate}",
            where="threshold",
            fix="choose a share between 0 and 1, as in 0.001 for one row in 1,000",
        )
    if values.ndim != 1 or not len(values):
        raise DataError(
            f"scores have shape {values.shape}", where="threshold", fix="give scores [rows], at least one"
        )
    bad = ~np.isfinite(values)
    if bad.any():
        raise DataError(
            f"{int(bad.sum())} of {len(values)} scores are not finite, first row {int(np.argmax(bad))}",
            where="threshold",
            fix="look at the model's output there",
        )
    return values
