"""Whole networks of the articles: declared, trained, saved and used as one object."""

from neuronet.models.dfft import DFFT
from neuronet.models.mamba4cast import Mamba4Cast

__all__ = ["DFFT", "Mamba4Cast"]
