"""Learning-rate schedules: frozen dataclasses that map a step, from 0, to a rate."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from neuronet.errors import SpecError

Schedule = Callable[[int], float]


@dataclass(frozen=True)
class StepDecay:
    """``lr``, multiplied by ``factor`` after every ``every`` steps."""

    lr: float
    every: int
    factor: float = 0.5

    def __call__(self, step: int) -> float:
        return self.lr * self.factor ** (step // self.every)


@dataclass(frozen=True)
class WarmupCosine:
    """Linear warm-up to ``lr``, then half a cosine down to ``lr * final`` at step ``total``.

    Loshchilov & Hutter, arXiv:1608.03983, without restarts.
    """

    lr: float
    warmup: int
    total: int
    final: float = 0.0

    def __post_init__(self) -> None:
        if not 0 <= self.warmup < self.total:
            raise SpecError(
                f"warmup={self.warmup} is not below total={self.total}",
                where="WarmupCosine",
                fix="choose 0 <= warmup < total",
            )

    def __call__(self, step: int) -> float:
        if step < self.warmup:
            return self.lr * (step + 1) / self.warmup
        done = min(1.0, (step - self.warmup) / (self.total - self.warmup))
        return self.lr * (self.final + (1 - self.final) * 0.5 * (1 + math.cos(math.pi * done)))


@dataclass(frozen=True)
class Halving:
    """``first`` for ``every`` steps, then ``lr``, halved after every ``every`` steps more.

    What CATCH's own code comes to: it makes a OneCycleLR, which sets a 25th of the rate, and never steps it.
    """

    lr: float
    first: float
    every: int

    def __call__(self, step: int) -> float:
        return self.first if step < self.every else self.lr * 0.5 ** (step // self.every - 1)


SCHEDULES: dict[str, type] = {cls.__name__: cls for cls in (StepDecay, WarmupCosine, Halving)}
