"""Prior: defaults as published, round trip, and one error for each bad value that names its field."""

from __future__ import annotations

import json
from typing import Any

import pytest

from neuronet.errors import SpecError
from neuronet.prior.settings import Prior


def test_round_trip_through_json() -> None:
    prior = Prior(gaussian_share=1, units=["d"], multiples=[["d", [2, 7]]], years=[1990, 2000])
    assert Prior.from_dict(json.loads(json.dumps(prior.to_dict()))) == prior
    assert prior.multiples == (("d", (2, 7)),)
    assert Prior.from_dict(json.loads(json.dumps(Prior().to_dict()))) == Prior()


def test_defaults_are_those_of_the_paper() -> None:
    prior = Prior()
    assert prior.gaussian_share == 0.7
    assert (prior.matern_weight, prior.linear_weight, prior.periodic_weight) == (1.5, 1.0, 5.0)
    assert prior.periods == (4, 5, 7, 21, 24, 30, 60, 120)
    assert dict(zip(prior.noise_variances, prior.noise_shares, strict=True)) == {
        1e-1: 0.1,
        1e-2: 0.2,
        1e-3: 0.7,
    }
    assert (prior.max_kernels, prior.subfrequency, prior.peak_share) == (6, 0.2, 0.1)
    assert (prior.harmonic_scale, prior.harmonic_rate, prior.trend_slope) == (0.4, 0.75, 0.01)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("gaussian_share", 1.1),
        ("gaussian_share", "most"),
        ("subfrequency", float("nan")),
        ("units", "d"),
        ("units", ["fortnight"]),
        ("units", []),
        ("multiples", [["d", [1]]]),
        ("multiples", 3),
        ("years", [1500, 2000]),
        ("years", [2000, 1999]),
        ("years", [1900, 2000.5]),
        ("start_beta", [5.0, 0.0]),
        ("max_kernels", 0),
        ("max_kernels", 2.5),
        ("matern_orders", [1.0]),
        ("matern_orders", 1.5),
        ("length_scales", [2.0, 1.0]),
        ("length_scales", [0.0, 1.0]),
        ("kernel_scale", 0.0),
        ("periods", [1]),
        ("periods", []),
        ("calendar_periods", [["d", [7.5]]]),
        ("periodic_weight", -1.0),
        ("noise_shares", [0.5, 0.5]),
        ("noise_shares", [0.5, 0.2, 0.2]),
        ("noise_shares", [1.5, -0.5, 0.0]),
        ("noise_variances", [-1e-3, 1e-2, 1e-1]),
        ("noise_scales", [[0.1, 0.0], [0.2, 0.5], [0.7, 0.9]]),
        ("trend_per", "year"),
        ("trend_slope", -0.1),
        ("amplitudes", [["d", "moon", 1.0]]),
        ("amplitudes", [["d", "weekday", 1.5]]),
        ("harmonics", [["weekday", 0]]),
        ("harmonic_rate", 0.0),
        ("weibull_shape", [1.0]),
    ],
)  # fmt: skip
def test_bad_value_is_named(field: str, value: Any) -> None:
    with pytest.raises(SpecError, match=rf"(?s){field} (cannot|must) be .*Fix: \w+"):
        Prior(**{field: value})


def test_kernels_need_a_weight() -> None:
    with pytest.raises(SpecError, match="leave a kernel"):
        Prior(matern_weight=0.0, linear_weight=0.0, periodic_weight=0.0)


def test_unknown_field() -> None:
    with pytest.raises(SpecError, match=r"unknown field 'magic'.*\nFix: use gaussian_share"):
        Prior.from_dict({"magic": 1})
