"""Optimisers and learning-rate schedules."""

from neuronet.optim.adam import Adam
from neuronet.optim.bi_level import BiLevel
from neuronet.optim.schedules import Halving, StepDecay, WarmupCosine
from neuronet.optim.sgd import SGD

__all__ = ["SGD", "Adam", "BiLevel", "Halving", "StepDecay", "WarmupCosine"]
