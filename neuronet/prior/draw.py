"""draw: synthetic series with their stamps, the same for one seed on any number of processes."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Iterable
from concurrent.futures import Executor, ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from neuronet.errors import SpecError
from neuronet.prior.gaussian import draw_gaussian
from neuronet.prior.seasonal import draw_seasonal
from neuronet.prior.settings import Prior
from neuronet.prior.stamps import draw_frequency, draw_times, frequencies
from neuronet.prior.walks import draw_walks
from neuronet.series.frequency import Frequency

BLOCK = 64  # series that share a random stream; a block is made whole
SHORTEST = 8  # steps
LARGEST = 1e6  # absolute value
_TRIES = 20


@dataclass(frozen=True)
class Drawn:
    """Synthetic series: row i of each belongs together."""

    values: NDArray[np.float32]  # [count, length], finite, not constant, at most 1e6
    times: NDArray[np.int64]  # [count, length], ns since 1970
    frequencies: tuple[Frequency, ...]  # [count]
    gaussian: NDArray[np.bool_]  # [count]: from a Gaussian process, not a walk or a seasonal series


def draw(
    prior: Prior,
    count: int,
    length: int,
    seed: int,
    *,
    first: int = 0,
    processes: int = 1,
    pool: Executor | None = None,
) -> Drawn:
    """Series ``first`` to ``first + count - 1`` of the endless sequence that prior, length and seed name.

    Series i is the same whatever count, first, processes and pool are, to the bit. Blocks of 64 are made
    whole: ask for multiples of 64 from multiples of 64 where speed matters.

    processes  this many worker processes, started for this call (about a second); each works on one thread,
               no BLAS is involved. A program that asks for more than one needs
               ``if __name__ == "__main__":``, as always where processes are spawned.
    pool       of ``worker_pool``, to use again and again, instead of ``processes``

    Raises SpecError for a bad argument, stamps that reach beyond 2261, or a prior of constant series.
    """
    for name, value, least in (
        ("count", count, 0),
        ("length", length, SHORTEST),
        ("seed", seed, 0),
        ("first", first, 0),
        ("processes", processes, 1),
    ):
        if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < least:
            raise SpecError(f"{name} is {value!r}", where="draw", fix=f"give a whole number from {least} on")
    frequencies(prior, length)  # the error here, not in a worker
    indices = range(first // BLOCK, -(-(first + count) // BLOCK) if count else first // BLOCK)
    block = partial(_block, prior, length, seed)
    if pool is not None:
        blocks = list(pool.map(block, indices))
    elif processes > 1 and len(indices) > 1:
        with worker_pool(min(processes, len(indices))) as own:
            blocks = list(own.map(block, indices))
    else:
        blocks = [block(index) for index in indices]
    return _cut(blocks, first % BLOCK, count, length)


def worker_pool(processes: int) -> Executor:
    """Worker processes for ``draw``, spawned as on every system; a context manager that ends them."""
    return ProcessPoolExecutor(
        processes, mp_context=multiprocessing.get_context("spawn"), initializer=_leave_ctrl_c_to_the_parent
    )


def _leave_ctrl_c_to_the_parent() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _block(prior: Prior, length: int, seed: int, index: int) -> Drawn:
    """The 64 series of block ``index``, from a random stream of its own."""
    rng = np.random.default_rng([int(seed), int(index)])
    fitting = frequencies(prior, length)
    kind = rng.random(BLOCK)
    gaussian, walking = kind < prior.gaussian_share, kind >= 1.0 - prior.walk_share
    values = np.zeros((BLOCK, length), np.float32)
    times = np.zeros((BLOCK, length), np.int64)
    steps = [Frequency(1, prior.units[0])] * BLOCK
    todo = np.arange(BLOCK)
    for _ in range(_TRIES):
        for i in todo:
            steps[i] = draw_frequency(prior, fitting, rng)
            times[i] = draw_times(prior, steps[i], length, rng)
        processes, walks = todo[gaussian[todo]], todo[walking[todo]]
        seasonal = todo[~gaussian[todo] & ~walking[todo]]
        if len(processes):
            values[processes] = draw_gaussian(prior, [steps[i] for i in processes], length, rng)
        if len(walks):
            values[walks] = draw_walks(prior, len(walks), length, rng)
        if len(seasonal):
            values[seasonal] = draw_seasonal(prior, [steps[i] for i in seasonal], times[seasonal], rng)
        todo = todo[~_usable(values[todo])]
        if len(todo) == 0:
            return Drawn(values, times, tuple(steps), gaussian)
    raise SpecError(
        f"{len(todo)} of {BLOCK} series are constant or above {LARGEST:g}, {_TRIES} times in a row",
        where="Prior",
        fix="give it some noise, or smaller trends and kernels",
    )


def _usable(values: NDArray[np.float32]) -> NDArray[np.bool_]:
    """Which of the series [m, n] are finite, moderate, and move by more than rounding."""
    largest = np.max(np.abs(values), axis=1)
    moves = np.max(values, axis=1) - np.min(values, axis=1)
    return np.asarray((largest <= LARGEST) & (moves > 1e-5 * largest))  # False for NaN


def _cut(blocks: Iterable[Drawn], skip: int, count: int, length: int) -> Drawn:
    """``count`` series of the joined blocks, from number ``skip`` on."""
    blocks, wanted = list(blocks), slice(skip, skip + count)
    if not blocks:
        empty = np.zeros((0, length))
        return Drawn(empty.astype(np.float32), empty.astype(np.int64), (), np.zeros(0, np.bool_))
    return Drawn(
        np.concatenate([b.values for b in blocks])[wanted],
        np.concatenate([b.times for b in blocks])[wanted],
        tuple(f for b in blocks for f in b.frequencies)[wanted],
        np.concatenate([b.gaussian for b in blocks])[wanted],
    )
