"""W5: attention of a question to a long history in neuronet, PyTorch and JAX; see peers.py for the measuring.

    python benchmarks/peers_stca.py [--device NAME] [--runs 20] [--lengths 1000,10000] [--long] [--forward]

One question with 8 heads on rows of 64 numbers: forward, and backward to history and question from a given
gradient of the output; --forward times the forward pass alone, --long adds a million rows. Peers: scaled
dot product attention over projected keys and values (K = x W_K, V = x W_V: what an absorbed question saves),
the same over x itself with absorbed questions, and matmul, softmax, matmul. All give the same gradient of the
history, which is compared first.

Behind the table: the bytes that the pass must move (x once each way, dx once), and what part of the device's
measured copy rate that makes; rows that stay in a cache may exceed it.
"""

from __future__ import annotations

import argparse
import sys
from functools import partial
from typing import Any

import numpy as np
from peers import Contender, captured, race
from steps import Makers

import neuronet as nn

HEADS, WIDTH = 8, 64
INNER = WIDTH // HEADS
SCALE = INNER**-0.5
SHOWN = 1000  # rows of the result that are compared


def data(length: int) -> dict[str, np.ndarray]:
    """The history, a question, weights, the gradient of the heads' outputs, and u and dout as absorbed."""
    rng = np.random.default_rng(0)
    x, q = rng.standard_normal((length, WIDTH)), rng.standard_normal((HEADS, INNER))
    w_k, w_v = rng.standard_normal((2, WIDTH, HEADS, INNER)) / WIDTH**0.5
    back = rng.standard_normal((HEADS, INNER))
    found = {
        "x": x,
        "q": q,
        "w_k": w_k.reshape(WIDTH, WIDTH),
        "w_v": w_v.reshape(WIDTH, WIDTH),
        "back": back,
        "u": np.einsum("he,dhe->hd", q, w_k),
        "dout": np.einsum("he,dhe->hd", back, w_v),
    }
    return {name: np.ascontiguousarray(values, np.float32) for name, values in found.items()}


