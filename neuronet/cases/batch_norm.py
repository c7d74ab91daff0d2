"""Cases of ops/batch_norm.py."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neuronet.activations import Activation
from neuronet.cases.base import Arrays, Case
from neuronet.device.array import DeviceArray, Shape
from neuronet.ops import batch_norm

EPS = 1e-5


@dataclass(frozen=True)
class BatchNorm(Case):
    """What the cases of batch normalisation share."""

    batch: int
    n: int

    def _statistics(self, rng: np.random.Generator) -> Arrays:
        return {
            "x": 3 * rng.standard_normal((self.batch, self.n)) + 1,
            "mean": rng.standard_normal(self.n),
            "scale": rng.uniform(0.3, 1.5, self.n),
        }


@dataclass(frozen=True)
class BatchStatistics(BatchNorm):
    op = "batch_norm.batch_statistics"
    changes = ("running_mean", "running_variance", "count")
    batch_size: int = 100

    def inputs(self, rng: np.random.Generator) -> Arrays:
        given = self._statistics(rng)
        return {
            "x": given["x"],
            "running_mean": given["mean"],
            "running_variance": rng.uniform(0.5, 10, self.n),
            "count": np.floor(rng.uniform(0, 1 + self.batch_size, self.n)),
        }

    def outputs(self) -> dict[str, Shape]:
        return {"mean": (self.n,), "scale": (self.n,)}

    def run(self, **arrays: DeviceArray) -> None:
        batch_norm.batch_statistics(**arrays, batch_size=self.batch_size, eps=EPS)

    @property
    def terms(self) -> int:
        return self.batch


@dataclass(frozen=True)
class RunningStatistics(BatchNorm):
    op = "batch_norm.running_statistics"
    changes = ("mean", "variance", "count")
    batch_size: int = 100

    def inputs(self, rng: np.random.Generator) -> Arrays:
        given = self._statistics(rng)
        return {
            "x": given["x"],
            "mean": given["mean"],
            "variance": rng.uniform(0.5, 10, self.n),
            "count": np.floor(rng.uniform(0, 1 + self.batch_size, self.n)),
        }

    def outputs(self) -> dict[str, Shape]:
        return {"scale": (self.n,)}

    def run(self, **arrays: DeviceArray) -> None:
        batch_norm.running_statistics(**arrays, batch_size=self.batch_size, eps=EPS)


@dataclass(frozen=True)
class BatchScale(Case):
    op = "batch_norm.known_statistics"
    n: int

    def inputs(self, rng: np.random.Generator) -> Arrays:
        return {"variance": rng.uniform(0, 10, self.n)}

    def outputs(self) -> dict[str, Shape]:
        return {"scale": (self.n,)}

    def run(self, **arrays: DeviceArray) -> None:
        batch_norm.known_statistics(**arrays, eps=EPS)


@dataclass(frozen=True)
class BatchForward(BatchNorm):
    op = "batch_norm.forward"
    activation: Activation = Activation.NONE

    def inputs(self, rng: np.random.Generator) -> Arrays:
        return self._statistics(rng) | {
            "gamma": rng.standard_normal(self.n),
            "beta": rng.standard_normal(self.n),
        }

    def outputs(self) -> dict[str, Shape]:
        return {"y": (self.batch, self.n)}

    def run(self, **arrays: DeviceArray) -> None:
        batch_norm.forward(**arrays, activation=self.activation)


@dataclass(frozen=True)
class BatchGradientSums(BatchNorm):
    op = "batch_norm.gradient_sums"

    def inputs(self, rng: np.random.Generator) -> Arrays:
        return self._statistics(rng) | {"dz": rng.standard_normal((self.batch, self.n))}

    def outputs(self) -> dict[str, Shape]:
        return {"sums": (2, self.n)}

    def run(self, **arrays: DeviceArray) -> None:
        batch_norm.gradient_sums(**arrays)

    @property
    def terms(self) -> int:
        return self.batch


@dataclass(frozen=True)
class BatchBackwardInput(BatchNorm):
    op = "batch_norm.backward_input"
    frozen: bool = False

    def inputs(self, rng: np.random.Generator) -> Arrays:
        return self._statistics(rng) | {
            "dz": rng.standard_normal((self.batch, self.n)),
            "gamma": rng.standard_normal(self.n),
            "sums": self.batch**0.5 * rng.standard_normal((2, self.n)),
        }

    def outputs(self) -> dict[str, Shape]:
        return {"dx": (self.batch, self.n)}

    def run(self, **arrays: DeviceArray) -> None:
        batch_norm.backward_input(**arrays, frozen=self.frozen)


@dataclass(frozen=True)
class RunningBackwardInput(BatchNorm):
    op = "batch_norm.backward_input_running"

    def inputs(self, rng: np.random.Generator) -> Arrays:
        return self._statistics(rng) | {
            "dz": rng.standard_normal((self.batch, self.n)),
            "gamma": rng.standard_normal(self.n),
            "count": np.floor(rng.uniform(1, 100, self.n)),
        }

    def outputs(self) -> dict[str, Shape]:
        return {"dx": (self.batch, self.n)}

    def run(self, **arrays: DeviceArray) -> None:
        batch_norm.backward_input_running(**arrays)

    @property
    def terms(self) -> int:
        return 2  # 1 - nx^2 / count


@dataclass(frozen=True)
class BatchBackwardWeights(Case):
    op = "batch_norm.backward_weights"
    changes = ("dgamma", "dbeta")
    n: int

    def inputs(self, rng: np.random.Generator) -> Arrays:
        sizes: dict[str, Shape] = {"sums": (2, self.n), "dgamma": (self.n,), "dbeta": (self.n,)}
        return {name: rng.standard_normal(size) for name, size in sizes.items()}

    def run(self, **arrays: DeviceArray) -> None:
        batch_norm.backward_weights(**arrays)


SMALL: list[Case] = [
    *[
        case(batch, n)
        for batch, n in ((2, 1), (5, 33), (129, 7))
        for case in (BatchStatistics, BatchForward, BatchGradientSums, BatchBackwardInput)
    ],
    BatchStatistics(41, 19, batch_size=16),
    BatchForward(1, 17, Activation.TANH),
    BatchBackwardInput(3, 65, frozen=True),
    *[case(1, n) for n in (1, 77) for case in (RunningStatistics, RunningBackwardInput)],
    BatchScale(1),
    BatchScale(131),
    BatchBackwardWeights(1),
    BatchBackwardWeights(131),
]
LARGE: list[Case] = [
    *[case(256, 8192) for case in (BatchStatistics, BatchForward, BatchGradientSums, BatchBackwardInput)],
    *[case(4096, 64) for case in (BatchStatistics, BatchForward, BatchGradientSums, BatchBackwardInput)],
    RunningStatistics(1, 2**21),
    RunningBackwardInput(1, 2**21),
    BatchScale(2**21),
    BatchBackwardWeights(2**21),
]
