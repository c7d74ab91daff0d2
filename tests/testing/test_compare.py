from __future__ import annotations

import numpy as np
import pytest

from neuronet.testing.compare import EPS, assert_matches, bound, mismatch

EXPECTED = np.array([1.0, -2.0, 3.0])


def test_bound_grows_with_the_root_of_the_terms() -> None:
    assert bound(1) == bound(0) == 8 * EPS
    assert bound(100) == pytest.approx(80 * EPS)


def test_rounding_passes_and_a_wrong_value_does_not() -> None:
    assert mismatch((EXPECTED * (1 + 2e-7)).astype(np.float32), EXPECTED, terms=1) == ""
    wrong = EXPECTED.astype(np.float32)
    wrong[1] = 2.0
    with pytest.raises(
        AssertionError, match=r"y: worst relative error 1.85e\+00 .* at \(1,\): got 2, expected -2"
    ):
        assert_matches(wrong, EXPECTED, terms=1, name="y")


def test_unwritten_values_shapes_and_integers() -> None:
    holes = EXPECTED.astype(np.float32)
    holes[2] = np.nan
    assert mismatch(holes, EXPECTED, terms=1) == "array: 1 of 3 values not written or not finite"
    assert "shape (2,), expected (3,)" in mismatch(EXPECTED[:2], EXPECTED, terms=1)
    assert mismatch(np.array([1, 2]), np.array([1, 3]), terms=9) == "array: 1 of 2 integers differ"
