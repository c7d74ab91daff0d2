"""Optimizer: turns gradients of the parameter pool into new values, and says its rates step by step."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar, TypeVar, dataclass_transform

import numpy as np
from numpy.typing import NDArray

from neuronet.declared import check_fields, from_spec
from neuronet.device.array import DeviceArray
from neuronet.device.base import Device
from neuronet.device.pool import Span
from neuronet.errors import SpecError
from neuronet.ops import clip
from neuronet.ops import step as step_op
from neuronet.optim.schedules import SCHEDULES, Schedule

OPTIMIZERS: dict[str, type] = {}
T = TypeVar("T", bound="Optimizer")

RATES, GO = 8, 8  # hyper[0:8] are an optimiser's rates of a step; hyper[8] says whether to update at all
CLIP_PARTS = 64


class Optimizer:
    """Base class. Fields are the declaration; ``bind`` gives it device memory."""

    fused: ClassVar[bool] = False  # whether layers' fused kernels compute this update
    columns: ClassVar[int] = RATES  # numbers that ``rates`` gives for a step
    slow_first: bool = False  # whether slow parameters are updated without the present gradients

    lr: float | Schedule
    clip_norm: float | None

    def __post_init__(self) -> None:
        check_fields(self)
        where = type(self).__name__
        if not callable(self.lr) and not (isinstance(self.lr, int | float) and self.lr > 0):
            raise SpecError(f"lr must be positive, got {self.lr!r}", where=where, fix="try lr=1e-3")
        if self.clip_norm is not None and not self.clip_norm > 0:
            raise SpecError(
                f"clip_norm must be positive, got {self.clip_norm!r}",
                where=where,
                fix="clip_norm=None is off",
            )

    def bind(self, device: Device) -> None:
        self.hyper: DeviceArray = device.array((RATES + 1,), name="hyper")
        self._sums = device.array((CLIP_PARTS,), name="clip sums")
        self.restart()

    def restart(self) -> None:
        """Let updates happen again after a loss that was not finite."""
        self.hyper.write(np.r_[np.zeros(RATES), 1.0])

    def rate(self, step: int) -> float:
        """The learning rate at ``step``, from 0."""
        return float(self.lr(step)) if callable(self.lr) else float(self.lr)

    def rates(self, step: int) -> NDArray[np.float64]:
        """[columns] numbers for the update at ``step``, from 0: first RATES in the order of common.cl."""
        raise NotImplementedError

    def next_step(self, table: DeviceArray, step: DeviceArray) -> None:
        """Launch: advance the counters and load the rates of the step from ``table`` [steps, columns]."""
        step_op.next_step(table, self.hyper, step)

    def clip(self, gradients: DeviceArray) -> None:
        """Scale the whole gradient down to ``clip_norm`` where it is longer."""
        if self.clip_norm is not None:
            clip.by_norm(gradients, self._sums, limit=self.clip_norm)

    def update(self, span: Span) -> None:
        """Apply the gradient of ``span`` and set it to zero."""
        raise NotImplementedError

    def update_slow(self, span: Span) -> None:
        """``update`` for parameters that are slow (Parameter.slow): as all others, if not said otherwise."""
        self.update(span)


@dataclass_transform(kw_only_default=True)
def optimizer(cls: type[T]) -> type[T]:
    """Make ``cls`` a declared optimiser under its own name."""
    made = dataclasses.dataclass(kw_only=True, eq=False)(cls)
    OPTIMIZERS[made.__name__] = made
    return made


def optimizer_from_spec(spec: dict[str, Any]) -> Optimizer:
    made: Optimizer = from_spec(OPTIMIZERS | SCHEDULES, spec, "optimizer")
    return made
