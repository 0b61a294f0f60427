"""The vector environment: the same bits on any number of threads, resets, failures."""
import numpy as np
import pytest

import carom
from carom.env import Box, VectorEnv, cart_pole


def make(threads, **more):
    return VectorEnv(cart_pole(), 12, actuated=["cart"], limit=10.0, dt=0.01, substeps=2, threads=threads,
                     reset=lambda rng, q, v: q.__setitem__(1, rng.uniform(-0.05, 0.05)), **more)


def test_threads_do_not_change_anything():
    ends = []
    for threads in (1, 2, 5):
        env = make(threads)
        env.reset(seed=3)
        rng = np.random.default_rng(0)
        for _ in range(50):
            observation, *_ = env.step(rng.uniform(-1, 1, (12, 1)))
        ends.append(observation)
    assert np.array_equal(ends[0], ends[1]) and np.array_equal(ends[0], ends[2])


def test_a_step_is_the_steps_of_its_world():
    env = make(2)
    env.reset(seed=1)
    world = carom.World(env.model, dt=0.01)
    world.q[:] = env.q[4]
    actions = np.linspace(-1, 1, 12)[:, None]
    for _ in range(3):
        env.step(actions)
        world.force[0] = actions[4, 0] * 10
        world.step(2)
    assert np.array_equal(env.q[4], world.q) and np.array_equal(env.v[4], world.v)


def test_the_pole_obeys_the_small_angle_equation():
    env = VectorEnv(cart_pole(), 1, actuated=["cart"], dt=1e-4, substeps=100)
    env.reset()
    env.batch.q = [[0.0, 1e-4]]
    env.step([[0.0]])
    # about its end a rod of mass m, length 1 on a free cart of mass M: l (4/3 - m/(m+M)) angle'' = g angle, l = 1/2
    rate = np.sqrt(9.81 / (0.5 * (4 / 3 - 0.1 / 1.1)))
    assert env.q[0, 1] == pytest.approx(1e-4 * np.cosh(rate * 0.01), rel=1e-5)


def test_episodes_end_and_begin_again():
    env = make(2, duration=0.1, terminated=lambda q, v: q[:, 1] > 0.049)
    first, info = env.reset(seed=5)
    assert info == {} and first.shape == env.observation_space.shape == (12, 4)
    lengths = np.zeros(12)
    for step in range(5):
        observation, reward, terminated, truncated, info = env.step(env.action_space.sample())
        assert not (terminated & truncated).any() and reward.shape == (12,)
        lengths += 1
        if step == 4:
            assert (terminated | truncated).any() and "final_observation" in info
            done = info["_final_observation"]
            assert np.array_equal(done, terminated | truncated)
            assert np.abs(observation[done, 1]).max() <= 0.05 and not observation[done, 0].any()
    again, _ = env.reset(seed=5)
    assert np.array_equal(first, again)


def test_scenes_are_environments_too():
    env = VectorEnv(carom.load("bouncing-ball"), 3, substeps=10)
    observation, _ = env.reset()
    assert observation[0, 2] == 1.1
    observation, *_ = env.step(np.zeros((3, 0)))
    assert observation[0, 2] < 1.1
    with pytest.raises(TypeError):
        VectorEnv(carom.load("bouncing-ball"), 3, dt=0.1)


def test_a_world_that_fails_is_told_and_begins_again():
    env = make(2)
    env.reset(seed=1)
    env.batch.write("v", np.full((12, 2), np.nan), np.arange(12) == 7)
    observation, _, terminated, _, info = env.step(np.zeros((12, 1)))
    assert info["failed"].tolist() == [i == 7 for i in range(12)] and terminated[7]
    assert np.isfinite(observation).all()


def test_refusals():
    with pytest.raises(carom.Error):
        VectorEnv(cart_pole(), 2, actuated=["cat"])
    with pytest.raises(ValueError):
        VectorEnv(cart_pole(), 0)
    env = make(2)
    with pytest.raises(ValueError):
        env.step(np.zeros((3, 1)))
    with pytest.raises(carom.Error):
        env.batch.write("v", np.zeros((12, 2)), [True])
    with pytest.raises(ValueError):
        env.batch.write("w", np.zeros((12, 2)))
    assert Box(-1, 1, (2,)).contains([0.5, -1]) and not Box(-1, 1, (2,)).contains([2, 0])


def test_functions_of_python_are_refused():
    with pytest.raises(carom.Error, match="no functions of Python"):
        VectorEnv(cart_pole(), 4, actuated=["cart"], force=lambda t, q, v: [0.0, 0.0], threads=2)


def test_devices_are_those_of_a_batch():
    ends = []
    for device in ("serial", "threads"):
        env = make(2, device=device)
        env.reset(seed=3)
        ends.append(env.step(np.ones((12, 1)))[0])
    assert np.array_equal(*ends)
    with pytest.raises(carom.Error, match="cpu"):
        make(2, device="cpu")
