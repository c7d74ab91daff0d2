from __future__ import annotations

import numpy as np

from neuronet.reference.matmul import MatMult, MatMultGradA, MatMultGradB


def test_gradients_are_the_derivatives_of_the_product() -> None:
    rng = np.random.default_rng(0)
    a, b, dc = rng.standard_normal((3, 4, 5)), rng.standard_normal((3, 5, 2)), rng.standard_normal((3, 4, 2))
    da, db = np.empty_like(a), np.empty_like(b)
    MatMultGradA(dc=dc, b=b, da=da)
    MatMultGradB(a=a, dc=dc, db=db)

    def loss(a: np.ndarray, b: np.ndarray) -> float:
        c = np.empty_like(dc)
        MatMult(a=a, b=b, c=c)
        return float((c * dc).sum())

    for name, gradient in (("a", da), ("b", db)):
        values = {"a": a, "b": b}
        direction, eps = rng.standard_normal(gradient.shape), 1e-5
        up = loss(**(values | {name: values[name] + eps * direction}))
        down = loss(**(values | {name: values[name] - eps * direction}))
        np.testing.assert_allclose((up - down) / (2 * eps), (gradient * direction).sum(), rtol=1e-7)


def test_product_is_numpys() -> None:
    a, b, c = np.arange(6.0).reshape(1, 2, 3), np.arange(12.0).reshape(1, 3, 4), np.empty((1, 2, 4))
    MatMult(a=a, b=b, c=c)
    np.testing.assert_array_equal(c, a @ b)
