"""Twins of kernels/matmul_wide.cl: those of matmul.py and dense.py under other names."""

from __future__ import annotations

from neuronet.reference.dense import FeedForward
from neuronet.reference.matmul import MatMult, MatMultGradA, MatMultGradB

MatMultWide, MatMultWideGradA, MatMultWideGradB, FeedForwardWide = (
    MatMult,
    MatMultGradA,
    MatMultGradB,
    FeedForward,
)
