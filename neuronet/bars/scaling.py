"""Scaler: shift and scale of each feature or target, fitted on training rows only and kept in the model."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from neuronet.bars.bars import Floats
from neuronet.errors import DataError

log = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class Scaler:
    """names, mean and scale, one a column: ``transform`` gives (values - mean) / scale."""

    names: tuple[str, ...]
    mean: Floats
    scale: Floats

    @classmethod
    def fit(cls, values: Floats, names: Sequence[str]) -> Scaler:
        """Find mean and standard deviation of each column of ``values`` [rows, columns]: the training rows.

        A constant column gets scale 1, and a warning that names it.
        Raises DataError when a value is not finite, and names its column.
        """
        values = np.asarray(values, np.float64)
        if values.ndim != 2 or not len(values) or values.shape[1] != len(names):
            raise DataError(
                f"values of shape {values.shape} do not match {len(names)} names",
                where="Scaler.fit",
                fix="give [rows, columns] with at least one row and one name a column",
            )
        finite = np.isfinite(values)
        if not finite.all():
            column = int(np.argmin(finite.all(axis=0)))
            raise DataError(
                f"{names[column]} has no value in {int((~finite[:, column]).sum())} of {len(values)} rows",
                where="Scaler.fit",
                fix="leave out the warm-up rows, or the feature",
            )
        mean = values.mean(axis=0)
        scale = values.std(axis=0)
        constant = scale <= 1e-12 * np.abs(mean)
        if constant.any():
            log.warning(
                "constant in the training part, so its scale is 1: %s",
                ", ".join(name for name, still in zip(names, constant, strict=True) if still),
            )
        return cls(tuple(names), mean, np.where(constant, 1.0, scale))

    def transform(self, values: Floats) -> Floats:
        """Return (values - mean) / scale; the last axis is the columns. Nothing is clipped."""
        return (values - self.mean) / self.scale

    def inverse(self, values: Floats) -> Floats:
        """Undo ``transform``."""
        return values * self.scale + self.mean

    def to_dict(self) -> dict[str, Any]:
        """Return lists for JSON or a model file; ``from_dict`` gives the same bits back."""
        return {"names": list(self.names), "mean": self.mean.tolist(), "scale": self.scale.tolist()}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Scaler:
        """Rebuild a scaler from ``to_dict``."""
        return cls(
            tuple(data["names"]), np.array(data["mean"], np.float64), np.array(data["scale"], np.float64)
        )
