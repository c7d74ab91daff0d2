"""W2: a training step of Mamba4Cast's embedding and multi-window convolution; see peers.py for the method.

    python benchmarks/peers_embedding.py [--device NAME] [--runs 20]

120 bars x 9 features with their times, batch 64: CMamba4CastEmbeding to 32 values, of which 16 are batch norm
of tanh and 16 have harmonics of two periods; then windows of 3, 5 and 7 bars with 32 filters each, SoftPlus.
Forward, mean squared error, backward, Adam.
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
    """The launches of a training step as ``fit`` replays them, from data on the device."""
    from neuronet.ops import step as step_op
    from neuronet.optim.base import RATES

    device = nn.find_device(spec)
    layers = [
        nn.CMamba4CastEmbeding(window=FEATURES, window_out=WIDTH, periods=PERIODS),
        nn.CNeuronMultiWindowsConvWPadOCL(windows=WINDOWS, step=1, window_out=FILTERS, dimension=WIDTH),
    ]
    net = nn.CNet(
        input_shape=(UNITS, FEATURES),
        second_shape=(UNITS, len(PERIODS)),
        layers=layers,
        batch=BATCH,
        optimizer=nn.Adam(lr=LR, eps=EPS),
    ).build(device)
    parameters = {f"{i}/{p.name}": p for i, layer in enumerate(net.layers) for p in layer.parameters}
    for name, values in weights().items():
        parameters[name].value.write(values)
    x, phases, t = data()
    net.input.output.write(x)
    assert net.second is not None
    net.second.output.write(phases)
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


def torch_peer(kind: str, graph: bool = False) -> Contender:
    import torch
    import torch.nn.functional as f

    torch.set_float32_matmul_precision("highest")
    w = {name: torch.nn.Parameter(torch.tensor(v, device=kind)) for name, v in weights().items()}
    x, phases, t = (torch.tensor(values, device=kind) for values in data())
    harmonics = 2 * np.pi * 2.0 ** torch.arange(FREQS, device=kind)

    def loss() -> Any:
        plain = torch.tanh(f.linear(x, w["0/projection/w"][0], w["0/projection/b"][0]))
        norm = w["0/norm/gamma"], w["0/norm/beta"]
        plain = f.batch_norm(plain.reshape(BATCH, -1), None, None, *norm, training=True).view(plain.shape)
        angle = phases[..., None] * harmonics
        waves = torch.stack([torch.sin(angle), torch.cos(angle)], -1).reshape(BATCH, UNITS, TIME)
        timed = f.linear(x, w["0/with_time/projection/w"][0], w["0/with_time/projection/b"][0]) + waves
        rows, outs, first = torch.cat([plain, timed], -1).transpose(1, 2), [], 0
        for i, window in enumerate(WINDOWS):
            taps = w["1/w"][first : first + window * WIDTH].view(window, WIDTH, FILTERS).permute(2, 1, 0)
            outs.append(f.conv1d(rows, taps, w["1/b"][i], padding=window // 2))
            first += window * WIDTH
        return f.mse_loss(f.softplus(torch.cat(outs, 1)).transpose(1, 2), t)

    adam = torch.optim.Adam(w.values(), lr=LR, eps=EPS, capturable=graph)

    def step() -> None:
        adam.zero_grad(set_to_none=not graph)
        loss().backward()
        adam.step()

    call: Step = step
    if graph:
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                step()
        torch.cuda.current_stream().wait_stream(side)
        captured = torch.cuda.CUDAGraph()
        with torch.cuda.graph(captured):
            step()
        call = captured.replay
    wait = torch.cuda.synchronize if kind == "cuda" else lambda: None
    name = f"PyTorch {torch.__version__} {kind}{' graph' if graph else ' eager'}"
    return Contender(name, call, wait, lambda: w[SHOWN].detach().cpu().numpy())


def jax_peer() -> Contender:
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_default_matmul_precision", "highest")
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

    @jax.jit
    def step(state: tuple, x: Any, phases: Any, t: Any) -> tuple:
        w, m, v, n = state
        n, g = n + 1, jax.grad(loss)(w, x, phases, t)
        m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, m, g)
        v = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, v, g)
        c1, c2 = 1 / (1 - 0.9**n), 1 / (1 - 0.999**n)
        w = jax.tree.map(lambda w, m, v: w - LR * m * c1 / (jnp.sqrt(v * c2) + EPS), w, m, v)
        return w, m, v, n

    start = {name: jnp.asarray(values) for name, values in weights().items()}
    zeros = jax.tree.map(jnp.zeros_like, start)
    held, inputs = [(start, zeros, zeros, jnp.float32(0))], [jnp.asarray(values) for values in data()]

    def call() -> None:
        held[0] = step(held[0], *inputs)

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
        partial(ours, options.device),
        partial(torch_peer, kind),
        jax_peer,
    ]
    if kind == "cuda":
        makers.append(partial(torch_peer, kind, graph=True))
    head = ["| work | who | median µs | min-max µs | peer / ours |", "|---|---|---|---|---|"]
    rows = race("W2 embedding, multi-window convolution", makers, options.runs, rtol=2e-3)
    sys.stdout.write("\n".join(head + rows) + "\n")


if __name__ == "__main__":
    main()
