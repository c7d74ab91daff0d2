from __future__ import annotations

import numpy as np
import pytest

from neuronet.device.numpy import NumpyDevice
from neuronet.ops import flash_attention, flash_attention_kv, flash_attention_q

EPS = 1e-6
A = np.ndarray
LIMITS = np.array([[[0, 6], [2, 2], [0, 4]], [[5, 6], [1, 6], [3, 1]]], np.int32)  # two rows are empty


def run(given: dict[str, A], heads_kv: int, dout: A) -> tuple[float, dict[str, A]]:
    """The loss sum(out dout), and the gradients."""
    device = NumpyDevice(np.float64)
    q, k, v = (device.put(given[name]) for name in "qkv")
    limits, out, lse = device.put(LIMITS), device.array(dout.shape), device.array(dout.shape[:-1])
    given_back, delta = device.put(dout), device.array(dout.shape[:-1])
    dq, dk, dv = (device.array(a.shape) for a in (q, k, v))
    settings = {"heads_kv": heads_kv, "columns": (1, 0, 2)}
    flash_attention.forward(q, k, v, limits, out, lse, **settings)
    flash_attention_q.backward(q, k, v, limits, out, lse, given_back, delta, dq, **settings)
    flash_attention_kv.backward(q, k, v, limits, lse, given_back, delta, dk, dv, **settings)
    return float((out.read() * dout).sum()), {"q": dq.read(), "k": dk.read(), "v": dv.read()}


@pytest.mark.parametrize("heads_kv", [1, 2, 4])
def test_backward_is_the_derivative_of_forward(heads_kv: int) -> None:
    """Four heads of 3, with columns of others in front and behind."""
    rng = np.random.default_rng(0)
    given = {
        "q": rng.standard_normal((2, 3, 14)),
        "k": rng.standard_normal((2, 6, 3 * heads_kv + 1)),
        "v": rng.standard_normal((2, 6, 3 * heads_kv + 2)),
    }
    dout = rng.standard_normal((2, 3, 4, 3))
    _, found = run(given, heads_kv, dout)
    for name in given:
        for index in np.ndindex(given[name].shape):
            ends = []
            for step in (EPS, -EPS):
                moved = given[name].copy()
                moved[index] += step
                ends.append(run(given | {name: moved}, heads_kv, dout)[0])
            expected = (ends[0] - ends[1]) / (2 * EPS)
            assert found[name][index] == pytest.approx(expected, rel=1e-6, abs=1e-8), (name, index)
