"""Training data of Mamba4Cast: new cuts of synthetic or given series in every epoch, made ahead of time."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neuronet.errors import DataError
from neuronet.fitting.source import Source
from neuronet.models.mamba4cast_tokens import training_samples
from neuronet.prior.draw import draw, worker_pool
from neuronet.prior.settings import Prior
from neuronet.series.series import Series

VALIDATION = 1024  # samples
UNSEEN = 2**31  # added to the seed of series that training does not see


Rows = tuple[NDArray[Any], NDArray[np.int64], NDArray[np.int64]]  # values, times [n, length], seasons [n]


class EpochSource:
    """Cuts for ``fit``: ``epoch(e)`` depends on the seed and e only. A context manager that ends its workers.

    The next epoch's data are made in a thread while the net is trained on the present ones.
    """

    def __init__(
        self, context: int, horizon: int, periods: Sequence[int], samples: int, seed: int, epochs: int
    ) -> None:
        self.context, self.horizon, self.periods = context, horizon, periods
        self.samples, self.seed, self.epochs = samples, seed, epochs
        self._thread = ThreadPoolExecutor(1)
        self._next: tuple[int, Future[Source]] | None = None

    def rows(self, samples: int, epoch: int | None) -> Rows:
        """Series to cut from; None: for validation."""
        raise NotImplementedError

    def epoch(self, epoch: int) -> Source:
        """Training data of epoch number ``epoch``, from 0."""
        ahead, self._next = self._next, None
        source = ahead[1].result() if ahead is not None and ahead[0] == epoch else self._make(epoch)
        if epoch + 1 < self.epochs:
            self._next = epoch + 1, self._thread.submit(self._make, epoch + 1)
        return source

    def validation(self) -> Source:
        """Cuts to judge by, the same in every epoch."""
        return self._make(None)

    def _make(self, epoch: int | None) -> Source:
        samples = VALIDATION if epoch is None else self.samples
        rng = np.random.default_rng([self.seed, 0 if epoch is None else epoch + 1])
        tokens, targets = training_samples(
            *self.rows(samples, epoch),
            context=self.context,
            horizon=self.horizon,
            periods=self.periods,
            rng=rng,
        )
        if not len(targets):
            raise DataError("no cut has a known target", where="training", fix="give series with fewer gaps")
        kept = np.resize(np.arange(len(targets)), samples)  # in the place of cuts left out, others again:
        x, phases = tokens.x[kept], tokens.phases[kept]  # fit takes as many samples in every epoch
        return Source.arrays(x, targets[kept].astype(np.float32), phases)

    def __enter__(self) -> EpochSource:
        return self

    def __exit__(self, *error: object) -> None:
        self._thread.shutdown(cancel_futures=True)


class SyntheticSource(EpochSource):
    """Cuts of series drawn from a prior, by ``processes`` workers."""

    def __init__(
        self,
        prior: Prior,
        context: int,
        horizon: int,
        periods: Sequence[int],
        samples: int,
        seed: int,
        epochs: int,
        processes: int = 1,
    ) -> None:
        super().__init__(context, horizon, periods, samples, seed, epochs)
        self.prior = prior
        self._pool: Executor | None = worker_pool(processes) if processes > 1 else None

    def rows(self, samples: int, epoch: int | None) -> Rows:
        first, seed = (0, self.seed + UNSEEN) if epoch is None else (epoch * samples, self.seed)
        length = self.context + self.horizon
        drawn = draw(self.prior, samples, length, seed, first=first, pool=self._pool)
        return drawn.values, drawn.times, np.array([f.season for f in drawn.frequencies])

    def __exit__(self, *error: object) -> None:
        super().__exit__(*error)
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)


class SeriesSource(EpochSource):
    """Cuts of given series, each in proportion to its length."""

    def __init__(
        self,
        series: Sequence[Series],
        context: int,
        horizon: int,
        periods: Sequence[int],
        samples: int,
        seed: int,
        epochs: int,
    ) -> None:
        super().__init__(context, horizon, periods, samples, seed, epochs)
        self.series = [one for one in series if len(one) > horizon]
        if not self.series:
            raise DataError(
                f"none of {len(series)} series has more than {horizon} values",
                where="training",
                fix=f"give series longer than the horizon of {horizon}, or declare a shorter one",
            )

    def rows(self, samples: int, epoch: int | None) -> Rows:
        rng = np.random.default_rng([self.seed, UNSEEN, 0 if epoch is None else epoch + 1])
        room = np.array([len(one) - self.horizon for one in self.series])
        length = self.context + self.horizon
        values, times = np.full((samples, length), np.nan), np.zeros((samples, length), np.int64)
        chosen = rng.choice(len(room), samples, p=room / room.sum())
        for i, k in enumerate(chosen):
            end = int(rng.integers(self.horizon + 1, len(self.series[k]) + 1))
            n = min(end, length)
            values[i, -n:] = self.series[k].values[end - n : end]
            times[i, -n:] = self.series[k].times[end - n : end]
        return values, times, np.array([self.series[k].frequency.season for k in chosen])
