"""Random walks of the logarithm, as prices go: their steps are independent, and nothing tells the next one.

Not in the prior of Mamba4Cast, whose forecasts of exchange rates were worse than no change without them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from neuronet.prior.settings import Prior

FREEDOM = 4.0  # degrees of Student's t
LARGEST = 10.0  # of the logarithm, either way: walks of many large steps stay numbers


def draw_walks(prior: Prior, count: int, length: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """[count, length]: exp of sums of independent steps of mean 0, from a level of 1."""
    low, high = np.log(prior.walk_volatility)
    deviation = np.exp(rng.uniform(low, high, count))[:, None]
    steps = rng.standard_normal((count, length))
    tails = rng.random(count) < prior.walk_tails
    heavy = rng.standard_t(FREEDOM, (count, length)) / np.sqrt(FREEDOM / (FREEDOM - 2.0))
    steps[tails] = heavy[tails]
    return np.asarray(np.exp(np.clip(np.cumsum(deviation * steps, axis=1), -LARGEST, LARGEST)))
