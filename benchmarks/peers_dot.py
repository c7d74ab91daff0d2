"""W3: a training step of two DOT blocks in neuronet, PyTorch and JAX; see peers.py for how it is measured.

    python benchmarks/peers_dot.py [--device NAME] [--runs 20]

128 units x 32, 4 heads of 8, radius 1, batch 64: forward, mean squared error, backward, Adam. The peers take
the products with the three neighbours from shifted keys and values; PyTorch also in the dense form, scaled
dot product attention with a band mask.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from peers import Contender
from steps import Makers, jax_step, main, neuronet_step, torch_parameters, torch_step

import neuronet as nn

BATCH, UNITS, WINDOW, HEADS, DIMENSION, SLOTS, BLOCKS = 64, 128, 32, 4, 8, 3, 2
INNER = HEADS * DIMENSION
SHOWN = "0/qkv/w"  # whose values after a step are compared

SHAPES = {
    "norm0/gamma": (WINDOW,),
    "norm0/beta": (WINDOW,),
    "qkv/w": (1, 3 * INNER, WINDOW),
    "qkv/b": (1, 3 * INNER),
    "rpb": (1, HEADS, SLOTS),
    "proj/w": (1, WINDOW, INNER),
    "proj/b": (1, WINDOW),
    "norm1/gamma": (WINDOW,),
    "norm1/beta": (WINDOW,),
    "ff0/w": (1, 4 * WINDOW, WINDOW),
    "ff0/b": (1, 4 * WINDOW),
    "ff1/w": (1, WINDOW, 4 * WINDOW),
    "ff1/b": (1, WINDOW),
}


def weights() -> dict[str, np.ndarray]:
    """Of both blocks, under the number of the block and the name in it."""
    rng = np.random.default_rng(0)
    return {
        f"{block}/{name}": (rng.uniform(-1, 1, shape) / shape[-1] ** 0.5).astype(np.float32)
        for block in range(BLOCKS)
        for name, shape in SHAPES.items()
    }


def data() -> list[np.ndarray]:
    rng = np.random.default_rng(1)
    return [rng.standard_normal((BATCH, UNITS, WINDOW)).astype(np.float32) for _ in range(2)]


def dot_ours(spec: str | None) -> Contender:
    layers = [nn.CNeuronDOTOCL(window=WINDOW, dimension=DIMENSION, heads=HEADS) for _ in range(BLOCKS)]
    return neuronet_step(spec, layers, weights(), *data(), SHOWN)


def dot_torch(kind: str, dense: bool = False, graph: bool = False, compiled: bool = False) -> Contender:
    import torch
    import torch.nn.functional as f
    from torch_layers import dot_block

    w = torch_parameters(weights(), kind)
    x, t = (torch.tensor(values, device=kind) for values in data())
    how: dict[str, Any] = {"heads": HEADS, "dimension": DIMENSION, "slots": SLOTS}
    blocks = [dot_block(f"{i}/", units=UNITS, kind=kind, masked=dense, **how) for i in range(BLOCKS)]

    def loss_of() -> Any:
        y = x
        for block in blocks:
            y = block(w, y)
        return f.mse_loss(y, t)

    note = " dense" if dense else ""
    return torch_step(kind, w, loss_of, SHOWN, graph=graph, compiled=compiled, note=note)


def dot_jax() -> Contender:
    import jax
    import jax.numpy as jnp

    side = SLOTS // 2
    neighbour = np.arange(UNITS)[:, None] + np.arange(SLOTS) - side
    missing = jnp.asarray(((neighbour < 0) | (neighbour >= UNITS))[:, None])

    def loss(w: dict[str, Any], x: Any, t: Any) -> Any:
        def linear(name: str, values: Any) -> Any:
            return values @ w[f"{name}/w"][0].T + w[f"{name}/b"][0]

        def norm(name: str, values: Any) -> Any:
            scale = jax.lax.rsqrt(values.var(-1, keepdims=True) + 1e-5)
            return w[f"{name}/gamma"] * (values - values.mean(-1, keepdims=True)) * scale + w[f"{name}/beta"]

        def attention(block: int, values: Any) -> Any:
            split = linear(f"{block}/qkv", values).reshape(BATCH, UNITS, 3, HEADS, DIMENSION)
            q, k, v = (split[:, :, i] for i in range(3))
            k, v = (jnp.pad(a, ((0, 0), (side, side), (0, 0), (0, 0))) for a in (k, v))
            s = jnp.stack([(q * k[:, j : j + UNITS]).sum(-1) for j in range(SLOTS)], -1)
            s = s * DIMENSION**-0.5 + w[f"{block}/rpb"][0]
            p = jax.nn.softmax(jnp.where(missing, -jnp.inf, s), -1)
            out = sum(p[..., j, None] * v[:, j : j + UNITS] for j in range(SLOTS))
            return out.reshape(BATCH, UNITS, INNER)

        y = x
        for i in range(BLOCKS):
            y = y + linear(f"{i}/proj", attention(i, norm(f"{i}/norm0", y)))
            wide = jax.nn.gelu(linear(f"{i}/ff0", norm(f"{i}/norm1", y)), approximate=True)
            y = y + linear(f"{i}/ff1", wide)
        return jnp.mean((y - t) ** 2)

    return jax_step(loss, weights(), data(), SHOWN)


def makers(spec: str | None, kind: str) -> Makers:
    found: Makers = [
        partial(dot_ours, spec),
        partial(dot_torch, kind),
        partial(dot_torch, kind, dense=True),
        dot_jax,
    ]
    if kind == "cuda":
        found += [partial(dot_torch, kind, graph=True), partial(dot_torch, kind, compiled=True)]
    return found


if __name__ == "__main__":
    main(__doc__, "W3 two DOT blocks", makers)
