"""Networks: actor and critic with their targets on the encoder's view of the bars, and one step of learning.

    encoder      [history, features] -> latents; trained on forecasting first, then left as it is
    forecaster   latents -> returns of the next bars, the encoder's head
    actor        latents -> z, the position is tanh(z) in [-1, 1]
    critic       latents | account, time, position -> Q, the discounted rewards that follow

Each has buffers of its own, so that a pass of the critic never touches what the actor has said.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from neuronet.activations import Activation
from neuronet.device.base import Device
from neuronet.errors import TrainingError
from neuronet.layers.concatenate import CNeuronConcatenate
from neuronet.layers.dense import CNeuronDenseOCL
from neuronet.market.state import STATE
from neuronet.net import CNet
from neuronet.ops.soft_update import soft_update
from neuronet.optim.adam import Adam
from neuronet.study.settings import StudySettings
from neuronet.study.transitions import Batch

Array = NDArray[Any]


class Networks:
    """All on one device. ``encoder`` is built and stays as it is; ``learned`` are the nets that learn."""

    def __init__(self, encoder: CNet, forecaster: CNet, settings: StudySettings, device: Device) -> None:
        self.settings, self.device = settings, device
        self.encoder, self.forecaster = encoder, forecaster
        self.latents = int(np.prod(encoder.output_shape))
        self.actor, self.target_actor = (self._actor() for _ in range(2))
        self.critic, self.target_critic = (self._critic() for _ in range(2))
        assert self.critic.second is not None
        self.critic.second.needs_gradient = True  # type: ignore[misc]  # for dQ/d(action)
        self._follow(1.0)

    @property
    def learned(self) -> dict[str, CNet]:
        """The nets that learn, by the names that they have in a file."""
        return {
            "forecaster": self.forecaster,
            "actor": self.actor,
            "critic": self.critic,
            "target_actor": self.target_actor,
            "target_critic": self.target_critic,
        }

    # --- what they say -------------------------------------------------------------------

    def positions(self, latent: Array, net: CNet | None = None) -> NDArray[np.float64]:
        """Positions [n] in [-1, 1] of the actor, or of ``net``, for latents [n, latents]."""
        z = (net or self.actor).predict(latent)
        return np.tanh(z[:, 0].astype(np.float64))

    def values(self, latent: Array, state: Array, action: Array, net: CNet | None = None) -> Array:
        """Q [n] of the critic, or of ``net``."""
        found: Array = (net or self.critic).predict(latent, self._second(state, action))[:, 0]
        return found

    def action_gradient(self, latent: Array, state: Array, action: Array) -> Array:
        """dQ/d(action) [n] by the critic's own backward pass; no weight and no weight's gradient changes."""
        critic = self.critic
        critic.feedForward(latent, self._second(state, action))
        critic.layers[-1].gradient.fill(1.0)
        critic.run("action gradient", critic.backward)
        assert critic.second is not None
        found: Array = critic.second.gradient.read()[:, -1]
        return found

    # --- learning ------------------------------------------------------------------------

    def learn(self, batch: Batch) -> tuple[float, float]:
        """One step of critic, actor and targets. Returns the critic's loss and the actor's mean |dL/dz|."""
        losses = self.learn_critic(batch), self.learn_actor(batch)
        self._follow(self.settings.tau)
        return losses

    def learn_critic(self, batch: Batch) -> float:
        """One step towards reward + discount * Q' of what the target actor does next; returns the loss."""
        action = self.positions(batch.next_latent, self.target_actor)
        ahead = self.values(batch.next_latent, batch.next_state, action, self.target_critic)
        target = batch.reward + self.settings.discount * np.where(batch.ends, 0.0, ahead)
        self.critic.feedForward(batch.latent, self._second(batch.state, batch.action))
        return _finite(self.critic.backProp(target[:, None]), "critic")

    def actor_gradient(self, batch: Batch) -> tuple[Array, Array]:
        """z [n] of the actor, whose forward pass this is, and dL/dz [n] of each sample's loss:

            L = imitation * weight * (p - action)^2 + hindsight * (p - ideal)^2 - critic * Q(p),  p = tanh(z)

        So the critic pulls the position to where it says more is earned, not to what was recorded.
        """
        s = self.settings
        self.actor.feedForward(batch.latent)
        z = self.actor.getResults()[:, 0]
        p = np.tanh(z)
        dp = 2.0 * s.imitation * batch.weight * (p - batch.action) + 2.0 * s.hindsight * (p - batch.ideal)
        if s.critic:
            dp = dp - s.critic * self.action_gradient(batch.latent, batch.state, p)
        return z, dp * (1.0 - p * p)

    def learn_actor(self, batch: Batch) -> float:
        """One step down the mean of that loss; returns the mean of |dL/dz|."""
        z, dz = self.actor_gradient(batch)
        # the actor's net has the loss mse: mean (z - target)^2 has the gradient dz / n at target = z - dz / 2
        _finite(self.actor.backProp((z - 0.5 * dz)[:, None]), "actor")
        return float(np.abs(dz).mean())

    def learn_forecast(self, latent: Array, returns: Array) -> float:
        """One step of the forecaster on scaled returns [n, horizon] that have become known."""
        self.forecaster.feedForward(latent)
        return _finite(self.forecaster.backProp(returns), "forecaster")

    # --- keeping -------------------------------------------------------------------------

    def arrays(self) -> dict[str, Array]:
        """Arrays of the nets that learn, as "actor/parameters/0/w"."""
        nets = self.learned.items()
        return {f"{name}/{path}": array for name, net in nets for path, array in net.arrays().items()}

    def set_arrays(self, arrays: dict[str, Array], where: str) -> None:
        """Write back what ``arrays()`` gave."""
        for name, net in self.learned.items():
            front = f"{name}/"
            own = {path.removeprefix(front): a for path, a in arrays.items() if path.startswith(front)}
            net.set_arrays(own, where)

    def _actor(self) -> CNet:
        layers = [
            CNeuronDenseOCL(neurons=self.settings.width, activation=Activation.GELU),
            CNeuronDenseOCL(neurons=1),
        ]
        return self._built(CNet(input_shape=(self.latents,), layers=layers, **self._rest()), 1)

    def _critic(self) -> CNet:
        layers = [
            CNeuronConcatenate(neurons=self.settings.width, activation=Activation.GELU),
            CNeuronDenseOCL(neurons=self.settings.width, activation=Activation.GELU),
            CNeuronDenseOCL(neurons=1),
        ]
        shapes = {"input_shape": (self.latents,), "second_shape": (len(STATE) + 1,)}
        return self._built(CNet(**shapes, layers=layers, **self._rest()), 2)  # type: ignore[arg-type]

    def _rest(self) -> dict[str, Any]:
        s = self.settings
        return {"batch": s.batch, "loss": "mse", "optimizer": Adam(lr=s.lr, l2=s.l2)}

    def _built(self, net: CNet, seed: int) -> CNet:
        return net.build(self.device, seed=self.settings.seed + 1_000_003 * seed)

    def _follow(self, tau: float) -> None:
        for target, net in ((self.target_actor, self.actor), (self.target_critic, self.critic)):
            soft_update(target.pool.values, net.pool.values, tau=tau)

    @staticmethod
    def _second(state: Array, action: Array) -> Array:
        return np.concatenate([state, np.asarray(action, state.dtype)[:, None]], axis=1)


