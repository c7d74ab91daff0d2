"""draw: the same series for the same seed however they are asked for; sound values, right shares."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from neuronet.errors import SpecError
from neuronet.prior.draw import Drawn, draw, worker_pool
from neuronet.prior.settings import Prior

MANY, LENGTH = 2_048, 180


@pytest.fixture(scope="module")
def many() -> Drawn:
    return draw(Prior(), MANY, LENGTH, 5)


def same(a: Drawn, b: Drawn) -> None:
    assert a.values.tobytes() == b.values.tobytes()
    assert a.times.tobytes() == b.times.tobytes()
    assert a.frequencies == b.frequencies
    assert a.gaussian.tobytes() == b.gaussian.tobytes()


def rows(drawn: Drawn, first: int, last: int) -> Drawn:
    part = slice(first, last)
    return Drawn(drawn.values[part], drawn.times[part], drawn.frequencies[part], drawn.gaussian[part])


def test_values_are_sound(many: Drawn) -> None:
    assert many.values.shape == many.times.shape == (MANY, LENGTH)
    assert (many.values.dtype, many.times.dtype) == (np.float32, np.int64)
    assert np.isfinite(many.values).all()
    assert np.abs(many.values).max() < 1e6
    assert np.ptp(many.values, axis=1).min() > 0.0
    assert len({v.tobytes() for v in many.values}) == MANY


def test_stamps_are_those_of_the_frequency(many: Drawn) -> None:
    for times, frequency in zip(many.times, many.frequencies, strict=True):
        assert np.array_equal(times, frequency.stamps(int(times[0]), LENGTH))
    assert {f.unit for f in many.frequencies} == {"min", "h", "d", "w", "m", "q", "y"}


def test_share_of_the_families(many: Drawn) -> None:
    assert abs(many.gaussian.sum() - 0.7 * MANY) < 4 * np.sqrt(0.21 * MANY)
    assert draw(Prior(gaussian_share=1), 70, 20, 0).gaussian.all()
    assert not draw(Prior(gaussian_share=0), 70, 20, 0).gaussian.any()


def test_seed_prior_and_length_name_the_series(many: Drawn) -> None:
    same(draw(Prior(), 100, LENGTH, 5), rows(many, 0, 100))
    assert not np.array_equal(draw(Prior(), 10, LENGTH, 6).values, many.values[:10])


def test_any_part_is_that_part_of_the_whole(many: Drawn) -> None:
    same(draw(Prior(), 150, LENGTH, 5, first=100), rows(many, 100, 250))
    same(draw(Prior(), 1, LENGTH, 5, first=64), rows(many, 64, 65))
    assert draw(Prior(), 0, LENGTH, 5, first=7).values.shape == (0, LENGTH)


def test_processes_change_nothing(many: Drawn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")  # nor do the BLAS's threads, which are others here
    same(draw(Prior(), 200, LENGTH, 5, processes=2), rows(many, 0, 200))
    with worker_pool(1) as pool:
        same(draw(Prior(), 70, LENGTH, 5, pool=pool), rows(many, 0, 70))
        same(draw(Prior(), 70, LENGTH, 5, first=70, pool=pool), rows(many, 70, 140))


@pytest.mark.parametrize(
    ("name", "value"),
    [("count", -1), ("length", 7), ("seed", -1), ("first", 0.5), ("processes", 0), ("seed", True)],
)
def test_bad_arguments(name: str, value: Any) -> None:
    arguments = {"count": 1, "length": 20, "seed": 0, name: value}
    with pytest.raises(SpecError, match=f"draw: {name} is {value}.*\nFix: give a whole number"):
        draw(Prior(), **arguments)


def test_stamps_that_do_not_fit_are_refused_before_any_work() -> None:
    with pytest.raises(SpecError, match="reach beyond the year 2261"):
        draw(Prior(units=["y", "q"]), 10_000, 2_000, 0, processes=2)


def test_a_prior_of_constant_series_is_refused() -> None:
    constant = Prior(
        gaussian_share=0, trend_slope=0, amplitudes=[], noise_scales=[[0, 0]], noise_scale_shares=[1],
        damping=0, spikes=0, spike_batches=0,
    )  # fmt: skip
    with pytest.raises(SpecError, match="64 of 64 series are constant"):
        draw(constant, 1, 20, 0)
