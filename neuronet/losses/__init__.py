"""Losses: each gives the value and the gradient for the output layer in one launch."""

from neuronet.losses.action import Action
from neuronet.losses.cross_entropy import CrossEntropy
from neuronet.losses.elementwise import Huber, Mae, Mse
from neuronet.losses.policy import Policy
from neuronet.losses.quantile import Quantile

__all__ = ["Action", "CrossEntropy", "Huber", "Mae", "Mse", "Policy", "Quantile"]
