"""Layers: one class a file, found by its name: CNeuronConvOCL is in conv.py."""

from neuronet.layers.batch_norm import CNeuronBatchNormOCL
from neuronet.layers.catch import CNeuronCATCH
from neuronet.layers.complex_conv import CNeuronComplexConvOCL
from neuronet.layers.concatenate import CNeuronConcatenate
from neuronet.layers.conv import CNeuronConvOCL
from neuronet.layers.dense import CNeuronDenseOCL
from neuronet.layers.dfft_encoder import CNeuronDFFTEncoder
from neuronet.layers.dot import CNeuronDOTOCL
from neuronet.layers.downsample import CNeuronDownsampleOCL
from neuronet.layers.dropout import CNeuronDropoutOCL
from neuronet.layers.fourier import CNeuronFourierOCL
from neuronet.layers.freq_patching import CNeuronFreqPatching
from neuronet.layers.last_units import CNeuronLastUnitsOCL
from neuronet.layers.layer_norm import CNeuronLayerNormOCL
from neuronet.layers.mamba import CNeuronMambaOCL
from neuronet.layers.mamba4_cast_embeding import CMamba4CastEmbeding
from neuronet.layers.mamba_block import CNeuronMambaBlockOCL
from neuronet.layers.mask_attention_complex import CNeuronMaskAttentionComplex
from neuronet.layers.mh_flash_attention import CNeuronMHFlashAttentionOCL
from neuronet.layers.multi_windows_conv import CNeuronMultiWindowsConvOCL
from neuronet.layers.multi_windows_conv_w_pad import CNeuronMultiWindowsConvWPadOCL
from neuronet.layers.position_encoder import CNeuronPositionEncoder
from neuronet.layers.proof import CNeuronProofOCL
from neuronet.layers.residual_conv import CResidualConv
from neuronet.layers.rev_in import CNeuronRevINOCL
from neuronet.layers.rev_in_denorm import CNeuronRevINDenormOCL
from neuronet.layers.saa import CNeuronSAA
from neuronet.layers.sae import CNeuronSAE
from neuronet.layers.soft_max import CNeuronSoftMaxOCL
from neuronet.layers.ssm import CNeuronSSMOCL
from neuronet.layers.stca import CNeuronSTCAOCL
from neuronet.layers.stca_encoder import CNeuronSTCAEncoder
from neuronet.layers.swi_glu import CNeuronSwiGLUOCL
from neuronet.layers.tae import CNeuronTAE
from neuronet.layers.transpose import CNeuronTransposeOCL
from neuronet.layers.ts_position_encoder import CNeuronTSPositionEncoder
from neuronet.layers.x_ci_t import CNeuronXCiTOCL

__all__ = [
    "CMamba4CastEmbeding",
    "CNeuronBatchNormOCL",
    "CNeuronCATCH",
    "CNeuronComplexConvOCL",
    "CNeuronConcatenate",
    "CNeuronConvOCL",
    "CNeuronDFFTEncoder",
    "CNeuronDOTOCL",
    "CNeuronDenseOCL",
    "CNeuronDownsampleOCL",
    "CNeuronDropoutOCL",
    "CNeuronFourierOCL",
    "CNeuronFreqPatching",
    "CNeuronLastUnitsOCL",
    "CNeuronLayerNormOCL",
    "CNeuronMHFlashAttentionOCL",
    "CNeuronMambaBlockOCL",
    "CNeuronMambaOCL",
    "CNeuronMaskAttentionComplex",
    "CNeuronMultiWindowsConvOCL",
    "CNeuronMultiWindowsConvWPadOCL",
    "CNeuronPositionEncoder",
    "CNeuronProofOCL",
    "CNeuronRevINDenormOCL",
    "CNeuronRevINOCL",
    "CNeuronSAA",
    "CNeuronSAE",
    "CNeuronSSMOCL",
    "CNeuronSTCAEncoder",
    "CNeuronSTCAOCL",
    "CNeuronSoftMaxOCL",
    "CNeuronSwiGLUOCL",
    "CNeuronTAE",
    "CNeuronTSPositionEncoder",
    "CNeuronTransposeOCL",
    "CNeuronXCiTOCL",
    "CResidualConv",
]
