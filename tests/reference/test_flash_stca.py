from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from neuronet.device.numpy import NumpyDevice
from neuronet.ops import flash_stca, flash_stca_gradient

EPS = 1e-6
A = np.ndarray
LIMITS = np.array([[[0, 9], [3, 3], [0, 4]], [[2, 9], [8, 9], [0, 0]]], np.int32)  # two rows are empty


def run(given: dict[str, A], recency: bool, dout: A | None = None) -> tuple[float, dict[str, A]]:
    """The loss sum(out dout), and the gradients."""
    device = NumpyDevice(np.float64)
    u, x, slope = (device.put(given[name]) for name in ("u", "x", "slope"))
    limits, shape = device.put(LIMITS), (len(given["u"]), 4, *given["u"].shape[1:])
    top, total, sums = device.array(shape[:-1]), device.array(shape[:-1]), device.array(shape)
    out, lse = device.array(u.shape), device.array(u.shape[:-1])
    ages = device.put(np.linspace(3, 0, x.shape[1])[None] + np.array([[0.0], [5]]))
    bias: dict[str, Any] = {"ages": ages, "slope": slope} if recency else {}
    flash_stca.forward(u, x, limits, top, total, sums, out, lse, scale=0.6, **bias)
    du, dx, dslope = device.array(u.shape), device.array(x.shape), device.array(slope.shape)
    if dout is None:
        return 0.0, {}
    back = device.put(dout)
    extra = bias | ({"dslope": dslope} if recency else {})
    flash_stca_gradient.backward(u, x, limits, out, lse, back, sums, top, du, dx, scale=0.6, **extra)
    found = {"u": du.read(), "x": dx.read(), "slope": dslope.read()}
    return float((out.read() * dout).sum()), found


@pytest.mark.parametrize("recency", [False, True], ids=["", "recency"])
def test_backward_is_the_derivative_of_forward(recency: bool) -> None:
    rng = np.random.default_rng(0)
    given = {
        "u": rng.standard_normal((2, 3, 2, 5)),
        "x": rng.standard_normal((2, 9, 5)),
        "slope": rng.uniform(0.1, 1, 2),
    }
    dout = rng.standard_normal(given["u"].shape)
    _, found = run(given, recency, dout)
    for name in given if recency else ("u", "x"):
        for index in np.ndindex(given[name].shape):
            ends = []
            for step in (EPS, -EPS):
                moved = given[name].copy()
                moved[index] += step
                ends.append(run(given | {name: moved}, recency, dout)[0])
            expected = (ends[0] - ends[1]) / (2 * EPS)
            assert found[name][index] == pytest.approx(expected, rel=1e-6, abs=1e-8), (name, index)
