"""W4: a training step of CATCH in neuronet, PyTorch and JAX; see peers.py for how it is measured.

    python benchmarks/peers_catch.py [--device NAME] [--runs 20] [--batch 64]

Windows of 96 times x 19 channels, all 96 bins in patches of 16, 8 apart; 3 blocks of 16 heads of 16 complex
numbers, width 32, hidden 64, features 32, one linear head: forward, mean squared error, frequency loss and
channel correlation, backward, Adam. The mask is 1 where its logit is not negative and has the gradient of its
probability in all of them, so that results can be compared; training draws it.
"""

from __future__ import annotations

import argparse
import sys
from functools import partial
from typing import Any

import numpy as np
from peers import Contender, race
from steps import Makers, jax_step, neuronet_step, torch_parameters, torch_step

import neuronet as nn

TIME, CHANNELS, PATCH, STEP, BLOCKS, HEADS, DIMENSION = 96, 19, 16, 8, 3, 16, 16
WIDTH, HIDDEN, FEATURES, PATCHES = 32, 64, 32, 11
FREQUENCY, CORRELATION, TEMPERATURE, REGULAR = 0.1, 0.1, 0.2, 0.5
INNER, VECTOR = HEADS * 2 * DIMENSION, 2 * DIMENSION
SHOWN = "0/fusion/mix0/attention/qkv/w"  # whose values after a step are compared

DENSE = {  # outputs, inputs
    "fusion/embed": (WIDTH, 2 * PATCH),
    "fusion/head": (FEATURES, WIDTH),
    "reconstruct/head": (2 * TIME, PATCHES * FEATURES),
    "merge": (TIME, 2 * TIME),
}
BLOCK = {
    "mix{}/attention/qkv": (3 * INNER, WIDTH),
    "mix{}/attention/project": (WIDTH, INNER),
    "ff{}/ff0": (HIDDEN, WIDTH),
    "ff{}/ff1": (WIDTH, HIDDEN),
}


def weights() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    dense, norms = dict(DENSE), []
    for block in range(BLOCKS):
        dense |= {"fusion/" + name.format(block): shape for name, shape in BLOCK.items()}
        norms += [f"fusion/mix{block}/norm", f"fusion/ff{block}/norm"]
    found = {"0/fusion/mask/w": rng.standard_normal((CHANNELS, 2 * PATCH)) / 30}
    for name, shape in dense.items():
        found[f"0/{name}/w"] = rng.uniform(-1, 1, (1, *shape)) / shape[-1] ** 0.5
        found[f"0/{name}/b"] = rng.uniform(-1, 1, (1, shape[0])) / shape[-1] ** 0.5
    for name in norms:
        found[f"0/{name}/gamma"] = rng.uniform(0.5, 1.5, WIDTH)
        found[f"0/{name}/beta"] = rng.uniform(-0.5, 0.5, WIDTH)
    return {name: values.astype(np.float32) for name, values in found.items()}


def data(batch: int) -> list[np.ndarray]:
    rng = np.random.default_rng(1)
    return [rng.standard_normal((batch, TIME, CHANNELS)).astype(np.float32) for _ in range(2)]


def layer() -> nn.CNeuronCATCH:
    return nn.CNeuronCATCH(
        window=PATCH,
        step=STEP,
        width=WIDTH,
        hidden=HIDDEN,
        heads=HEADS,
        dimension=DIMENSION,
        blocks=BLOCKS,
        features=FEATURES,
        correlation=CORRELATION,
        temperature=TEMPERATURE,
        regular=REGULAR,
        half=False,
        frequency=FREQUENCY,
        evaluation="deterministic",
    )


def catch_ours(spec: str | None, batch: int) -> Contender:
    catch = layer()
    made = neuronet_step(spec, [catch], weights(), *data(batch), SHOWN)
    catch.fusion.mask.TrainMode(False)  # training draws the mask
    return made


def catch_torch(kind: str, batch: int, graph: bool = False, compiled: bool = False) -> Contender:
    import torch
    import torch.nn.functional as f
    from torch_catch import catch

    w = torch_parameters(weights(), kind)
    x, t = (torch.tensor(values, device=kind) for values in data(batch))
    run = catch("0/", layer(), TIME, CHANNELS, kind)

    def loss_of() -> Any:
        out, penalty = run(w, x)
        return f.mse_loss(out, t) + penalty

    return torch_step(kind, w, loss_of, SHOWN, graph=graph, compiled=compiled)


