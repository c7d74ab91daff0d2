"""The same work in neuronet and in other frameworks, checked equal and then timed A B A B.

    python benchmarks/peers.py [--device NAME] [--runs 20] [--out table.md]

W1  dense 1080-128-128-2, a whole training step (forward, loss, backward, Adam), batch 1 and 64
MM  matrix product n x n x n in float32, on NVIDIA's tensor cores in TF32 too

Peers: NumPy (matrix product), PyTorch (eager; on CUDA also a captured graph), JAX (jit) and tinygrad
(TinyJit, on the device that it finds or DEV names), where installed; a missing one is noted. Each contender
lives in a process of its own, because thread pools of several frameworks in one process disturb each other.
They are measured in turn, A B A B; medians of ``--runs`` rounds, each the mean of enough calls to last 0.1 s.
"""

from __future__ import annotations

import argparse
import datetime
import itertools
import multiprocessing
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import neuronet as nn
from neuronet.device.base import Precision
from neuronet.ops import matmul

SIZES, LR = (1080, 128, 128, 2), 1e-3
EPOCH = 64  # steps
LASTING = 0.1  # seconds of one measurement
EPS = 1e-3  # of Adam: smaller ones turn a gradient of rounding noise into a whole step, and results apart
Result = np.ndarray | dict[str, np.ndarray]  # what is compared: one array, or several by name
Step = Callable[[], None]  # runs the work once and returns when it is done, or enqueued: see ``wait``


class Contender:
    """One framework on one piece of work."""

    def __init__(
        self, name: str, call: Step, wait: Step, result: Callable[[], Result], keep: Any = None
    ) -> None:
        self.name, self.call, self.wait, self.result = name, call, wait, result
        self.keep = keep  # what has to live as long

    def measure(self) -> float:
        """Seconds of one call, from enough calls to last 0.1 s, so that sleeping threads wake up."""
        count = 1
        while True:
            start = time.perf_counter()
            for _ in range(count):
                self.call()
            self.wait()
            seconds = time.perf_counter() - start
            if seconds > LASTING:
                return seconds / count
            count *= 2


def weights() -> list[tuple[np.ndarray, np.ndarray]]:
    rng = np.random.default_rng(0)
    return [
        (
            (rng.uniform(-1, 1, (o, i)) / i**0.5).astype(np.float32),
            np.zeros(o, np.float32),
        )
        for i, o in itertools.pairwise(SIZES)
    ]


