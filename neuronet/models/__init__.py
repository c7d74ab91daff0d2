"""Whole networks of the articles: declared, trained, saved and used as one object."""

from neuronet.models.catch import Catch
from neuronet.models.dfft import DFFT
from neuronet.models.mamba4cast import Mamba4Cast

__all__ = ["DFFT", "Catch", "Mamba4Cast"]
