"""Worlds and trajectories: a model that moves, and what it did."""
from dataclasses import dataclass
from typing import NamedTuple

from carom import _carom
from carom._impact import Contact
from carom._control import ControlledWorld
from carom._model import Model


@dataclass(frozen=True)
class Certificate:
    """What is true of one step, or the worst over many, from raw data.

    >>> import carom
    >>> certificate = carom.load("bouncing-ball").world().run(0.5)
    >>> certificate.impacts, certificate.clean
    (1, True)
    """
    contacts: int  # most at once
    rows: int
    solves: int
    impacts: int
    outcome: str  # solved, near, cannot-tell, or another: the worst
    residual: float  # backward error over the scale of its island: compared with tol
    eta: float  # backward error, m/s
    distance: float  # exact for gaps that differ by at most this, m
    floor: float  # rounding floor of eta, m/s
    momentum: float  # m/s
    approach: float  # m/s
    cone: float  # N s
    dissipation: float  # m/s
    complementarity: float  # J
    penetration: float  # overlap left at the end, at most, m
    overlap: float  # the same measured by full geometry, m; nan where no step was
    crossings: int  # pairs that passed through each other
    crossings_unsure: int
    loop_error: float  # m or rad
    energy_change: float  # J
    work: float  # of motors, applied forces and driven bodies, J
    energy_created: float  # by impacts and contact solves, J
    energy_size: float  # sizes of all energies, J
    energy_gain: float  # gained beyond that work, for whatever reason, J
    impermissible: int  # impacts outside the permissible region
    impacts_unsure: int
    truncated: bool
    asleep: int
    escaped: int
    escapee: int
    steps: int
    solved: int  # steps by outcome
    near: int
    unsure: int
    failed: int
    measured: int  # steps whose overlap was measured
    unknown: int  # steps whose energy balance is not known
    mean_residual: float

    @property
    def clean(self):
        """Every solve is solved or near, every impact permissible, and nothing passed through anything."""
        return (self.failed == 0 and self.unsure == 0 and self.impermissible == 0 and self.impacts_unsure == 0
                and self.crossings == 0 and not self.truncated)


class Energy(NamedTuple):
    """J; potential is that of gravity (zero at the origin) and of the joints' springs.

    >>> import carom
    >>> carom.Energy(2.0, 1.5).total
    3.5
    """
    kinetic: float
    potential: float

    @property
    def total(self):
        """Their sum."""
        return self.kinetic + self.potential


class World(ControlledWorld, _carom.World):
    """A model that moves: World(model, dt=1/240, method="cone", rule="poisson", law=..., solver="auto", ...).

    q, v, force and motor_speed are views of its memory: write between steps. Settings: method (cone, lcp, moreau,
    event), dt, rule (a `Rule` or a name), law (a `Law`, a name or a function), solver, tol, quality (fast, accurate,
    certified), threads, threshold, cluster, deadband, position_tol, impact_limit; of lcp level, fixed_point,
    directions, restitution; of moreau theta and activation; of event toi. force is f(time, q, v) -> (nv): what acts
    beyond the model.

    >>> import carom
    >>> model = carom.Model()
    >>> rubber = model.material("rubber", e=0.8)
    >>> floor = model.halfspace(0, material=rubber)
    >>> ball = model.sphere(model.body("ball", pos=(0, 0, 1.1)), 0.1, material=rubber)
    >>> world = carom.World(model, dt=1e-3)
    >>> world.run(1.0).clean
    True
    >>> world.time, world.q.base is world
    (1.0, True)
    """

    def step(self, count=1):
        """Steps of dt."""
        self._step(count)

    def run(self, time):
        """Steps of dt until `time`, the last one shorter where needed; the worst certificate of them. Other Python
        threads run meanwhile."""
        return Certificate(**self._run(time))

    def record(self, time, every=1):
        """The same, recorded: the start, every `every` steps, and the end.

        >>> import carom
        >>> trajectory = carom.load("bouncing-ball").world().record(1.0, every=10)
        >>> trajectory.q.shape, len(trajectory.events)
        ((25, 7), 1)
        """
        return self._record(time, every)

    @property
    def certificate(self):
        """Of the last step."""
        return Certificate(**self._certificate)

    @property
    def energy(self):
        """Of the present state."""
        return Energy(*self._energy)

    def momentum(self, about=(0, 0, 0)):
        """Linear momentum, and angular momentum about a point."""
        return self._momentum(about)

    def __repr__(self):
        return f"<carom.World at t = {self.time:g} s of {self.model!r}>"


class Body(NamedTuple):
    """Where a body's numbers are in a row of a trajectory."""
    name: str
    joint: str
    q: int
    nq: int
    v: int
    nv: int


class Trajectory(_carom.Trajectory):
    """What a world did: time, q, v, energy, certificate and events as views. From `World.record` or a file.

    >>> import carom
    >>> trajectory = carom.load("bouncing-ball").run(0.5)
    >>> trajectory.of("ball").shape
    (121, 7)
    >>> trajectory.events["approach"].round(3)
    array([4.429])
    """

    @staticmethod
    def read(path):
        """A trajectory that `carom run --out` wrote: .csv or .hdf5."""
        return _carom.Trajectory._read(path)

    def write(self, path):
        """To a file that `carom plot` and `read` take: .csv (time, q and v), .h5 or .hdf5 (everything).

        >>> import carom, os, tempfile
        >>> folder = tempfile.TemporaryDirectory()
        >>> path = os.path.join(folder.name, "ball.csv")
        >>> trajectory = carom.load("bouncing-ball").run(0.1)
        >>> trajectory.write(path)
        >>> bool((carom.Trajectory.read(path).q == trajectory.q).all())
        True
        """
        self._write(path)

    @property
    def bodies(self):
        """Every body but the world: name, joint, and where its numbers are."""
        return [Body(*body) for body in self._bodies]

    def _find(self, body):
        for b in self.bodies:
            if b.name == body:
                return b
        raise KeyError(f"no body {body!r}; there are {[b.name for b in self.bodies]}")

    def of(self, body):
        """The coordinates of a body (n, nq); a view."""
        b = self._find(body)
        return self.q[:, b.q:b.q + b.nq]

    def velocity(self, body):
        """The velocities of a body (n, nv); a view."""
        b = self._find(body)
        return self.v[:, b.v:b.v + b.nv]

    def __len__(self):
        return len(self.time)

    def __repr__(self):
        span = f"{self.time[0]:g} to {self.time[-1]:g} s" if len(self) else "empty"
        return f"<carom.Trajectory: {len(self)} records, {span}, {len(self.bodies)} bodies>"


_carom._register(Model, World, Trajectory, Contact)
