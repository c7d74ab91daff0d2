"""A training step as a contender: forward, loss, backward and Adam in neuronet, PyTorch and JAX."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Any

import numpy as np
from peers import EPS, LR, Contender, captured, race

import neuronet as nn

Arrays = dict[str, np.ndarray]
Makers = list[Callable[[], Contender]]


def neuronet_step(
    spec: str | None,
    layers: Sequence[nn.CNeuronBaseOCL],
    weights: Arrays,
    x: np.ndarray,
    target: np.ndarray,
    shown: str,
    second: np.ndarray | None = None,
) -> Contender:
    """The launches of a training step as ``fit`` replays them, from data on the device.

    weights  "0/w" -> values, by layer and parameter; shown: the one whose values are compared
    """

    device = nn.find_device(spec)
    net = nn.CNet(
        input_shape=x.shape[1:],
        second_shape=None if second is None else second.shape[1:],
        layers=layers,
        batch=len(x),
        optimizer=nn.Adam(lr=LR, eps=EPS),
    ).build(device)
    parameters = {f"{i}/{p.name}": p for i, layer in enumerate(net.layers) for p in layer.parameters}
    for name, values in weights.items():
        parameters[name].value.write(values)
    net.input.output.write(x)
    if net.second is not None:
        net.second.output.write(second)
    net.target.write(target)
    table = device.array((1, net.optimizer.columns))
    shared = ExitStack()
    shared.enter_context(net.sharing())  # as in fit

    def work() -> None:
        net.optimizer.next_step(table, net.step)
        net.forward()
        net.apply_loss(net.target)
        net.descend()

    def step() -> None:
        table.write(net.optimizer.rates(net.steps)[None])
        net.step.write([net.steps, -1, -1, 0])
        net.run("step", work)
        net.steps += 1

    return Contender("neuronet", step, device.finish, parameters[shown].value.read, shared)


def torch_step(
    kind: str,
    w: dict[str, Any],
    loss: Callable[[], Any],
    shown: str,
    *,
    graph: bool = False,
    compiled: bool = False,
    note: str = "",
) -> Contender:
    """PyTorch on ``loss`` of the parameters ``w``: eager, as a captured CUDA graph, or compiled."""
    import torch

    made = torch.compile(loss) if compiled else loss
    adam = torch.optim.Adam(w.values(), lr=LR, eps=EPS, capturable=graph)

    def step() -> None:
        adam.zero_grad(set_to_none=not graph)
        made().backward()
        adam.step()

    wait = torch.cuda.synchronize if kind == "cuda" else lambda: None
    form = " graph" if graph else " compiled" if compiled else " eager"
    return Contender(
        f"PyTorch {torch.__version__} {kind}{form}{note}",
        captured(step) if graph else step,
        wait,
        lambda: w[shown].detach().cpu().numpy(),
    )


def torch_parameters(weights: Arrays, kind: str) -> dict[str, Any]:
    """Trainable copies on ``kind``, with float32 products as they are."""
    import torch
    from torch_layers import float32_only

    float32_only()
    return {name: torch.nn.Parameter(torch.tensor(v, device=kind)) for name, v in weights.items()}


def jax_step(
    loss: Callable[..., Any], weights: Arrays, inputs: Sequence[np.ndarray], shown: str
) -> Contender:
    """JAX, jitted, on loss(weights, *inputs)."""
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_default_matmul_precision", "highest")

    @jax.jit
    def step(state: tuple, *inputs: Any) -> tuple:
        w, m, v, n = state
        n, g = n + 1, jax.grad(loss)(w, *inputs)
        m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, m, g)
        v = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, v, g)
        c1, c2 = 1 / (1 - 0.9**n), 1 / (1 - 0.999**n)
        w = jax.tree.map(lambda w, m, v: w - LR * m * c1 / (jnp.sqrt(v * c2) + EPS), w, m, v)
        return w, m, v, n

    start = {name: jnp.asarray(values) for name, values in weights.items()}
    zeros = jax.tree.map(jnp.zeros_like, start)
    held, given = [(start, zeros, zeros, jnp.float32(0))], [jnp.asarray(values) for values in inputs]

    def call() -> None:
        held[0] = step(held[0], *given)

    return Contender(
        f"JAX {jax.__version__} jit {jax.default_backend()}",
        call,
        lambda: jax.block_until_ready(held[0]),
        lambda: np.asarray(held[0][0][shown]),
    )


def main(description: str | None, title: str, makers_of: Callable[[str | None, str], Makers]) -> None:
    """Race the contenders of ``makers_of(device, "cuda" or "cpu")`` and print the table."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--device", default=None)
    parser.add_argument("--runs", type=int, default=20)
    options = parser.parse_args()
    kind = "cuda" if nn.find_device(options.device).kind == "gpu" else "cpu"
    head = ["| work | who | median µs | min-max µs | peer / ours |", "|---|---|---|---|---|"]
    rows = race(title, makers_of(options.device, kind), options.runs, rtol=2e-3)
    sys.stdout.write("\n".join(head + rows) + "\n")
