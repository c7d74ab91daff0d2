"""What a net says of every window: each window as a whole, or bar by bar where the net can."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from neuronet.fitting.fit import predict_source
from neuronet.fitting.source import Source
from neuronet.models.stca_stream import STCAStream, can_stream, encoder_of
from neuronet.net import CNet

# Bars of a history for each compute unit of a device from which on a bar at a time takes less time than
# batches of whole windows: 250 on 2 cores, 450 on a GPU with 132 units, where starting the kernels of a step
# takes longer than their work.
BARS_A_UNIT = 400


def reads_bars_once(net: CNet, source: Source) -> bool:
    """Whether ``outputs_of`` goes bar by bar through ``source``."""
    least = BARS_A_UNIT * getattr(net.device, "compute_units", 1)
    alike = source.behind is None and can_stream(net) and not encoder_of(net).given
    return source.history >= least and alike


def outputs_of(net: CNet, source: Source) -> NDArray[Any]:
    """Outputs [samples, *output_shape] for every sample, in evaluation mode.

    Where windows follow each other a bar apart, a net with a CNeuronSTCAEncoder reads each bar once. The
    first of such windows, and each that stands alone, is read whole and by itself, so what is said of a
    window does not depend on those that follow.
    """
    if not reads_bars_once(net, source):
        return predict_source(net, source)
    starts = source.starts.astype(np.int64)
    begins = np.flatnonzero(np.diff(starts, prepend=-2) != 1)
    outputs = np.empty((len(starts), *net.output_shape), net.device.dtype)
    stream = STCAStream(net)
    for begin, length in zip(begins, np.diff(begins, append=len(starts)), strict=True):
        outputs[begin : begin + length] = _run(stream, source, int(starts[begin]), int(length))
    return outputs


def _run(stream: STCAStream, source: Source, start: int, windows: int) -> NDArray[Any]:
    """Of as many windows, the first of which begins at row ``start``."""
    arrays = [source.rows] if source.second is None else [source.rows, source.second]
    end = start + source.history
    first = stream.start(*(x[start:end] for x in arrays))
    return np.stack(
        [first, *(stream.append(*(x[row] for x in arrays)) for row in range(end, end + windows - 1))]
    )
