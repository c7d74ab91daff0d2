"""Latents: the encoder's view of the window that ends at each bar."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from neuronet.fitting.fit import predict_source
from neuronet.fitting.source import Source
from neuronet.net import CNet
from neuronet.train.outputs import outputs_of, reads_bars_once


def latents_of(
    encoder: CNet, values: NDArray[np.float32], history: int, second: NDArray[Any] | None
) -> NDArray[Any]:
    """Latents [bars, latents] from scaled features [bars, features]; NaN before the first whole window.

    second  [bars, ...] the encoder's second input

    Each batch is whole, the last one filled up with repetitions, so that a window's latents are the same
    bits however many bars follow. So they are where the encoder reads each bar once.
    """
    count = len(values) - history + 1
    wide = int(np.prod(encoder.output_shape))
    found = np.full((len(values), wide), np.nan, encoder.device.dtype)
    if count > 0:
        source = Source.windows(values, None, np.arange(count), history, second)
        if reads_bars_once(encoder, source):
            outputs = outputs_of(encoder, source)
        else:
            padded = -(-count // encoder.batch) * encoder.batch
            starts = np.minimum(np.arange(padded), count - 1)
            outputs = predict_source(encoder, Source.windows(values, None, starts, history, second))
        found[history - 1 :] = outputs[:count].reshape(count, wide)
    return found
