"""CNeuronCATCH in PyTorch, by the fields of neuronet's layer; see torch_layers.py."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as f
from torch_layers import Weights, gelu, linear, norm

import neuronet as nn


def catch(
    at: str, layer: nn.CNeuronCATCH, time: int, channels: int, kind: str, *, drawn: bool = False
) -> Callable[[Weights, Any], tuple[Any, Any]]:
    """(weights, x [batch, time, channels]) -> what is made of it, and the penalties of the loss.

    drawn  the mask is drawn and patches are hidden, as in training; else it is open where its logit is not
           negative and nothing is hidden, so that results can be compared. The gradient is the same
    """
    heads, vector = layer.heads, 2 * layer.dimension
    inner, self_ = heads * vector, torch.eye(channels, device=kind)
    bins = time // 2 + 1 if layer.half else time
    patches = 1 + (bins - layer.window) // layer.step

    def mask_of(z: Any) -> Any:
        y = torch.sigmoid(2 * z.clamp(-15, 15))
        opened = torch.bernoulli(y.detach()) if drawn else (z >= 0).float()
        return ((opened - y).detach() + y) * (1 - self_) + self_

    def attention(w: Weights, name: str, x: Any, mask: Any) -> tuple[Any, Any]:
        rows = len(x)
        split = linear(w, f"{name}/qkv", x).view(rows, channels, 3, heads, vector)
        q, k, v = split.permute(2, 0, 3, 1, 4)
        s = q @ k.transpose(-1, -2)
        logits = (s * (vector**-0.5 * mask)[:, None]).masked_fill((mask < 0.5)[:, None], -math.inf)
        out = (logits.softmax(-1) @ v).transpose(1, 2).reshape(rows, channels, inner)
        norms = q.norm(dim=-1)[..., None] * k.norm(dim=-1)[:, :, None]
        e = ((s / norms).mean(1) / layer.temperature).exp()
        cluster = -((e * mask).sum(-1) / e.sum(-1)).log().mean()
        opened = (mask - self_).abs().sum() / (rows * channels * (channels - 1))
        return linear(w, f"{name}/project", out), cluster + layer.regular * opened

    def run(w: Weights, x: Any) -> tuple[Any, Any]:
        batch = len(x)
        spectrum = (torch.fft.rfft if layer.half else torch.fft.fft)(x.transpose(1, 2))
        pairs = torch.view_as_real(spectrum)  # [batch, channels, bins, 2]
        cut = pairs.unfold(2, layer.window, layer.step).permute(0, 2, 1, 4, 3)
        cut = cut.reshape(batch * patches, channels, 2 * layer.window)
        mask, penalty = mask_of(cut @ w[f"{at}fusion/mask/w"].T), 0.0
        seen = f.dropout(cut, layer.hidden_share) if drawn and layer.hidden_share else cut
        y = linear(w, f"{at}fusion/embed", seen)
        for i in range(layer.blocks):
            name = f"{at}fusion/mix{i}"
            mixed, term = attention(w, f"{name}/attention", norm(w, f"{name}/norm", y), mask)
            y, penalty = y + mixed, penalty + term
            name = f"{at}fusion/ff{i}"
            y = y + linear(w, f"{name}/ff1", gelu(linear(w, f"{name}/ff0", norm(w, f"{name}/norm", y))))
        y = linear(w, f"{at}fusion/head", y).view(batch, patches, channels, layer.features)
        y = y.transpose(1, 2).reshape(batch, channels, patches * layer.features)
        made = linear(w, f"{at}reconstruct/head", y).view(batch, channels, bins, 2)
        penalty = layer.correlation / layer.blocks * penalty
        if layer.frequency:
            difference = ((made - pairs).square().sum(-1) + 1e-12).sqrt().mean()
            penalty = penalty + layer.frequency * difference
        complex_ = torch.view_as_complex(made)
        if layer.half:
            signal = torch.fft.irfft(complex_, n=time)
        else:
            signal = torch.view_as_real(torch.fft.ifft(complex_)).reshape(batch, channels, 2 * time)
        return linear(w, f"{at}merge", signal).transpose(1, 2), penalty

    return run
