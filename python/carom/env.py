"""Many worlds at once for learning: a vector environment in the manner of Gymnasium, which it does not need.

>>> import numpy as np
>>> from carom.env import VectorEnv, cart_pole
>>> env = VectorEnv(cart_pole(), 4, actuated=["cart"], limit=10.0, dt=0.01, substeps=2, duration=1.0,
...                 reset=lambda rng, q, v: q.__setitem__(1, rng.uniform(-0.05, 0.05)),
...                 terminated=lambda q, v: np.abs(q[:, 1]) > 0.4)
>>> observations, info = env.reset(seed=1)
>>> observations.shape
(4, 4)
>>> observations, rewards, terminated, truncated, info = env.step(np.zeros((4, 1)))
>>> rewards
array([1., 1., 1., 1.])
"""
import os

from carom._array import need
from carom._batch import Batch
from carom._model import Model
from carom._scene import Scene

np = need("carom.env")


class Box:
    """Numbers between low and high; has shape, dtype, low, high, sample and contains, as Gymnasium's.

    >>> from carom.env import Box
    >>> Box(-1, 1, (2,), seed=1).contains([0.5, 2])
    False
    """

    def __init__(self, low, high, shape, seed=None):
        self.low = np.broadcast_to(np.asarray(low, dtype=float), shape).copy()
        self.high = np.broadcast_to(np.asarray(high, dtype=float), shape).copy()
        self.shape = tuple(shape)
        self.dtype = np.dtype(float)
        self._rng = np.random.default_rng(seed)

    def sample(self):
        """Uniform where both ends are finite, normal otherwise."""
        finite = np.isfinite(self.low) & np.isfinite(self.high)
        low, high = np.where(finite, self.low, 0.0), np.where(finite, self.high, 1.0)
        return np.where(finite, self._rng.uniform(low, high), self._rng.standard_normal(self.shape))

    def contains(self, x):
        """Whether x has the shape and lies within."""
        x = np.asarray(x)
        return x.shape == self.shape and bool(np.all(x >= self.low) and np.all(x <= self.high))

    def __repr__(self):
        return f"Box{self.shape}"


