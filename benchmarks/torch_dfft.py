"""DFFT in PyTorch: encoder, scale-aggregated and task-aligned encoder; see torch_layers.py."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as f
from torch_layers import (
    Layer,
    Weights,
    channel_attention,
    dot_block,
    gelu,
    linear,
    local,
    norm,
    shortcut,
    xcit_block,
)


def half(units: int) -> int:
    return -(-units // 2)


def downsample(w: Weights, at: str, x: Any) -> Any:
    """CNeuronDownsampleOCL: two neighbours become one, pairs counted from the last."""
    if x.shape[1] % 2:
        x = f.pad(x, (0, 0, 1, 0))
    pairs = x.reshape(len(x), -1, 2 * x.shape[2])
    return linear(w, f"{at}dense", norm(w, f"{at}norm", pairs))


def encoder(at: str, *, units: int, stages: int, heads: int, dimension: int, kind: str) -> Layer:
    """CNeuronDFFTEncoder with one local attention a stage, all of one width."""
    locals_, channels, sizes = [], [], [units]
    for i in range(stages):
        stage = f"{at}stage{i}/"
        how: dict[str, Any] = {"heads": heads, "dimension": dimension, "slots": 3, "kind": kind}
        locals_.append(dot_block(f"{stage}local0/", units=sizes[-1], **how))
        channels.append(xcit_block(f"{stage}channels/", heads, dimension))
        sizes.append(half(sizes[-1]))
    blocks = [xcit_block(f"{at}sae/block{i}/", heads, dimension) for i in range(1, stages - 1)]
    last = xcit_block(f"{at}sae/saa/block/", heads, dimension)

    def aggregate(w: Weights, maps: list[Any]) -> Any:
        """CNeuronSAE."""
        y = linear(w, f"{at}sae/dense0", maps[0])
        for i, block in enumerate(blocks, 1):
            later = y[:, 1 - y.shape[1] % 2 :: 2]  # of each pair
            y = block(w, later + linear(w, f"{at}sae/dense{i}", maps[i]))
        up = linear(w, f"{at}sae/saa/up/dense", maps[-1]).reshape(len(y), -1, y.shape[2])
        return norm(w, f"{at}sae/norm", last(w, y + up[:, up.shape[1] - y.shape[1] :]))

    def layer(w: Weights, x: Any) -> Any:
        maps: list[Any] = []
        for i in range(stages):
            x = downsample(w, f"{at}stage{i}/downsample/", x) if i else x
            x = channels[i](w, locals_[i](w, x))
            maps.append(x)
        return aggregate(w, maps)

    return layer


def task_aligned(at: str, heads: int, dimension: int) -> Layer:
    """CNeuronTAE with one block in each part."""
    channels = channel_attention(f"{at}joint/attention0/channels/", heads, dimension, shared=True)
    near, block = local(f"{at}joint/lpi0/"), xcit_block(f"{at}regression/block0/", heads, dimension)

    def grouped(w: Weights, name: str, x: Any) -> Any:
        first, second = x.chunk(2, -1)
        return torch.cat([linear(w, f"{name}/dense0", first), linear(w, f"{name}/dense1", second)], -1)

    def attention(w: Weights, x: Any) -> Any:
        return grouped(w, f"{at}joint/attention0/project", channels(w, x))

    def feed_forward(w: Weights, x: Any) -> Any:
        wide = gelu(grouped(w, f"{at}joint/feed_forward0/ff0", x))
        return grouped(w, f"{at}joint/feed_forward0/ff1", wide)

    def layer(w: Weights, x: Any) -> Any:
        y = linear(w, f"{at}joint/entry", x)
        for name, branch in (("attention0", attention), ("lpi0", near), ("feed_forward0", feed_forward)):
            y = shortcut(w, f"{at}joint/{name}/", branch, y)
        first, shared = y.chunk(2, -1)
        return torch.cat([first, block(w, gelu(linear(w, f"{at}regression/entry", shared)))], -1)

    return layer
