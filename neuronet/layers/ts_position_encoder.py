"""CNeuronTSPositionEncoder: a projection plus harmonics of the time. Ops: ts_position_encoder; inner conv."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from neuronet.activations import Activation
from neuronet.device.array import Shape
from neuronet.errors import DataError, ShapeError, SpecError
from neuronet.layers.base import CNeuronBaseOCL, layer
from neuronet.layers.conv import CNeuronConvOCL
from neuronet.nanoseconds import nanoseconds
from neuronet.ops import ts_position_encoder as op

SECOND = 10**9  # in nanoseconds
LONGEST = (2**63 - 1) // SECOND  # seconds that int64 nanoseconds hold


@layer
class CNeuronTSPositionEncoder(CNeuronBaseOCL):
    """output = w x + b + harmonics of the unit's time, 2 * freqs * P values for P periods.

    input         [batch, units, window]
    second input  [batch, units, P], the phases of ``time_phases(times, periods)``: for each unit the part of
                  each period that has passed
    output        [batch, units, 2 * freqs * P]: [2 (k freqs + j)] gets sin, [... + 1] cos of
                  2 pi 2^j phase[k], for harmonics j = 0 ... freqs - 1 of period k

    The device is not given times, because float32 cannot hold them: at 1.7e9 seconds its values lie 128 s
    apart. So the host takes times modulo each period, in whole nanoseconds, and only then divides.
    ``periods`` are whole seconds, such as 86400 (day), 604800 (week), 2629800 (month), 31557600 (year).
    """

    takes_second: ClassVar[bool] = True

    periods: tuple[int, ...]
    freqs: int

    def output_shape(self, input_shape: Shape) -> Shape:
        check_periods(self.periods, type(self).__name__)
        if not 1 <= self.freqs <= op.MOST_FREQS:
            raise SpecError(
                f"freqs={self.freqs} is not in 1 … {op.MOST_FREQS}",
                where="CNeuronTSPositionEncoder",
                fix="choose how many harmonics each period has, such as 4",
            )
        check_shapes(input_shape, self.context.second_shape, self.periods, type(self).__name__)
        return (input_shape[0], 2 * self.freqs * len(self.periods))

    def allocate(self, input_shape: Shape, rng: np.random.Generator) -> None:
        window, window_out = input_shape[1], self.output.shape[2]
        conv = CNeuronConvOCL(window=window, step=window, window_out=window_out, activation=Activation.NONE)
        self.projection = self.inner("projection", conv, input_shape)
        self.end_with(self.projection)

    def feedForward(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        assert second is not None
        self.projection.feedForward(prev)
        op.add(self.output, second.output, self.output)

    def calcInputGradients(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        assert second is not None
        self.projection.calcInputGradients(prev)
        if second.needs_gradient:
            op.backward_phases(second.output, self.gradient, second.gradient)

    def calcWeightGradients(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        self.projection.calcWeightGradients(prev)

    def updateInputWeights(
        self, prev: CNeuronBaseOCL, optimizer: Any, second: CNeuronBaseOCL | None = None
    ) -> None:
        self.projection.span = self.span
        self.projection.updateInputWeights(prev, optimizer)


def _utc(times: NDArray[Any]) -> NDArray[Any]:
    """Python's and pandas' datetimes as datetime64, those with a zone in UTC; all else as it is."""
    if times.dtype.kind != "O" or not all(isinstance(time, datetime) for time in times.ravel()):
        return times
    plain = [t.astimezone(UTC).replace(tzinfo=None) if t.tzinfo else t for t in times.ravel()]
    return np.array([np.datetime64(t) for t in plain], "datetime64[ns]").reshape(times.shape)


def time_phases(times: Any, periods: Sequence[int]) -> NDArray[np.float64]:
    """Phases [..., P] in [0, 1) of ``times``: the part of each of P periods that has passed since 1970.

    times    int64 nanoseconds since 1970 UTC, datetime64, or datetimes (Python's or pandas'; UTC without a
             zone); any shape. DataError for floats, which have lost what the phase is made of, for NaT, and
             for years that nanoseconds do not reach (1678 to 2261)
    periods  whole seconds

    (times mod period) / period, with an exact modulo and a division in float64; times before 1970 fit in.
    """
    check_periods(periods, "time_phases")
    host = _utc(np.asarray(times))
    if host.dtype.kind == "M":
        stamps, lost = nanoseconds(host)
        if lost.any():
            at = int(np.flatnonzero(lost)[0])
            raise DataError(
                f"time {at} is {host.ravel()[at]}",
                where="time_phases",
                fix="give times of the years 1678 to 2261",
            )
        host = stamps
    if host.dtype.kind not in "iu":
        raise DataError(
            f"times are {host.dtype}, expected int64",
            where="time_phases",
            fix="give nanoseconds since 1970 as int64, or datetime64",
        )
    lengths = SECOND * np.array(periods, np.int64)
    phases = host.astype(np.int64)[..., None] % lengths / lengths
    below_one: NDArray[np.float64] = np.minimum(
        phases, np.nextafter(1.0, 0.0)
    )  # a quotient may round up to 1
    return below_one


def check_periods(periods: Sequence[int], where: str) -> None:
    """SpecError unless ``periods`` are different, positive whole numbers of seconds."""
    fix = "give whole seconds, such as (86400, 604800) for the day and the week"
    if not isinstance(periods, Sequence) or isinstance(periods, str) or not periods:
        raise SpecError(f"periods={periods!r} holds no period", where=where, fix=fix)
    for period in periods:
        if not isinstance(period, int | np.integer) or isinstance(period, bool):
            raise SpecError(f"period {period!r} is not a whole number", where=where, fix=fix)
        if not 1 <= period <= LONGEST:
            raise SpecError(f"period {period} is not in 1 … {LONGEST} seconds", where=where, fix=fix)
    if len(set(periods)) < len(periods):
        raise SpecError(f"periods={tuple(periods)} holds one twice", where=where, fix="drop the duplicate")


def check_shapes(first: Shape, second: Shape | None, periods: Sequence[int], where: str) -> None:
    """ShapeError unless a sample is [units, window] and its second input [units, periods]."""
    if len(first) != 2:
        raise ShapeError(
            f"a sample has shape {list(first)}, expected [units, window]",
            where=where,
            fix="put it behind a layer whose output has two dimensions",
        )
    wanted = (first[0], len(periods))
    if second != wanted:
        seen = "there is no second input" if second is None else f"the second input is {list(second)}"
        raise ShapeError(
            f"{seen}, expected [units, periods] = {list(wanted)}",
            where=where,
            fix=f"give CNet second_shape={wanted} and pass time_phases(times, periods)",
        )
