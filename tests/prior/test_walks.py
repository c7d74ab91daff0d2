"""Random walks: independent steps of mean 0 and of the declared size."""

from __future__ import annotations

import numpy as np
import pytest

from neuronet.errors import SpecError
from neuronet.prior.draw import draw
from neuronet.prior.settings import Prior
from neuronet.prior.walks import draw_walks


@pytest.mark.parametrize("tails", [0.0, 1.0])
def test_steps_are_independent_and_of_their_size(tails: float) -> None:
    prior = Prior(walk_volatility=(0.01, 0.01), walk_tails=tails)
    steps = np.diff(np.log(draw_walks(prior, 200, 400, np.random.default_rng(0))), axis=1)
    assert steps.std() == pytest.approx(0.01, rel=0.05)
    assert abs(steps.mean()) < 4 * 0.01 / np.sqrt(steps.size)
    follow = np.mean(steps[:, 1:] * steps[:, :-1]) / steps.var()
    assert abs(follow) < 4 / np.sqrt(steps.size)
    heavy = np.mean((steps / steps.std()) ** 4)
    assert heavy == pytest.approx(3.0, abs=0.1) if tails == 0.0 else heavy > 5.0


def test_volatilities_fill_their_range_evenly_in_the_logarithm() -> None:
    walks = draw_walks(Prior(walk_tails=0.0), 2000, 200, np.random.default_rng(1))
    found = np.log(np.diff(np.log(walks), axis=1).std(axis=1))
    low, high = np.log([0.001, 0.1])
    assert np.quantile(found, [0.25, 0.5, 0.75]) == pytest.approx(
        [low + q * (high - low) for q in (0.25, 0.5, 0.75)], abs=0.2
    )


def test_share_among_all_series() -> None:
    made = draw(Prior(gaussian_share=0.0, walk_share=1.0), 128, 50, 0)
    assert not made.gaussian.any()
    assert (made.values > 0.0).all()
    plain = draw(Prior(), 128, 50, 0)
    again = draw(Prior(walk_share=0.0), 128, 50, 0)
    np.testing.assert_array_equal(plain.values, again.values)
    some = draw(Prior(walk_share=0.2), 128, 50, 0)
    changed = (some.values != plain.values).any(axis=1)
    assert changed[~plain.gaussian].any()


def test_bad_shares_are_named() -> None:
    with pytest.raises(SpecError, match=r"walk_share cannot be 0\.4"):
        Prior(walk_share=0.4)
    with pytest.raises(SpecError, match="walk_volatility cannot be"):
        Prior(walk_volatility=(0.0, 0.1))
