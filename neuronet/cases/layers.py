"""One example of every layer: tests take each through its whole life, ``selfcheck`` on a device."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from neuronet.device.array import Shape
from neuronet.layers import (
    CMamba4CastEmbeding,
    CNeuronBatchNormOCL,
    CNeuronCATCH,
    CNeuronComplexConvOCL,
    CNeuronConcatenate,
    CNeuronConvOCL,
    CNeuronDenseOCL,
    CNeuronDFFTEncoder,
    CNeuronDOTOCL,
    CNeuronDownsampleOCL,
    CNeuronDropoutOCL,
    CNeuronFourierOCL,
    CNeuronFreqPatching,
    CNeuronLastUnitsOCL,
    CNeuronLayerNormOCL,
    CNeuronMambaBlockOCL,
    CNeuronMambaOCL,
    CNeuronMaskAttentionComplex,
    CNeuronMHFlashAttentionOCL,
    CNeuronMultiWindowsConvOCL,
    CNeuronMultiWindowsConvWPadOCL,
    CNeuronPositionEncoder,
    CNeuronProofOCL,
    CNeuronRevINDenormOCL,
    CNeuronRevINOCL,
    CNeuronSAA,
    CNeuronSAE,
    CNeuronSoftMaxOCL,
    CNeuronSSMOCL,
    CNeuronSTCAEncoder,
    CNeuronSTCAOCL,
    CNeuronSwiGLUOCL,
    CNeuronTAE,
    CNeuronTransposeOCL,
    CNeuronTSPositionEncoder,
    CNeuronXCiTOCL,
    CResidualConv,
)
from neuronet.layers.base import CNeuronBaseOCL, layer_from_spec


@dataclass(frozen=True)
class Example:
    """A net of a few layers around ``shown``; ``layers()`` gives fresh ones each time."""

    shown: str
    stack: tuple[CNeuronBaseOCL, ...]
    input_shape: Shape
    second_shape: Shape | None = None
    batch: int = 3
    training: bool = True  # False where random draws of training have no finite differences

    def layers(self) -> list[CNeuronBaseOCL]:
        return [layer_from_spec(layer.spec()) for layer in self.stack]

    def __str__(self) -> str:
        return self.shown


def _example(
    *stack: CNeuronBaseOCL,
    shape: Shape,
    second: Shape | None = None,
    batch: int = 3,
    shown: int = 0,
    training: bool = True,
) -> Example:
    return Example(type(stack[shown]).__name__, stack, shape, second, batch, training)


def _catch(**fields: Any) -> CNeuronCATCH:
    """A small one, whose mask outside of training has finite differences."""
    small = {"window": 2, "step": 1, "width": 4, "hidden": 4, "heads": 2, "dimension": 1, "features": 4}
    penalties = {"correlation": 0.3, "temperature": 0.5, "frequency": 0.2}
    return CNeuronCATCH(**small | penalties | {"evaluation": "expected"} | fields)


EXAMPLES = [
    _example(CNeuronDenseOCL(neurons=5, activation="SILU"), CNeuronDenseOCL(neurons=2), shape=(4, 3)),
    _example(CNeuronConvOCL(window=6, step=2, window_out=3, activation="GELU"), shape=(7, 2)),
    _example(CNeuronConvOCL(window=3, step=3, window_out=4, variables=2), shape=(2, 10)),
    _example(CNeuronBatchNormOCL(activation="GELU"), CNeuronDenseOCL(neurons=2), shape=(3, 2), batch=5),
    _example(CNeuronBatchNormOCL(), CNeuronDenseOCL(neurons=2), shape=(7,), batch=1),
    _example(CNeuronLayerNormOCL(), shape=(5, 4)),
    _example(CNeuronRevINOCL(), CNeuronDenseOCL(neurons=3), shape=(6, 2)),
    _example(
        CNeuronConvOCL(window=6, step=2, window_out=3),
        CNeuronRevINOCL(),
        CNeuronConvOCL(window=3, step=3, window_out=3, activation="TANH"),
        CNeuronRevINDenormOCL(layers=1),
        shape=(7, 2),
        shown=3,
    ),
    _example(CNeuronProofOCL(window=3, step=2), CNeuronDenseOCL(neurons=2), shape=(8, 3)),
    _example(CNeuronSoftMaxOCL(heads=2), CNeuronDenseOCL(neurons=2), shape=(10,)),
    _example(CNeuronTransposeOCL(), CNeuronDenseOCL(neurons=2), shape=(3, 5)),
    _example(
        CNeuronConcatenate(neurons=4, activation="TANH"),
        CNeuronDenseOCL(neurons=2),
        shape=(5,),
        second=(3,),
    ),
    _example(CNeuronDropoutOCL(probability=0.3), CNeuronDenseOCL(neurons=2), shape=(3, 7)),
    _example(CNeuronPositionEncoder(), CNeuronDenseOCL(neurons=2), shape=(6, 4)),
    _example(CResidualConv(window=4, window_out=3), CNeuronDenseOCL(neurons=2), shape=(5, 4), batch=5),
    _example(
        CNeuronTSPositionEncoder(periods=(60, 86400), freqs=2),
        CNeuronDenseOCL(neurons=2),
        shape=(5, 3),
        second=(5, 2),
    ),
    _example(
        CMamba4CastEmbeding(window=3, window_out=11, periods=(60, 86400)),
        CNeuronDenseOCL(neurons=2),
        shape=(4, 3),
        second=(4, 2),
        batch=5,
    ),
    _example(
        CNeuronMultiWindowsConvWPadOCL(windows=(3, 2), step=2, window_out=3, dimension=2),
        CNeuronDenseOCL(neurons=2),
        shape=(5, 2),
    ),
    _example(
        CNeuronMultiWindowsConvWPadOCL(
            windows=(1, 4), step=1, window_out=2, variables=2, causal=True, activation="GELU"
        ),
        shape=(2, 6),
    ),
    _example(
        CNeuronMultiWindowsConvOCL(windows=(3, 1), window_out=3, variables=2),
        CNeuronDenseOCL(neurons=2),
        shape=(2, 8),
    ),
    _example(
        CNeuronConvOCL(window=3, step=3, window_out=2),
        CNeuronLastUnitsOCL(units_count=2),
        shape=(4, 3),
        shown=1,
    ),
    _example(CNeuronMambaOCL(window_key=6, heads=2, state_size=3), shape=(5, 4)),
    _example(
        CNeuronMambaBlockOCL(window_key=4, heads=2, state_size=2), CNeuronDenseOCL(neurons=2), shape=(4, 3)
    ),
    _example(
        CNeuronDOTOCL(window=4, dimension=2, heads=3, causal=True, per_position=True),
        CNeuronDOTOCL(window=3, dimension=3, heads=1, radius=2, post_norm=True),
        shape=(5, 4),
    ),
    _example(CNeuronSSMOCL(window_key=3), CNeuronDenseOCL(neurons=2), shape=(4, 2)),
    _example(CNeuronXCiTOCL(heads=2, dimension=3), CNeuronDenseOCL(neurons=2), shape=(5, 4)),
    _example(CNeuronXCiTOCL(heads=3, dimension=2, lpi_window=2, causal=True, post_norm=True), shape=(6, 3)),
    _example(CNeuronDownsampleOCL(window_out=3), CNeuronDownsampleOCL(window_out=2), shape=(7, 2)),
    _example(
        CNeuronConvOCL(window=2, step=2, window_out=3),
        CNeuronSAA(heads=2, dimension=2),
        CNeuronDenseOCL(neurons=2),
        shape=(5, 2),
        second=(3, 2),
        shown=1,
    ),
    _example(
        CNeuronSAE(units=7, windows=(2, 1, 3), window_out=4, heads=1, dimension=2),
        CNeuronDenseOCL(neurons=2),
        shape=(24,),
    ),
    _example(
        CNeuronDFFTEncoder(windows=(4, 4), window_out=4, heads=2, dimension=2, layers=1),
        CNeuronDenseOCL(neurons=2),
        shape=(6, 4),
    ),
    _example(CNeuronTAE(window_out=4, heads=2, dimension=2, layers=1), shape=(4, 3)),
    _example(
        CNeuronFourierOCL(transform="rfft"),
        CNeuronFourierOCL(transform="irfft", length=5),
        CNeuronDenseOCL(neurons=2),
        shape=(2, 5),
    ),
    _example(
        CNeuronFourierOCL(),
        CNeuronFreqPatching(window=3, step=2),
        CNeuronDenseOCL(neurons=2),
        shape=(2, 6),
        shown=1,
    ),
    _example(
        CNeuronComplexConvOCL(window=3, step=2, window_out=2),
        CNeuronComplexConvOCL(window=2, step=2, window_out=3),
        shape=(7, 2),
    ),
    _example(
        CNeuronMaskAttentionComplex(channels=3, heads=4, dimension=2, heads_kv=2),
        CNeuronDenseOCL(neurons=2),
        shape=(6, 4),
        second=(2, 3, 3),
    ),
    _example(
        CNeuronRevINOCL(affine=False),
        _catch(heads_kv=1),
        CNeuronRevINDenormOCL(),
        shape=(6, 3),
        shown=1,
        training=False,
    ),
    _example(_catch(half=False, residual_heads=True, mask_mode="reference"), shape=(6, 2), training=False),
    _example(_catch(complex_layers=True, correlation=0.0), shape=(6, 1), training=False),
    _example(CNeuronSwiGLUOCL(hidden=5, window_out=2), CNeuronSwiGLUOCL(hidden=3), shape=(4, 3)),
    _example(
        CNeuronConvOCL(window=3, step=3, window_out=4),
        CNeuronMHFlashAttentionOCL(heads=4, dimension=3, heads_kv=2, causal=True),
        CNeuronMHFlashAttentionOCL(heads=2, dimension=2),
        shape=(7, 3),
        shown=1,
    ),
    _example(
        CNeuronMHFlashAttentionOCL(heads=2, dimension=3, heads_kv=1, cross=True),
        CNeuronDenseOCL(neurons=2),
        shape=(3, 4),
        second=(6, 5),
    ),
    _example(
        CNeuronSTCAOCL(heads=2, dimension=3, recency=True),
        CNeuronDenseOCL(neurons=2),
        shape=(3, 4),
        second=(9, 5),
    ),
    _example(CNeuronSTCAOCL(heads=3, dimension=2, absorbed=False), shape=(3, 4), second=(7, 2)),
    _example(
        CNeuronConvOCL(window=3, step=3, window_out=4),
        CNeuronSTCAEncoder(scenarios=2, heads=2, dimension=2, hidden=5, layers=3, recent=3),
        CNeuronDenseOCL(neurons=2),
        shape=(7, 3),
        shown=1,
    ),
    _example(
        CNeuronConvOCL(window=3, step=3, window_out=4),
        CNeuronSTCAEncoder(
            scenarios=2, heads=1, dimension=3, hidden=4, recent=3, recency=False, recompute=True
        ),
        shape=(7, 3),
        shown=1,
    ),
    _example(
        CNeuronConvOCL(window=3, step=3, window_out=4),
        CNeuronSTCAEncoder(scenarios=2, heads=2, dimension=2, hidden=3, given=True),
        shape=(7, 3),
        shown=1,
    ),
]
