"""W6: a training step of a Mamba block in neuronet, PyTorch and JAX; see peers.py for how it is measured.

    python benchmarks/peers_mamba.py [--device NAME] [--runs 20]

512 units x 128, inner width 256 in 4 heads, state 64, batch 16: forward, mean squared error, backward, Adam.
The peers compute the chunked form of Mamba-2 (Dao & Gu, arXiv:2405.21060, listing 1) from products of
matrices, chunks of 64.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from peers import Contender
from steps import Makers, jax_step, main, neuronet_step, torch_parameters, torch_step

import neuronet as nn

BATCH, UNITS, WINDOW, INNER, HEADS, STATE, CHUNK = 16, 512, 128, 256, 4, 64, 64
CHANNELS, CHUNKS = INNER + 2 * STATE, UNITS // CHUNK
SHOWN = "mamba/in_project/w"  # whose values after a step are compared

SHAPES = {
    "norm0/gamma": (WINDOW,),
    "norm0/beta": (WINDOW,),
    "mamba/in_project/w": (1, INNER + CHANNELS + HEADS, WINDOW),
    "mamba/in_project/b": (1, INNER + CHANNELS + HEADS),
    "mamba/out_project/w": (1, WINDOW, INNER),
    "mamba/out_project/b": (1, WINDOW),
    "mamba/conv_w": (4, CHANNELS),
    "mamba/conv_b": (CHANNELS,),
    "mamba/a_log": (HEADS,),
    "mamba/d": (HEADS,),
    "mamba/norm_w": (INNER,),
    "norm1/gamma": (WINDOW,),
    "norm1/beta": (WINDOW,),
    "ff0/w": (1, 4 * WINDOW, WINDOW),
    "ff0/b": (1, 4 * WINDOW),
    "ff1/w": (1, WINDOW, 4 * WINDOW),
    "ff1/b": (1, WINDOW),
}


def weights() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    made = {name: rng.uniform(-1, 1, shape) / shape[-1] ** 0.5 for name, shape in SHAPES.items()}
    made["mamba/in_project/b"][0, -HEADS:] = -3
    made["mamba/a_log"] = np.log(np.arange(1.0, HEADS + 1))
    return {name: values.astype(np.float32) for name, values in made.items()}


def data() -> list[np.ndarray]:
    rng = np.random.default_rng(1)
    return [rng.standard_normal((BATCH, UNITS, WINDOW)).astype(np.float32) for _ in range(2)]


def mamba_ours(spec: str | None) -> Contender:
    layers = [nn.CNeuronMambaBlockOCL(window_key=INNER, heads=HEADS, state_size=STATE)]
    own = {f"0/{name}": values for name, values in weights().items()}
    return neuronet_step(spec, layers, own, *data(), f"0/{SHOWN}")


def mamba_torch(kind: str, graph: bool = False, compiled: bool = False) -> Contender:
    import torch
    import torch.nn.functional as f
    from torch_layers import mamba_block

    w = torch_parameters(weights(), kind)
    x, t = (torch.tensor(values, device=kind) for values in data())
    block = mamba_block("", units=UNITS, inner=INNER, heads=HEADS, state=STATE, kind=kind, most=CHUNK)

    def loss_of() -> Any:
        return f.mse_loss(block(w, x), t)

    return torch_step(kind, w, loss_of, SHOWN, graph=graph, compiled=compiled)


def mamba_jax() -> Contender:
    import jax
    import jax.numpy as jnp

    later = jnp.triu(jnp.ones((CHUNK, CHUNK), bool), 1)

    def loss(w: dict[str, Any], x: Any, t: Any) -> Any:
        def linear(name: str, values: Any) -> Any:
            return values @ w[f"{name}/w"][0].T + w[f"{name}/b"][0]

        def norm(name: str, values: Any) -> Any:
            scale = jax.lax.rsqrt(values.var(-1, keepdims=True) + 1e-5)
            return w[f"{name}/gamma"] * (values - values.mean(-1, keepdims=True)) * scale + w[f"{name}/beta"]

        def scan(xs: Any, b: Any, c: Any, delta: Any) -> Any:
            cum = (delta * -jnp.exp(w["mamba/a_log"])[:, None, None]).cumsum(-1)
            decay = jnp.exp(jnp.where(later, -jnp.inf, cum[..., :, None] - cum[..., None, :]))
            u = xs * delta[..., None]
            inside = (c @ b.swapaxes(-1, -2) * decay) @ u
            ends = (b * jnp.exp(cum[..., -1:] - cum)[..., None]).swapaxes(-1, -2) @ u
            states, h = [], jnp.zeros_like(ends[:, :, 0])
            for k in range(CHUNKS):
                states.append(h)
                h = jnp.exp(cum[:, :, k, -1])[..., None, None] * h + ends[:, :, k]
            across = (c * jnp.exp(cum)[..., None]) @ jnp.stack(states, 2)
            return inside + across + w["mamba/d"][:, None, None, None] * xs

        def mamba(values: Any) -> Any:
            rows = linear("mamba/in_project", values)
            z, xbc, delta = jnp.split(rows, [INNER, INNER + CHANNELS], -1)
            padded = jnp.pad(xbc, ((0, 0), (3, 0), (0, 0)))
            taps = w["mamba/conv_w"]
            xbc = jax.nn.silu(w["mamba/conv_b"] + sum(taps[k] * padded[:, k : k + UNITS] for k in range(4)))
            xs, b, c = jnp.split(xbc, [INNER, INNER + STATE], -1)
            delta = jax.nn.softplus(delta).swapaxes(1, 2).reshape(BATCH, HEADS, CHUNKS, CHUNK)
            xs = xs.reshape(BATCH, CHUNKS, CHUNK, HEADS, -1).transpose(0, 3, 1, 2, 4)
            b, c = (v.reshape(BATCH, 1, CHUNKS, CHUNK, STATE) for v in (b, c))
            y = scan(xs, b, c, delta).transpose(0, 2, 3, 1, 4).reshape(BATCH, UNITS, INNER)
            u = y * jax.nn.silu(z)
            u = w["mamba/norm_w"] * u * jax.lax.rsqrt((u * u).mean(-1, keepdims=True) + 1e-5)
            return linear("mamba/out_project", u)

        middle = x + mamba(norm("norm0", x))
        out = middle + linear("ff1", jax.nn.leaky_relu(linear("ff0", norm("norm1", middle)), 0.01))
        return jnp.mean((out - t) ** 2)

    return jax_step(loss, weights(), data(), SHOWN)


def makers(spec: str | None, kind: str) -> Makers:
    found: Makers = [partial(mamba_ours, spec), partial(mamba_torch, kind), mamba_jax]
    if kind == "cuda":
        found += [partial(mamba_torch, kind, graph=True), partial(mamba_torch, kind, compiled=True)]
    return found


if __name__ == "__main__":
    main(__doc__, "W6 Mamba block", makers)
