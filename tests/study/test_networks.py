"""Actor and critic in float64: every gradient against finite differences, and what the listings get wrong."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from neuronet.device.base import Device
from neuronet.device.numpy import NumpyDevice
from neuronet.errors import SpecError, TrainingError
from neuronet.layers.dense import CNeuronDenseOCL
from neuronet.market.state import STATE
from neuronet.net import CNet
from neuronet.study.networks import Networks, split_off_head
from neuronet.study.settings import StudySettings
from neuronet.study.transitions import Batch
from neuronet.train.settings import Settings

EPS = 1e-6
N, LATENTS = 5, 4


def networks(device: Device, **changes: Any) -> Networks:
    chosen = {"history": 3, "horizon": 2, "batch": 64, "width": 6, "lr": 0.01, "l2": 0.0, **changes}
    settings = StudySettings.from_dict(chosen)
    layers = [CNeuronDenseOCL(neurons=LATENTS, activation="TANH"), CNeuronDenseOCL(neurons=2)]
    net = CNet(input_shape=(3, 2), layers=layers, batch=8, loss="huber").build(device, seed=4)
    return Networks(*split_off_head(net, settings), settings, device)


def batch_of(n: int = N, seed: int = 0) -> Batch:
    rng = np.random.default_rng(seed)
    latent, after = rng.standard_normal((2, n, LATENTS))
    state, next_state = rng.standard_normal((2, n, len(STATE)))
    action, ideal = rng.uniform(-1, 1, (2, n))
    return Batch(
        latent, state, action, rng.standard_normal(n), after, next_state, rng.random(n) < 0.3,
        np.exp(rng.standard_normal(n)), np.sign(ideal),
    )  # fmt: skip


def differences(values: np.ndarray, loss: Callable[[np.ndarray], float]) -> np.ndarray:
    """Central differences of ``loss`` at ``values``."""
    found = np.empty(values.size)
    for i in range(values.size):
        moved = [values.copy(), values.copy()]
        moved[0].flat[i] += EPS
        moved[1].flat[i] -= EPS
        found[i] = (loss(moved[0]) - loss(moved[1])) / (2 * EPS)
    return found.reshape(values.shape)


def test_the_critic_says_how_its_value_changes_with_the_action(exact: NumpyDevice) -> None:
    nets, batch = networks(exact), batch_of()
    found = nets.action_gradient(batch.latent, batch.state, batch.action)
    wanted = differences(batch.action, lambda a: float(nets.values(batch.latent, batch.state, a).sum()))
    np.testing.assert_allclose(found, wanted, rtol=1e-7, atol=1e-9)
    assert np.abs(found).max() > 1e-3


@pytest.mark.parametrize(
    ("imitation", "hindsight", "critic"), [(0.0, 0.0, 1.0), (0.7, 0.0, 0.0), (0.0, 0.4, 0.0), (0.7, 0.4, 2.0)]
)
def test_the_gradient_of_the_whole_chain(
    exact: NumpyDevice, imitation: float, hindsight: float, critic: float
) -> None:
    """Actor -> position -> critic: every weight of the actor, as its optimiser sees it."""
    nets = networks(exact, imitation=imitation, hindsight=hindsight, critic=critic)
    batch = batch_of()

    def loss(_: Any = None) -> float:
        p = nets.positions(batch.latent)
        terms = imitation * batch.weight * (p - batch.action) ** 2 + hindsight * (p - batch.ideal) ** 2
        return float((terms - critic * nets.values(batch.latent, batch.state, p)).mean())

    z, dz = nets.actor_gradient(batch)
    nets.actor.calcGradients((z - 0.5 * dz)[:, None])  # as learn_actor does, without the update
    for p in nets.actor.pool.parameters:
        kept = p.value.read()

        def at(values: np.ndarray, p: Any = p) -> float:
            p.value.write(values)
            return loss()

        wanted = differences(kept, at)
        p.value.write(kept)
        np.testing.assert_allclose(p.gradient.read(), wanted, rtol=1e-6, atol=1e-9)


def test_the_critic_learns_reward_and_what_follows(exact: NumpyDevice) -> None:
    """Its target by hand: r + discount * Q'(s', pi'(s')), and r alone where an agent was ruined."""
    nets, batch = networks(exact, discount=0.8), batch_of(12)
    assert 0 < batch.ends.sum() < 12
    action = np.tanh(nets.target_actor.predict(batch.next_latent)[:, 0])
    ahead = nets.values(batch.next_latent, batch.next_state, action, nets.target_critic)
    target = np.where(batch.ends, batch.reward, batch.reward + 0.8 * ahead)
    said = nets.values(batch.latent, batch.state, batch.action)
    assert nets.learn_critic(batch) == pytest.approx(np.mean((said - target) ** 2), rel=1e-12)


def test_targets_follow_by_tau(exact: NumpyDevice) -> None:
    nets = networks(exact, tau=0.25)
    np.testing.assert_array_equal(nets.target_critic.pool.values.read(), nets.critic.pool.values.read())
    before = nets.target_actor.pool.values.read(), nets.target_critic.pool.values.read()
    nets.learn(batch_of())
    pairs = ((nets.target_actor, nets.actor), (nets.target_critic, nets.critic))
    for old, (target, net) in zip(before, pairs, strict=True):
        new = net.pool.values.read()
        assert not np.array_equal(new, old)
        np.testing.assert_allclose(target.pool.values.read(), 0.75 * old + 0.25 * new, rtol=1e-12)


def test_h8_the_critic_s_passes_leave_the_actor_s_output_alone(exact: NumpyDevice) -> None:
    """In the articles the critic's input IS the actor's output: a pass on recorded actions overwrites it."""
    nets, batch = networks(exact), batch_of()
    nets.actor.feedForward(batch.latent)
    said = nets.actor.getResults()
    nets.values(batch.latent, batch.state, batch.action)
    nets.learn_critic(batch)
    nets.action_gradient(batch.latent, batch.state, batch.action)
    np.testing.assert_array_equal(nets.actor.getResults(), said)


def test_h9_the_critic_pulls_the_actor_up_not_to_what_was_recorded(exact: NumpyDevice) -> None:
    """The published step pulls Q(actor) towards the recorded reward: down, where that was bad."""
    batch = batch_of()
    bad = replace(batch, reward=batch.reward - 100.0)
    nets = networks(exact, imitation=0.0, hindsight=0.0, critic=1.0)

    def value() -> float:
        return float(nets.values(batch.latent, batch.state, nets.positions(batch.latent)).mean())

    kept, start, ends = nets.actor.arrays(), value(), []
    for one in (batch, bad):
        nets.actor.set_arrays(kept)
        rise = [value()]
        for _ in range(20):
            nets.learn_actor(one)
            rise.append(value())
        assert all(np.diff(rise) > 0.0)
        ends.append(rise[-1])
    assert ends[0] == ends[1]  # the recorded reward has no part in it
    nets.actor.set_arrays(kept)
    p = nets.positions(batch.latent)
    q, slope = nets.values(batch.latent, batch.state, p), nets.action_gradient(batch.latent, batch.state, p)
    published = p - 1e-4 * 2.0 * (q - bad.reward) * slope  # a step down (Q - recorded reward)^2
    assert nets.values(batch.latent, batch.state, published).mean() < start < ends[0]


def test_the_actor_s_step_leaves_the_critic_as_it_is(exact: NumpyDevice) -> None:
    nets = networks(exact)
    before = nets.critic.pool.values.read()
    nets.learn_actor(batch_of())
    np.testing.assert_array_equal(nets.critic.pool.values.read(), before)
    np.testing.assert_array_equal(nets.critic.pool.gradients.read(), 0.0)


@pytest.mark.parametrize("way", ["critic", "hindsight", "imitation"])
def test_each_way_alone_finds_what_pays(device: Device, way: str) -> None:
    """The reward is action * latent 0: only its sign is worth knowing. On each device."""
    weights = {name: float(name == way) for name in ("critic", "hindsight", "imitation")}
    nets = networks(device, **weights, discount=0.0)
    rng = np.random.default_rng(0)
    for i in range(250):
        batch = batch_of(64, seed=i)
        reward = batch.action * batch.latent[:, 0]
        weight = np.exp(np.clip(3.0 * reward, -3, 3))
        ideal = np.sign(batch.latent[:, 0])
        nets.learn(replace(batch, reward=reward, weight=weight, ideal=ideal))
    latent = rng.standard_normal((64, LATENTS))
    said = nets.positions(latent)
    clear = np.abs(latent[:, 0]) > 0.5
    assert np.mean(np.sign(said[clear]) == np.sign(latent[clear, 0])) > 0.95


def test_a_step_that_is_not_finite_is_told(exact: NumpyDevice) -> None:
    nets, batch = networks(exact), batch_of()
    with pytest.raises(TrainingError, match="the loss of the critic is not finite"):
        nets.learn(replace(batch, reward=batch.reward * np.inf))


def test_the_encoder_trains_on_every_window_in_its_own_batches() -> None:
    """'every' and 'batch' are those of the study."""
    encoder = StudySettings(every=250, batch=512, lr=0.002, history=24).encoder()
    own = {"history": 24, "lr": 0.002, "l2": 0.1, "validation": 0.2, "test": 0.0}
    assert encoder == Settings(**own)  # type: ignore[arg-type]


def test_what_is_kept_gives_the_same_nets_back(exact: NumpyDevice) -> None:
    nets, other = networks(exact), networks(exact, seed=5)
    for i in range(3):
        nets.learn(batch_of(seed=i))
    other.set_arrays(nets.arrays(), "test")
    for one in (nets, other):
        one.learn(batch_of(seed=9))
    for name, array in nets.arrays().items():
        np.testing.assert_array_equal(other.arrays()[name], array, err_msg=name)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("tau", 0.0),
        ("discount", 1.0),
        ("horizon", 1),
        ("validation", 0.0),
        ("hindsight", -1.0),
        ("model", "x"),
    ],
)
def test_settings_that_cannot_be(name: str, value: Any) -> None:
    with pytest.raises(SpecError, match=f"--{name}"):
        StudySettings.from_dict({name: value})
    with pytest.raises(SpecError, match="give one of three a weight"):
        StudySettings(imitation=0.0, hindsight=0.0, critic=0.0)
