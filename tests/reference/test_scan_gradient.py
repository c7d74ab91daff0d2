from __future__ import annotations

import numpy as np

from neuronet.reference import scan_gradient

# That all gradients of the scan are right is checked in test_selective_scan.py.


def test_one_step_by_hand() -> None:
    """h = a h0 + delta b x, y = c h + d x; the state behind has the gradient 7."""
    x, b, c, dy, a_log, d, delta, h0 = 2.0, 3.0, 5.0, 11.0, np.log(0.5), 13.0, 0.25, 17.0
    decay = np.exp(-0.5 * delta)
    h = decay * h0 + delta * b * x
    g = c * dy + 7

    def put(*values: float) -> np.ndarray:
        return np.array(values).reshape(1, 1, 1, *([-1] if len(values) > 1 else [1]))

    states, dstates = np.array([h0, h]).reshape(1, 2, 1, 1, 1), np.array([0.0, 7]).reshape(1, 2, 1, 1, 1)
    xbc, dxbc, drows = np.array([[[x, b, c]]]), np.zeros((1, 1, 3)), np.zeros((1, 1, 2))
    back = {"xbc": xbc, "dstates": dstates, "dy": put(dy)}
    scan_gradient.ScanInputGradients(**back, decay=np.array([[[decay]]]), dxbc=dxbc)
    np.testing.assert_allclose(dxbc.ravel(), [g * b, 0, 0])
    a_parts, d_parts = np.empty((1, 1, 1)), np.empty((1, 1, 1))
    scan_gradient.ScanStepGradients(
        **back,
        delta=np.array([[[delta]]]),
        a_log=np.array([a_log]),
        d=np.array([d]),
        states=states,
        y=put(c * h + d * x),
        dxbc=dxbc,
        drows=drows,
        a_parts=a_parts,
        d_parts=d_parts,
    )
    np.testing.assert_allclose(dxbc.ravel(), [delta * g * b + d * dy, 0, 0])
    ddelta = -0.5 * decay * h0 * g + b * x * g
    np.testing.assert_allclose(drows.ravel(), [0, ddelta], rtol=1e-12)
    np.testing.assert_allclose(a_parts.item(), -0.5 * delta * decay * h0 * g, rtol=1e-12)
    assert d_parts.item() == x * dy
