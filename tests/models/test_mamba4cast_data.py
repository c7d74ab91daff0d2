"""Training data: each epoch is new, and the same again for the same seed, however it is asked for."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from neuronet.errors import DataError
from neuronet.fitting.source import Source
from neuronet.models import mamba4cast_data as module
from neuronet.models import mamba4cast_tokens
from neuronet.models.mamba4cast_data import UNSEEN, SeriesSource, SyntheticSource
from neuronet.prior.draw import draw
from neuronet.prior.settings import Prior
from neuronet.series.series import Series

Make = Callable[..., Series]
SIZES = (24, 4, (86_400,))  # context, horizon, periods
EPOCHS = 9


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A small validation, and no thread that outlives a test."""
    monkeypatch.setattr(module, "VALIDATION", 32)
    before = threading.active_count()
    yield
    assert threading.active_count() == before


def synthetic(seed: int = 3, samples: int = 48, **extra: Any) -> SyntheticSource:
    return SyntheticSource(Prior(), *SIZES, samples, seed, EPOCHS, **extra)


def same(a: Source, b: Source) -> bool:
    pairs = ((getattr(a, name), getattr(b, name)) for name in ("rows", "targets", "second", "starts"))
    return all(x.tobytes() == y.tobytes() for x, y in pairs)


def test_an_epoch_depends_on_seed_and_number_alone() -> None:
    with synthetic() as one, synthetic() as other, synthetic(seed=4) as third:
        first = [one.epoch(e) for e in (0, 1, 2)]
        again = {e: other.epoch(e) for e in (2, 0, 1)}
        assert all(same(first[e], again[e]) for e in (0, 1, 2))
        assert same(one.validation(), other.validation())
        assert not same(first[0], first[1])
        assert not same(first[0], third.epoch(0))
        assert not same(one.validation(), third.validation())


def test_an_epoch_has_the_net_s_shapes() -> None:
    with synthetic() as source:
        for made, count in ((source.epoch(0), 48), (source.validation(), 32)):
            assert len(made) == count
            assert made.rows.shape == (count, 28 * mamba4cast_tokens.CHANNELS)
            assert made.targets is not None
            assert made.second is not None
            assert made.targets.shape == (count, 4)
            assert made.second.shape == (count, 28, 1)
            assert {a.dtype for a in (made.rows, made.targets, made.second)} == {np.dtype(np.float32)}


def test_epochs_go_through_the_prior_s_sequence_and_validation_lies_beside_it() -> None:
    """No series is drawn twice: epoch e has numbers 48 e to 48 e + 47; validation has another seed."""
    with synthetic() as source:
        for epoch, first, seed, count in ((0, 0, 3, 48), (2, 96, 3, 48), (None, 0, 3 + UNSEEN, 32)):
            values, times, seasons = source.rows(count, epoch)
            drawn = draw(Prior(), count, 28, seed, first=first)
            np.testing.assert_array_equal(values, drawn.values)
            np.testing.assert_array_equal(times, drawn.times)
            assert seasons.tolist() == [f.season for f in drawn.frequencies]


def test_worker_processes_change_no_bit() -> None:
    with synthetic(samples=130) as one, synthetic(samples=130, processes=2) as two:
        for epoch in (0, 1):
            assert same(one.epoch(epoch), two.epoch(epoch))
        assert same(one.validation(), two.validation())


def test_an_error_in_the_thread_reaches_the_caller(monkeypatch: pytest.MonkeyPatch) -> None:
    with synthetic() as source:
        source.epoch(0)
        source._next[1].result()  # type: ignore[index]
        monkeypatch.setattr(source, "rows", lambda *_: 1 // 0)
        source.epoch(1)
        with pytest.raises(ZeroDivisionError):
            source.epoch(2)


# --- given series -------------------------------------------------------------------------------------


def given(series: list[Series], samples: int = 400, seed: int = 0) -> SeriesSource:
    return SeriesSource(series, *SIZES, samples, seed, EPOCHS)


def test_cuts_of_given_series_are_their_values_and_times(make_series: Make) -> None:
    """Values tell where they come from: 1000 a series, 1 a step."""
    lengths, units = (200, 60, 9), ("h", "d", "m")
    made = [make_series(1000.0 * k + np.arange(n), units[k]) for k, n in enumerate(lengths)]
    with given(made) as source:
        values, times, seasons = source.rows(3_000, 0)
    counts, last = np.zeros(3), [set[int](), set[int](), set[int]()]
    for row, stamps, season in zip(values, times, seasons, strict=True):
        k = int(row[-1] // 1000)
        end = int(row[-1] % 1000) + 1
        n = min(end, 28)
        np.testing.assert_array_equal(row[-n:], made[k].values[end - n : end])
        np.testing.assert_array_equal(stamps[-n:], made[k].times[end - n : end])
        assert np.isnan(row[:-n]).all()
        assert season == made[k].frequency.season
        counts[k] += 1
        last[k].add(end)
    np.testing.assert_allclose(counts / 3_000, np.array([196, 56, 5]) / 257, atol=0.03)
    assert [min(last[2]), max(last[2])] == [5, 9]  # from one value in front of a target to the end
    assert max(last[0]) == 200


def test_as_many_samples_in_every_epoch_though_cuts_are_left_out(make_series: Make) -> None:
    """fit has room for the batches of the first epoch: fewer or more of them in a later one broke it."""
    values = np.random.default_rng(0).standard_normal(300)
    values[::11] = np.nan
    with given([make_series(values)], samples=100) as source:
        made = [source.epoch(e) for e in range(6)] + [source.validation()]
    assert [len(one) for one in made] == [100] * 6 + [32]
    assert len({row.tobytes() for row in made[0].rows}) < 100  # some stand in for those left out
    assert all(np.isfinite(one.targets).all() for one in made if one.targets is not None)


def test_series_too_short_for_a_target_are_left_out(make_series: Make) -> None:
    short, long = make_series(np.zeros(4), name="short"), make_series(np.arange(5.0), name="long")
    with given([short, long]) as source:
        assert [one.name for one in source.series] == ["long"]
    with pytest.raises(
        DataError, match=r"none of 1 series has more than 4 values.*\nFix: give series longer"
    ):
        given([short])


def test_series_without_a_known_target_are_refused(make_series: Make) -> None:
    values = np.full(60, np.nan)
    values[::3] = 1.0
    with given([make_series(values)]) as source, pytest.raises(DataError, match="no cut has a known target"):
        source.epoch(0)
