"""Tasks over shipped scenes: cart-pole, hopper, ant, humanoid-stand, ball-in-cup. `carom.env` has them."""
import numpy as np

from carom import _carom
from carom._scene import load


class Task:
    """A scene with a start, an observation, a reward and an end; controls are -1 to 1 of each actuator's range.

    begin(rng, q, v) changes the start in place, observe(world) -> numbers, reward(world, action) -> number,
    ended(world) -> bool.

    >>> from carom.env import TASKS
    >>> TASKS["hopper"].scene, TASKS["hopper"].substeps
    ('hopper', 4)
    """

    def __init__(self, scene, *, substeps, duration, begin, observe, reward, ended):
        self.scene, self.substeps, self.duration = scene, substeps, duration
        self.begin, self.observe, self.reward, self.ended = begin, observe, reward, ended


def _both(world):
    return np.concatenate([world.q, world.v])


def _jitter(size):
    def begin(rng, q, v):
        q += 0.0
        v += rng.uniform(-size, size, len(v))
    return begin


def _pole(rng, q, v):
    q[:] = rng.uniform(-0.05, 0.05, 2)
    v[:] = rng.uniform(-0.05, 0.05, 2)


def _upright(world):
    """z of the torso's own z axis."""
    w, x, y, z = world.q[3:7]
    return 1 - 2 * (x * x + y * y)


def _in_cup(world):
    return bool(np.all(np.abs(world.sensors["ball"] - world.sensors["target"]) < 0.04))


TASKS = {
    "cart-pole": Task("cart-pole", substeps=2, duration=10.0, begin=_pole, observe=_both,
                      reward=lambda world, action: 1.0,
                      ended=lambda world: abs(world.q[1]) > 0.3 or abs(world.q[0]) > 2.3),
    "hopper": Task("hopper", substeps=4, duration=8.0, begin=_jitter(0.005),
                   observe=lambda world: np.concatenate([world.q[1:], world.v, [world.sensors["sole"] > 0]]),
                   reward=lambda world, action: world.v[0] + 1.0 - 1e-3 * float(action @ action),
                   ended=lambda world: world.q[1] + 1.25 < 0.7 or abs(world.q[2]) > 0.3),
    "ant": Task("ant", substeps=5, duration=25.0, begin=_jitter(0.05),
                observe=lambda world: np.concatenate([world.q[2:], world.v]),
                reward=lambda world, action: world.v[0] + 1.0 - 0.5 * float(action @ action),
                ended=lambda world: not 0.2 < world.q[2] < 1.2),
    "humanoid-stand": Task("humanoid-stand", substeps=4, duration=10.0, begin=_jitter(0.01), observe=_both,
                           reward=lambda world, action: max(0.0, _upright(world)) * min(1.0, world.sensors["head"][2] / 1.4),
                           ended=lambda world: world.sensors["head"][2] < 0.9),
    "ball-in-cup": Task("ball-in-cup", substeps=4, duration=10.0, begin=_jitter(0.01), observe=_both,
                        reward=lambda world, action: float(_in_cup(world)), ended=lambda world: False),
}


class _Base:
    """One world of a task, or many: what both share."""

    def __init__(self, name, count, seed=None):
        if name not in TASKS:
            raise KeyError(f"no task {name!r}; there are {sorted(TASKS)}")
        from carom.env import Box
        self.name, self.task = name, TASKS[name]
        scene = load(self.task.scene)
        self.worlds = tuple(scene.world() for _ in range(count))
        self._dt = scene.settings["dt"]
        actuators = self.worlds[0].model.actuators
        self._low = np.array([a.ctrl_lower for a in actuators])
        self._high = np.array([a.ctrl_upper for a in actuators])
        self._rng = np.random.default_rng(seed)
        self._steps = np.zeros(count, dtype=int)
        self._action = Box(-1.0, 1.0, (len(actuators),), seed)
        self._observation = Box(-np.inf, np.inf, np.shape(self.task.observe(self.worlds[0])))

    def _restart(self, i):
        world = self.worlds[i]
        world.reset()
        self.task.begin(self._rng, world.q, world.v)
        self._steps[i] = 0
        return self.task.observe(world)

    def _advance(self, i, action):
        """(observation, reward, terminated, truncated) of one world; one that cannot be stepped is terminated."""
        world = self.worlds[i]
        action = np.clip(np.asarray(action, dtype=float), -1.0, 1.0)
        world.ctrl = self._low + 0.5 * (action + 1.0) * (self._high - self._low)
        self._steps[i] += 1
        try:
            world.step(self.task.substeps)
        except _carom.Error:
            return self.task.observe(world), 0.0, True, False
        ended = bool(self.task.ended(world))
        late = self._steps[i] * self.task.substeps * self._dt >= self.task.duration - 1e-9
        return self.task.observe(world), float(self.task.reward(world, action)), ended, not ended and bool(late)

    def close(self):
        """Nothing to do: worlds go when nothing refers to them."""


