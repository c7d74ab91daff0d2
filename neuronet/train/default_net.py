"""The nets that --model names, for the case that no net is declared."""

from __future__ import annotations

from neuronet.activations import Activation
from neuronet.errors import SpecError
from neuronet.layers.base import CNeuronBaseOCL
from neuronet.layers.conv import CNeuronConvOCL
from neuronet.layers.dense import CNeuronDenseOCL
from neuronet.layers.last_units import CNeuronLastUnitsOCL
from neuronet.models import dfft, mamba4cast_layers, stca
from neuronet.net import CNet
from neuronet.optim.adam import Adam
from neuronet.train.settings import Settings

PERIODS = (mamba4cast_layers.DAY, mamba4cast_layers.WEEK, mamba4cast_layers.YEAR)
MOST_BYTES = 4 * 10**9  # of the maps of a batch of long histories


def default_net(settings: Settings, n_features: int) -> CNet:
    """The net of ``settings.model``, not built."""
    layers, second = {"conv": _conv, "mamba4cast": _mamba4cast, "dfft": _dfft, "stca": _stca}[settings.model](
        settings, n_features
    )
    return CNet(
        input_shape=(settings.history, n_features),
        second_shape=second,
        layers=layers,
        batch=settings.batch,
        loss=settings.loss,
        optimizer=Adam(lr=settings.lr, l2=settings.l2, clip_norm=settings.clip_norm),
    )


Net = tuple[list[CNeuronBaseOCL], tuple[int, int] | None]  # layers, and the shape of a second input


def _conv(settings: Settings, n_features: int) -> Net:
    """A small convolutional stack: 8 filters over 4 bars, 8 over 5 of these, one output a step ahead.

    Chosen from eight stacks of 900 to 1,800 parameters by the test skill on synthetic bars (six series of
    make_bars, two seeds each): all reach 3.7 to 4.3 %, and none finds skill in random walks or in EURUSD H1
    of three sources, so a small and fast one does. What matters more: the huber loss is worth 1.0 points
    over mse, the feature sets 'time' and 'neuronet9' add nothing to 'returns', and blend.py keeps noise out.
    """
    bars = min(4, settings.history)
    blocks = min(5, settings.history // bars)
    used = settings.history // (bars * blocks) * bars * blocks
    layers: list[CNeuronBaseOCL] = [_window(bars, n_features), _window(blocks, 8)]
    if used < settings.history:  # the oldest bars fit into no window
        layers.insert(0, CNeuronLastUnitsOCL(units_count=used))
    return [*layers, CNeuronDenseOCL(neurons=settings.outputs)], None


def _window(units: int, width: int) -> CNeuronConvOCL:
    window = units * width
    return CNeuronConvOCL(window=window, step=window, window_out=8, activation=Activation.GELU)


def _mamba4cast(settings: Settings, n_features: int) -> Net:
    """The encoder of Mamba4Cast over the bars and their times, its last unit speaking for all steps ahead."""
    encoder = mamba4cast_layers.encoder(
        window=n_features, width=32, depth=1, heads=1, state_size=16, periods=PERIODS
    )
    head = mamba4cast_layers.last_unit_head(settings.outputs)
    return [*encoder, *head], (settings.history, len(PERIODS))


def _dfft(settings: Settings, n_features: int) -> Net:
    return dfft.layers(n_features, settings.outputs), None


def _stca(settings: Settings, n_features: int) -> Net:
    """STCA. SpecError when a batch of such histories needs more than MOST_BYTES."""
    numbers = stca.numbers_of_a_bar(n_features, settings.history)
    most = max(1, MOST_BYTES // (4 * numbers * settings.history))
    if settings.batch > most:
        raise SpecError(
            f"{settings.batch} histories of {settings.history:,} bars need about "
            f"{4 * numbers * settings.history * settings.batch / 1e9:,.0f} GB",
            where="--batch",
            fix=f"choose --batch {most}" + (" or less" if most > 1 else ", and a shorter --history"),
        )
    return stca.layers(n_features, settings.outputs, settings.history), (settings.history, len(stca.PERIODS))
