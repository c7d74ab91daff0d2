"""The nets that ``neuronet train --model`` builds, in PyTorch, from the fields of neuronet's own layers."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch_catch import catch
from torch_dfft import encoder, task_aligned
from torch_layers import (
    Weights,
    dense,
    embedding,
    gelu,
    linear,
    mamba_block,
    multi_windows,
    norm,
    swi_glu,
    waves_of,
    weighted_rows,
)

from neuronet.layers.position_encoder import positions
from neuronet.layers.stca import AGE

Forward = Callable[[Weights, Any, Any], tuple[Any, Any]]  # weights, x, second -> output, penalty
RESTORED = 1e-5  # added to the variance of an instance


def forward_of(model: str, net: Any, kind: str, *, drawn: bool) -> Forward:
    """The forward pass of the declared CNet ``net``; ``drawn`` is for catch alone, see torch_catch.py."""
    if model == "catch":
        return _catch(net, kind, drawn)
    run = {"conv": _conv, "mamba4cast": _mamba4cast, "dfft": _dfft, "stca": _stca}[model](net, kind)
    return lambda w, x, second: (run(w, x, second), 0.0)


def _conv(net: Any, kind: str) -> Callable[..., Any]:
    windows = [layer.window for layer in net.layers[:-1]]

    def run(w: Weights, x: Any, second: Any) -> Any:
        for i, window in enumerate(windows):
            x = gelu(linear(w, str(i), x.reshape(len(x), -1, window)))
        return dense(w, str(len(windows)), x)

    return run


def _mamba4cast(net: Any, kind: str) -> Callable[..., Any]:
    first, conv, _, block, *_ = net.layers
    units = net.input_shape[0]
    embed = embedding("0/", len(first.periods), first.freqs, kind, unit_norm=True)
    windows = multi_windows("1/", conv.windows, causal=True)
    mamba = mamba_block(
        "3/", units=units, inner=block.window_key, heads=block.heads, state=block.state_size, kind=kind
    )

    def run(w: Weights, x: Any, second: Any) -> Any:
        y = linear(w, "2", gelu(windows(w, embed(w, x, second))))
        return dense(w, "6", norm(w, "4", mamba(w, y))[:, -1])

    return run


def _dfft(net: Any, kind: str) -> Callable[..., Any]:
    units, stages = net.input_shape[0], net.layers[2]
    table = torch.tensor(positions(units, stages.windows[0]), dtype=torch.float32, device=kind)
    how: dict[str, Any] = {"heads": stages.heads, "dimension": stages.dimension}
    encode = encoder("2/", units=units, stages=len(stages.windows), kind=kind, **how)
    align = task_aligned("3/", **how)

    def run(w: Weights, x: Any, second: Any) -> Any:
        y = align(w, encode(w, linear(w, "0", x) + table))
        return dense(w, "5", y[:, -1])

    return run


def _stca(net: Any, kind: str) -> Callable[..., Any]:
    first, _, stca, _ = net.layers
    waves = waves_of(len(first.periods), first.freqs, kind)
    scale = stca.sharpen / math.sqrt(stca.dimension)
    ages = AGE * torch.arange(net.input_shape[0] - 1, -1, -1, device=kind)

    def attend(w: Weights, at: str, questions: Any, rows: Any) -> Any:
        """Absorbed: keys and values are never made."""
        n, count, _ = questions.shape
        r = linear(w, f"{at}query", questions).view(n, count, stca.heads, stca.dimension).transpose(1, 2)
        u = (r @ w[f"{at}w_k"]).flatten(1, 2)  # [batch, heads * questions, width]
        less = (w[f"{at}slope"][:, None] * ages).repeat_interleave(count, 0)
        read = weighted_rows(u, rows, scale, less).view(n, stca.heads, count, -1)
        found = (read @ w[f"{at}w_v"].mT).transpose(1, 2).reshape(n, count, -1)
        return linear(w, f"{at}project", found)

    def run(w: Weights, x: Any, second: Any) -> Any:
        h = linear(w, "1", linear(w, "0/projection", x) + waves(second))
        joined = dense(w, "2/targets", h[:, -stca.recent :]).view(len(x), stca.scenarios, -1)
        for i in range(stca.layers):
            rows = norm(w, f"2/history{i}", swi_glu(w, f"2/read{i}/", h))
            asked = swi_glu(w, f"2/ask{i}/", linear(w, f"2/mix{i}", joined))
            found = attend(w, f"2/found{i}/", norm(w, f"2/question{i}", asked), rows)
            joined = torch.cat([found, joined], -1)
        return dense(w, "3", swi_glu(w, "2/last/", linear(w, "2/last_mix", joined)))

    return run


def _catch(net: Any, kind: str, drawn: bool) -> Forward:
    time, channels = net.input_shape
    body = catch("1/", net.layers[1], time, channels, kind, drawn=drawn)

    def run(w: Weights, x: Any, second: Any) -> tuple[Any, Any]:
        mean = x.mean(1, keepdim=True)
        deviation = (x.var(1, keepdim=True, correction=0) + RESTORED).sqrt()
        y, penalty = body(w, (x - mean) / deviation)
        return y * deviation + mean, penalty

    return run
