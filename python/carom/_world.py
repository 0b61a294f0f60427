"""Worlds and trajectories: a model that moves, and what it did."""
import difflib
from pathlib import Path
from typing import Any, NamedTuple

from carom import _array, _carom, _records
from carom._impact import Contact
from carom._control import ControlledWorld
from carom._model import Model
from carom._picture import Animation, Picture, Report, counted, shown


class Certificate(_records.Certificate):
    """What is true of one step, or the worst over many, from raw data: every field of crCertificate and crTally.

    >>> import carom
    >>> certificate = carom.load("bouncing-ball").world().run(0.5)
    >>> certificate.impacts, certificate.clean
    (1, True)
    """

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


class Momentum(NamedTuple):
    """Of a world: kg m/s, and kg m^2/s about a point."""
    linear: Any
    angular: Any


class WorldContact(NamedTuple):
    """A contact of the last step: gap in m, impulse in N s on body_b, normal from a to b."""
    body_a: int
    body_b: int
    shape_a: int
    shape_b: int
    gap: float
    mu: float
    point: Any
    normal: Any
    impulse: Any


class World(ControlledWorld, _carom.World):
    """A model that moves: World(model, dt=1/240, method="cone", rule="poisson", law=..., solver="auto", ...).

    q, v, force and motor_speed are views of its memory: write between steps. Settings: method (cone, lcp, moreau,
    event), dt, rule (a `Rule` or a name), law (a `Law`, a name or a function), solver, tol, quality (fast, accurate,
    certified), threads, threshold, cluster, deadband, position_tol, impact_limit, error (of time, m: steps are divided
    until it is met); of lcp level, fixed_point,
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
    >>> world.q[2] = 0.5        # a view: the ball is there now
    >>> world.time, float(world.poses[1, 2])
    (1.0, 0.5)
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
        trajectory = self._record(time, every)
        trajectory._shapes = self.model
        return trajectory

    def show(self, what="strobe", *, bodies=()):
        """A `Picture` of the bodies as they are now; what is strobe (the view that shows most), plan or elevation."""
        return self.record(self.time).show(what, bodies=bodies)

    def _repr_html_(self):
        energy, last = self.energy, self.certificate
        return shown(self.show, [("time", f"{self.time:g} s"), ("energy", f"{energy.total:.6g} J"),
                                 ("method, dt", f"{self.settings['method']}, {self.settings['dt']:g} s"),
                                 ("last step", f"{last.outcome}, residual {last.residual:.1e}, {counted(last.contacts, 'contact')}")])

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
        return Momentum(*self._momentum(about))

    @property
    def contacts(self):
        """Contacts of the last step; a copy."""
        return [WorldContact(**contact) for contact in self._contacts]

    def __repr__(self):
        return f"<carom.World at t = {self.time:g} s of {self.model!r}>"


_LARGEST = 3_000_000  # letters of a moving picture that a notebook gets without being asked


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

    _shapes = None  # the model that was recorded, or the scene given to read

    @staticmethod
    def read(path, scene=None):
        """A trajectory that `carom run --out` wrote: .csv or .hdf5. scene, a `Scene` or a `Model`, gives the shapes of
        its bodies for pictures where the file does not."""
        trajectory = _carom.Trajectory._read(path)
        trajectory._shapes = getattr(scene, "model", scene)
        return trajectory

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
            if isinstance(body, str) and b.name == body:
                return b
        names = [b.name for b in self.bodies]
        near = difflib.get_close_matches(str(body), names, 1)
        raise KeyError(f"no body {body!r}; " + (f"did you mean {near[0]!r}?" if near else f"there are {names}"))

    def of(self, body):
        """The coordinates of a body (n, nq); a view."""
        b = self._find(body)
        return self._columns(False, b.q, b.nq)

    def velocity(self, body):
        """The velocities of a body (n, nv); a view."""
        b = self._find(body)
        return self._columns(True, b.v, b.nv)

    @property
    def model(self):
        """The model it is of: what was recorded, or the scene in the file; None where that is not known."""
        if self._shapes is None and self.scene is not None:
            self._shapes = _carom.Scene(self.scene, []).model
        return self._shapes

    def show(self, what="strobe", *, bodies=(), times=None, at=None, title=""):
        """A `Picture`: bodies at several times (strobe, plan, elevation), impulses at an instant, or charts over time
        (energy, positions, velocities, forces, certificate, events).

        >>> import carom
        >>> trajectory = carom.load("bouncing-ball").run(1.0)
        >>> trajectory.show("energy"), trajectory.show(times=[0.0, 0.2])
        (<carom.Picture: energy>, <carom.Picture: strobe>)
        """
        if at is None and isinstance(what, str) and what == "impulses":
            raise TypeError("at: impulses need a time, show('impulses', at=0.1)")
        return Picture(self, self.model, what, title, bodies, times, 0.0 if at is None else at)

    def animate(self, speed=1.0, *, bodies=(), title=""):
        """An `Animation`, which a notebook plays; speed 0.1 is ten times slower than it was."""
        return Animation(self, self.model, "motion", title, bodies, speed=speed)

    def report(self, title="carom"):
        """A `Report`: the page of `carom run --report`."""
        return Report(self, self.model, "report", title)

    def _repr_html_(self):
        facts = [("records", f"{len(self)}, {self.time[0]:g} to {self.time[-1]:g} s" if len(self) else "none"),
                 ("bodies", len(self.bodies))]
        if self.events is not None:
            facts.append(("impacts", len(self.events)))

        def picture():
            film = self.animate()
            return film if len(film.svg) < _LARGEST else self.show()
        return shown(picture, facts)

    def __len__(self):
        return len(self.time)

    def __repr__(self):
        span = f"{self.time[0]:g} to {self.time[-1]:g} s" if len(self) else "empty"
        return f"<carom.Trajectory: {counted(len(self), 'record')}, {span}, {counted(len(self.bodies), 'body', 'bodies')}>"


_carom._register(Model, World, Trajectory, Contact, _array.view, _array.fresh, _array.events,
                 Path(__file__).parent)
