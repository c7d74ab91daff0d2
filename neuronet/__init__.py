"""neuronet: neural nets for price bars in NumPy and OpenCL, after MQL5's NeuroNet.

    import neuronet as nn

Everything public is here under one name; importing it touches no OpenCL. The tree below is:
device (arrays, kernels), ops (functions), layers, losses, optim, net, bars, train, storage.
"""

from neuronet.activations import Activation
from neuronet.bars.bars import Bars
from neuronet.bars.read import read_bars
from neuronet.bars.synthetic import make_bars
from neuronet.device.find import DeviceInfo, find_device, list_devices
from neuronet.device.kernel import register_kernels
from neuronet.device.numpy import NumpyDevice
from neuronet.errors import (
    DataError,
    DeviceError,
    FileFormatError,
    KernelError,
    NeuronetError,
    ShapeError,
    SpecError,
    TrainingError,
)
from neuronet.layers import *  # noqa: F403
from neuronet.layers import __all__ as _layers
from neuronet.losses import CrossEntropy, Huber, Mae, Mse, Quantile
from neuronet.net import CNet
from neuronet.optim import SGD, Adam, StepDecay, WarmupCosine
from neuronet.train.fit import fit, predict_source
from neuronet.train.source import Source

__version__ = "0.1.0"

__all__ = [
    "SGD",
    "Activation",
    "Adam",
    "Bars",
    "CNet",
    "CrossEntropy",
    "DataError",
    "DeviceError",
    "DeviceInfo",
    "FileFormatError",
    "Huber",
    "KernelError",
    "Mae",
    "Mse",
    "NeuronetError",
    "NumpyDevice",
    "Quantile",
    "ShapeError",
    "Source",
    "SpecError",
    "StepDecay",
    "TrainingError",
    "WarmupCosine",
    "find_device",
    "fit",
    "list_devices",
    "make_bars",
    "predict_source",
    "read_bars",
    "register_kernels",
    *_layers,
]
