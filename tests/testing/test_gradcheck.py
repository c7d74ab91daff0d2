from __future__ import annotations

import pytest

import neuronet as nn
from neuronet.layers.base import CNeuronBaseOCL
from neuronet.testing.gradcheck import gradcheck


class WrongInput(nn.CNeuronDenseOCL):
    """Forgets to write 1 % of the input's gradient."""

    def calcInputGradients(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        super().calcInputGradients(prev, second)
        prev.gradient.write(prev.gradient.read() * 0.99)


class WrongBias(nn.CNeuronDenseOCL):
    """Adds the bias gradient twice."""

    def calcWeightGradients(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        super().calcWeightGradients(prev, second)
        self.b.gradient.write(self.b.gradient.read() * 2)


def test_right_layers_pass() -> None:
    gradcheck([nn.CNeuronDenseOCL(neurons=3, activation="TANH"), nn.CNeuronDenseOCL(neurons=2)], (4,))


def test_a_wrong_input_gradient_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEURONET_TAPE", "0")  # the layer above transfers to the host inside a pass
    with pytest.raises(AssertionError, match=r"input gradient\[\d+\]: backward says"):
        gradcheck([WrongInput(neurons=3)], (4,))


def test_a_wrong_parameter_gradient_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEURONET_TAPE", "0")
    with pytest.raises(AssertionError, match=r"layer 0 \(WrongBias\) b\[\d+\]: backward says"):
        gradcheck([WrongBias(neurons=3)], (4,))
