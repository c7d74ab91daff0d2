from __future__ import annotations

import numpy as np
import pytest

from neuronet.reference import dot

EPS = 1e-5
A = np.ndarray


def run(qkv: A, rpb: A, radius: int) -> tuple[A, A]:
    score = np.full((*qkv.shape[:2], qkv.shape[3], rpb.shape[-1]), np.nan)
    out = np.full((*qkv.shape[:2], *qkv.shape[3:]), np.nan)
    dot.DOTFeedForward(qkv=qkv, rpb=rpb, score=score, out=out, radius=radius, scale=qkv.shape[-1] ** -0.5)
    return score, out


def dense(qkv: A, rpb: A, radius: int) -> A:
    """Attention of every unit to every unit, with a mask of -inf outside the band."""
    q, k, v = qkv.transpose(2, 0, 3, 1, 4)  # [batch, heads, units, dimension]
    units, width = q.shape[2], rpb.shape[-1]
    s = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    for u in range(units):
        for other in range(units):
            j = other - u + radius
            row = rpb[0] if len(rpb) == 1 else rpb[u]
            s[:, :, u, other] += row[:, j] if 0 <= j < width else -np.inf
    e = np.exp(s - s.max(-1, keepdims=True))
    return (e / e.sum(-1, keepdims=True) @ v).transpose(0, 2, 1, 3)


@pytest.mark.parametrize("positions", ["shared", "each"])
@pytest.mark.parametrize(("units", "radius"), [(1, 1), (2, 1), (7, 1), (9, 3), (5, 4), (4, 20)])
@pytest.mark.parametrize("causal", [False, True])
def test_equals_dense_attention_with_a_band_mask(
    units: int, radius: int, causal: bool, positions: str
) -> None:
    rng = np.random.default_rng(0)
    qkv = rng.standard_normal((2, units, 3, 3, 5))
    width = radius + 1 if causal else 2 * radius + 1
    rpb = rng.standard_normal((units if positions == "each" else 1, 3, width))
    score, out = run(qkv, rpb, radius)
    np.testing.assert_allclose(out, dense(qkv, rpb, radius), rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(score.sum(-1), 1)


@pytest.mark.parametrize(("units", "radius", "width"), [(1, 1, 3), (6, 1, 3), (5, 2, 3), (4, 6, 13)])
def test_backward_is_the_derivative_of_forward(units: int, radius: int, width: int) -> None:
    rng = np.random.default_rng(0)
    given = {"qkv": rng.standard_normal((2, units, 3, 2, 3)), "rpb": rng.standard_normal((1, 2, width))}
    dout, scale = rng.standard_normal((2, units, 2, 3)), 3**-0.5
    score, _ = run(**given, radius=radius)
    dscore, dqkv = np.full_like(score, np.nan), np.full_like(given["qkv"], np.nan)
    shared = {"qkv": given["qkv"], "score": score, "dout": dout, "dscore": dscore, "dqkv": dqkv}
    dot.DOTScoreGradients(**shared, radius=radius, scale=scale)
    dot.DOTInsideGradients(**shared, radius=radius, scale=scale)
    for name, gradient in {"qkv": dqkv, "rpb": dscore.sum((0, 1))[None]}.items():
        direction = rng.standard_normal(gradient.shape)
        ends = [
            (run(**(given | {name: given[name] + s * EPS * direction}), radius=radius)[1] * dout).sum()
            for s in (1, -1)
        ]
        expected = (ends[0] - ends[1]) / (2 * EPS)
        np.testing.assert_allclose((gradient * direction).sum(), expected, rtol=1e-7, atol=1e-9, err_msg=name)
