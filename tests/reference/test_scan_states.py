from __future__ import annotations

import numpy as np

from neuronet.reference import scan_states

ONE = {"delta": np.ones((1, 65, 1)), "decay": np.full((1, 65, 1), 0.5)}


def test_a_chunk_starts_from_0_and_the_carry_joins_it() -> None:
    xbc = np.ones((1, 65, 3))  # x, B and C
    states, span = np.full((1, 3, 1, 1, 1), np.nan), np.empty((1, 2, 1))
    scan_states.ScanChunkStates(xbc=xbc, **ONE, states=states, span=span)
    np.testing.assert_allclose(states.ravel()[1:], [2 - 2.0**-63, 1], rtol=1e-15)
    np.testing.assert_allclose(span.ravel(), [2.0**-64, 0.5], rtol=1e-15)
    scan_states.ScanCarry(initial=np.array([[[4.0]]]), span=span, states=states[..., 0])
    np.testing.assert_allclose(states.ravel(), [4, 2 + 2.0**-63, 2 + 2.0**-64], rtol=1e-15)
    final = np.empty((1, 1, 1, 1))
    scan_states.ScanFinal(states=states, final=final)
    assert final.item() == states[0, 2, 0, 0, 0]


def test_gradients_go_back_over_the_boundaries() -> None:
    xbc, dy = np.ones((1, 65, 3)), np.ones((1, 65, 1, 1))
    dstates = np.full((1, 3, 1, 1, 1), np.nan)
    scan_states.ScanChunkGradients(xbc=xbc, decay=ONE["decay"], dy=dy, dstates=dstates)
    np.testing.assert_allclose(dstates.ravel(), [1 - 2.0**-64, 0.5, 0], rtol=1e-15)
    scan_states.ScanCarryBack(span=np.array([[[2.0**-64], [0.5]]]), dstates=dstates[..., 0])
    np.testing.assert_allclose(dstates.ravel(), [1 - 2.0**-65, 0.5, 0], rtol=1e-15)
