"""W2: a training step of Mamba4Cast's embedding and multi-window convolution; see peers.py for the method.

    python benchmarks/peers_embedding.py [--device NAME] [--runs 20]

120 bars x 9 features with their times, batch 64: CMamba4CastEmbeding to 32 values, of which 16 are batch norm
of tanh and 16 have harmonics of two periods; then windows of 3, 5 and 7 bars with 32 filters each, SoftPlus.
Forward, mean squared error, backward, Adam.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from peers import Contender
from steps import Makers, jax_step, main, neuronet_step, torch_parameters, torch_step

import neuronet as nn

BATCH, UNITS, FEATURES, WIDTH, FILTERS, WINDOWS = 64, 120, 9, 32, 32, (3, 5, 7)
PERIODS, FREQS = (86_400, 604_800), 4
TIME, TAPS = 2 * len(PERIODS) * FREQS, sum(WINDOWS) * WIDTH
PLAIN = WIDTH - TIME
SHOWN = "0/projection/w"  # whose values after a step are compared

SHAPES = {
    "0/projection/w": (1, PLAIN, FEATURES),
    "0/projection/b": (1, PLAIN),
    "0/norm/gamma": (UNITS * PLAIN,),
    "0/norm/beta": (UNITS * PLAIN,),
    "0/with_time/projection/w": (1, TIME, FEATURES),
    "0/with_time/projection/b": (1, TIME),
    "1/w": (TAPS, FILTERS),
    "1/b": (len(WINDOWS), FILTERS),
}


def weights() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    made = {name: rng.uniform(-1, 1, shape) / shape[-1] ** 0.5 for name, shape in SHAPES.items()}
    made["0/norm/gamma"] = np.ones(UNITS * PLAIN)
    return {name: values.astype(np.float32) for name, values in made.items()}


def data() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Values, phases and targets."""
    rng = np.random.default_rng(1)
    x = rng.standard_normal((BATCH, UNITS, FEATURES)).astype(np.float32)
    phases = rng.random((BATCH, UNITS, len(PERIODS))).astype(np.float32)
    return x, phases, rng.random((BATCH, UNITS, len(WINDOWS) * FILTERS)).astype(np.float32)


def ours(spec: str | None) -> Contender:
    layers = [
        nn.CMamba4CastEmbeding(window=FEATURES, window_out=WIDTH, periods=PERIODS),
        nn.CNeuronMultiWindowsConvWPadOCL(windows=WINDOWS, step=1, window_out=FILTERS, dimension=WIDTH),
    ]
    x, phases, t = data()
    return neuronet_step(spec, layers, weights(), x, t, SHOWN, second=phases)


def torch_peer(kind: str, graph: bool = False) -> Contender:
    import torch
    import torch.nn.functional as f
    from torch_layers import embedding, multi_windows

    w = torch_parameters(weights(), kind)
    x, phases, t = (torch.tensor(values, device=kind) for values in data())
    embed = embedding("0/", len(PERIODS), FREQS, kind, unit_norm=False)
    convolutions = multi_windows("1/", WINDOWS, causal=False)

    def loss() -> Any:
        return f.mse_loss(f.softplus(convolutions(w, embed(w, x, phases))), t)

    return torch_step(kind, w, loss, SHOWN, graph=graph)


def jax_peer() -> Contender:
    import jax
    import jax.numpy as jnp

    harmonics = 2 * np.pi * 2.0 ** jnp.arange(FREQS)

    def loss(w: dict[str, Any], x: Any, phases: Any, t: Any) -> Any:
        plain = jnp.tanh(x @ w["0/projection/w"][0].T + w["0/projection/b"][0]).reshape(BATCH, -1)
        plain = (plain - plain.mean(0)) * jax.lax.rsqrt(plain.var(0) + 1e-5)
        plain = (w["0/norm/gamma"] * plain + w["0/norm/beta"]).reshape(BATCH, UNITS, PLAIN)
        angle = phases[..., None] * harmonics
        waves = jnp.stack([jnp.sin(angle), jnp.cos(angle)], -1).reshape(BATCH, UNITS, TIME)
        timed = x @ w["0/with_time/projection/w"][0].T + w["0/with_time/projection/b"][0] + waves
        rows, outs, first = jnp.concatenate([plain, timed], -1), [], 0
        for i, window in enumerate(WINDOWS):
            taps = w["1/w"][first : first + window * WIDTH].reshape(window, WIDTH, FILTERS)
            layout = ("NWC", "WIO", "NWC")
            outs.append(
                jax.lax.conv_general_dilated(rows, taps, (1,), "SAME", dimension_numbers=layout) + w["1/b"][i]
            )
            first += window * WIDTH
        return jnp.mean((jax.nn.softplus(jnp.concatenate(outs, -1)) - t) ** 2)

    return jax_step(loss, weights(), data(), SHOWN)


def makers(spec: str | None, kind: str) -> Makers:
    found: Makers = [partial(ours, spec), partial(torch_peer, kind), jax_peer]
    if kind == "cuda":
        found.append(partial(torch_peer, kind, graph=True))
    return found


if __name__ == "__main__":
    main(__doc__, "W2 embedding, multi-window convolution", makers)
