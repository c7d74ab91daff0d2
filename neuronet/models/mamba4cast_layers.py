"""The layers of Mamba4Cast: embedding with time, then convolutions of several widths and Mamba blocks."""

from __future__ import annotations

from neuronet.activations import Activation
from neuronet.layers.base import CNeuronBaseOCL
from neuronet.layers.conv import CNeuronConvOCL
from neuronet.layers.dense import CNeuronDenseOCL
from neuronet.layers.last_units import CNeuronLastUnitsOCL
from neuronet.layers.layer_norm import CNeuronLayerNormOCL
from neuronet.layers.mamba4_cast_embeding import CMamba4CastEmbeding
from neuronet.layers.mamba_block import CNeuronMambaBlockOCL
from neuronet.layers.multi_windows_conv_w_pad import CNeuronMultiWindowsConvWPadOCL

INNER = 2  # times the width: of the Mamba blocks inside
WINDOWS = (3, 5, 7)  # units that the convolutions see
HOUR, DAY, WEEK, YEAR = 3_600, 86_400, 604_800, 31_556_952  # seconds; the Gregorian year
PERIODS = (HOUR, DAY, WEEK, YEAR // 12, YEAR)


def encoder(
    *, window: int, width: int, depth: int, heads: int, state_size: int, periods: tuple[int, ...] = PERIODS
) -> list[CNeuronBaseOCL]:
    """From [units, window] and the phases [units, periods] to [units, width]; no unit sees a later one.

    Each of ``depth`` stages is a multi-window convolution over the past, a dense layer for each unit that
    brings its filters back to ``width``, and a Mamba block with an inner width of INNER * width.
    """
    embedding = CMamba4CastEmbeding(window=window, window_out=width, periods=periods, unit_norm=True)
    layers: list[CNeuronBaseOCL] = [embedding]
    filters = max(1, width // 2)
    for _ in range(depth):
        layers += [
            CNeuronMultiWindowsConvWPadOCL(
                windows=WINDOWS,
                step=1,
                window_out=filters,
                dimension=width,
                causal=True,
                activation=Activation.GELU,
            ),
            per_unit(len(WINDOWS) * filters, width),
            CNeuronMambaBlockOCL(window_key=INNER * width, heads=heads, state_size=state_size),
        ]
    return [*layers, CNeuronLayerNormOCL()]


def forecast_head(width: int, horizon: int, outputs: int) -> list[CNeuronBaseOCL]:
    """[units, width] to [horizon, outputs]: the last ``horizon`` units each speak for their own time."""
    return [CNeuronLastUnitsOCL(units_count=horizon), per_unit(width, outputs)]


def last_unit_head(outputs: int) -> list[CNeuronBaseOCL]:
    """[units, width] to [outputs] from the last unit, which has seen all."""
    return [CNeuronLastUnitsOCL(), CNeuronDenseOCL(neurons=outputs)]


def per_unit(window: int, window_out: int) -> CNeuronConvOCL:
    """A dense layer without activation, the same for every unit."""
    return CNeuronConvOCL(window=window, step=window, window_out=window_out, activation=Activation.NONE)