def ours(spec: str | None, length: int, backward: bool) -> Contender:
    """The launches as ``fit`` replays them, from data on the device."""
    from neuronet.device.tape import Tape
    from neuronet.ops import flash_stca, flash_stca_gradient, visible

    device, given = nn.find_device(spec), data(length)
    shape = (1, 1, HEADS, WIDTH)
    splits = flash_stca.splits_for(device, 1, length, HEADS, WIDTH)
    u, dout = (device.put(given[name].reshape(shape)) for name in ("u", "dout"))
    x, limits = device.put(given["x"][None]), device.put(visible.everything(1, length))
    top, total = (device.array((1, splits, 1, HEADS)) for _ in range(2))
    sums = device.array((1, splits, *shape[1:]))
    out, lse, du, dx = (device.array(s) for s in (shape, shape[:-1], shape, x.shape))

    def work() -> None:
        flash_stca.forward(u, x, limits, top, total, sums, out, lse, scale=SCALE)
        if backward:
            flash_stca_gradient.backward(u, x, limits, out, lse, dout, sums, top, du, dx, scale=SCALE)

    work()  # builds
    tape = Tape(device)
    with tape:
        work()
    step = max(1, length // SHOWN)

    def result() -> np.ndarray:
        return dx.read()[0, ::step] if backward else out.read()[0, 0]

    return Contender("neuronet", tape.replay, device.finish, result)


def by_torch(kind: str, way: str, length: int, backward: bool, graph: bool = False) -> Contender:
    import torch
    import torch.nn.functional as f
    from torch_layers import float32_only, weighted_rows

    float32_only()
    given = {name: torch.tensor(values, device=kind) for name, values in data(length).items()}
    projected = way == "projected"
    x, ask = given["x"], given["q" if projected else "u"]
    back = given["back" if projected else "dout"]
    for leaf in (x, ask):
        leaf.requires_grad_(backward)

    def attend() -> Any:
        if way == "plain":
            return weighted_rows(ask, x, SCALE)
        if way == "absorbed":
            return f.scaled_dot_product_attention(ask[None, None], x[None, None], x[None, None], scale=SCALE)[
                0, 0
            ]
        k, v = ((x @ given[w]).view(length, HEADS, INNER).transpose(0, 1)[None] for w in ("w_k", "w_v"))
        return f.scaled_dot_product_attention(ask[None, :, None], k, v, scale=SCALE)[0, :, 0]

    held: list[Any] = [None]

    def step() -> None:
        if backward:
            held[0] = torch.autograd.grad(attend(), (ask, x), back)[1]
        else:
            with torch.no_grad():
                held[0] = attend()

    def result() -> np.ndarray:
        if backward:
            return held[0][:: max(1, length // SHOWN)].cpu().numpy()
        found = held[0].cpu().numpy()
        return found if not projected else absorbed_output(length)

    wait = torch.cuda.synchronize if kind == "cuda" else lambda: None
    names = {"projected": "SDPA, projected", "absorbed": "SDPA, absorbed", "plain": "matmul, softmax, matmul"}
    form = " graph" if graph else ""
    return Contender(
        f"PyTorch {torch.__version__} {kind}{form}: {names[way]}",
        captured(step) if graph else step,
        wait,
        result,
    )


def absorbed_output(length: int) -> np.ndarray:
    """What projected values cannot show: the weighted rows themselves, in float64."""
    given = {name: values.astype(float) for name, values in data(length).items()}
    s = SCALE * given["u"] @ given["x"].T
    p = np.exp(s - s.max(-1, keepdims=True))
    return p / p.sum(-1, keepdims=True) @ given["x"]


def by_jax(length: int, backward: bool) -> Contender:
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_default_matmul_precision", "highest")
    given = {name: jnp.asarray(values) for name, values in data(length).items()}

    def attend(u: Any, x: Any) -> Any:
        return jax.nn.softmax(SCALE * (u @ x.T), -1) @ x

    @jax.jit
    def step(u: Any, x: Any, dout: Any) -> Any:
        if not backward:
            return attend(u, x)
        _, pull = jax.vjp(attend, u, x)
        return pull(dout)

    held: list[Any] = [None]

    def call() -> None:
        held[0] = step(given["u"], given["x"], given["dout"])

    def result() -> np.ndarray:
        return np.asarray(held[0][1][:: max(1, length // SHOWN)] if backward else held[0])

    name = f"JAX {jax.__version__} jit {jax.default_backend()}: matmul, softmax, matmul"
    return Contender(name, call, lambda: jax.block_until_ready(held[0]), result)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--device", default=None)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--lengths", default="1000,10000,100000")
    parser.add_argument("--long", action="store_true", help="a million rows too")
    parser.add_argument("--forward", action="store_true", help="the forward pass alone")
    options = parser.parse_args()
    from neuronet.cases.bench import measure_peaks

    device = nn.find_device(options.device)
    kind, copy = "cuda" if device.kind == "gpu" else "cpu", measure_peaks(device).copy
    backward, rows, notes = not options.forward, [], []
    for length in [int(text) for text in options.lengths.split(",")] + [1_000_000] * options.long:
        found: Makers = [partial(ours, options.device, length, backward)]
        found += [partial(by_torch, kind, w, length, backward) for w in ("projected", "absorbed", "plain")]
        if kind == "cuda":
            found += [partial(by_torch, kind, w, length, backward, True) for w in ("absorbed", "plain")]
        found.append(partial(by_jax, length, backward))
        part = "forward, backward" if backward else "forward"
        rows += (made := race(f"W5 {part}, {length:,} rows", found, options.runs, rtol=2e-3))
        seconds = 1e-6 * float(made[0].split("|")[3].replace(",", ""))
        nbytes = 4 * length * WIDTH * (3 if backward else 1)
        notes.append(
            f"{length:,} rows: {nbytes / 1e6:,.1f} MB, {nbytes / seconds / 1e9:.1f} GB/s, "
            f"{nbytes / seconds / copy:.0%} of {copy / 1e9:.1f} GB/s copied"
        )
    head = ["| work | who | median µs | min-max µs | peer / ours |", "|---|---|---|---|---|"]
    sys.stdout.write("\n".join([f"{device.name}", "", *head, *rows, "", *notes]) + "\n")


if __name__ == "__main__":
    main()
