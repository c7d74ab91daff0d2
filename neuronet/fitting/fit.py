"""fit: the training loop, one function."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neuronet.device.array import DeviceArray
from neuronet.errors import SpecError, TrainingError
from neuronet.fitting.source import Feed, Source
from neuronet.fitting.state import Snapshot, TrainingState
from neuronet.net import CNet

SYNC_SECONDS = 0.1  # how often the host waits for the device, reports and looks at the loss


def fit(
    net: CNet,
    x: Any,
    target: Any = None,
    *,
    epochs: int = 20,
    validation: Source | tuple[Any, ...] | None = None,
    answers: Callable[[CNet, Source], NDArray[Any]] | None = None,
    patience: int | None = 5,
    seed: int = 0,
    second: Any = None,
    state: TrainingState | None = None,
    on_epoch: Callable[[TrainingState], None] | None = None,
    on_batch: Callable[[int, int, float], None] | None = None,
    stop: Callable[[], bool] | None = None,
) -> TrainingState:
    """Train ``net`` and leave it with the weights of its best epoch, in evaluation mode.

    x, target    arrays [n, *input_shape] and [n, ...], or a Source and None; ``second`` for a second input.
                 Or a function epoch -> Source, from 0, for data that are new in each epoch: as many samples
                 each time, and the same for the same epoch if training shall be resumed
    validation   a Source, or (x, target) or (x, target, second); its loss decides which epoch is best
                 (without it: the last)
    answers      a faster way to the outputs [samples, ...] of the validation data than a batch at a time; not
                 used for a net with penalties, which are no outputs
    patience     epochs without a better validation loss before training ends; None: never
    seed         of the order of samples: epoch e draws it from (seed, e), so that resuming needs no memory
    state        of an interrupted training, to go on bit for bit; its seed wins
    on_epoch     called after each epoch, the net holding the weights of that epoch
    on_batch     called about ten times a second with batches done, batches in all, mean loss so far
    stop         asked between batches; True ends training with state.stopped == "interrupted" and the
                 net holding its latest weights

    Raises TrainingError naming the layer when a loss is not finite; the net then holds its best weights.
    """
    if epochs < 1:
        raise SpecError(f"epochs={epochs} is not positive", where="fit", fix="choose epochs >= 1")
    state = state or TrainingState(seed=seed)
    source_of: Callable[[int], Source] | None = x if callable(x) else None
    if source_of is not None:
        source = source_of(state.epoch)
    else:
        source = x if isinstance(x, Source) else Source.arrays(x, target, second)
    source.check_finite("training data")
    feed = Feed(net, source, "training")
    judge = _validation_feed(net, validation)
    table = net.device.array((len(feed.batches()), net.optimizer.columns), name="rates of an epoch")
    best = Snapshot(net)
    if state.best:  # resumed: the best weights are in the state, the latest in the net
        latest = net.arrays()
        net.set_arrays(state.best)
        best.take()
        net.set_arrays(latest)
    state.stopped, state.last = "", {}
    net.optimizer.restart()

    first = state.epoch
    with net.sharing():
        while not state.stopped:
            started = time.perf_counter()
            if source_of is not None and state.epoch > first:
                source = source_of(state.epoch)
                source.check_finite("training data")
                feed = Feed(net, source, "training")
            if not _train_epoch(net, feed, table, state, best, on_batch, stop):
                state.stopped = "interrupted"
                return state
            loss = state.loss_sum / len(source)
            score = None if judge is None else _mean_loss(net, judge, answers)
            state.epoch, state.batch, state.loss_sum = state.epoch + 1, 0, 0.0
            if score is None or state.best_score is None or score < state.best_score:
                state.best_score, state.best_epoch = score, state.epoch
                best.take()
                state.best = net.arrays()
            seconds, rate = time.perf_counter() - started, net.optimizer.rate(net.steps - 1)
            state.history.append(
                {"epoch": state.epoch, "loss": loss, "validation": score, "seconds": seconds, "lr": rate}
            )
            if state.epoch >= epochs:
                state.stopped = "epochs"
            elif judge is not None and patience is not None and state.epochs_since_best >= patience:
                state.stopped = "patience"
            if on_epoch is not None:
                on_epoch(state)
            # asked here too, as an epoch may be too short to be asked within
            if not state.stopped and stop is not None and stop():
                state.stopped = "interrupted"
                return state
    state.last = net.arrays()
    best.restore()
    net.TrainMode(False)
    return state


class Pace:
    """After how many batches to wait for the device, so that it happens about every SYNC_SECONDS.

    Launches are only put into a queue: without waits a whole epoch could stand there, and nobody stop it.
    """

    def __init__(self) -> None:
        self.batches, self.since, self.start = 1, 0, time.perf_counter()

    def is_due(self) -> bool:
        """To be asked once after each batch."""
        self.since += 1
        return self.since >= self.batches

    def waited(self) -> None:
        """The device is done with all of them."""
        now = time.perf_counter()
        rate = self.since / max(now - self.start, 1e-6)
        self.batches, self.since, self.start = max(1, int(rate * SYNC_SECONDS)), 0, now


def predict_source(net: CNet, source: Source) -> NDArray[Any]:
    """Outputs [samples, *output_shape] for every sample, in evaluation mode.

    Each batch is whole, the last one filled up with repetitions: what is said of a sample is the same bits,
    however many follow.
    """
    count = len(source)
    if not count:
        return np.empty((0, *net.output_shape), net.device.dtype)
    starts = np.append(source.starts, np.repeat(source.starts[-1], -count % net.batch))
    feed = Feed(net, replace(source, starts=starts.astype(np.int32)), "data")
    training, results = net.training, []
    net.TrainMode(False)
    net.set_rows(net.batch)

    def launches() -> None:
        feed.next_batch()
        net.forward()

    feed.begin(np.arange(len(starts)))
    for _ in feed.batches():
        net.run("predict", launches, feed.tapes)
        results.append(net.getResults())
    net.TrainMode(training)
    return np.concatenate(results)[:count]


def _train_epoch(
    net: CNet,
    feed: Feed,
    table: DeviceArray,
    state: TrainingState,
    best: Snapshot,
    on_batch: Callable[[int, int, float], None] | None,
    stop: Callable[[], bool] | None,
) -> bool:
    """The rest of epoch number ``state.epoch``. False when it was stopped between two batches."""
    batches = feed.batches()
    order = feed.source.order(np.random.default_rng([state.seed, state.epoch]), net.batch)
    first = net.steps - state.batch  # training step of the epoch's first batch
    table.write(np.stack([net.optimizer.rates(first + i) for i in range(len(batches))]))
    net.TrainMode(True)
    net.clear_gradients()  # of a calcGradients before, or of on_epoch
    feed.begin(order, batch=state.batch)
    net.loss_value.write([state.loss_sum, 0.0])
    done_samples, pace = sum(batches[: state.batch]), Pace()

    def launches() -> None:
        net.optimizer.next_step(table, net.step)
        feed.gather()
        net.forward()
        net.apply_loss(net.target.rows(net.rows))
        net.descend()

    for index in range(state.batch, len(batches)):
        net.set_rows(batches[index])
        net.run("train", launches, feed.tapes)
        net.steps += 1
        done_samples += batches[index]
        last = index + 1 == len(batches)
        if not pace.is_due() and not last:
            continue
        loss_sum = float(net.loss_value.read()[0])
        pace.waited()
        if not np.isfinite(loss_sum):
            raise _diagnose(net, feed, state, best, first)
        if on_batch is not None:
            on_batch(index + 1, len(batches), loss_sum / done_samples)
        state.loss_sum = loss_sum
        if not last and stop is not None and stop():
            state.batch = index + 1
            return False
    return True


def _validation_feed(net: CNet, validation: Source | tuple[Any, ...] | None) -> Feed | None:
    if validation is None:
        return None
    source = validation if isinstance(validation, Source) else Source.arrays(*validation)
    source.check_finite("validation data")
    return Feed(net, source, "validation")


def _mean_loss(net: CNet, feed: Feed, answers: Callable[[CNet, Source], NDArray[Any]] | None = None) -> float:
    """Mean loss over all samples in evaluation mode."""
    plain = all(layer.penalty is None for layer in net.layers)
    outputs = answers(net, feed.source) if answers is not None and plain else None

    def launches() -> None:
        feed.next_batch()
        if outputs is None:
            net.forward()
        net.apply_loss(net.target.rows(net.rows))

    net.TrainMode(False)
    feed.begin(np.arange(len(feed.source)))
    net.loss_value.fill(0.0)
    done, pace = 0, Pace()
    for rows in feed.batches():
        net.set_rows(rows)
        if outputs is not None:
            net.layers[-1].output.write(outputs[done : done + rows])
        net.run("validate", launches, feed.tapes)
        done += rows
        if pace.is_due():
            net.device.finish()
            pace.waited()
    mean = float(net.loss_value.read()[0]) / len(feed.source)
    if not np.isfinite(mean):
        raise TrainingError(
            "the validation loss is not finite",
            where="fit",
            fix="lower the learning rate or set clip_norm; look for outliers in the validation data",
        )
    return mean


def _diagnose(net: CNet, feed: Feed, state: TrainingState, best: Snapshot, first: int) -> TrainingError:
    """The error for a loss that is not finite. No weight has changed since that batch: run it again."""
    index = int(net.step.read()[2])
    net.step.write([first + index + 1, index, -1, 0])
    net.set_rows(feed.batches()[index])
    feed.gather()
    where, name = "", ""
    for i, (prev, layer) in enumerate(net.pairs):
        layer.feedForward(prev, net.second if layer.takes_second else None)
        name = f"layer {i} ({type(layer).__name__})"
        if not all(np.isfinite(p.value.read()).all() for p in layer.parameters):
            where = f"the weights of {name}"
        elif not np.isfinite(layer.output.read()).all():
            where = f"the output of {name}"
        else:
            continue
        break
    if not where:  # finite so far: squaring or exponentiating it was not
        largest = float(np.abs(net.layers[-1].output.read()).max())
        where = f"the loss of the output of {name}, which reaches {largest:.3g},"
    best.restore()
    net.pool.gradients.fill(0.0)  # those of slow parameters hold the batch
    net.steps = first
    net.TrainMode(False)
    return TrainingError(
        f"the loss is not finite in epoch {state.epoch + 1}, batch {index + 1}: {where} came first",
        where="fit",
        fix="lower the learning rate, set clip_norm (try 1.0), or look for outliers in the data",
    )
