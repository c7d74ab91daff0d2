"""Harmonics of where a time lies in each of several periods. Kernels: kernels/ts_position_encoder.cl.

Shapes: phases [..., periods]; x, y and dy [..., 2 * freqs * periods], [period][harmonic][sin, cos].
"""

from __future__ import annotations

from neuronet.device.array import DeviceArray
from neuronet.ops.forms import cpu_form

MOST_FREQS = 24  # a float has 24 binary digits: the phase of harmonic 24 would be rounding alone


def add(x: DeviceArray, phases: DeviceArray, y: DeviceArray) -> None:
    """y = x + (sin, cos) of 2 pi 2^j phase for harmonics j. y may be x."""
    form = cpu_form(y.device)
    y.device.kernel(f"TimeHarmonics{form}")(x=_pairs(x, phases), phases=_rows(phases), y=_pairs(y, phases))


def backward_phases(phases: DeviceArray, dy: DeviceArray, dphases: DeviceArray) -> None:
    """dphases = dL/d(phases) from dy = dL/dy."""
    dy.device.kernel("TimeHarmonicsGradient")(
        phases=_rows(phases), dy=_pairs(dy, phases), dphases=_rows(dphases)
    )


def _rows(phases: DeviceArray) -> DeviceArray:
    periods = phases.shape[-1]
    return phases.view(phases.size // periods, periods)


def _pairs(array: DeviceArray, phases: DeviceArray) -> DeviceArray:
    rows, periods = _rows(phases).shape
    return array.view(rows, periods, array.size // (2 * rows * periods), 2)