def data(batch: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    shapes = (batch, SIZES[0]), (batch, SIZES[-1])
    x, t = (rng.standard_normal(s).astype(np.float32) for s in shapes)
    return x, t


# --- W1: a dense training step -------------------------------------------------------------


def dense_ours(spec: str | None, batch: int) -> Contender:
    """The step that ``fit`` replays: data resident, one tape."""
    device = nn.find_device(spec)
    from neuronet.fitting.source import Feed

    layers = [
        nn.CNeuronDenseOCL(neurons=SIZES[1], activation="TANH"),
        nn.CNeuronDenseOCL(neurons=SIZES[2], activation="TANH"),
        nn.CNeuronDenseOCL(neurons=SIZES[3]),
    ]
    net = nn.CNet(input_shape=SIZES[:1], layers=layers, batch=batch, optimizer=nn.Adam(lr=LR, eps=EPS)).build(
        device
    )
    for layer, (w, b) in zip(net.layers, weights(), strict=True):
        layer.parameters[0].value.write(w)
        layer.parameters[1].value.write(b)
    x, t = data(batch)
    source = nn.Source(x, np.tile(np.arange(batch, dtype=np.int32), EPOCH), 1, t)  # the same batch each step
    feed, table = Feed(net, source, "benchmark"), device.array((EPOCH, net.optimizer.columns))
    shared = ExitStack()
    shared.enter_context(net.sharing())  # as in fit

    def work() -> None:
        net.optimizer.next_step(table, net.step)
        feed.gather()
        net.forward()
        net.apply_loss(net.target)
        net.descend()

    def step() -> None:
        if net.steps % EPOCH == 0:  # what fit does once an epoch
            table.write(np.stack([net.optimizer.rates(net.steps + i) for i in range(EPOCH)]))
            feed.begin(np.arange(len(source)))
        net.run("step", work)
        net.steps += 1

    first = net.layers[0].parameters[0]
    return Contender("neuronet", step, device.finish, first.value.read, shared)


def dense_torch(kind: str, batch: int, graph: bool) -> Contender:
    import torch
    from torch_layers import float32_only

    float32_only()
    linears = []
    for w, b in weights():
        linear = torch.nn.Linear(w.shape[1], w.shape[0])
        linear.weight.data, linear.bias.data = torch.tensor(w), torch.tensor(b)
        linears.append(linear)
    act = torch.nn.Tanh()
    net = torch.nn.Sequential(linears[0], act, linears[1], act, linears[2]).to(kind)
    x, t = (torch.tensor(a, device=kind) for a in data(batch))
    adam = torch.optim.Adam(net.parameters(), lr=LR, eps=EPS, capturable=graph)

    def step() -> None:
        adam.zero_grad(set_to_none=not graph)
        torch.nn.functional.mse_loss(net(x), t).backward()
        adam.step()

    wait = torch.cuda.synchronize if kind == "cuda" else lambda: None
    name = f"PyTorch {torch.__version__} {kind}" + (" graph" if graph else " eager")
    return Contender(
        name, captured(step) if graph else step, wait, lambda: linears[0].weight.detach().cpu().numpy()
    )


def captured(step: Step) -> Step:
    """``step`` as a CUDA graph, captured once."""
    import torch

    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    return graph.replay


def dense_jax(batch: int) -> Contender:
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_default_matmul_precision", "highest")

    def loss(p: list, x: jax.Array, t: jax.Array) -> jax.Array:
        for w, b in p[:-1]:
            x = jnp.tanh(x @ w.T + b)
        return jnp.mean((x @ p[-1][0].T + p[-1][1] - t) ** 2)

    @jax.jit
    def step(state: tuple, x: jax.Array, t: jax.Array) -> tuple:
        p, m, v, n = state
        n = n + 1
        g = jax.grad(loss)(p, x, t)
        m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, m, g)
        v = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, v, g)
        c1, c2 = 1 / (1 - 0.9**n), 1 / (1 - 0.999**n)
        p = jax.tree.map(lambda p, m, v: p - LR * m * c1 / (jnp.sqrt(v * c2) + EPS), p, m, v)
        return p, m, v, n

    p = [(jnp.asarray(w), jnp.asarray(b)) for w, b in weights()]
    zeros = jax.tree.map(jnp.zeros_like, p)
    x, t = (jnp.asarray(a) for a in data(batch))
    held = [(p, zeros, zeros, jnp.float32(0))]

    def call() -> None:
        held[0] = step(held[0], x, t)

    wait = lambda: jax.block_until_ready(held[0])  # noqa: E731
    return Contender(
        f"JAX {jax.__version__} jit {jax.default_backend()}",
        call,
        wait,
        lambda: np.asarray(held[0][0][0][0]),
    )


# --- MM: matrix product --------------------------------------------------------------------


def product_ours(spec: str | None, n: int, precision: Precision = "float32") -> Contender:
    device = nn.find_device(spec, precision=precision)
    a, b = operands(n)
    da, db, dc = device.put(a[None]), device.put(b[None]), device.array((1, n, n))
    return Contender("neuronet", lambda: matmul.matmul(da, db, dc), device.finish, lambda: dc.read()[0])


def product_numpy(n: int) -> Contender:
    a, b = operands(n)
    c = np.empty_like(a)

    def call() -> None:
        np.matmul(a, b, out=c)

    return Contender(f"NumPy {np.__version__}", call, lambda: None, lambda: c)


def product_torch(kind: str, n: int, precision: str = "highest") -> Contender:
    import torch

    torch.set_float32_matmul_precision(precision)
    a, b = (torch.tensor(v, device=kind) for v in operands(n))
    c = torch.empty_like(a)
    wait = torch.cuda.synchronize if kind == "cuda" else lambda: None
    name = f"PyTorch {torch.__version__} {kind}"
    return Contender(name, lambda: torch.mm(a, b, out=c), wait, lambda: c.cpu().numpy())