class TaskEnv(_Base):
    """One world of a task by Gymnasium's protocol, which it does not need.

    >>> from carom.env import make
    >>> env = make("cart-pole")
    >>> observation, info = env.reset(seed=1)
    >>> observation.shape, env.action_space.shape
    ((4,), (1,))
    >>> observation, reward, terminated, truncated, info = env.step([0.0])
    >>> reward, terminated
    (1.0, False)
    """

    metadata = {"render_modes": []}
    render_mode = None
    spec = None

    def __init__(self, name, render_mode=None):
        if render_mode is not None:
            raise ValueError(f"render_mode: is {render_mode!r}, must be None")
        super().__init__(name, 1)
        self.world = self.worlds[0]
        self.action_space, self.observation_space = self._action, self._observation

    @property
    def unwrapped(self):
        """Itself."""
        return self

    def reset(self, *, seed=None, options=None):
        """To the start: (observation, info). seed makes what follows repeatable."""
        if seed is not None:
            self._rng = np.random.default_rng(seed)
        return self._restart(0), {}

    def step(self, action):
        """(observation, reward, terminated, truncated, info)."""
        return (*self._advance(0, action), {})


class TaskVectorEnv(_Base):
    """Many worlds of a task at once; a world whose episode ends is reset within the same step, its last observation
    is in info["final_observation"].

    >>> import numpy as np
    >>> from carom.env import make_vector
    >>> env = make_vector("hopper", 3)
    >>> env.reset(seed=1)[0].shape
    (3, 12)
    >>> env.step(np.zeros((3, 3)))[1].shape
    (3,)
    """

    def __init__(self, name, count):
        super().__init__(name, count)
        from carom.env import Box
        self.num_envs = count
        self.single_action_space, self.single_observation_space = self._action, self._observation
        self.action_space = Box(-1.0, 1.0, (count, *self._action.shape))
        self.observation_space = Box(-np.inf, np.inf, (count, *self._observation.shape))

    def reset(self, *, seed=None, options=None):
        """All worlds to their start: (observations, info)."""
        if seed is not None:
            self._rng = np.random.default_rng(seed)
        return np.array([self._restart(i) for i in range(self.num_envs)]), {}

    def step(self, actions):
        """One action for each world: (observations, rewards, terminated, truncated, info)."""
        actions = np.asarray(actions, dtype=float).reshape(self.action_space.shape)
        parts = [self._advance(i, actions[i]) for i in range(self.num_envs)]
        observations, rewards, ended, late = (np.array(part) for part in zip(*parts))
        info, done = {}, ended | late
        if done.any():
            info["final_observation"], info["_final_observation"] = observations.copy(), done
        for i in np.flatnonzero(done):
            observations[i] = self._restart(i)
        return observations, rewards, ended, late, info


def make(name):
    """One world of a task by name: cart-pole, hopper, ant, humanoid-stand, ball-in-cup.

    >>> from carom.env import make
    >>> make("ant").action_space
    Box(8,)
    """
    return TaskEnv(name)


def make_vector(name, count):
    """`count` worlds of a task.

    >>> from carom.env import make_vector
    >>> make_vector("ball-in-cup", 2).action_space
    Box(2, 2)
    """
    return TaskVectorEnv(name, count)


def register(gymnasium=None):
    """Register every task with Gymnasium as carom/NAME-v0; returns the names. gymnasium: the module, where it is not the
    installed one.

    >>> from carom.env import register
    >>> class Recorder:
    ...     def register(self, id, entry_point, kwargs):
    ...         pass
    >>> register(Recorder())[0]
    'carom/cart-pole-v0'
    """
    if gymnasium is None:
        import gymnasium
    names = []
    for name in TASKS:
        names.append(f"carom/{name}-v0")
        gymnasium.register(id=names[-1], entry_point="carom.env:TaskEnv", kwargs={"name": name})
    return names
