"""Latents: the encoder's view of the window that ends at each bar."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from neuronet.fitting.source import Source
from neuronet.net import CNet
from neuronet.train.outputs import outputs_of


def latents_of(
    encoder: CNet, values: NDArray[np.float32], history: int, second: NDArray[Any] | None
) -> NDArray[Any]:
    """Latents [bars, latents] from scaled features [bars, features]; NaN before the first whole window.

    second  [bars, ...] the encoder's second input
    """
    count = len(values) - history + 1
    wide = int(np.prod(encoder.output_shape))
    found = np.full((len(values), wide), np.nan, encoder.device.dtype)
    if count > 0:
        outputs = outputs_of(encoder, Source.windows(values, None, np.arange(count), history, second))
        found[history - 1 :] = outputs.reshape(count, wide)
    return found