def split_off_head(net: CNet, settings: StudySettings) -> tuple[CNet, CNet]:
    """A trained net without its last layer, and that layer as a net on the latents; both have its weights."""
    last = len(net.layers) - 1
    weights = {k: v for k, v in net.arrays().items() if not k.startswith("optimizer/")}
    body = CNet.from_spec({**net.spec(), "layers": [layer.spec() for layer in net.layers[:-1]]})
    body.build(net.device)
    body.set_arrays(weights)
    body.TrainMode(False)
    head = forecaster(int(np.prod(body.output_shape)), settings).build(net.device)
    own = {k: v for k, v in weights.items() if k.startswith(f"parameters/{last}/")}
    head.set_arrays({k.replace(f"/{last}/", "/0/", 1): v for k, v in own.items()})
    return body, head


def forecaster(latents: int, settings: StudySettings) -> CNet:
    """The head that forecasts, not built."""
    return CNet(
        input_shape=(latents,),
        layers=[CNeuronDenseOCL(neurons=settings.horizon)],
        batch=settings.batch,
        loss=settings.encoder().loss,
        optimizer=Adam(lr=settings.lr, l2=settings.l2),
    )


def _finite(loss: float, name: str) -> float:
    if not np.isfinite(loss):
        raise TrainingError(
            f"the loss of the {name} is not finite", where="study", fix="lower the learning rate (--lr)"
        )
    return loss
