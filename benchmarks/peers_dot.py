"""W3: a training step of two DOT blocks in neuronet, PyTorch and JAX; see peers.py for how it is measured.

    python benchmarks/peers_dot.py [--device NAME] [--runs 20]

128 units x 32, 4 heads of 8, radius 1, batch 64: forward, mean squared error, backward, Adam. The peers take
the products with the three neighbours from shifted keys and values; PyTorch also in the dense form, scaled
dot product attention with a band mask.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from peers import EPS, LR, Contender, Step, race

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
    """The launches of a training step as ``fit`` replays them, from data on the device."""
    from neuronet.ops import step as step_op
    from neuronet.optim.base import RATES

    device = nn.find_device(spec)
    layers = [nn.CNeuronDOTOCL(window=WINDOW, dimension=DIMENSION, heads=HEADS) for _ in range(BLOCKS)]
    adam = nn.Adam(lr=LR, eps=EPS)
    net = nn.CNet(input_shape=(UNITS, WINDOW), layers=layers, batch=BATCH, optimizer=adam).build(device)
    parameters = {f"{i}/{p.name}": p for i, layer in enumerate(layers) for p in layer.parameters}
    for name, values in weights().items():
        parameters[name].value.write(values)
    x, t = data()
    net.input.output.write(x)
    net.target.write(t)
    table = device.array((1, RATES))

    def work() -> None:
        step_op.next_step(table, net.optimizer.hyper, net.step)
        net.forward()
        net.apply_loss(net.target)
        net.backward()
        net.update()

    def step() -> None:
        table.write(net.optimizer.rates(net.steps)[None])
        net.step.write([net.steps, -1, -1, 0])
        net.run("step", work)
        net.steps += 1

    return Contender("neuronet", step, device.finish, parameters[SHOWN].value.read)


def dot_torch(kind: str, dense: bool = False, graph: bool = False, compiled: bool = False) -> Contender:
    import torch
    import torch.nn.functional as f

    torch.set_float32_matmul_precision("highest")
    w = {name: torch.nn.Parameter(torch.tensor(v, device=kind)) for name, v in weights().items()}
    x, t = (torch.tensor(values, device=kind) for values in data())
    at = torch.arange(UNITS, device=kind)
    slot = at[None, :] - at[:, None] + SLOTS // 2  # of the key's unit, for each query's
    outside = (slot < 0) | (slot >= SLOTS)
    neighbour = at[:, None] + torch.arange(SLOTS, device=kind) - SLOTS // 2
    missing = ((neighbour < 0) | (neighbour >= UNITS))[:, None]

    def linear(name: str, values: Any) -> Any:
        return f.linear(values, w[f"{name}/w"][0], w[f"{name}/b"][0])

    def norm(name: str, values: Any) -> Any:
        return f.layer_norm(values, (WINDOW,), w[f"{name}/gamma"], w[f"{name}/beta"], 1e-5)

    def attention(block: int, values: Any) -> Any:
        split = linear(f"{block}/qkv", values).view(BATCH, UNITS, 3, HEADS, DIMENSION)
        if dense:
            q, k, v = split.permute(2, 0, 3, 1, 4)
            mask = w[f"{block}/rpb"][0][:, slot.clamp(0, SLOTS - 1)].masked_fill(outside, float("-inf"))
            out = f.scaled_dot_product_attention(q, k, v, attn_mask=mask[None])
            return out.transpose(1, 2).reshape(BATCH, UNITS, INNER)
        q, k, v = split.unbind(2)
        side = SLOTS // 2
        k, v = (f.pad(a, (0, 0, 0, 0, side, side)) for a in (k, v))
        s = torch.stack([(q * k[:, j : j + UNITS]).sum(-1) for j in range(SLOTS)], -1)
        s = s * DIMENSION**-0.5 + w[f"{block}/rpb"][0]
        p = s.masked_fill(missing, float("-inf")).softmax(-1)
        out: Any = sum(p[..., j, None] * v[:, j : j + UNITS] for j in range(SLOTS))
        return out.reshape(BATCH, UNITS, INNER)

    def loss_of() -> Any:
        y = x
        for i in range(BLOCKS):
            y = y + linear(f"{i}/proj", attention(i, norm(f"{i}/norm0", y)))
            wide = f.gelu(linear(f"{i}/ff0", norm(f"{i}/norm1", y)), approximate="tanh")
            y = y + linear(f"{i}/ff1", wide)
        return f.mse_loss(y, t)

    loss = torch.compile(loss_of) if compiled else loss_of
    adam = torch.optim.Adam(w.values(), lr=LR, eps=EPS, capturable=graph)

    def step() -> None:
        adam.zero_grad(set_to_none=not graph)
        loss().backward()
        adam.step()

    call: Step = step
    if graph:
        side_stream = torch.cuda.Stream()
        side_stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side_stream):
            for _ in range(3):
                step()
        torch.cuda.current_stream().wait_stream(side_stream)
        captured = torch.cuda.CUDAGraph()
        with torch.cuda.graph(captured):
            step()
        call = captured.replay
    wait = torch.cuda.synchronize if kind == "cuda" else lambda: None
    form = (" graph" if graph else " compiled" if compiled else " eager") + (" dense" if dense else "")
    return Contender(
        f"PyTorch {torch.__version__} {kind}{form}", call, wait, lambda: w[SHOWN].detach().cpu().numpy()
    )


def dot_jax() -> Contender:
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_default_matmul_precision", "highest")
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

    @jax.jit
    def step(state: tuple, x: Any, t: Any) -> tuple:
        w, m, v, n = state
        n, g = n + 1, jax.grad(loss)(w, x, t)
        m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, m, g)
        v = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, v, g)
        c1, c2 = 1 / (1 - 0.9**n), 1 / (1 - 0.999**n)
        w = jax.tree.map(lambda w, m, v: w - LR * m * c1 / (jnp.sqrt(v * c2) + EPS), w, m, v)
        return w, m, v, n

    start = {name: jnp.asarray(values) for name, values in weights().items()}
    zeros = jax.tree.map(jnp.zeros_like, start)
    held, (x, t) = [(start, zeros, zeros, jnp.float32(0))], (jnp.asarray(values) for values in data())

    def call() -> None:
        held[0] = step(held[0], x, t)

    return Contender(
        f"JAX {jax.__version__} jit {jax.default_backend()}",
        call,
        lambda: jax.block_until_ready(held[0]),
        lambda: np.asarray(held[0][0][SHOWN]),
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--device", default=None)
    parser.add_argument("--runs", type=int, default=20)
    options = parser.parse_args()
    kind = "cuda" if nn.find_device(options.device).kind == "gpu" else "cpu"
    makers: list[Callable[[], Contender]] = [
        partial(dot_ours, options.device),
        partial(dot_torch, kind),
        partial(dot_torch, kind, dense=True),
        dot_jax,
    ]
    if kind == "cuda":
        makers += [partial(dot_torch, kind, graph=True), partial(dot_torch, kind, compiled=True)]
    head = ["| work | who | median µs | min-max µs | peer / ours |", "|---|---|---|---|---|"]
    rows = race("W3 two DOT blocks", makers, options.runs, rtol=2e-3)
    sys.stdout.write("\n".join(head + rows) + "\n")


if __name__ == "__main__":
    main()
