"""WindowPca: principal components of windows, the baseline that a net for anomalies must beat."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from neuronet.anomaly.scores import over_time, window_starts
from neuronet.errors import DataError, ShapeError

Floats = NDArray[np.float64]

WINDOW = 32
COMPONENTS = 20
EVERY = 4  # rows from one training window to the next: neighbours are nearly the same
AT_ONCE = 2**22  # values of windows held at once: 32 MB


@dataclass(frozen=True, eq=False)
class WindowPca:
    """Standardised windows as points in window x channels dimensions, and the plane that is nearest to them.

    mean, scale  [channels] of the training rows; a constant channel has scale 1
    centre       [window * channels] mean training window
    axes         [window * channels, components] orthonormal, the largest variance first
    window       rows
    """

    mean: Floats
    scale: Floats
    centre: Floats
    axes: Floats
    window: int

    @classmethod
    def fit(
        cls, values: Floats, *, components: int = COMPONENTS, window: int = WINDOW, every: int = EVERY
    ) -> WindowPca:
        """Fit to training rows [rows, channels], from windows that begin every ``every`` rows.

        Raises DataError for a value that is not finite, for fewer rows than a window, and unless
        0 < components < min(windows, window x channels).
        """
        values = _checked(values)
        if every < 1:
            raise DataError(f"windows every {every} rows", where="WindowPca.fit", fix="choose at least 1")
        mean, scale = values.mean(axis=0), values.std(axis=0)
        scale = np.where(scale <= 1e-12 * np.maximum(np.abs(mean), 1.0), 1.0, scale)
        window_starts(len(values), window)  # refuses too few rows
        starts = np.arange(0, len(values) - window + 1, every)
        size = window * values.shape[1]
        if not 0 < components < min(len(starts), size):
            raise DataError(
                f"{components} components of {len(starts)} windows with {size} values each",
                where="WindowPca.fit",
                fix=f"choose from 1 to {min(len(starts), size) - 1} components, or give more rows",
            )
        points = _flat((values - mean) / scale, starts, window)
        centre = points.mean(axis=0)
        points -= centre
        if len(points) < size:  # the smaller of the two products has the same axes
            variance, left = np.linalg.eigh(points @ points.T)
            top = np.sqrt(np.maximum(variance[::-1][:components], 1e-300))
            axes = points.T @ left[:, ::-1][:, :components] / top
        else:
            axes = np.linalg.eigh(points.T @ points)[1][:, ::-1][:, :components]
        return cls(mean, scale, centre, np.ascontiguousarray(axes), window)

    def reconstruct(self, windows: Floats) -> Floats:
        """Return the points of the plane that are nearest to standardised windows [n, window, channels]."""
        points = windows.reshape(len(windows), -1) - self.centre
        return np.asarray(((points @ self.axes) @ self.axes.T + self.centre).reshape(windows.shape))

    def scores(self, values: Floats) -> Floats:
        """Return the score of each row and channel, [rows, channels], of values [rows, channels].

        A window's error in a channel is the mean of (x - reconstruction)^2 over its rows; a row's is the mean
        over all windows that cover it. The row's score is the mean over the channels.

        Raises DataError for a value that is not finite or fewer rows than a window, ShapeError for other
        channels.
        """
        values = _checked(values)
        if values.shape[1] != len(self.mean):
            raise ShapeError(
                f"{values.shape[1]} channels instead of {len(self.mean)}",
                where="WindowPca.scores",
                fix="give the channels of the training part in their order",
            )
        rows = (values - self.mean) / self.scale
        starts = window_starts(len(rows), self.window, 1)
        errors = np.empty((len(starts), rows.shape[1]))
        step = max(1, AT_ONCE // len(self.centre))
        for one in range(0, len(starts), step):
            points = _flat(rows, starts[one : one + step], self.window) - self.centre
            points -= (points @ self.axes) @ self.axes.T
            cut = points.reshape(len(points), self.window, -1)
            errors[one : one + step] = np.mean(cut * cut, axis=1)
        wide = np.broadcast_to(errors[:, None], (len(starts), self.window, rows.shape[1]))
        return over_time(wide, starts, len(rows), average=True)


def _flat(rows: Floats, starts: NDArray[np.int64], window: int) -> Floats:
    cut = np.lib.stride_tricks.sliding_window_view(rows, window, axis=0)[starts]
    return np.ascontiguousarray(cut.transpose(0, 2, 1)).reshape(len(starts), -1)


def _checked(values: Floats) -> Floats:
    values = np.asarray(values, np.float64)
    if values.ndim != 2 or not values.size:
        raise ShapeError(f"values are {values.shape}", where="WindowPca", fix="give them as [rows, channels]")
    if not np.isfinite(values).all():
        row, channel = np.argwhere(~np.isfinite(values))[0]
        raise DataError(
            f"the value of row {row}, channel {channel} is {values[row, channel]}",
            where="WindowPca",
            fix="correct it, or leave the row out",
        )
    return values
