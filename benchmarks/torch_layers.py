"""Layers of neuronet in PyTorch, as functions of weights that have neuronet's names and shapes.

Each maker takes what the layer's fields are, makes the constants once and gives a function (weights, x) -> y
of maps [batch, units, width]. ``at`` is what the layer's names begin with: "" or "2/stage0/local0/".
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch.nn.functional as f

Weights = dict[str, Any]
Layer = Callable[[Weights, Any], Any]


def float32_only() -> None:
    """Products and convolutions in float32: cuDNN rounds to TF32 unless told otherwise."""
    torch.set_float32_matmul_precision("highest")
    torch.backends.cudnn.allow_tf32 = False


def linear(w: Weights, name: str, x: Any) -> Any:
    """The same dense layer for every unit."""
    return f.linear(x, w[f"{name}/w"][0], w[f"{name}/b"][0])


def dense(w: Weights, name: str, x: Any) -> Any:
    """[batch, ...] to [batch, neurons]."""
    return f.linear(x.flatten(1), w[f"{name}/w"], w[f"{name}/b"])


def norm(w: Weights, name: str, x: Any) -> Any:
    return f.layer_norm(x, x.shape[-1:], w[f"{name}/gamma"], w[f"{name}/beta"], 1e-5)


def gelu(x: Any) -> Any:
    return f.gelu(x, approximate="tanh")


def swi_glu(w: Weights, at: str, x: Any) -> Any:
    u, v = linear(w, f"{at}up", x).chunk(2, -1)
    return linear(w, f"{at}down", u * f.silu(v))


def waves_of(periods: int, freqs: int, kind: str) -> Callable[[Any], Any]:
    """Phases [batch, units, periods] to sines and cosines [batch, units, 2 * freqs * periods]."""
    harmonics = 2 * math.pi * 2.0 ** torch.arange(freqs, device=kind)

    def waves(phases: Any) -> Any:
        angle = phases[..., None] * harmonics
        pairs = torch.stack([torch.sin(angle), torch.cos(angle)], -1)
        return pairs.reshape(*phases.shape[:2], 2 * freqs * periods)

    return waves


def embedding(at: str, periods: int, freqs: int, kind: str, *, unit_norm: bool) -> Callable[..., Any]:
    """CMamba4CastEmbeding: (weights, x, phases)."""
    waves = waves_of(periods, freqs, kind)

    def layer(w: Weights, x: Any, phases: Any) -> Any:
        plain = torch.tanh(linear(w, f"{at}projection", x))
        if unit_norm:
            plain = norm(w, f"{at}norm", plain)
        else:
            scale = w[f"{at}norm/gamma"], w[f"{at}norm/beta"]
            plain = f.batch_norm(plain.flatten(1), None, None, *scale, training=True).view(plain.shape)
        return torch.cat([plain, linear(w, f"{at}with_time/projection", x) + waves(phases)], -1)

    return layer


def multi_windows(at: str, windows: Sequence[int], *, causal: bool) -> Layer:
    """CNeuronMultiWindowsConvWPadOCL over odd windows, before its activation."""

    def layer(w: Weights, x: Any) -> Any:
        rows, outs, first, width = x.transpose(1, 2), [], 0, x.shape[2]
        for i, window in enumerate(windows):
            last = first + window * width
            taps = w[f"{at}w"][first:last].view(window, width, -1).permute(2, 1, 0)
            padding = window - 1 if causal else window // 2
            made = f.conv1d(rows, taps, w[f"{at}b"][i], padding=padding)
            outs.append(made[..., : x.shape[1]])
            first = last
        return torch.cat(outs, 1).transpose(1, 2)

    return layer


def dot_block(
    at: str, *, units: int, heads: int, dimension: int, slots: int, kind: str, masked: bool = False
) -> Layer:
    """CNeuronDOTOCL; ``masked`` attends to all units under a band mask."""
    inner, side = heads * dimension, slots // 2
    place = torch.arange(units, device=kind)
    slot = place[None, :] - place[:, None] + side  # of the key's unit, for each query's
    outside = (slot < 0) | (slot >= slots)
    neighbour = place[:, None] + torch.arange(slots, device=kind) - side
    missing = ((neighbour < 0) | (neighbour >= units))[:, None]

    def attention(w: Weights, x: Any) -> Any:
        split = linear(w, f"{at}qkv", x).view(-1, units, 3, heads, dimension)
        if masked:
            q, k, v = split.permute(2, 0, 3, 1, 4)
            mask = w[f"{at}rpb"][0][:, slot.clamp(0, slots - 1)].masked_fill(outside, float("-inf"))
            out = f.scaled_dot_product_attention(q, k, v, attn_mask=mask[None])
            return out.transpose(1, 2).reshape(-1, units, inner)
        q, k, v = split.unbind(2)
        k, v = (f.pad(a, (0, 0, 0, 0, side, side)) for a in (k, v))
        s = torch.stack([(q * k[:, j : j + units]).sum(-1) for j in range(slots)], -1)
        s = s * dimension**-0.5 + w[f"{at}rpb"][0]
        p = s.masked_fill(missing, float("-inf")).softmax(-1)
        out = sum(p[..., j, None] * v[:, j : j + units] for j in range(slots))
        return out.reshape(-1, units, inner)

    def layer(w: Weights, x: Any) -> Any:
        y = x + linear(w, f"{at}proj", attention(w, norm(w, f"{at}norm0", x)))
        return y + linear(w, f"{at}ff1", gelu(linear(w, f"{at}ff0", norm(w, f"{at}norm1", y))))

    return layer


def mamba_block(
    at: str, *, units: int, inner: int, heads: int, state: int, kind: str, most: int = 64
) -> Layer:
    """CNeuronMambaBlockOCL by the chunked form of Mamba-2 (arXiv:2405.21060, listing 1), from products."""
    chunk = max(n for n in range(1, most + 1) if units % n == 0)
    chunks, channels = units // chunk, inner + 2 * state
    later = torch.ones(chunk, chunk, dtype=torch.bool, device=kind).triu(1)

    def scan(w: Weights, xs: Any, b: Any, c: Any, delta: Any) -> Any:
        """xs [batch, heads, chunks, chunk, head_dim], b and c [batch, 1, chunks, chunk, state]."""
        cum = (delta * -torch.exp(w[f"{at}mamba/a_log"])[:, None, None]).cumsum(-1)
        decay = torch.exp((cum[..., :, None] - cum[..., None, :]).masked_fill(later, float("-inf")))
        u = xs * delta[..., None]
        inside = (c @ b.transpose(-1, -2) * decay) @ u
        ends = (b * torch.exp(cum[..., -1:] - cum)[..., None]).transpose(-1, -2) @ u
        states, h = [], torch.zeros_like(ends[:, :, 0])
        for k in range(chunks):
            states.append(h)
            h = torch.exp(cum[:, :, k, -1])[..., None, None] * h + ends[:, :, k]
        across = (c * torch.exp(cum)[..., None]) @ torch.stack(states, 2)
        return inside + across + w[f"{at}mamba/d"][:, None, None, None] * xs

    def mamba(w: Weights, x: Any) -> Any:
        n = len(x)
        z, xbc, delta = linear(w, f"{at}mamba/in_project", x).split([inner, channels, heads], -1)
        taps = w[f"{at}mamba/conv_w"].T[:, None]
        xbc = f.conv1d(xbc.transpose(1, 2), taps, w[f"{at}mamba/conv_b"], padding=3, groups=channels)
        xs, b, c = f.silu(xbc[..., :units]).transpose(1, 2).split([inner, state, state], -1)
        delta = f.softplus(delta).transpose(1, 2).reshape(n, heads, chunks, chunk)
        xs = xs.reshape(n, chunks, chunk, heads, -1).permute(0, 3, 1, 2, 4)
        b, c = (v.reshape(n, 1, chunks, chunk, state) for v in (b, c))
        y = scan(w, xs, b, c, delta).permute(0, 2, 3, 1, 4).reshape(n, units, inner)
        gated = f.rms_norm(y * f.silu(z), (inner,), w[f"{at}mamba/norm_w"], 1e-5)
        return linear(w, f"{at}mamba/out_project", gated)

    def layer(w: Weights, x: Any) -> Any:
        y = x + mamba(w, norm(w, f"{at}norm0", x))
        return y + linear(w, f"{at}ff1", f.leaky_relu(linear(w, f"{at}ff0", norm(w, f"{at}norm1", y)), 0.01))

    return layer


def shortcut(w: Weights, at: str, branch: Layer, x: Any) -> Any:
    return x + branch(w, norm(w, f"{at}norm", x))


def channel_attention(at: str, heads: int, dimension: int, *, shared: bool = False) -> Layer:
    """CNeuronChannelAttention, not causal; with ``shared`` the queries are the values too."""

    def layer(w: Weights, x: Any) -> Any:
        rows = linear(w, f"{at}project", x)
        split = rows.view(*x.shape[:2], 2 if shared else 3, heads, dimension).permute(2, 0, 3, 4, 1)
        q, k, v = split[0], split[1], split[0 if shared else 2]  # [batch, heads, dimension, units]
        q, k = (f.normalize(a, dim=-1, eps=1e-6) for a in (q, k))
        mix = (w[f"{at}tau"][:, None, None] * (q @ k.transpose(-1, -2))).softmax(-1)
        return (mix @ v).permute(0, 3, 1, 2).reshape(*x.shape[:2], heads * dimension)

    return layer


def local(at: str) -> Layer:
    """Local patch interaction, an odd number of taps."""

    def conv(w: Weights, name: str, x: Any) -> Any:
        taps = w[f"{name}/w"].T[:, None]
        made = f.conv1d(x.transpose(1, 2), taps, w[f"{name}/b"], padding=taps.shape[2] // 2, groups=len(taps))
        return made.transpose(1, 2)

    def layer(w: Weights, x: Any) -> Any:
        return conv(w, f"{at}conv1", norm(w, f"{at}between", gelu(conv(w, f"{at}conv0", x))))

    return layer


def xcit_block(at: str, heads: int, dimension: int) -> Layer:
    """CNeuronXCiTOCL, not causal."""
    channels = channel_attention(f"{at}attention/channels/", heads, dimension)
    near = local(f"{at}lpi/")

    def attention(w: Weights, x: Any) -> Any:
        return linear(w, f"{at}attention/project", channels(w, x))

    def feed_forward(w: Weights, x: Any) -> Any:
        return linear(w, f"{at}feed_forward/ff1", gelu(linear(w, f"{at}feed_forward/ff0", x)))

    def layer(w: Weights, x: Any) -> Any:
        for name, branch in (("attention", attention), ("lpi", near), ("feed_forward", feed_forward)):
            x = shortcut(w, f"{at}{name}/", branch, x)
        return x

    return layer


def weighted_rows(u: Any, x: Any, scale: float, less: Any = 0.0) -> Any:
    """softmax(scale * u xᵀ - less) x: what absorbed questions u find in the rows x."""
    return (scale * (u @ x.mT) - less).softmax(-1) @ x
