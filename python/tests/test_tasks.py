"""Tasks: Gymnasium's protocol by a stub of it, a random and a simple controller, single and batched alike."""
import importlib

import numpy as np
import pytest

from carom import env

NAMES = ["cart-pole", "hopper", "ant", "humanoid-stand", "ball-in-cup"]


class Gymnasium:
    """The part of Gymnasium that registering needs, and what its own checker asks of an environment."""

    def __init__(self):
        self.specs = {}

    def register(self, id, entry_point, kwargs):
        assert id.count("/") == 1 and id.endswith("-v0")
        self.specs[id] = (entry_point, kwargs)

    def make(self, id):
        entry, kwargs = self.specs[id]
        module, name = entry.split(":")
        return getattr(importlib.import_module(module), name)(**kwargs)

    def check(self, made):
        observation, info = made.reset(seed=3)
        assert isinstance(info, dict) and made.observation_space.contains(observation)
        again, _ = made.reset(seed=3)
        assert np.array_equal(observation, again)
        result = made.step(made.action_space.sample())
        assert len(result) == 5 and made.observation_space.contains(result[0])
        assert isinstance(result[1], float) and isinstance(result[2], bool) and isinstance(result[3], bool)
        made.close()


def test_registered_by_name():
    gym = Gymnasium()
    assert env.register(gym) == [f"carom/{name}-v0" for name in NAMES]
    for name in gym.specs:
        gym.check(gym.make(name))


@pytest.mark.parametrize("name", NAMES)
def test_random_controller(name):
    made = env.make(name)
    rng = np.random.default_rng(5)
    made.reset(seed=5)
    episodes = 0
    for _ in range(60):
        observation, reward, ended, late, _ = made.step(rng.uniform(-1, 1, made.action_space.shape))
        assert np.all(np.isfinite(observation)) and np.isfinite(reward)
        if ended or late:
            episodes += 1
            made.reset()
    assert made.world.certificate.steps == 1


@pytest.mark.parametrize("name", ["cart-pole", "hopper"])
def test_many_are_as_one(name):
    many, rng = env.make_vector(name, 3), np.random.default_rng(2)
    many.reset(seed=7)
    starts = [(world.q.copy(), world.v.copy()) for world in many.worlds]
    ones = [env.make(name) for _ in range(3)]
    for one, (q, v) in zip(ones, starts):
        one.reset()
        one.world.set_state(q=q, v=v)
    for _ in range(5):
        actions = rng.uniform(-0.3, 0.3, many.action_space.shape)
        observations, rewards, ended, late, _ = many.step(actions)
        if ended.any() or late.any():
            break
        for i, one in enumerate(ones):
            observation, reward, *_ = one.step(actions[i])
            assert np.array_equal(observation, observations[i]) and reward == rewards[i]


def test_cart_pole_is_balanced():
    made = env.make("cart-pole")
    x, _ = made.reset(seed=1)
    for _ in range(500):
        action = np.clip([0.1 * x[0] + 2.5 * x[1] + 0.2 * x[2] + 0.5 * x[3]], -1, 1)
        x, reward, ended, late, _ = made.step(action)
        assert not ended
    assert late and abs(x[1]) < 0.05


def test_servos_hold_the_humanoid():
    made = env.make("humanoid-stand")
    made.reset(seed=1)
    actuators = made.world.model.actuators
    low, high = (np.array([getattr(a, f"ctrl_{end}") for a in actuators]) for end in ("lower", "upper"))
    upright = -1 + 2 * (0 - low) / (high - low)
    for _ in range(25):
        _, reward, ended, _, _ = made.step(upright)
    assert not ended and reward > 0.9


def test_unknown():
    with pytest.raises(KeyError, match="cart-pole"):
        env.make("cart-poel")
