"""Prior: every parameter of the synthetic series, declared once."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from neuronet.declared import check_fields
from neuronet.errors import SpecError

UNITS = ("min", "h", "d", "w", "m", "q", "y")
CYCLES = ("minute", "hour", "weekday", "monthday", "month")  # parts of a stamp that a season may follow
FIRST_YEAR, LAST_YEAR = 1678, 2200  # of starts; stamps in int64 ns end in 2261


def _choice(default: Any, text: str) -> Any:
    return field(default=default, metadata={"help": text})


@dataclass(frozen=True, kw_only=True)
class Prior:
    """What the synthetic series look like; the defaults are those of Mamba4Cast. SpecError names a bad one.

    Shares and probabilities are 0 to 1. "Steps" are values of the series. Where the published program does
    other than its parameters say, the comment in the module that uses the field tells.
    """

    gaussian_share: float = _choice(0.7, "share of Gaussian processes")
    walk_share: float = _choice(0.0, "share of random walks; the others are seasonal series")

    # Time stamps of both families.
    units: tuple[str, ...] = _choice(UNITS, "units of a step, each as likely, where the stamps fit")
    subfrequency: float = _choice(0.2, "probability of several units a step")
    multiples: tuple[tuple[str, tuple[int, ...]], ...] = _choice(
        (("min", (5, 15, 30)), ("h", (3, 6, 12)), ("d", (2, 10)), ("w", (2, 4)), ("m", (3, 4, 6))),
        "units a step, when several",
    )
    years: tuple[int, int] = _choice((1885, 2023), "first and last year in which a series starts")
    start_beta: tuple[float, float] = _choice((5.0, 1.0), "Beta distribution of the start between them")

    # Gaussian processes, over a time axis from 0 to 1.
    max_kernels: int = _choice(6, "1 to so many kernels, combined by + or x")
    matern_weight: float = _choice(1.5, "how often a kernel is Matern, against the other weights")
    linear_weight: float = _choice(1.0, "how often it is linear")
    periodic_weight: float = _choice(5.0, "how often it is periodic")
    matern_orders: tuple[float, ...] = _choice((0.5, 1.5, 2.5), "smoothness of Matern kernels: 0.5, 1.5, 2.5")
    length_scales: tuple[float, float] = _choice((0.1, 5.0), "uniform: of Matern and periodic kernels")
    kernel_scale: float = _choice(math.log(2.0), "variance of scaled kernels and of linear ones")
    scaled_share: float = _choice(0.5, "probability that a kernel is scaled; else its variance is 1")
    periods: tuple[int, ...] = _choice((4, 5, 7, 21, 24, 30, 60, 120), "steps; drawn Gaussian around one")
    periods_per_freq: float = _choice(0.5, "probability that the periods are those of the calendar instead")
    calendar_periods: tuple[tuple[str, tuple[int, ...]], ...] = _choice(
        (
            ("min", (5, 15, 30, 60, 120, 240, 360)),
            ("h", (3, 6, 12, 24, 48, 72, 168)),
            ("d", (7, 14, 28, 30, 90, 180, 365)),
            ("w", (2, 4, 8, 12, 24, 52)),
            ("m", (3, 4, 6, 12, 24, 36, 60)),
            ("q", (4, 8, 12, 20, 40, 80)),
            ("y", (2, 5, 10)),
        ),
        "periods of the calendar, in units",
    )
    gaussian_sampling: float = _choice(
        0.2, "probability that calendar periods are drawn Gaussian around, too"
    )
    period_spread: float = _choice(0.6, "that Gaussian's deviation is the period to this power")
    max_period: float = _choice(1.0, "longest period, as a share of the series")
    linear_mean: float = _choice(0.5, "probability of a linear mean a x + b, a and b standard normal")
    noise_variances: tuple[float, ...] = _choice((1e-1, 1e-2, 1e-3), "white noise of a process: one of these")
    noise_shares: tuple[float, ...] = _choice((0.1, 0.2, 0.7), "their probabilities")
    likelihood_noise: float = _choice(0.0, "deviation of more white noise on every process; 0.4: as declared")
    peak_share: float = _choice(0.1, "probability of peaks at the longest period of a process")

    # Random walks: prices, whose best forecast is no change.
    walk_volatility: tuple[float, float] = _choice(
        (0.001, 0.1), "log-uniform: deviation of a step, as a share of the level"
    )
    walk_tails: float = _choice(0.5, "probability that steps are Student's t with 4 degrees, not Gaussian")

    # Seasonal series: trend + product of seasons, times noise.
    trend_slope: float = _choice(0.01, "deviation of the trend's slope, mean 0")
    trend_per: str = _choice("day", "of what the slope is: day, as published, or step")
    trend_offset: tuple[float, float] = _choice((-0.1, 0.5), "uniform: where the trend crosses its base")
    amplitudes: tuple[tuple[str, str, float], ...] = _choice(
        (
            ("min", "minute", 1.0), ("min", "hour", 0.2), ("h", "hour", 1.0), ("h", "weekday", 0.2),
            ("d", "weekday", 1.0), ("d", "monthday", 0.2), ("w", "monthday", 0.3), ("w", "month", 0.3),
            ("m", "month", 0.5), ("q", "month", 0.5),
        ),
        "unit, cycle of the calendar, largest amplitude; amplitudes are uniform from 0",
    )  # fmt: skip
    harmonics: tuple[tuple[str, int], ...] = _choice(
        (("minute", 10), ("hour", 10), ("weekday", 4), ("monthday", 10), ("month", 6)), "harmonics of a cycle"
    )
    harmonic_rate: float = _choice(0.75, "share of those harmonics that is used, rounded up")
    harmonic_scale: float = _choice(0.4, "probability that harmonic k is weighted by 1 / k")
    weibull_shape: tuple[float, float] = _choice((1.0, 5.0), "uniform: shape of the noise, whose median is 1")
    noise_scales: tuple[tuple[float, float], ...] = _choice(
        ((0.0, 0.1), (0.2, 0.5), (0.7, 0.9)), "uniform: scale of the noise, one of these ranges"
    )
    noise_scale_shares: tuple[float, ...] = _choice((0.6, 0.3, 0.1), "their probabilities")
    damping: float = _choice(0.05, "probability of stretches with a level of their own")
    spikes: float = _choice(0.05, "probability of spikes")
    spike_batches: float = _choice(0.05, "probability that a block has series of nothing but spikes")
    spike_batch_share: float = _choice(0.05, "uniform from 0: share of its seasonal series, rounded up")

    def __post_init__(self) -> None:
        for name, value in vars(self).items():  # JSON has lists for tuples of tuples
            object.__setattr__(self, name, _tuples(value))
        check_fields(self)
        for f in dataclasses.fields(self):
            many = isinstance(f.default, tuple)
            self._require(f.name, not many or isinstance(getattr(self, f.name), tuple), "give a list")
        for name in _SHARES:
            self._require(name, 0.0 <= getattr(self, name) <= 1.0, "choose a share from 0 to 1")
        for name in _POSITIVE:
            self._require(name, 0.0 < getattr(self, name) < math.inf, "choose more than 0")
        for name in _NOT_NEGATIVE:
            self._require(name, 0.0 <= getattr(self, name) < math.inf, "choose 0 or more")
        for name in ("start_beta", "length_scales", "weibull_shape"):
            self._require(name, _is_pair(getattr(self, name), 0.0, open_end=True), "give two numbers above 0")
        for name in ("length_scales", "weibull_shape", "trend_offset"):
            self._require(name, _is_range(getattr(self, name)), "give the lower and the upper bound")
        for name, values in (("noise_shares", "noise_variances"), ("noise_scale_shares", "noise_scales")):
            shares, fix = getattr(self, name), f"give one for each of {values}, with sum 1"
            self._require(name, _numbers(shares) and len(shares) == len(getattr(self, values)), fix)
            self._require(name, min(shares) >= 0.0 and abs(sum(shares) - 1.0) < 1e-9, fix)
        self._require("noise_variances", _numbers(self.noise_variances, 0.0), "give numbers from 0")
        self._require(
            "noise_scales",
            all(_is_range(r) and _is_pair(r, 0.0) for r in self.noise_scales),
            "give pairs from 0",
        )
        both = self.gaussian_share + self.walk_share
        self._require(
            "walk_share", both <= 1.0, "leave the Gaussian processes and the walks together at most 1"
        )
        low, high = self.walk_volatility if _is_range(self.walk_volatility) else (0.0, 0.0)
        self._require("walk_volatility", 0.0 < low <= high <= 1.0, "give two shares above 0, in order")
        weights = (self.matern_weight, self.linear_weight, self.periodic_weight)
        self._require("periodic_weight", sum(weights) > 0.0, "leave a kernel whose weight is above 0")
        self._require("max_kernels", 1 <= self.max_kernels <= 20, "choose 1 to 20")
        orders = _numbers(self.matern_orders) and all(o in (0.5, 1.5, 2.5) for o in self.matern_orders)
        self._require("matern_orders", orders, "choose from 0.5, 1.5, 2.5")
        self._require("periods", _wholes(self.periods, 2), "give whole numbers from 2")
        self._require("trend_per", self.trend_per in ("day", "step"), "choose day or step")
        known = bool(self.units) and all(u in UNITS for u in self.units)
        self._require("units", known, f"choose from {', '.join(UNITS)}")
        for name, least in (("multiples", 2), ("calendar_periods", 1)):
            good = all(_is_row(r, UNITS, 2) and _wholes(r[1], least) for r in getattr(self, name))
            self._require(name, good, f"give pairs of a unit and whole numbers from {least}")
        good = all(_is_row(r, CYCLES, 2) and _wholes(r[1:], 1) for r in self.harmonics)
        self._require("harmonics", good, f"give pairs of {', '.join(CYCLES)} and a whole number")
        given = [r[0] for r in self.harmonics]
        good = all(
            _is_row(r, UNITS, 3) and r[1] in given and _numbers(r[2:], 0.0, 1.0) for r in self.amplitudes
        )
        self._require("amplitudes", good, "give (unit, cycle with harmonics, amplitude from 0 to 1)")
        good = _wholes(self.years, FIRST_YEAR) and len(self.years) == 2
        good = good and self.years[0] <= self.years[1] <= LAST_YEAR
        self._require("years", good, f"give two years from {FIRST_YEAR} to {LAST_YEAR} in order")

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON data; ``from_dict`` gives an equal object."""
        return {f.name: _lists(getattr(self, f.name)) for f in dataclasses.fields(self)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Prior:
        """Prior from some or all fields. SpecError names an unknown one."""
        known = [f.name for f in dataclasses.fields(cls)]
        if unknown := [name for name in data if name not in known]:
            raise SpecError(f"unknown field {unknown[0]!r}", where="Prior", fix=f"use {', '.join(known)}")
        return cls(**data)

    def _require(self, name: str, sound: bool, fix: str) -> None:
        if not sound:
            raise SpecError(f"{name} cannot be {getattr(self, name)!r}", where="Prior", fix=fix)


_SHARES = (
    "gaussian_share", "walk_share", "walk_tails", "subfrequency", "scaled_share", "periods_per_freq",
    "gaussian_sampling", "linear_mean", "peak_share", "harmonic_scale", "damping", "spikes",
    "spike_batches", "spike_batch_share",
)  # fmt: skip
_POSITIVE = ("kernel_scale", "max_period", "harmonic_rate")
_NOT_NEGATIVE = (
    "matern_weight", "linear_weight", "periodic_weight", "period_spread", "likelihood_noise", "trend_slope",
)  # fmt: skip


def _tuples(value: Any) -> Any:
    return tuple(_tuples(v) for v in value) if isinstance(value, list | tuple) else value


def _lists(value: Any) -> Any:
    return [_lists(v) for v in value] if isinstance(value, tuple) else value


def _numbers(values: Any, least: float = -math.inf, most: float = math.inf) -> bool:
    return isinstance(values, tuple) and bool(values) and all(
        isinstance(v, int | float) and not isinstance(v, bool) and math.isfinite(v) and least <= v <= most
        for v in values
    )  # fmt: skip


def _wholes(values: Any, least: int) -> bool:
    return _numbers(values, least) and all(isinstance(v, int) for v in values)


def _is_pair(values: Any, least: float, *, open_end: bool = False) -> bool:
    return _numbers(values, least) and len(values) == 2 and not (open_end and min(values) <= least)


def _is_range(values: Any) -> bool:
    return _is_pair(values, -math.inf) and bool(values[0] <= values[1])


def _is_row(row: Any, first: tuple[str, ...], length: int) -> bool:
    return isinstance(row, tuple) and len(row) == length and row[0] in first
