"""Optimisers and learning-rate schedules."""

from neuronet.optim.adam import Adam
from neuronet.optim.schedules import StepDecay, WarmupCosine
from neuronet.optim.sgd import SGD

__all__ = ["SGD", "Adam", "StepDecay", "WarmupCosine"]
