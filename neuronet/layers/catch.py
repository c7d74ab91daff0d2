"""CNeuronCATCH: windows of many channels, taken apart into frequencies and put together again."""

from __future__ import annotations

import math

import numpy as np

from neuronet.device.array import Shape
from neuronet.errors import ShapeError, SpecError
from neuronet.layers.base import CNeuronBaseOCL, layer
from neuronet.layers.channel_fusion import CNeuronChannelFusion
from neuronet.layers.channel_mask import MODES
from neuronet.layers.freq_patching import CNeuronFreqPatching
from neuronet.layers.freq_reconstruct import CNeuronFreqReconstruct
from neuronet.layers.mask_attention_complex import CNeuronMaskAttentionComplex
from neuronet.layers.parts import check_positive, merged, unit_dense
from neuronet.layers.port import CNeuronPort
from neuronet.ops import elementwise, fourier, transpose
from neuronet.ops.spectrum_loss import spectrum_loss


@layer
class CNeuronCATCH(CNeuronBaseOCL):
    """Reconstruct a window from its spectrum, in patches whose channels are mixed (CATCH, arXiv:2410.12261).

    input, output  [batch, time, channels], the input normalised, as by CNeuronRevINOCL

        spectrum of each channel -> patches of ``window`` bins, ``step`` apart -> mask and transformer over
        the channels of each patch -> heads back to a spectrum -> inverse transform -> a linear layer in time

    window, step   of the patches, in bins
    width, hidden  numbers of a unit (a channel's patch) in the transformer, and in its feed-forward part
    heads, heads_kv, dimension, mask_mode, correlation, temperature, regular, complex_layers
                   of the attention, see CNeuronMaskAttentionComplex; correlation is shared by the blocks
    blocks         attentions and feed-forward parts
    features       numbers of a unit behind the transformer, from which the spectrum is made
    residual_heads CATCH's own heads, of four layers, instead of one
    probability    of dropout
    hidden_share   of the numbers of a patch that training hides (dropout): a channel that is not all seen has
                   to be told from the others too, so that their correlation is learned
    half           the bins 0 … time / 2 alone: of a real window, all others mirror them; else all of them
    frequency      weight of the penalty mean |spectrum made - spectrum seen|
    evaluation     the mask when nothing is trained: deterministic, sample or expected
    """

    window: int = 16
    step: int = 8
    width: int = 32
    hidden: int = 64
    heads: int = 4
    heads_kv: int | None = None
    dimension: int = 8
    blocks: int = 2
    features: int = 32
    residual_heads: bool = False
    probability: float = 0.0
    hidden_share: float = 0.0
    mask_mode: str = "hard"
    correlation: float = 0.005
    temperature: float = 0.07
    regular: float = 0.5
    complex_layers: bool = False
    half: bool = True
    frequency: float = 0.1
    evaluation: str = "deterministic"

    def output_shape(self, input_shape: Shape) -> Shape:
        where = "CNeuronCATCH"
        check_positive(
            where, blocks=self.blocks, width=self.width, hidden=self.hidden, features=self.features
        )
        if len(input_shape) != 2 or input_shape[0] < 2:
            what = f"input {list(input_shape)} is not [time, channels] with 2 or more times"
            raise ShapeError(what, where=where, fix="give it windows of channels")
        bins = self._bins(input_shape[0])
        if self.window > bins:
            what = f"window={self.window} is longer than the spectrum, {bins} bins of {input_shape[0]} times"
            raise ShapeError(what, where=where, fix=f"choose window <= {bins}, or longer windows of time")
        odd = [n for n in ("width", "hidden", "features") if getattr(self, n) % 2]
        if odd and (self.complex_layers or (self.residual_heads and odd[-1] == "features")):
            what = f"{odd[-1]}={getattr(self, odd[-1])} is odd"
            raise SpecError(what, where=where, fix="choose an even number: halves are re and im")
        if self.width < 2:
            raise SpecError(f"width={self.width} is below 2", where=where, fix="try width=32")
        if self.evaluation not in MODES:
            what = f"evaluation={self.evaluation!r} is unknown"
            raise SpecError(what, where=where, fix=f"choose one of {', '.join(MODES)}")
        shares = self.probability, self.hidden_share
        if not (0.0 <= self.frequency < math.inf and min(shares) >= 0.0 and max(shares) < 1.0):
            what = f"frequency={self.frequency}, probability={shares[0]}, hidden_share={shares[1]}"
            raise SpecError(what, where=where, fix="choose frequency from 0, the others from 0 to below 1")
        return input_shape

    def _bins(self, time: int) -> int:
        return fourier.bins(time) if self.half else time

    def allocate(self, input_shape: Shape, rng: np.random.Generator) -> None:
        time, n = input_shape
        bins = self._bins(time)
        forward, inverse = ("rfft", "irfft") if self.half else ("fft", "ifft")
        rows, signal = self.batch * n, (n, time) if self.half else (n, time, 2)
        self.to_spectrum = fourier.Plan(self.device, forward, time, rows, complex_input=False)
        self.to_time = fourier.Plan(self.device, inverse, time, rows)
        self.turned = self.inner("turned", CNeuronPort(output=True), (n, time))
        self.seen = self.inner("seen", CNeuronPort(output=True), (n, bins, 2))
        patching = CNeuronFreqPatching(window=self.window, step=self.step)
        self.patching = self.inner("patching", patching, (n, bins, 2))
        patches = self.patching.output.shape[1]
        self.units = self.inner("units", CNeuronPort(), (patches * n, 2 * self.window))
        self.patching.SetGradient(self.units.gradient)
        fusion = CNeuronChannelFusion(
            [self._attention(n) for _ in range(self.blocks)],
            width=self.width,
            hidden=self.hidden,
            outputs=self.features,
            probability=self.probability,
            hidden_share=self.hidden_share,
            evaluation=self.evaluation,
        )
        self.fusion = self.inner("fusion", fusion, (patches * n, 2 * self.window))
        heads = CNeuronFreqReconstruct(n, bins, residual=self.residual_heads)
        self.made = self.inner("reconstruct", heads, (patches * n, self.features))
        self.signal = self.inner("signal", CNeuronPort(output=True), signal)
        numbers = math.prod(signal) // n
        self.merge = self.inner("merge", unit_dense(numbers, time), (n, numbers))
        self.set_penalty()
        self.dspectrum = self.batch_array("dspectrum", (n, bins, 2))
        self.spectrum_penalty = self.batch_array("spectrum_penalty", ())

    def _attention(self, channels: int) -> CNeuronMaskAttentionComplex:
        return CNeuronMaskAttentionComplex(
            channels=channels,
            heads=self.heads,
            heads_kv=self.heads_kv,
            dimension=self.dimension,
            mask_mode=self.mask_mode,
            correlation=self.correlation / self.blocks,
            temperature=self.temperature,
            regular=self.regular,
            complex_layers=self.complex_layers,
        )

    def feedForward(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        transpose.forward(prev.output, self.turned.output)
        fourier.forward(self.to_spectrum, merged(self.turned.output), merged(self.seen.output))
        self.patching.feedForward(self.seen)
        self.units.output = self.patching.output.view(self.patching.output.shape[0], *self._unit_shape)
        self.fusion.feedForward(self.units)
        self.made.feedForward(self.fusion)
        fourier.forward(self.to_time, merged(self.made.output), merged(self.signal.output))
        self.merge.feedForward(self.signal)
        transpose.forward(self.merge.output, self.output)
        # the gradient of this penalty is here before that of the output: what comes later adds to it
        spectra = self.made.output, self.seen.output
        spectrum_loss(*spectra, self.spectrum_penalty, self.dspectrum, weight=self.frequency)
        assert self.penalty is not None
        if self.fusion.penalty is None:
            elementwise.copy(self.spectrum_penalty, self.penalty)
        else:
            elementwise.add(self.spectrum_penalty, self.fusion.penalty, self.penalty)

    def calcInputGradients(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        transpose.forward(self.gradient, self.merge.gradient)
        self.inner_gradients(self.merge, self.signal)
        fourier.backward(self.to_time, merged(self.signal.gradient), merged(self.made.gradient))
        elementwise.add(self.made.gradient, self.dspectrum, self.made.gradient)
        self.inner_gradients(self.made, self.fusion)
        self.units.needs_gradient = prev.needs_gradient  # type: ignore[misc]  # an instance's, as for inputs
        self.inner_gradients(self.fusion, self.units)
        if prev.needs_gradient:
            self.patching.calcInputGradients(self.seen)
            spectra, dseen = (self.seen.output, self.made.output), self.seen.gradient
            spectrum_loss(*spectra, self.spectrum_penalty, dseen, weight=self.frequency, add=True)
            fourier.backward(self.to_spectrum, merged(self.seen.gradient), merged(self.turned.gradient))
            transpose.forward(self.turned.gradient, prev.gradient)

    def calcWeightGradients(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        self.inner_weights(self.fusion, self.units)
        self.inner_weights(self.made, self.fusion)
        self.inner_weights(self.merge, self.signal)

    @property
    def _unit_shape(self) -> Shape:
        _, patches, channels, window, _ = self.patching.output.shape
        return patches * channels, 2 * window
