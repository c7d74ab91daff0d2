"""One tolerance rule for every kernel against its twin."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

EPS = float(np.finfo(np.float32).eps)


def bound(terms: int) -> float:
    """Largest error allowed, relative to the root mean square: 8 eps sqrt(terms).

    ``terms`` is how many products one output sums: float32 rounding grows so, a wrong index never fits.
    """
    return 8 * EPS * math.sqrt(max(1, terms))


def relative_error(got: NDArray[Any], expected: NDArray[Any]) -> NDArray[Any]:
    """Absolute differences as fractions of the root mean square of ``expected``."""
    scale = max(float(np.sqrt(np.mean(expected**2))) if expected.size else 0.0, 1e-30)
    error: NDArray[Any] = np.abs(got - expected) / scale
    return error


def mismatch(got: NDArray[Any], expected: NDArray[Any], *, terms: int, name: str = "array") -> str:
    """Why ``got`` does not match ``expected``, with the worst numbers; an empty text when it does."""
    if got.shape != expected.shape:
        return f"{name}: shape {got.shape}, expected {expected.shape}"
    if got.dtype.kind in "iu":
        wrong = np.count_nonzero(got != expected)
        return f"{name}: {wrong} of {got.size} integers differ" if wrong else ""
    if bad := np.count_nonzero(~np.isfinite(got) & np.isfinite(expected)):
        return f"{name}: {bad} of {got.size} values not written or not finite"
    error = relative_error(got, expected)
    if error.max(initial=0.0) <= bound(terms):
        return ""
    worst = tuple(int(i) for i in np.unravel_index(int(error.argmax()), error.shape))
    return (
        f"{name}: worst relative error {error.max():.2e} > {bound(terms):.2e} at {worst}: "
        f"got {got[worst]:.8g}, expected {expected[worst]:.8g}"
    )


def assert_matches(got: NDArray[Any], expected: NDArray[Any], *, terms: int, name: str = "array") -> None:
    """AssertionError with the worst numbers unless ``got`` is within ``bound(terms)``."""
    if problem := mismatch(got, expected, terms=terms, name=name):
        raise AssertionError(problem)
