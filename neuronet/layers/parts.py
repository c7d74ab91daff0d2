"""What composites over maps of [units, window] share: dense layers, a branch, checks."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from contextlib import contextmanager

from neuronet.activations import Activation
from neuronet.device.array import DeviceArray, Shape
from neuronet.errors import ShapeError, SpecError
from neuronet.layers.base import CNeuronBaseOCL
from neuronet.layers.conv import CNeuronConvOCL
from neuronet.layers.depthwise_conv import CNeuronDepthwiseConv
from neuronet.layers.layer_norm import CNeuronLayerNormOCL

Branch = list[tuple[str, CNeuronBaseOCL]]  # names in files, layers


def unit_dense(window: int, window_out: int, activation: Activation = Activation.NONE) -> CNeuronConvOCL:
    """The same dense layer for every unit."""
    return CNeuronConvOCL(window=window, step=window, window_out=window_out, activation=activation)


def local_branch(taps: int, *, causal: bool) -> Branch:
    """Local patch interaction along time: convolution, GELU, layer norm, convolution, channel by channel."""
    return [
        ("conv0", CNeuronDepthwiseConv(taps, causal=causal, activation=Activation.GELU)),
        ("between", CNeuronLayerNormOCL()),
        ("conv1", CNeuronDepthwiseConv(taps, causal=causal)),
    ]


def check_positive(where: str, **values: int) -> None:
    """SpecError unless every value is at least 1."""
    for name, value in values.items():
        if value < 1:
            raise SpecError(f"{name}={value} is not positive", where=where, fix=f"choose {name} >= 1")


def check_map(where: str, shape: Shape, *, least: int = 2) -> Shape:
    """``shape`` when it is [units, window] with a window of ``least`` values; a norm needs 2."""
    if len(shape) != 2:
        raise ShapeError(
            f"input {list(shape)} is not [units, window]",
            where=where,
            fix="put it where a sample has two axes",
        )
    if shape[1] < least:
        raise ShapeError(
            f"input {list(shape)} has fewer than 2 values per unit, which normalise to nothing",
            where=where,
            fix="put it where the last axis has 2 or more values",
        )
    return shape


@contextmanager
def second_input(layer: CNeuronBaseOCL, shape: Shape) -> Iterator[None]:
    """Inner layers built meanwhile have a second input of ``shape``, instead of the net's."""
    context = layer.context
    layer.context = dataclasses.replace(context, second_shape=shape)
    try:
        yield
    finally:
        layer.context = context


def flat(array: DeviceArray) -> DeviceArray:
    """[batch, ...] as [batch, values]."""
    return array.view(array.shape[0], array.size // array.shape[0])


def merged(array: DeviceArray) -> DeviceArray:
    """[batch, units, ...] as [batch * units, ...]."""
    return array.view(array.shape[0] * array.shape[1], *array.shape[2:])


def rows(array: DeviceArray, width: int = 0) -> DeviceArray:
    """[..., window] as [count, window], or as rows of ``width`` values."""
    width = width or array.shape[-1]
    return array.view(array.size // width, width)