def operands(n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(n)
    a, b = (rng.standard_normal((n, n)).astype(np.float32) for _ in range(2))
    return a, b


# --- running -------------------------------------------------------------------------------


class Worker:
    """A contender in its own process; it sleeps while the others are measured."""

    def __init__(self, make: Callable[[], Contender]) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, other = context.Pipe()
        self._process = context.Process(target=_serve, args=(other, make), daemon=True)
        self._process.start()
        self.times: list[float] = []

    def begin(self) -> None:
        """Wait for the result of the first call. ImportError when the framework is not installed."""
        self.name, self.result = self._answer()

    def _answer(self) -> Any:
        answer = self._pipe.recv()
        if isinstance(answer, Exception):
            raise answer
        return answer

    def measure(self) -> float:
        time.sleep(0.05)  # let the threads of the one before fall asleep
        self._pipe.send("measure")
        seconds: float = self._answer()
        return seconds

    def close(self) -> None:
        self._pipe.send("stop")
        self._process.join()


def _serve(pipe: Any, make: Callable[[], Contender]) -> None:
    try:
        contender = make()
        contender.call()
        contender.wait()
        pipe.send((contender.name, contender.result()))
        while pipe.recv() == "measure":
            pipe.send(contender.measure())
    except ImportError as error:
        pipe.send(ImportError(error.name))
    except Exception as error:
        pipe.send(RuntimeError(repr(error)))


Times = list[tuple[str, list[float]]]  # names of contenders, seconds of each round


def contest(
    makers: list[Callable[[], Contender]], runs: int, rtol: float, warm_up: int = 3
) -> tuple[Times, list[str]]:
    """Rounds of all contenders in turn, ours first, whose results are compared; and what is not installed."""
    started = [Worker(make) for make in makers]  # all at once: importing and compiling takes a while
    workers, missing = [], []
    for w in started:
        try:
            w.begin()
            workers.append(w)
        except ImportError as error:
            missing.append(str(error))
    first = workers[0].result
    for w in workers[1:]:
        if "graph" not in w.name:  # capturing a graph trains a few steps
            agree(w.name, w.result, first, rtol)
    for _ in range(warm_up):  # clocks and caches
        for w in workers:
            w.measure()
    for _ in range(runs):
        for w in workers:
            w.times.append(w.measure())
    for w in workers:
        w.close()
    return [(w.name, w.times) for w in workers], missing


def agree(name: str, theirs: Result, ours: Result, rtol: float) -> None:
    """AssertionError unless all values are as ours, to ``rtol`` of the largest of their array."""
    arrays = ours if isinstance(ours, dict) else {"": ours}
    for key, wanted in arrays.items():
        found = theirs[key] if isinstance(theirs, dict) else theirs
        atol, what = rtol * np.abs(wanted).max(), f"{name} {key}"
        np.testing.assert_allclose(found, wanted, rtol=rtol, atol=atol, err_msg=what)


def race(title: str, makers: list[Callable[[], Contender]], runs: int, rtol: float) -> list[str]:
    """Rows of the table: our median, and each peer's with ratio peer / ours."""
    found, missing = contest(makers, runs, rtol)
    ours, rows = statistics.median(found[0][1]), []
    for name, times in found:
        median = statistics.median(times)
        spread = f"{1e6 * min(times):,.0f}-{1e6 * max(times):,.0f}"
        ratio = f"{median / ours:.2f}" if rows else ""
        rows.append(f"| {title} | {name} | {1e6 * median:,.0f} | {spread} | {ratio} |")
    return rows + [f"| {title} | not installed: {name} | | | |" for name in missing]


def main() -> None:
    formatter = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=formatter)
    parser.add_argument("--device", default=None)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--sizes", default="512,1024,2048")
    parser.add_argument("--out", type=Path, default=None)
    options = parser.parse_args()
    from peers_tinygrad import dense_tinygrad, product_tinygrad  # which imports from here

    spec, device = options.device, nn.find_device(options.device)
    kind = "cuda" if device.kind == "gpu" else "cpu"
    rows = []
    for batch in (1, 64):
        makers: list[Callable[[], Contender]] = [
            partial(dense_ours, spec, batch),
            partial(dense_torch, kind, batch, graph=False),
            partial(dense_jax, batch),
            partial(dense_tinygrad, batch),
        ]
        if kind == "cuda":
            makers.append(partial(dense_torch, kind, batch, graph=True))
        rows += race(f"W1 dense step, batch {batch}", makers, options.runs, rtol=2e-3)
    for n in map(int, options.sizes.split(",")):
        makers = [
            partial(product_ours, spec, n),
            partial(product_torch, kind, n),
            partial(product_tinygrad, n),
        ]
        if kind == "cpu":
            makers.append(partial(product_numpy, n))
        rows += race(f"matrix product {n}", makers, options.runs, rtol=1e-3)
        if device.tensor_cores:
            makers = [partial(product_ours, spec, n, "tf32"), partial(product_torch, kind, n, "high")]
            rows += race(f"matrix product {n}, TF32", makers, options.runs, rtol=1e-2)
    head = (
        f"{datetime.date.today()}, {device.name} ({getattr(device, 'driver', 'NumPy')}), "
        f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, neuronet {nn.__version__}"
    )
    table = [
        head,
        "",
        "| work | who | median µs | min-max µs | peer / ours |",
        "|---|---|---|---|---|",
        *rows,
    ]
    text = "\n".join(table) + "\n"
    sys.stdout.write(text)
    if options.out:
        options.out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