class VectorEnv:
    """`count` worlds of one model, or of one scene with its start and settings, stepped together as a `Batch` on threads or
    a GPU; results depend on neither.

    actuated names the bodies whose joints are driven: actions (count, n) in -1 to 1, times limit, are forces along
    their velocities (motor=True: speeds of their motors). An action lasts substeps steps of dt.

    observe(q, v) -> (count, m), reward(q, v, actions) -> (count) and terminated(q, v) -> (count) work on all worlds
    at once; by default q and v side by side, 1 for every step, and never. After `duration` seconds an episode is
    truncated. reset(rng, q, v) changes the start of one world in place.

    A world whose episode ends is reset within the same step: its observation is that of the new start, the last one
    of the old episode is in info["final_observation"]. A world that cannot be stepped (its numbers became infinite)
    counts as terminated and is named in info["failed"]. Other keywords are those of `Batch`; `batch` is it, and
    `batch.take(i)` one of its worlds.

    >>> from carom.env import VectorEnv, cart_pole
    >>> env = VectorEnv(cart_pole(), 3, actuated=["cart"], limit=5.0)
    >>> env.reset(seed=1)[0].shape, env.action_space
    ((3, 4), Box(3, 1))
    """

    def __init__(self, model, count, *, actuated=(), limit=1.0, motor=False, dt=None, substeps=1, duration=np.inf,
                 observe=None, reward=None, terminated=None, reset=None, threads=None, **settings):
        if count < 1:
            raise ValueError(f"count: is {count}, must be at least 1")
        if substeps < 1:
            raise ValueError(f"substeps: is {substeps}, must be at least 1")
        self.num_envs = count
        self.threads = min(threads or os.cpu_count() or 1, count)
        if not isinstance(model, Scene):
            settings["dt"] = 1 / 240 if dt is None else dt
        elif dt is not None:
            raise TypeError("a scene has its own settings; set them where it is loaded")
        self.batch = Batch(model, count, threads=self.threads, **settings)
        self.model = model = self.batch.model
        self._start = self.batch.take(0)
        self._substeps, self._motor, self._limit = substeps, motor, limit
        self._steps_most = duration / (self._start.settings["dt"] * substeps)
        self._columns = self._actuated(actuated)
        self._observe = observe or (lambda q, v: np.concatenate([q, v], axis=1))
        self._reward, self._terminated, self._reset = reward, terminated, reset
        self.q, self.v = self.batch.q, self.batch.v
        self._steps = np.zeros(count, dtype=int)
        self._input = np.zeros((count, model.nv))
        self._rng = np.random.default_rng()
        self.single_action_space = Box(-1.0, 1.0, (len(self._columns),))
        self.action_space = Box(-1.0, 1.0, (count, len(self._columns)))
        shape = np.shape(self._observe(self.q, self.v))
        self.single_observation_space = Box(-np.inf, np.inf, shape[1:])
        self.observation_space = Box(-np.inf, np.inf, shape)

    def _actuated(self, names):
        columns = []
        for name in names:
            _, _, first, count = self.model.dofs(name if isinstance(name, int) else self.model.find(name))
            columns.extend(range(first, first + count))
        return columns

    def _restart(self, which):
        """The listed worlds at their start."""
        for i in which:
            self.batch.put(i, self._start)
            self.q[i], self.v[i] = self._start.q, self._start.v
            if self._reset is not None:
                self._reset(self._rng, self.q[i], self.v[i])
            self._steps[i] = 0
        if self._reset is not None and len(which) > 0:
            where = np.zeros(self.num_envs, dtype=bool)
            where[which] = True
            self.batch.write("q", self.q, where)
            self.batch.write("v", self.v, where)

    def reset(self, *, seed=None, options=None):
        """All worlds to their start: (observations, info). seed makes what follows repeatable."""
        if seed is not None:
            self._rng = np.random.default_rng(seed)
        self._restart(np.arange(self.num_envs))
        return self._observe(self.q, self.v), {}

    def step(self, actions):
        """One action for each world: (observations, rewards, terminated, truncated, info)."""
        actions = np.asarray(actions, dtype=float).reshape(self.action_space.shape)
        self._input[:, self._columns] = np.clip(actions, -1.0, 1.0) * self._limit
        self.batch.write("motor_speed" if self._motor else "force", self._input)
        self.batch.step(self._substeps)
        self.q[:], self.v[:] = self.batch.q, self.batch.v
        self._steps += 1
        failed = np.zeros(self.num_envs, dtype=bool)
        if self.batch.failed:
            failed = np.array(self.batch.status) != "ok"
        rewards = np.ones(self.num_envs) if self._reward is None else np.asarray(self._reward(self.q, self.v, actions))
        ended = np.zeros(self.num_envs, dtype=bool)
        if self._terminated is not None:
            ended |= np.asarray(self._terminated(self.q, self.v), dtype=bool)
        ended |= failed
        truncated = ~ended & (self._steps >= self._steps_most - 1e-9)
        done = ended | truncated
        info = {}
        if failed.any():
            info["failed"] = failed
        if done.any():
            info["final_observation"] = np.array(self._observe(self.q, self.v))
            info["_final_observation"] = done
        self._restart(np.flatnonzero(done))
        return self._observe(self.q, self.v), rewards, ended, truncated, info

    def close(self):
        """Nothing to do: worlds go when nothing refers to them."""


def cart_pole(length=1.0, track=2.4):
    """A cart on a rail with stops, and a pole on a hinge: the usual first task.

    >>> from carom.env import cart_pole
    >>> cart_pole().names
    ['world', 'cart', 'pole']
    """
    model = Model()
    cart = model.body("cart", "slider", axis=(1, 0, 0), mass=1.0, inertia=(0.01, 0.01, 0.01),
                      dof={"lower": -track, "upper": track})
    half = length / 2
    model.body("pole", "hinge", parent=cart, axis=(0, 1, 0), mass=0.1, com=(0, 0, half),
               inertia=(0.1 * length**2 / 12, 0.1 * length**2 / 12, 1e-5))
    return model


from carom._tasks import TASKS, Task, TaskEnv, TaskVectorEnv, make, make_vector, register  # noqa: E402,F401
