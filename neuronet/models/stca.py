"""STCA: a few scenarios of the newest bars ask a history of any length (arXiv:2511.06077)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neuronet.activations import Activation
from neuronet.bars.bars import counted
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
from neuronet.models.base import LARGEST, Model, check_finite, real_numbers
from neuronet.models.mamba4cast_layers import DAY, WEEK, YEAR
from neuronet.models.stca_stream import STCAStream, encoder_of
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
    sharpen: float = 1.0,
    given: bool = False,
) -> list[CNeuronBaseOCL]:
    """From bars [history, n_features] and their phases [history, periods] to [outputs].

    With ``given`` so many scenarios stand behind the bars, in the same columns.

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
            sharpen=sharpen,
            given=given,
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
    scenarios  questions to the history, each made from the last ``recent`` bars by a layer that learns how
    given      the scenarios are not learned but given, each an imagined bar: ``features`` numbers in the
               columns of the rows, which the net embeds as it does a bar at the time of the last one. fit
               takes scenarios [bars, scenarios, features], those that are asked at each bar; all others
               take scenarios [scenarios, features], those that are asked now
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
    given: bool = False

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
        if self.context < self._least:
            what = f"context={self.context} is shorter than recent={self.recent}"
            raise SpecError(what, where="STCA", fix="give a longer context, or fewer recent bars")
        self._stream: STCAStream | None = None
        self._begun: object = None  # the state of the weights that the stream has

    @property
    def _least(self) -> int:
        """Bars of the shortest history: those that learned scenarios are made from."""
        return 1 if self.given else self.recent

    def declare(self, history: int, *, batch: int = 1, optimizer: Adam | None = None) -> CNet:
        """The net for so many bars, not built.

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
            sharpen=max(1.0, math.log(history) / math.log(max(2, self.context))),
            given=self.given,
        )
        units = history + (self.scenarios if self.given else 0)
        return CNet(
            input_shape=(units, self.features),
            second_shape=(units, len(self.periods)),
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
        scenarios: Any = None,
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
        scenarios   [bars, scenarios, features] if they are given: those of the sample that ends at each bar;
                    where none ends they may be NaN
        ends        last bars of the samples, each with ``context`` bars; all that have so many, if None
        validation  last bars of samples that say which epoch is best
        lengths     each epoch sees the newest n bars of the context only, n between these two, drawn from a
                    U-shaped Beta distribution: train short, answer long. None: all of them, always
        """
        rows, phases = self._rows(rows, times, "STCA.fit")
        behind = self._scenarios(scenarios, "STCA.fit", len(rows))
        targets = _numbers(targets, "targets", "STCA.fit")
        if targets.ndim == 1 and self.outputs == 1:
            targets = targets[:, None]
        if targets.shape != (len(rows), self.outputs):
            what = f"targets have shape {list(targets.shape)}, expected {[len(rows), self.outputs]}"
            raise ShapeError(what, where="STCA.fit", fix="give outputs numbers for each bar")
        low, high = lengths or (self.context, self.context)
        if not self._least <= low <= high <= self.context:
            least = 1 if self.given else f"recent={self.recent}"
            what = f"lengths={lengths} are not between {least} and context={self.context}"
            raise SpecError(what, where="STCA.fit", fix="choose two numbers between them, in order")
        if ends is None:
            ends = np.arange(self.context - 1, len(rows))

        def source(last: Any, name: str) -> Source:
            at = np.asarray(last)
            fix = f"give ends from {self.context - 1} to {len(rows) - 1}"
            if len(rows) < self.context:
                what = f"{len(rows)} bars are fewer than context={self.context}"
                raise DataError(what, where="STCA.fit", fix="give more bars, or a shorter context")
            if at.ndim != 1 or not at.size or at.dtype.kind not in "iu":
                what = (
                    f"the ends of {name} samples are {list(at.shape)} of {at.dtype}, expected whole numbers"
                )
                raise DataError(what, where="STCA.fit", fix=fix)
            starts = at.astype(np.int64) - self.context + 1
            if starts.min() < 0 or starts.max() + self.context > len(rows):
                what = f"{len(starts)} {name} samples, whose ends are not all in the bars"
                raise DataError(what, where="STCA.fit", fix=fix)
            if behind is not None:
                last_bars = starts + self.context - 1
                for end in last_bars[~(np.abs(behind[last_bars]) <= LARGEST).all(axis=(1, 2))]:
                    check_finite(behind[end], f"scenario {{}} of bar {end}", "STCA.fit")
            return Source.windows(rows, targets, starts, self.context, phases, behind)

        training = source(ends, "training")
        checked = None if validation is None else source(validation, "validation")
        net = self.declare(self.context, batch=batch, optimizer=Adam(lr=lr, clip_norm=1.0))
        self.net = net.build(device, seed=seed)
        self.net.builder = self.spec()
        encoder = encoder_of(net)

        def next_length(state: TrainingState | None) -> None:
            epoch = 0 if state is None else state.epoch
            share = np.random.default_rng([seed, epoch]).beta(*SHAPE)
            seen = min(high, max(low, round((low + share * (high - low)) / ROUND) * ROUND))
            encoder.see_newest(seen)
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

    # --- answers ---------------------------------------------------------------------

    def answer(self, rows: Any, times: Any, scenarios: Any = None) -> Floats:
        """[outputs] after the last of ``rows`` [bars, features], ``recent`` or more (1 if ``given``)."""
        where = "STCA.answer"
        sample = self._sample(rows, times, scenarios, where)
        return self._told(self._run(sample).getResults()[0], sample, where)

    def attention(self, rows: Any, times: Any, scenarios: Any = None) -> Floats:
        """The weight of each bar in that answer, [depth, scenarios, heads, bars]; 1 in sum over bars."""
        sample = self._sample(rows, times, scenarios, "STCA.attention")
        return encoder_of(self._run(sample)).attention()[:, 0]

    def start(self, rows: Any, times: Any, scenarios: Any = None) -> Floats:
        """As ``answer``, and keep what was read: ``append`` goes on with as many bars in sight.

        After an error ``append`` goes on as if there had been no call, here and there.
        """
        where = "STCA.start"
        sample = self._sample(rows, times, scenarios, where)
        stream, begun = self._stream, self.state_of_weights
        if stream is None or stream.history != len(rows) or self._begun != begun:
            stream = STCAStream(self._net_for(len(rows)))
        answer = stream.start(*sample, check=lambda said: self._told(said, sample, where))
        self._stream, self._begun = stream, begun
        return np.asarray(answer, np.float64)

    def append(self, row: Any, time: Any, scenarios: Any = None) -> Floats:
        """[outputs] after one more bar, [features] at ``time``; the oldest bar goes out of sight.

        A bar that is not finite, or makes the answer so, is a DataError, and is not kept.
        """
        where = "STCA.append"
        if self._stream is None or self._begun != self.state_of_weights:
            what = (
                "there is no history yet" if self._stream is None else "the weights are others than at start"
            )
            raise SpecError(what, where=where, fix="call start(rows, times) first")
        one = self._sample(np.asarray(row)[None], np.asarray(time)[None], scenarios, where, single=True)
        answer = self._stream.append(*one, check=lambda said: self._told(said, one, where))
        return np.asarray(answer, np.float64)

    def _run(self, sample: tuple[Floats, Floats]) -> CNet:
        """The net for this many bars, after it has seen them."""
        net = self._net_for(len(sample[0]) - (self.scenarios if self.given else 0))
        net.feedForward(*(part[None] for part in sample))
        return net

    def _net_for(self, bars: int) -> CNet:
        """A net for answers from so many bars, with the weights of the trained one."""
        return self.answering(bars, lambda: self.declare(bars), keep=1)

    # --- checks ----------------------------------------------------------------------

    def _told(self, answer: Any, sample: tuple[Floats, Floats], where: str) -> Floats:
        """An answer as float64; DataError when the device's numbers were too small for it."""
        told = np.asarray(answer, np.float64)
        if not np.isfinite(told).all():
            rows = sample[0]
            bars = len(rows) - (self.scenarios if self.given else 0)
            row, column = np.unravel_index(np.abs(rows).argmax(), rows.shape)
            place = f"scenario {row - bars}" if row >= bars else "the bar" if bars == 1 else f"bar {row}"
            what = f"the answer is not finite; the largest number is {rows[row, column]:g} in column {column}"
            what += f" of {place}"
            raise DataError(what, where=where, fix="scale the rows as those of the training")
        return told

    def _sample(
        self, rows: Any, times: Any, scenarios: Any, where: str, single: bool = False
    ) -> tuple[Floats, Floats]:
        """What the net takes of these bars: their numbers and phases, given scenarios behind them."""
        rows, phases = self._rows(rows, times, where, single)
        asked = self._scenarios(scenarios, where)
        if asked is None:
            return rows, phases
        last = np.broadcast_to(phases[-1], (self.scenarios, phases.shape[1]))
        return np.concatenate([rows, asked]), np.concatenate([phases, last])

    def _rows(self, rows: Any, times: Any, where: str, single: bool = False) -> tuple[Floats, Floats]:
        """Bars as numbers, and the phases of their times."""
        rows, times = _numbers(rows, "rows", where), np.asarray(times)
        least = 1 if single else self._least
        fits = rows.ndim == 2 and rows.shape[1] == self.features and times.shape == rows.shape[:1]
        if not fits or len(rows) < least:
            what = f"rows {rows.shape} and times {times.shape}, expected [bars, {self.features}] and [bars]"
            fix = f"give {counted(least, 'bar')} or more, and a time for each"
            raise ShapeError(what, where=where, fix=fix)
        check_finite(rows, "the bar" if single else "bar {}", where)
        return rows, time_phases(times, self.periods)

    def _scenarios(self, scenarios: Any, where: str, bars: int | None = None) -> Floats | None:
        """Given scenarios as numbers, those of so many bars or of one; None where they are learned."""
        shape = (*(() if bars is None else (bars,)), self.scenarios, self.features)
        if not self.given:
            if scenarios is not None:
                fix = "leave them out, or declare STCA(..., given=True)"
                raise SpecError("the scenarios are learned, and some are given", where=where, fix=fix)
            return None
        if scenarios is None:
            raise SpecError("there are no scenarios", where=where, fix=f"give scenarios={list(shape)}")
        asked = _numbers(scenarios, "scenarios", where)
        if asked.shape != shape:
            what = f"scenarios have shape {list(asked.shape)}, expected {list(shape)}"
            raise ShapeError(what, where=where, fix="give each the numbers of a bar")
        if bars is None:  # fit looks only at those of its samples
            check_finite(asked, "scenario {}", where)
        return asked


def _numbers(values: Any, name: str, where: str) -> Floats:
    try:
        return real_numbers(values)
    except ValueError:
        raise ShapeError(
            f"{name} are not numbers of equal shapes", where=where, fix="give an array"
        ) from None
