"""Whole networks of the articles: declared, trained, saved and used as one object."""

from neuronet.models.mamba4cast import Mamba4Cast

__all__ = ["Mamba4Cast"]
