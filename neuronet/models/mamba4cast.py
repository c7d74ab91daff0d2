"""Mamba4Cast: forecasts of any series, in one pass and without training on it (arXiv:2410.09385)."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from neuronet.device.base import Device
from neuronet.errors import DataError, SpecError
from neuronet.fitting.fit import fit
from neuronet.fitting.state import TrainingState
from neuronet.losses.quantile import Quantile
from neuronet.models import mamba4cast_layers as parts
from neuronet.models.base import Model
from neuronet.models.mamba4cast_data import EpochSource, SeriesSource, SyntheticSource
from neuronet.models.mamba4cast_inputs import check_count, check_series, numbers_of, stamps_of
from neuronet.models.mamba4cast_tokens import CHANNELS, Tokens, tokens_of_series
from neuronet.net import CNet
from neuronet.ops.ts_position_encoder import MOST_FREQS
from neuronet.optim.adam import Adam
from neuronet.optim.schedules import WarmupCosine
from neuronet.prior.draw import SHORTEST
from neuronet.prior.settings import Prior
from neuronet.series.frequency import Frequency
from neuronet.series.series import Series
from neuronet.storage.model import ModelFile

log = logging.getLogger(__name__)

Array = NDArray[Any]
Floats = NDArray[np.float64]

LEVELS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
MEDIAN = 0.5
WARMUP = 0.05  # share of the steps in which the learning rate rises
TOGETHER = 64  # series that go through a net at once, at most
ROUND = 64  # a shorter history gets a net of the next multiple of so many values


@dataclass(kw_only=True, eq=False)
class Mamba4Cast(Model):
    """A net that reads the past of a series and answers for all steps ahead at once, as quantiles.

        model = nn.models.Mamba4Cast.load("weights.h5")
        model.forecast(history, times, horizon=24)                    # [24], the median
        model.forecast(history, times, horizon=24, quantiles=(0.1, 0.9))  # [24, 2]

    context, horizon   values that it sees at most, and steps ahead that it is trained for
    width, depth       values of a token, and stages of convolution and Mamba block
    heads, state_size  of the Mamba layers, see CNeuronMambaOCL
    levels             quantiles that it learns, ascending; 0.5 among them is the forecast
    periods            seconds of the seasons in which it sees the time of a value

    Every value is a token of the scaled value and of its time; so is every step ahead, without a value. After
    the paper, with these differences: quantiles instead of the mean squared error, multi-window convolutions
    instead of dilated ones, residual Mamba blocks (CNeuronMambaBlockOCL), scaling from the last value.
    """

    written_by: ClassVar[str] = "'neuronet pretrain mamba4cast'"

    context: int = 128
    horizon: int = 24
    width: int = 64
    depth: int = 2
    heads: int = 2
    state_size: int = 32
    levels: tuple[float, ...] = LEVELS
    periods: tuple[int, ...] = parts.PERIODS

    def __post_init__(self) -> None:
        super().__post_init__()
        where = "Mamba4Cast"
        for name in ("context", "horizon", "width", "depth", "heads", "state_size"):
            if getattr(self, name) < 1:
                raise SpecError(
                    f"{name}={getattr(self, name)} is not positive", where=where, fix="give 1 or more"
                )
        least, most = 4 * len(self.periods), 4 * len(self.periods) * (MOST_FREQS + 1) - 1
        if self.periods and not least <= self.width <= most:
            raise SpecError(
                f"width={self.width} is not in {least} … {most}, where {len(self.periods)} periods fit in",
                where=where,
                fix=f"try {4 * least}",
            )
        if parts.INNER * self.width % self.heads:
            raise SpecError(
                f"heads={self.heads} does not divide {parts.INNER} x width={self.width}",
                where=where,
                fix="choose heads that divide it, such as 2",
            )
        levels = np.array(self.levels)
        if MEDIAN not in self.levels or np.any(np.diff(levels) <= 0.0):
            raise SpecError(
                f"levels={self.levels} do not ascend with 0.5 among them",
                where=where,
                fix="try (0.1, 0.5, 0.9)",
            )

    # --- building and files ----------------------------------------------------------

    def build(self, device: Device | None = None, *, batch: int = 64, seed: int = 0) -> Mamba4Cast:
        """Put the net on ``device`` with weights drawn from ``seed``; ``batch`` series go through at once."""
        self.net = self._declare(self.context, self.horizon, batch).build(device, seed=seed)
        self.net.builder = self.spec()
        return self

    def file(self, training: dict[str, Any] | None = None) -> ModelFile:
        """What ``save`` writes, with a document on the training."""
        spec = self.net.spec() | {"batch": TOGETHER}
        return ModelFile(spec=spec, arrays=self.weights(), training=training or {})

    @classmethod
    def shipped(cls, device: Device | None = None) -> Mamba4Cast:
        """The model that comes with neuronet, trained on synthetic series only."""
        return cls.load(Path(__file__).with_suffix(".h5"), device)

    def restore(self, file: ModelFile, device: Device | None, where: str) -> None:
        small = replace(file, spec=file.spec | {"batch": 1})  # forecasts build nets of their own
        super().restore(small, device, where)

    def _declare(self, context: int, horizon: int, batch: int, optimizer: Adam | None = None) -> CNet:
        shape = (context + horizon, CHANNELS)
        encoder = parts.encoder(
            window=CHANNELS,
            width=self.width,
            depth=self.depth,
            heads=self.heads,
            state_size=self.state_size,
            periods=self.periods,
        )
        return CNet(
            input_shape=shape,
            second_shape=(shape[0], len(self.periods)),
            layers=[*encoder, *parts.forecast_head(self.width, horizon, len(self.levels))],
            batch=batch,
            loss=Quantile(levels=self.levels),
            optimizer=optimizer,
        )

    # --- training --------------------------------------------------------------------

    def fit(
        self,
        data: Prior | Sequence[Series] | None = None,
        *,
        epochs: int = 30,
        samples: int = 4096,
        lr: float = 1e-3,
        batch: int = 64,
        seed: int = 0,
        device: Device | None = None,
        processes: int = 1,
        state: TrainingState | None = None,
        on_start: Callable[[CNet], None] | None = None,
        on_epoch: Callable[[TrainingState], None] | None = None,
        on_batch: Callable[[int, int, float], None] | None = None,
        stop: Callable[[], bool] | None = None,
    ) -> TrainingState:
        """Train on synthetic series, or go on training on given ones; the net keeps its best epoch.

        data       the prior to draw from, Prior() for None; or series of any lengths above ``horizon``
        epochs     of ``samples`` cuts each, new ones in every epoch; the learning rate rises to ``lr`` and
                   falls to 0 along a cosine until the last
        processes  that draw synthetic series beside the training
        state      of an interrupted training of this net, to go on bit for bit

        The validation loss is that of cuts drawn once: of series that training never sees for a prior, of the
        same series otherwise.
        """
        for name, count in (
            ("epochs", epochs),
            ("samples", samples),
            ("batch", batch),
            ("processes", processes),
        ):
            check_count(name, count, "Mamba4Cast.fit")
        check_count("seed", seed, "Mamba4Cast.fit", least=0)
        if not 0.0 < lr <= float(np.finfo(np.float32).max):
            raise SpecError(f"lr={lr} is no learning rate", where="Mamba4Cast.fit", fix="try 0.002")
        if data is None or isinstance(data, Prior):
            if self.context + self.horizon < SHORTEST:
                raise SpecError(
                    f"context={self.context} and horizon={self.horizon} are too short: synthetic series have "
                    f"{SHORTEST} values or more",
                    where="Mamba4Cast.fit",
                    fix=f"choose a context of {max(1, SHORTEST - self.horizon)} or more",
                )
        else:
            data = check_series(data, "Mamba4Cast.fit")
        if state is None:
            steps = epochs * -(-samples // batch)
            rate = WarmupCosine(lr, int(WARMUP * steps), steps)
            trained = self._declare(self.context, self.horizon, batch, Adam(lr=rate, clip_norm=1.0))
            trained.build(device or (self._net.device if self._net is not None else None), seed=seed)
            trained.builder = self.spec()
            if self._net is not None:
                trained.set_arrays(self.weights())
            self.net = trained
        sizes = self.context, self.horizon, self.periods, samples, seed, epochs
        source: EpochSource
        if data is None or isinstance(data, Prior):
            source = SyntheticSource(data or Prior(), *sizes, processes=processes)
        else:
            source = SeriesSource(data, *sizes)

        with source:
            if on_start is not None:
                on_start(self.net)
            return fit(
                self.net,
                source.epoch,
                epochs=epochs,
                validation=source.validation(),
                patience=None,
                seed=seed,
                state=state,
                on_epoch=on_epoch,
                on_batch=on_batch,
                stop=stop,
            )

    # --- forecasts -------------------------------------------------------------------

    def forecast(
        self, history: Any, times: Any, horizon: int, quantiles: Sequence[float] | None = None
    ) -> Floats:
        """The next ``horizon`` values of one series, in its own unit.

        history    [n] oldest first; NaN is a missing value
        times      [n] datetime64, or int64 ns since 1970; their regular step goes on
        quantiles  between the lowest and the highest of ``levels``

        Returns the median [horizon], or [horizon, quantiles].
        """
        stamps = stamps_of(times)
        series = Series("history", numbers_of(history), stamps, Frequency.of(stamps))
        return self.forecast_many([series], horizon, quantiles)[0]

    def forecast_many(
        self, histories: Sequence[Series], horizon: int, quantiles: Sequence[float] | None = None
    ) -> list[Floats]:
        """As ``forecast``, for many series; those of like length go through the net together."""
        where = "Mamba4Cast.forecast"
        histories = check_series(histories, where)
        levels = np.asarray((MEDIAN,) if quantiles is None else quantiles)
        if levels.ndim != 1 or levels.dtype.kind not in "fiu":
            raise SpecError(
                f"quantiles={quantiles!r} are no list of numbers", where=where, fix="try (0.1, 0.9)"
            )
        asked = tuple(levels.tolist())
        low, high = self.levels[0], self.levels[-1]
        outside = [f"{q:g}" for q in asked if not low <= q <= high]
        if outside or not asked:
            raise SpecError(
                f"quantiles {', '.join(outside)} are not between {low} and {high}"
                if asked
                else "no quantiles",
                where=where,
                fix=f"choose from {low} to {high}, the levels that the model was trained for",
            )
        check_count("horizon", horizon, where)
        if horizon > self.horizon:
            log.warning("the model was trained for %d steps ahead, not for %d", self.horizon, horizon)
        for one in histories:
            if np.isnan(one.values[-self.context :]).all():
                raise DataError(
                    f"none of the last {min(len(one), self.context)} values is known",
                    where=f"series {one.name!r}",
                    fix="give a history with values",
                )
        seen = [min(self.context, -(-len(one) // ROUND) * ROUND) for one in histories]
        found: list[Floats] = [np.empty(0)] * len(histories)
        for context in sorted(set(seen)):
            rows = [i for i, n in enumerate(seen) if n == context]
            made = self._run([histories[i] for i in rows], context, horizon, asked)
            for i, values in zip(rows, made, strict=True):
                found[i] = values[:, 0] if quantiles is None else values
        return found

    def _run(self, histories: list[Series], context: int, horizon: int, asked: tuple[float, ...]) -> Floats:
        """[series, horizon, quantiles] from a net for this context and horizon with the trained weights."""
        batch = min(TOGETHER, 1 << (len(histories) - 1).bit_length())
        sizes = context, horizon, batch
        net = self.answering(sizes, lambda: self._declare(*sizes))
        tokens = tokens_of_series(histories, context, horizon, self.periods)
        outputs = net.predict(tokens.x, tokens.phases).astype(np.float64)
        return quantiles_at(np.sort(outputs, axis=-1), self.levels, asked, tokens)


def quantiles_at(outputs: Floats, levels: Sequence[float], asked: Sequence[float], tokens: Tokens) -> Floats:
    """[samples, horizon, levels] of the net, ascending, as values at the levels ``asked``, linear between."""
    at = np.interp(asked, levels, np.arange(len(levels)))
    low = np.minimum(at.astype(int), len(levels) - 2) if len(levels) > 1 else np.zeros(len(at), int)
    part = at - low
    high = np.minimum(low + 1, len(levels) - 1)
    mixed = outputs[..., low] * (1.0 - part) + outputs[..., high] * part
    values: Floats = tokens.shift[:, None, None] + tokens.scale[:, None, None] * mixed
    return values
