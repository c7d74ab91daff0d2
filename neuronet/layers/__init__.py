"""Layers: one class a file, found by its name: CNeuronConvOCL is in conv.py."""

from neuronet.layers.conv import CNeuronConvOCL
from neuronet.layers.dense import CNeuronDenseOCL

__all__ = ["CNeuronConvOCL", "CNeuronDenseOCL"]
