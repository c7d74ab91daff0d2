"""Whole networks of the articles: declared, trained, saved and used as one object."""

from neuronet.models.catch import Catch
from neuronet.models.dfft import DFFT
from neuronet.models.mamba4cast import Mamba4Cast
from neuronet.models.stca import STCA

__all__ = ["DFFT", "STCA", "Catch", "Mamba4Cast"]
