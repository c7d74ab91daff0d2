"""Twins of kernels/mask_attention_small.cl: those of the kernels of any size."""

from __future__ import annotations

from neuronet.reference.mask_attention_complex import MaskAttentionComplex
from neuronet.reference.mask_attention_gradients import MaskAttentionGradientsComplex

MaskAttentionComplex20 = MaskAttentionComplex32 = MaskAttentionComplex
MaskAttentionGradientsComplex20 = MaskAttentionGradientsComplex32 = MaskAttentionGradientsComplex
