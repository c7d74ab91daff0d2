"""Catch: anomalies of several channels, by how well their spectra are reconstructed (arXiv:2410.12261)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from neuronet.anomaly.scores import (
    PATCH,
    WEIGHT,
    ScoreScale,
    frequency_error,
    over_time,
    time_error,
    total,
    window_starts,
)
from neuronet.anomaly.threshold import RATE, Threshold, pot_threshold, quantile_threshold
from neuronet.bars.bars import counted
from neuronet.device.base import Device
from neuronet.errors import DataError, FileFormatError, ShapeError, SpecError, TooFewError
from neuronet.fitting.fit import fit
from neuronet.fitting.source import Source
from neuronet.fitting.state import TrainingState
from neuronet.layers.catch import CNeuronCATCH
from neuronet.layers.rev_in import CNeuronRevINOCL
from neuronet.layers.rev_in_denorm import CNeuronRevINDenormOCL
from neuronet.models.base import Model
from neuronet.net import CNet
from neuronet.optim.bi_level import BiLevel
from neuronet.optim.schedules import Halving, WarmupCosine
from neuronet.storage.model import ModelFile

Floats = NDArray[np.float64]

HELD = 0.2  # share of the training part, at its end, that is not trained on
UPDATES, MOST_STEPS = 10, 100  # of the mask an epoch, and most steps between two
FARTHEST = 1e15  # deviations from the mean; the squares of more overflow float32
FLOOR = 1e-5  # of the variance of a window, in variances of the channel
METHODS = {"pot": pot_threshold, "quantile": quantile_threshold}
CHANGES_NET: dict[str, Any] = {
    "context": 32, "patch": 8, "step": 4, "width": 64, "features": 64, "frequency": 0.0, "hidden_share": 0.2,
    "relative": True,
}  # fmt: skip
CHANGES_FIT: dict[str, Any] = {"epochs": 24, "lr": 3e-3}
KEPT = ("mean", "deviation", "scale", "normal")  # what a file holds besides the net


@dataclass(kw_only=True, eq=False)
class Catch(Model):
    """Learns what is normal in [time, channels], and scores every row by how far it is from that.

        model = nn.models.Catch()
        model.fit(train, seed=0)                    # [time, channels], normal
        scores = model.score(test)                  # [time]
        alarms = scores > model.threshold(rate=0.001).value

    context        rows of a window
    patch, step    bins of a patch of the spectrum, and from one to the next
    width, hidden, heads, dimension, blocks, features   of the network, see CNeuronCATCH
    frequency, correlation   weights of the loss of spectra, and of the clustering of channels
    hidden_share   of each patch that training hides, see for_changes
    relative       errors are measured in deviations of the window's channel: size alone is no anomaly
    score_weight   of the frequency error against the time error
    channels       set by fit
    reference      CATCH's own choices: the whole spectrum, leaking masks, heads of four layers, and its
                   schedule of rates, whose mask is a step late and has the body's rate from epoch 2 on

    The body takes a step at every batch, the mask of channels one for the sum of a tenth of an epoch's.
    """

    written_by: ClassVar[str] = "'neuronet train --model catch'"

    context: int = 96
    patch: int = 16
    step: int = 8
    width: int = 32
    hidden: int = 64
    heads: int = 4
    dimension: int = 8
    blocks: int = 2
    features: int = 32
    probability: float = 0.0
    hidden_share: float = 0.0
    frequency: float = 0.1
    correlation: float = 0.005
    score_weight: float = WEIGHT
    relative: bool = False
    channels: int | None = None
    reference: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.context < 4:
            raise SpecError(f"context={self.context} is below 4", where="Catch", fix="try context=96")
        if not 0.0 <= self.score_weight < np.inf:
            what = f"score_weight={self.score_weight}"
            raise SpecError(what, where="Catch", fix=f"choose 0 or more, such as {WEIGHT}")
        self.mean = self.deviation = self.normal = np.empty(0)

    @classmethod
    def for_changes(cls, **fields: Any) -> Self:
        """For returns and other changes, which are noise over time: fit it with ``**CHANGES_FIT``.

        All that can be learned of them is how the channels move together. A net that sees a channel whole
        has no use for the others, whatever their correlation; so training hides a part of every patch. And
        they are quiet or wild for days, which is no anomaly.
        """
        return cls(**CHANGES_NET | fields)

    # --- building and files ----------------------------------------------------------

    def declare(self, channels: int, optimizer: BiLevel | None = None, *, batch: int = 64) -> CNet:
        """The net for so many channels, not built."""
        body = CNeuronCATCH(
            window=self.patch,
            step=self.step,
            width=self.width,
            hidden=self.hidden,
            heads=self.heads,
            dimension=self.dimension,
            blocks=self.blocks,
            features=self.features,
            probability=self.probability,
            hidden_share=0.0 if self.reference else self.hidden_share,
            frequency=self.frequency,
            correlation=self.correlation,
            half=not self.reference,
            residual_heads=self.reference,
            mask_mode="reference" if self.reference else "hard",
        )
        return CNet(
            input_shape=(self.context, channels),
            layers=[CNeuronRevINOCL(affine=False), body, CNeuronRevINDenormOCL()],
            batch=batch,
            optimizer=optimizer or BiLevel(),
        )

    def file(self, training: dict[str, Any] | None = None) -> ModelFile:
        file = super().file(training)
        scale = self.scale
        kept = self.mean, self.deviation, np.array([scale.time, scale.frequency]), self.normal
        return ModelFile(
            spec=file.spec,
            arrays=file.arrays | {f"state/catch/{k}": v for k, v in zip(KEPT, kept, strict=True)},
            training=file.training,
        )

    def restore(self, file: ModelFile, device: Device | None, where: str) -> None:
        super().restore(file, device, where)
        if missing := [name for name in KEPT if f"state/catch/{name}" not in file.arrays]:
            what = f"state/catch/{missing[0]} is missing: its training has not ended"
            raise FileFormatError(what, where=where, fix="go on with 'neuronet train --resume'")
        self.mean, self.deviation, scale, self.normal = (
            np.asarray(file.arrays[f"state/catch/{name}"], np.float64) for name in KEPT
        )
        self.scale = ScoreScale(float(scale[0]), float(scale[1]), self.score_weight)

    # --- training --------------------------------------------------------------------

    def fit(
        self,
        train: Any,
        *,
        epochs: int = 8,
        stride: int = 2,
        lr: float = 1e-3,
        mask_lr: float = 1e-4,
        batch: int = 64,
        seed: int = 0,
        device: Device | None = None,
        state: TrainingState | None = None,
        on_start: Callable[[CNet], None] | None = None,
        on_epoch: Callable[[TrainingState], None] | None = None,
        on_batch: Callable[[int, int, float], None] | None = None,
        stop: Callable[[], bool] | None = None,
    ) -> TrainingState:
        """Train from new weights on rows that are normal, and keep the best epoch.

        train   [time, channels], finite. The last fifth is held back: its loss says which epoch is best, and
                its scores are what thresholds are found from
        stride  rows from one window of training to the next
        lr, mask_lr  rates of the body and of the mask
        state   of an interrupted training of this net, to go on bit for bit

        TooFewError, and DataError for a value that is not finite; a channel that never moves is learned, too.
        """
        rows = self._rows(train, "Catch.fit")
        cut = self._trained(rows)
        if cut < 2 * self.context:
            what = f"{counted(len(rows), 'row is', 'rows are')} too few for windows of {self.context}"
            fix = f"give {3 * self.context} rows or more, or choose a shorter context"
            raise TooFewError(what, where="Catch.fit", fix=fix)
        for name, value in (("epochs", epochs), ("stride", stride), ("batch", batch)):
            if value < 1:
                raise SpecError(f"{name}={value} is not positive", where="Catch.fit", fix="give 1 or more")
        self.mean, deviation = rows[:cut].mean(axis=0), rows[:cut].std(axis=0)
        # a constant has a deviation of rounding errors
        self.deviation = np.where(deviation > 1e-12 * np.abs(self.mean), deviation, 1.0)
        scaled = self._scaled(rows)
        training, held = scaled[:cut], scaled[cut:]
        starts = np.arange(0, cut - self.context + 1, stride)
        batch = min(batch, len(starts))  # more would only take memory
        batches = -(-len(starts) // batch)
        if state is None:
            self.channels = rows.shape[1]
            optimizer = self._optimizer(lr, mask_lr, epochs, batches)
            self.net = self.declare(self.channels, optimizer, batch=batch).build(device, seed=seed)
            self.net.builder = self.spec()
        if on_start is not None:
            on_start(self.net)
        held_starts = np.arange(0, len(held) - self.context + 1, 2 * stride)
        state = fit(
            self.net,
            Source(training, starts.astype(np.int32), self.context, itself=True),
            epochs=epochs,
            validation=Source(held, held_starts.astype(np.int32), self.context, itself=True),
            patience=None,
            seed=seed,
            state=state,
            on_epoch=on_epoch,
            on_batch=on_batch,
            stop=stop,
        )
        if state.stopped != "interrupted":
            self.calibrate(rows)
        return state

    def calibrate(self, train: Any) -> None:
        """Find the scale of the errors on the trained rows, and the scores of those that were held back."""
        rows = self._rows(train, "Catch.calibrate")
        cut = self._trained(rows)
        self.scale = ScoreScale.fit(*self._errors(rows[:cut]), weight=self.score_weight)
        self.normal = self.score(rows[cut:])

    def _optimizer(self, lr: float, mask_lr: float, epochs: int, batches: int) -> BiLevel:
        every = max(1, min(batches // UPDATES, MOST_STEPS))
        if self.reference:
            rates = Halving(lr, lr / 25.0, batches), Halving(lr, mask_lr / 25.0, batches)
            return BiLevel(lr=rates[0], slow_lr=rates[1], every=every, slow_first=True, beta1=0.95)
        steps = epochs * batches
        return BiLevel(lr=WarmupCosine(lr, steps // 20, steps), slow_lr=mask_lr, every=every)

    # --- scores ----------------------------------------------------------------------

    def score(self, rows: Any, *, stride: int | None = None) -> Floats:
        """The score of each row of ``rows`` [time, channels], [time]: the higher, the less normal.

        stride  None: windows side by side, the last one slid back to the end; of rows that two windows hold,
                the first one's score. So the score of a window is the same alone and among others.
                A number: the mean of all windows so far apart that hold a row, smoother and dearer

        DataError for fewer rows than ``context``, or a value that is not finite.
        """
        return total(self.contributions(rows, stride=stride))

    def contributions(self, rows: Any, *, stride: int | None = None) -> Floats:
        """What each channel adds to the score of each row, [time, channels]; their mean is the score."""
        self.net  # noqa: B018  # SpecError before it is fitted
        return self.scale.combine(*self._errors(self._rows(rows, "Catch.score"), stride))

    def threshold(self, rate: float = RATE, method: str = "pot") -> Threshold:
        """The score that about a share ``rate`` of normal rows exceed, from the rows that were held back."""
        if method not in METHODS:
            raise SpecError(
                f"method={method!r}", where="Catch.threshold", fix=f"choose {' or '.join(METHODS)}"
            )
        self.net  # noqa: B018
        return METHODS[method](self.normal, rate)

    def too_far(self, rows: Floats) -> NDArray[np.bool_]:
        """Which values of rows [time, channels] are so far from those of training that float32 ends."""
        with np.errstate(over="ignore"):
            return np.asarray(np.abs((rows - self.mean) / self.deviation) > FARTHEST)

    def _errors(self, rows: Floats, stride: int | None = None) -> tuple[Floats, Floats]:
        """Time and frequency error of each row and channel, [time, channels] each."""
        scaled = self._scaled(rows)
        starts = window_starts(len(rows), self.context, stride)
        windows = np.lib.stride_tricks.sliding_window_view(scaled, self.context, axis=0)[starts].swapaxes(
            1, 2
        )
        made, seen = self.net.predict(windows).astype(np.float64), windows.astype(np.float64)
        if self.relative:
            deviation = np.sqrt(seen.var(axis=1, keepdims=True) + FLOOR)
            made, seen = made / deviation, seen / deviation
        average = stride is not None

        def of_rows(errors: Floats) -> Floats:
            return over_time(errors, starts, len(rows), average=average)

        patch = min(PATCH, self.context)
        return of_rows(time_error(seen, made)), of_rows(frequency_error(seen, made, patch=patch))

    def _trained(self, rows: Floats) -> int:
        """How many of the training part's rows are trained on; those behind are held back."""
        return len(rows) - max(self.context, int(HELD * len(rows)))

    def _scaled(self, rows: Floats) -> NDArray[np.float32]:
        if (far := self.too_far(rows)).any():
            row, channel = np.argwhere(far)[0]
            bad = int(far.any(axis=1).sum())
            what = f"{counted(bad, 'row is', 'rows are')} over {FARTHEST:g} deviations from the mean"
            fix = "correct these rows, or leave them out"
            what += f", the first is {row}, channel {channel}"
            raise DataError(what, where="Catch", fix=fix)
        return ((rows - self.mean) / self.deviation).astype(np.float32)

    def _rows(self, values: Any, where: str) -> Floats:
        rows = np.asarray(values, np.float64)
        if rows.ndim != 2 or not rows.size or self.channels not in (None, rows.shape[1]):
            wanted = "channels" if self.channels is None else str(self.channels)
            what = f"rows have shape {rows.shape}, expected [time, {wanted}]"
            raise ShapeError(what, where=where, fix="give a row for each time and a column for each channel")
        if not (finite := np.isfinite(rows)).all():
            row, channel = np.argwhere(~finite)[0]
            bad = int((~finite).any(axis=1).sum())
            what = f"{counted(bad, 'row is', 'rows are')} not finite, the first is {row}, channel {channel}"
            raise DataError(what, where=where, fix="correct these rows, or leave them out")
        return rows
