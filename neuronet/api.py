"""Every public name; ``import neuronet as nn`` hands them out, importing this on first use."""

from __future__ import annotations

from neuronet import models
from neuronet.activations import Activation
from neuronet.bars.bars import Bars
from neuronet.bars.features import make_features
from neuronet.bars.inspect import inspect_bars
from neuronet.bars.options import ReadOptions
from neuronet.bars.read import read_bars
from neuronet.bars.scaling import Scaler
from neuronet.bars.split import split_by_time
from neuronet.bars.store import write_bars
from neuronet.bars.synthetic import make_bars
from neuronet.bars.targets import direction_targets, forecast_targets
from neuronet.bars.windows import window_starts
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
from neuronet.fitting.fit import fit, predict_source
from neuronet.fitting.source import Source
from neuronet.layers import *  # noqa: F403
from neuronet.layers import __all__ as _layers
from neuronet.layers.ts_position_encoder import time_phases
from neuronet.losses import Action, CrossEntropy, Huber, Mae, Mse, Policy, Quantile
from neuronet.net import CNet
from neuronet.optim import SGD, Adam, BiLevel, Halving, StepDecay, WarmupCosine

__all__ = [
    "SGD",
    "Action",
    "Activation",
    "Adam",
    "BiLevel",
    "Halving",
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
    "Policy",
    "Quantile",
    "ReadOptions",
    "Scaler",
    "ShapeError",
    "Source",
    "SpecError",
    "StepDecay",
    "TrainingError",
    "WarmupCosine",
    "direction_targets",
    "find_device",
    "fit",
    "forecast_targets",
    "inspect_bars",
    "list_devices",
    "make_bars",
    "make_features",
    "models",
    "predict_source",
    "read_bars",
    "register_kernels",
    "split_by_time",
    "time_phases",
    "window_starts",
    "write_bars",
    *_layers,
]
