"""A tape must give the bits of plain launches: short trainings with and without one."""

from __future__ import annotations

import os

import numpy as np

from neuronet.device.base import Device
from neuronet.layers.base import CNeuronBaseOCL
from neuronet.layers.batch_norm import CNeuronBatchNormOCL
from neuronet.layers.conv import CNeuronConvOCL
from neuronet.layers.dense import CNeuronDenseOCL
from neuronet.layers.dropout import CNeuronDropoutOCL
from neuronet.net import CNet

STEPS = 4


def tape_problems(device: Device) -> list[str]:
    """Arrays that differ, in one bit at least, between training with and without a tape."""
    plain, taped = _trained(device, "0"), _trained(device, "1")
    return [f"{name} differs" for name in plain if plain[name].tobytes() != taped[name].tobytes()]


def _trained(device: Device, tape: str) -> dict[str, np.ndarray]:
    """A small net's arrays after a few steps, with the tape that ``NEURONET_TAPE=tape`` means."""
    layers: list[CNeuronBaseOCL] = [
        CNeuronBatchNormOCL(),
        CNeuronConvOCL(window=6, step=2, window_out=5, activation="TANH"),
        CNeuronDropoutOCL(probability=0.3),
        CNeuronDenseOCL(neurons=3),
    ]
    net = CNet(input_shape=(17, 3), layers=layers, batch=9).build(device, seed=0)
    rng = np.random.default_rng(0)
    before = os.environ.get("NEURONET_TAPE")
    os.environ["NEURONET_TAPE"] = tape
    try:
        for rows in [9] * STEPS + [4]:
            net.feedForward(rng.standard_normal((rows, 17, 3)))
            net.backProp(rng.standard_normal((rows, 3)))
    finally:
        del os.environ["NEURONET_TAPE"]
        if before is not None:
            os.environ["NEURONET_TAPE"] = before
    return net.arrays()