def catch_jax(batch: int) -> Contender:
    import jax
    import jax.numpy as jnp

    rows, self_ = batch * PATCHES, jnp.eye(CHANNELS)
    bins = np.arange(PATCHES)[:, None] * STEP + np.arange(PATCH)

    def loss(w: dict[str, Any], x: Any, t: Any) -> Any:
        def linear(name: str, values: Any) -> Any:
            return values @ w[f"0/{name}/w"][0].T + w[f"0/{name}/b"][0]

        def norm(name: str, values: Any) -> Any:
            nx = values - values.mean(-1, keepdims=True)
            nx = nx * jax.lax.rsqrt((nx * nx).mean(-1, keepdims=True) + 1e-5)
            return w[f"0/{name}/gamma"] * nx + w[f"0/{name}/beta"]

        def mask_of(z: Any) -> Any:
            y = jax.nn.sigmoid(2 * jnp.clip(z, -15, 15))
            drawn = (z >= 0).astype(jnp.float32)
            return (jax.lax.stop_gradient(drawn - y) + y) * (1 - self_) + self_

        def attention(name: str, values: Any, mask: Any) -> tuple[Any, Any]:
            split = linear(f"{name}/qkv", values).reshape(rows, CHANNELS, 3, HEADS, VECTOR)
            q, k, v = split.transpose(2, 0, 3, 1, 4)
            s = q @ k.swapaxes(-1, -2)
            logits = s * (VECTOR**-0.5 * mask)[:, None]
            weights = jax.nn.softmax(jnp.where((mask < 0.5)[:, None], -jnp.inf, logits), -1)
            out = (weights @ v).swapaxes(1, 2).reshape(rows, CHANNELS, INNER)
            q_norm, k_norm = (jnp.sqrt((a * a).sum(-1)) for a in (q, k))
            e = jnp.exp((s / (q_norm[..., None] * k_norm[:, :, None])).mean(1) / TEMPERATURE)
            cluster = -jnp.log((e * mask).sum(-1) / e.sum(-1)).mean()
            opened = jnp.where(mask < 0.5, 0.0, mask - self_).sum() / (rows * CHANNELS * (CHANNELS - 1))
            return linear(f"{name}/project", out), cluster + REGULAR * opened

        spectrum = jnp.fft.fft(x.swapaxes(1, 2))
        pairs = jnp.stack([spectrum.real, spectrum.imag], -1)
        patches = pairs[:, :, bins].swapaxes(1, 2).reshape(rows, CHANNELS, 2 * PATCH)
        mask = mask_of(patches @ w["0/fusion/mask/w"].T)
        y, penalty = linear("fusion/embed", patches), 0.0
        for i in range(BLOCKS):
            mixed, term = attention(f"fusion/mix{i}/attention", norm(f"fusion/mix{i}/norm", y), mask)
            y, penalty = y + mixed, penalty + term
            wide = jax.nn.gelu(linear(f"fusion/ff{i}/ff0", norm(f"fusion/ff{i}/norm", y)), approximate=True)
            y = y + linear(f"fusion/ff{i}/ff1", wide)
        y = linear("fusion/head", y).reshape(batch, PATCHES, CHANNELS, FEATURES)
        made = linear("reconstruct/head", y.swapaxes(1, 2).reshape(batch, CHANNELS, PATCHES * FEATURES))
        made = made.reshape(batch, CHANNELS, TIME, 2)
        difference = jnp.sqrt(((made - pairs) ** 2).sum(-1) + 1e-12).mean()
        signal = jnp.fft.ifft(made[..., 0] + 1j * made[..., 1])
        signal = jnp.stack([signal.real, signal.imag], -1).reshape(batch, CHANNELS, 2 * TIME)
        out = linear("merge", signal).swapaxes(1, 2)
        return jnp.mean((out - t) ** 2) + FREQUENCY * difference + CORRELATION / BLOCKS * penalty

    return jax_step(loss, weights(), data(batch), SHOWN)


def makers(spec: str | None, kind: str, batch: int) -> Makers:
    found: Makers = [
        partial(catch_ours, spec, batch),
        partial(catch_torch, kind, batch),
        partial(catch_torch, kind, batch, compiled=True),
        partial(catch_jax, batch),
    ]
    if kind == "cuda":
        found.append(partial(catch_torch, kind, batch, graph=True))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--device", default=None)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--batch", type=int, default=64)
    options = parser.parse_args()
    kind = "cuda" if nn.find_device(options.device).kind == "gpu" else "cpu"
    head = ["| work | who | median µs | min-max µs | peer / ours |", "|---|---|---|---|---|"]
    title = f"W4 CATCH, batch {options.batch}"
    rows = race(title, makers(options.device, kind, options.batch), options.runs, rtol=2e-3)
    sys.stdout.write("\n".join(head + rows) + "\n")


if __name__ == "__main__":
    main()
