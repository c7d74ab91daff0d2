"""That backward is the derivative of forward is in test_multi_windows_conv.py."""

from __future__ import annotations

import numpy as np

from neuronet.reference.multi_windows_weights import (
    UpdateWeightsMultWinConvAdamWPad,
    WeightGradientMultWinConvWPad,
)


def test_update_is_adam_of_the_gradient() -> None:
    rng = np.random.default_rng(0)
    x, dz = rng.standard_normal((2, 9, 2)), rng.standard_normal((2, 5, 2, 3))
    w, b = rng.standard_normal((10, 3)), rng.standard_normal((2, 3))
    geometry = {"windows_in": np.array([2, 3]), "starts": np.array([0, -1])}
    hyper = np.array([1e-2, 0.9, 0.99, 1e-8, 1, 1, 0, 0, 1])
    dw, db, w_m, w_v, b_m, b_v = (np.zeros_like(a) for a in (w, b, w, w, b, b))
    WeightGradientMultWinConvWPad(x=x, dz=dz, **geometry, dw=dw, db=db, step=2)
    before = w.copy()
    UpdateWeightsMultWinConvAdamWPad(
        x=x, dz=dz, **geometry, w=w, b=b, w_m=w_m, w_v=w_v, b_m=b_m, b_v=b_v, hyper=hyper, step=2
    )
    np.testing.assert_allclose(w_m, 0.1 * dw, rtol=1e-12)
    np.testing.assert_allclose(b_v, 0.01 * db**2, rtol=1e-12)
    np.testing.assert_allclose(w, before - 1e-2 * 0.1 * dw / (0.1 * np.abs(dw) + 1e-8), rtol=1e-12)
