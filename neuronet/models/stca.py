"""STCA: a few scenarios of the newest bars ask a history of any length (arXiv:2511.06077)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neuronet.activations import Activation
from neuronet.device.base import Device
from neuronet.errors import DataError, ShapeError, SpecError
from neuronet.fitting.fit import fit
from neuronet.fitting.source import Source
from neuronet.fitting.state import TrainingState
from neuronet.layers.base import CNeuronBaseOCL
from neuronet.layers.conv import CNeuronConvOCL
from neuronet.layers.dense import CNeuronDenseOCL
from neuronet.layers.stca_encoder import CNeuronSTCAEncoder
from neuronet.layers.ts_position_encoder import CNeuronTSPositionEncoder, time_phases
from neuronet.models.base import Model
from neuronet.models.mamba4cast_layers import DAY, WEEK, YEAR
from neuronet.net import CNet
from neuronet.optim.adam import Adam

Floats = NDArray[np.float64]

PERIODS = (DAY, WEEK, YEAR)
LONG = 2_000  # units of a history from which on memory counts more than a third of the work
SHAPE = 0.5, 0.5  # of the Beta distribution of lengths in training: short and long ones most often
ROUND = 8


def layers(
    n_features: int,
    outputs: int,
    history: int,
    *,
    width: int = 36,
    heads: int = 4,
    depth: int = 2,
    scenarios: int = 3,
    recent: int = 16,
    periods: tuple[int, ...] = PERIODS,
    memory: int = 0,
    sharpen: float = 1.0,
) -> list[CNeuronBaseOCL]:
    """From bars [history, n_features] and their phases [history, periods] to [outputs].

    Nothing in them depends on the number of bars, so weights of a short history serve a long one.
    """
    stem = 2 * len(periods)  # numbers of the encoder of times for each harmonic
    return [
        CNeuronTSPositionEncoder(periods=periods, freqs=width // stem),
        CNeuronConvOCL(window=width, step=width, window_out=width, activation=Activation.NONE),
        CNeuronSTCAEncoder(
            scenarios=scenarios,
            heads=heads,
            dimension=max(1, width // heads),
            hidden=2 * width,
            layers=depth,
            recent=min(recent, history),
            recompute=history > LONG,
            memory=memory,
            sharpen=sharpen,
        ),
        CNeuronDenseOCL(neurons=outputs),
    ]


def numbers_of_a_bar(n_features: int, history: int, *, width: int = 36, depth: int = 2) -> int:
    """Of the maps that ``layers`` keeps in training for each bar of each sample, gradients included."""
    read = 2 * (2 * 2 + 2 + 1) * width  # the SwiGLU of one layer: up, gated, out, and their gradients
    norms = (depth + 1) * width if history > LONG else 2 * depth * width
    stem = 2 * (n_features + len(PERIODS) + 2 * width) + 2 * width  # inputs, two layers, gradients of parts
    return stem + (1 if history > LONG else depth) * read + norms + 6 * depth


@dataclass(kw_only=True, eq=False)
class STCA(Model):
    """Answers from the newest bars and a history of thousands, at a cost that is linear in it.

        model = nn.models.STCA(features=5, context=2000)
        model.fit(rows, targets, times)                    # [bars, 5], [bars, 1]; samples end at each bar
        model.answer(rows, times)                          # [outputs], after the last bar of any history
        model.start(rows, times); model.append(row, time)  # the same, a bar at a time: one row is computed

    features, outputs  numbers of a bar, and of an answer
    context    bars of the histories that it is trained on; answers may use more
    width      numbers of a bar inside, a multiple of twice the number of ``periods``
    depth      attentions, each with its own view of the history
    scenarios  learned questions, each made from the last ``recent`` bars
    loss       "mse", "huber", a loss
    """

    features: int
    outputs: int = 1
    context: int = 2_000
    width: int = 36
    heads: int = 4
    depth: int = 2
    scenarios: int = 3
    recent: int = 16
    loss: str = "huber"
    periods: tuple[int, ...] = PERIODS

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("features", "outputs", "context", "heads", "depth", "scenarios", "recent"):
            if getattr(self, name) < 1:
                what = f"{name}={getattr(self, name)} is not positive"
                raise SpecError(what, where="STCA", fix="give 1 or more")
        stem = 2 * len(self.periods)
        if not self.periods or self.width < stem or self.width % stem:
            what = f"width={self.width} is no multiple of twice the {len(self.periods)} periods"
            raise SpecError(
                what, where="STCA", fix=f"try width={max(1, round(self.width / max(1, stem))) * stem}"
            )
        if self.context < self.recent:
            what = f"context={self.context} is shorter than recent={self.recent}"
            raise SpecError(what, where="STCA", fix="give a longer context, or fewer recent bars")
        self._nets: dict[int, CNet] = {}
        self._stream: CNet | None = None

    def declare(
        self, history: int, *, batch: int = 1, memory: int = 0, optimizer: Adam | None = None
    ) -> CNet:
        """The net for so many bars, not built; with ``memory`` one that answers bar by bar.

        Scores grow with the logarithm of the bars beyond ``context``: an episode would else weigh less, the
        more others there are (Chiang and Cholak, arXiv:2202.12172).
        """
        stack = layers(
            self.features,
            self.outputs,
            history,
            width=self.width,
            heads=self.heads,
            depth=self.depth,
            scenarios=self.scenarios,
            recent=self.recent,
            periods=self.periods,
            memory=memory,
            sharpen=max(1.0, math.log(memory or history) / math.log(max(2, self.context))),
        )
        return CNet(
            input_shape=(history, self.features),
            second_shape=(history, len(self.periods)),
            layers=stack,
            batch=batch,
            loss=self.loss,
            optimizer=optimizer,
        )

    # --- training --------------------------------------------------------------------

    def fit(
        self,
        rows: Any,
        targets: Any,
        times: Any,
        *,
        ends: Sequence[int] | NDArray[Any] | None = None,
        validation: Sequence[int] | NDArray[Any] | None = None,
        lengths: tuple[int, int] | None = None,
        epochs: int = 20,
        patience: int | None = 5,
        lr: float = 1e-3,
        batch: int = 16,
        seed: int = 0,
        device: Device | None = None,
        on_epoch: Callable[[TrainingState], None] | None = None,
        on_batch: Callable[[int, int, float], None] | None = None,
        stop: Callable[[], bool] | None = None,
    ) -> TrainingState:
        """Train from new weights and keep the best epoch.

        rows, targets, times  [bars, features], [bars, outputs], [bars] datetime64 or int64 ns
        ends        last bars of the samples, each with ``context`` bars; all that have so many, if None
        validation  last bars of samples that say which epoch is best
        lengths     each epoch sees the newest n bars of the context only, n between these two, drawn from a
                    U-shaped Beta distribution: train short, answer long. None: all of them, always
        """
        rows, phases = self._rows(rows, times, "STCA.fit")
        targets = np.asarray(targets, np.float64).reshape(len(rows), -1)
        if targets.shape[1] != self.outputs:
            what = f"targets have {targets.shape[1]} numbers a bar, expected {self.outputs}"
            raise ShapeError(what, where="STCA.fit", fix="set outputs to as many")
        low, high = lengths or (self.context, self.context)
        if not self.recent <= low <= high <= self.context:
            what = f"lengths={lengths} are not between recent={self.recent} and context={self.context}"
            raise SpecError(what, where="STCA.fit", fix="choose two numbers between them, in order")
        if ends is None:
            ends = np.arange(self.context - 1, len(rows))

        def source(given: Any, name: str) -> Source:
            starts = np.asarray(given, np.int64) - self.context + 1
            if not len(starts) or starts.min() < 0 or starts.max() + self.context > len(rows):
                what = f"{len(starts)} {name} samples, whose ends are not all in the bars"
                fix = f"give ends from {self.context - 1} to {len(rows) - 1}"
                raise DataError(what, where="STCA.fit", fix=fix)
            return Source.windows(rows, targets, starts, self.context, phases)

        training = source(ends, "training")
        checked = None if validation is None else source(validation, "validation")
        net = self.declare(self.context, batch=batch, optimizer=Adam(lr=lr, clip_norm=1.0))
        self.net = net.build(device, seed=seed)
        self.net.builder = self.spec()
        encoder = _encoder(net)

        def next_length(state: TrainingState | None) -> None:
            epoch = 0 if state is None else state.epoch
            share = np.random.default_rng([seed, epoch]).beta(*SHAPE)
            seen = min(high, max(low, round((low + share * (high - low)) / ROUND) * ROUND))
            encoder.see_newest(seen)
            self._forget()
            if state is not None and on_epoch is not None:
                on_epoch(state)

        next_length(None)
        try:
            return fit(
                net,
                training,
                epochs=epochs,
                validation=checked,
                patience=patience,
                seed=seed,
                on_epoch=next_length,
                on_batch=on_batch,
                stop=stop,
            )
        finally:
            encoder.see_newest(self.context)
            self._forget()

    def _forget(self) -> None:
        """Drop the nets for answers: the weights have changed."""
        self._nets, self._stream = {}, None

    # --- answers ---------------------------------------------------------------------

    def answer(self, rows: Any, times: Any) -> Floats:
        """[outputs] after the last of ``rows`` [bars, features], ``recent`` bars or more."""
        return np.asarray(self._run(rows, times, "STCA.answer").getResults()[0], np.float64)

    def attention(self, rows: Any, times: Any) -> Floats:
        """The weight of each bar in that answer, [depth, scenarios, heads, bars]; 1 in sum over bars."""
        return _encoder(self._run(rows, times, "STCA.attention")).attention()[:, 0]

    def start(self, rows: Any, times: Any) -> Floats:
        """As ``answer``, and keep what was read: ``append`` goes on with as many bars in sight."""
        full = self._run(rows, times, "STCA.start")
        memory = full.input_shape[0]
        if self._stream is None or _encoder(self._stream).memory != memory:
            self._stream = self._like(self.net, self.declare(self.recent, memory=memory))
        _encoder(self._stream).remember(_encoder(full))
        rows, phases = self._rows(rows, times, "STCA.start")
        self._newest = rows[-self.recent :].copy(), phases[-self.recent :].copy()
        return np.asarray(full.getResults()[0], np.float64)

    def append(self, row: Any, time: Any) -> Floats:
        """[outputs] after one more bar, [features] at ``time``; the oldest bar goes out of sight."""
        if self._stream is None:
            raise SpecError(
                "there is no history yet", where="STCA.append", fix="call start(rows, times) first"
            )
        given, phase = self._rows(np.asarray(row)[None], np.asarray(time)[None], "STCA.append", least=1)
        for kept, new in zip(self._newest, (given, phase), strict=True):
            kept[:-1] = kept[1:]
            kept[-1] = new[0]
        net = self._stream
        assert net.second is not None
        net.input.output.write(self._newest[0][None])
        net.second.output.write(self._newest[1][None])
        net.run("stream", lambda: _stream(net))
        return np.asarray(net.getResults()[0], np.float64)

    def _run(self, rows: Any, times: Any, where: str) -> CNet:
        """The net for this many bars, after it has seen them."""
        trained = self.net
        rows, phases = self._rows(rows, times, where)
        net = self._nets.get(len(rows))
        if net is None:
            net = self._like(trained, self.declare(len(rows)))
            self._nets = {len(rows): net}
        net.feedForward(rows[None], phases[None])
        return net

    def _like(self, trained: CNet, declared: CNet) -> CNet:
        """A net for answers with the weights of the trained one."""
        net = declared.build(trained.device)
        net.set_arrays(self.weights())
        net.TrainMode(False)
        return net

    def _rows(self, rows: Any, times: Any, where: str, least: int | None = None) -> tuple[Floats, Floats]:
        """Bars as numbers, and the phases of their times."""
        rows, times = np.asarray(rows, np.float64), np.asarray(times)
        least = self.recent if least is None else least
        fits = rows.ndim == 2 and rows.shape[1] == self.features and times.shape == rows.shape[:1]
        if not fits or len(rows) < least:
            what = f"rows {rows.shape} and times {times.shape}, expected [bars, {self.features}] and [bars]"
            raise ShapeError(what, where=where, fix=f"give {least} bars or more, and a time for each")
        if not np.isfinite(rows).all():
            bad = int(np.argwhere(~np.isfinite(rows))[0, 0])
            raise DataError(f"bar {bad} is not finite", where=where, fix="correct it, or leave it out")
        return rows, time_phases(times, self.periods)


def _encoder(net: CNet) -> CNeuronSTCAEncoder:
    return next(layer for layer in net.layers if isinstance(layer, CNeuronSTCAEncoder))


def _stream(net: CNet) -> None:
    """One pass of a net that answers bar by bar."""
    for prev, layer in net.pairs:
        second = net.second if layer.takes_second else None
        if isinstance(layer, CNeuronSTCAEncoder):
            layer.stream(prev)
        else:
            layer.feedForward(prev, second)
