"""One contact: laws, the audit of their answers, and the permissible region of impulses."""
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from carom import _carom, _records
from carom._array import array


class Contact(NamedTuple):
    """One contact in its own frame: x along the normal, y and z along the tangents.

    >>> import carom, numpy as np
    >>> contact = carom.Contact(np.eye(3), np.array([-1.0, 0.5, 0]), mu=0.3)
    >>> carom.Law("routh").apply(contact).P.round(3)
    array([ 1. , -0.3,  0. ])
    """
    W: Any  # inverse of the local mass matrix, 1/kg (3, 3)
    V: Any  # relative velocity before, m/s (3)
    mu: float
    e: float = 0.0
    et: float = 0.0


class Margins(_records.Margins):
    """How far inside each condition an impulse is; negative is outside.

    >>> import carom
    >>> carom.impact("newton", V=(-1, 0, 0), e=1).margins.penetration
    1.0
    """


@dataclass(frozen=True)
class Verdict:
    """All that W, V and P alone say about an outcome.

    >>> import carom
    >>> contact, frame = carom.contact(V=(-1, 0, 0))
    >>> carom.verdict(contact, (3, 0, 0)).creates_energy
    True
    """
    V_plus: Any
    energy_change: float
    margins: Margins
    permissible: bool
    creates_energy: bool


@dataclass(frozen=True)
class Hit(Verdict):
    """What a law made of a collision, and what the audit found.

    >>> import carom
    >>> hit = carom.impact("whittaker", V=(-1, 0.1, 0), mu=0.5)
    >>> hit.regime, hit.V_plus.round(9) + 0.0
    ('stick', array([0., 0., 0.]))
    """
    P: Any
    regime: str
    solutions: int


def _hit(raw):
    return Hit(**{**raw, "margins": Margins(**raw["margins"])})


class Law(_carom.Law):
    """A collision law: one of the catalogue by name, or a Python function.

    A function gets a `Contact` (W, V, mu, e, et in the contact frame: x along the normal) and returns the
    impulse, three numbers in that frame. Its answers are audited as every law's are.

    >>> import carom
    >>> def sticky(contact):
    ...     "plastic: everything stops"
    ...     return carom.Region(contact).P_II
    >>> hit = carom.Law(sticky)(V=(-2, 1, 0), mu=1)
    >>> hit.regime, hit.permissible
    ('stick', True)
    >>> carom.Law("routh", ending="energetic").name
    'routh'

    Parameters of the catalogue: ending (routh), directions (anitescu-potra), nu (pfeiffer-glocker), mu2 and mu3
    (brach), psi1, psi2 and rho (spherical), wish (projected), eta2 (compliant), laws and weights (composite).
    """

    def __call__(self, W=None, V=(0, 0, 0), n=(1, 0, 0), *, mu=0.0, e=0.0, et=0.0, frame=None):
        """Apply to one collision; see `impact`."""
        return _hit(self._apply(W, V, n, mu, e, et, frame))

    def gradient(self, W=None, V=(0, 0, 0), n=(1, 0, 0), *, mu=0.0, e=0.0, et=0.0, frame=None, tol=1e-9):
        """The derivatives of one collision; see `gradient`."""
        raw = self._gradient(tol, W, V, n, mu, e, et, frame)
        by = {name: Derivative(*values) for name, values in raw["by"].items()}
        return Gradient(**{**raw, "hit": _hit(raw["hit"]), "by": by})

    def apply(self, contact):
        """Apply to a `Contact`; P and V_plus come back in its frame."""
        return _hit(self._contact(contact))

    def __repr__(self):
        return f"carom.Law({self.name!r})"


def _law(law):
    return law if isinstance(law, Law) else Law(law)


def impact(law, W=None, V=(0, 0, 0), n=(1, 0, 0), *, mu=0.0, e=0.0, et=0.0, frame=None):
    """One collision by one law: V+ = V + W P.

    law is a `Law`, a name of `laws()`, or a function. W (3 x 3, 1/kg; the identity unless given) is the inverse
    of the local mass matrix, V the velocity of B's contact point relative to A's, n the unit normal from A to B.

    >>> import carom
    >>> hit = carom.impact("chatterjee-ruina", V=(-1, 0.4, 0), mu=0.5, e=0.8, et=0)
    >>> print(hit.regime, round(hit.energy_change, 4))
    stick -0.26
    """
    return _law(law)(W, V, n, mu=mu, e=e, et=et, frame=frame)


class Derivative(NamedTuple):
    """By one input: of P and of V+ for an input that falls (minus) and one that rises (plus); the gradient of the nearest
    switch's function; the estimated error of a dP that was found by differences.

    >>> import carom
    >>> carom.gradient("newton", V=(-1, 0, 0), e=0.5).by["e"].P_plus
    array([1., 0., 0.])
    """
    P_minus: Any
    P_plus: Any
    V_minus: Any
    V_plus: Any
    normal: float
    error: float


@dataclass(frozen=True)
class Gradient:
    """Derivatives of an impact. verdict is "smooth", "one-sided" or "none"; by has a `Derivative` for each input that the
    law reads ("Wxx", "Vy", "nz", "mu", "e" ...); switch is the nearest border between two pieces of the law, at distance, the
    share by which all inputs must change to reach it; beyond is the regime there, jump by how much P jumps.

    >>> import carom
    >>> carom.gradient("whittaker", [[1, 0, 0], [0, 2, 0], [0, 0, 2]], (-1, 1.5, 0), mu=0.5, e=0.5).verdict
    'one-sided'
    """
    hit: Hit
    verdict: str
    differenced: bool
    switch: str
    distance: float
    switches: int
    beyond: str
    jump: Any
    by: "dict[str, Derivative]"


def gradient(law, W=None, V=(0, 0, 0), n=(1, 0, 0), *, mu=0.0, e=0.0, et=0.0, frame=None, tol=1e-9):
    """How P and V+ of one collision change with its inputs, as `carom impact --gradient` says it: docs/gradients.md.

    A switch nearer than tol makes the verdict one-sided or none. Arguments are those of `impact`.

    >>> import carom
    >>> g = carom.gradient("chatterjee-ruina", V=(-1, 0.4, 0), mu=0.5, e=0.8)
    >>> g.verdict, g.by["mu"].P_plus.tolist()
    ('smooth', [0.0, 0.0, 0.0])
    """
    return _law(law).gradient(W, V, n, mu=mu, e=e, et=et, frame=frame, tol=tol)


class Strike(NamedTuple):
    """A ball after the stroke of a cue: velocity and spin (x along the cue, y to the left, z up), squirt (the angle of its path from x,
    against the side struck), the impulse along x. miscue: the tip slips off, and all else is zero.

    >>> import carom
    >>> carom.cue_strike(3.0, side=0.025, e=0.75, mu=0.6).miscue
    True
    """
    velocity: Any
    omega: Any
    squirt: float
    impulse: float
    miscue: bool


def cue_strike(speed, side=0.0, height=0.0, *, e, mu, mass=0.567, end_mass=0.17 / 30, ball_mass=0.17, ball_radius=0.028575):
    """A ball at rest struck by a level cue at `speed`, its tip `side` to the left of the ball's centre and `height` above it.

    e and mu are those of the tip, end_mass that of the cue's end, which the ball pushes aside. Balls are those of pool, the masses of
    the cue those of pooltool (docs/materials.md).

    >>> import carom
    >>> ball = carom.cue_strike(3.0, height=0.4 * 0.028575, e=0.75, mu=0.6)
    >>> abs(float(ball.velocity[0] - 0.028575 * ball.omega[1])) < 1e-12   # 2/5 of the radius above its centre the ball rolls at once
    True
    """
    return Strike(*_carom._cue_strike(mass, end_mass, e, mu, ball_mass, ball_radius, speed, side, height))


class Impulses(NamedTuple):
    """What `impact_many` found: impulses (k, 3), and a status for each row, 0 where all is well.

    >>> import carom
    >>> carom.impact_many("newton", [[[1, 0, 0], [0, 1, 0], [0, 0, 1]]], [[-1, 0, 0]], e=1).status
    array([0], dtype=int32)
    """
    P: Any
    status: Any


def impact_many(law, W, V, n=None, *, mu=0.0, e=0.0, et=0.0):
    """Many collisions at once: W (k, 3, 3), V and n (k, 3), mu, e and et numbers or (k).

    Returns `Impulses`: P (k, 3) and status (k), 0 where all is well; a refused row has P = 0.

    >>> import numpy as np, carom
    >>> P, status = carom.impact_many("newton", np.tile(np.eye(3), (2, 1, 1)), [[-1, 0, 0], [-2, 0, 0]], e=1)
    >>> P[:, 0]
    array([2., 4.])
    """
    return Impulses(*_law(law)._many(W, V, n, mu, e, et))


class FramedContact(NamedTuple):
    """A `Contact` and the frame it is in, whose columns are n, t1, t2.

    >>> import carom
    >>> carom.contact(V=(0, 0, -3), n=(0, 0, 1)).frame[:, 0]
    array([0., 0., 1.])
    """
    contact: Contact
    frame: Any


def contact(W=None, V=(0, 0, 0), n=(1, 0, 0), *, mu=0.0, e=0.0, et=0.0, frame=None):
    """A collision in the contact frame: a `FramedContact`.

    >>> import carom
    >>> c, frame = carom.contact(V=(0, 0, -3), n=(0, 0, 1), mu=0.2)
    >>> c.V
    array([-3.,  0.,  0.])
    """
    return FramedContact(*_carom._collision(W, V, n, mu, e, et, frame))


def verdict(contact, P):
    """What W, V and P alone say about an impulse, in the contact frame.

    >>> import carom
    >>> contact, frame = carom.contact(V=(-1, 0, 0))
    >>> carom.verdict(contact, (1.5, 0, 0)).energy_change
    -0.375
    """
    raw = _carom._verdict(contact, P)
    return Verdict(**{**raw, "margins": Margins(**raw["margins"])})


class LawInfo(_records.LawInfo):
    """A law of the catalogue: name, title, parameters, guarantee, source, and what it can and cannot do.

    >>> import carom
    >>> [law.name for law in carom.laws() if law.may_create_energy]
    ['routh', 'whittaker', 'composite']
    """


def laws():
    """The catalogue: what each law is called, whose it is, what it guarantees.

    >>> import carom
    >>> carom.laws()[0].name
    'newton'
    """
    return [LawInfo(**law) for law in _carom._laws()]


def _zero():
    return [0.0, 0.0, 0.0]


def _diagonal(a, b, c):
    return [[a, 0.0, 0.0], [0.0, b, 0.0], [0.0, 0.0, c]]


@dataclass
class Rigid:
    """A rigid body at the instant of impact.

    >>> import carom
    >>> ball = carom.Rigid.sphere(0.17, 0.0286)
    >>> ball.velocity[0] = 2.0
    >>> other = carom.Rigid.sphere(0.17, 0.0286, position=(0.0572, 0, 0))
    >>> point = (0.0286, 0, 0)
    >>> W, V = carom.collision(ball, other, point)
    >>> hit = carom.impact("newton", W, V, (1, 0, 0), e=1)
    >>> ball, other = ball.after(other, point, hit.P)
    >>> abs(ball.velocity[0]) < 1e-12, round(float(other.velocity[0]), 12)
    (True, 2.0)
    """
    mass: float = 1.0
    inertia: Any = field(default_factory=lambda: _diagonal(1.0, 1.0, 1.0))
    position: Any = field(default_factory=_zero)
    orientation: Any = field(default_factory=lambda: [1.0, 0.0, 0.0, 0.0])
    velocity: Any = field(default_factory=_zero)
    omega: Any = field(default_factory=_zero)
    fixed: bool = False

    def __post_init__(self):
        if len(self.inertia) == 3 and not hasattr(self.inertia[0], "__len__"):
            self.inertia = _diagonal(*self.inertia)
        for name in ("inertia", "position", "orientation", "velocity", "omega"):
            setattr(self, name, array(getattr(self, name)))

    @classmethod
    def sphere(cls, mass, radius, **other):
        """A solid ball."""
        return cls(mass=mass, inertia=[0.4 * mass * radius**2] * 3, **other)

    def _tuple(self):
        return (self.mass, self.inertia, self.position, self.orientation, self.velocity, self.omega, self.fixed)

    def after(self, other, point, P):
        """This body and the other after the impulse P has acted on the other at point, and -P on this one."""
        va, wa, vb, wb = _carom._bodies(self._tuple(), other._tuple(), point, P)
        return replace(self, velocity=va, omega=wa), replace(other, velocity=vb, omega=wb)


class Collision(NamedTuple):
    """W (3, 3) and V (3) of two bodies that touch.

    >>> import carom
    >>> touch = carom.collision(carom.Rigid(fixed=True), carom.Rigid(2.0, velocity=(-3, 0, 0)), (0, 0, 0))
    >>> carom.impact("newton", *touch, e=1).P
    array([12.,  0.,  0.])
    """
    W: Any
    V: Any


def collision(a, b, point):
    """W and V of two bodies that touch at point (world coordinates): a `Collision`.

    >>> import carom
    >>> wall = carom.Rigid(fixed=True)
    >>> W, V = carom.collision(wall, carom.Rigid(2.0, velocity=(-3, 0, 0)), (0, 0, 0))
    >>> float(W[0, 0]), V
    (0.5, array([-3.,  0.,  0.]))
    """
    return Collision(*_carom._bodies(a._tuple(), b._tuple(), point))


class Mesh(NamedTuple):
    """A surface of triangles."""
    vertices: Any
    triangles: Any


class Spherical(NamedTuple):
    """Two angles and a radius about the centroid of a region."""
    psi1: float
    psi2: float
    rho: float


class Ellipsoid(NamedTuple):
    """A surface of constant contact energy; the columns of axes are unit vectors."""
    center: Any
    radii: Any
    axes: Any


def _named(kind, values):
    return None if values is None else kind(*values)


class Region:
    """The permissible region of one contact: impulses with no penetration, tension, sliding outside the cone or
    gain of energy (Chatterjee and Ruina 1998). Everything is in the contact frame.

    >>> import numpy as np, carom
    >>> c, frame = carom.contact(V=(-1, 0.5, 0), mu=0.4)
    >>> region = carom.Region(c)
    >>> region.P_I
    array([1., 0., 0.])
    >>> carom.verdict(c, region.centroid).permissible
    True
    >>> vertices, triangles = region.mesh(2)
    >>> vertices.shape, triangles.shape
    ((162, 3), (320, 3))
    """

    def __init__(self, contact):
        self.contact = contact
        _carom._region(contact, "reach")

    def _of(self, what, *more):
        return _carom._region(self.contact, what, *more)

    P_I = property(lambda self: self._of("P_I"), doc="plastic, frictionless; None where there is none")
    P_II = property(lambda self: self._of("P_II"), doc="plastic, sticking; None where there is none")
    centroid = property(lambda self: self._of("centroid"), doc="a point of the interior, or None")
    reach = property(lambda self: self._of("reach"), doc="no impulse of the region is longer")
    azimuth = property(lambda self: self._of("azimuth"), doc="of the section that holds P_I and P_II, rad")

    def section(self, azimuth=None, count=200):
        """Boundary points (count, 3) of the section through the n axis at an azimuth, or None."""
        return self._of("section", self.azimuth if azimuth is None else azimuth, count)

    def mesh(self, level=3):
        """Boundary as a `Mesh` (vertices, triangles), or None where there is no interior; level 0 to 6."""
        return _named(Mesh, self._of("mesh", level))

    def extent(self, P0, d):
        """Largest s with P0 + s d in the region."""
        return self._of("extent", P0, d)

    def project(self, wish):
        """A wished impulse, drawn towards the centroid until it is in the region."""
        return self._of("project", wish)

    def spherical(self, psi1, psi2, rho):
        """The impulse with these spherical parameters about the centroid."""
        return self._of("spherical", psi1, psi2, rho)

    def to_spherical(self, P):
        """The inverse: psi1, psi2, rho."""
        return Spherical(*self._of("to_spherical", P))

    def ellipsoid(self, Ec):
        """Surface of constant contact energy: center, radii, axes; or None."""
        return _named(Ellipsoid, self._of("ellipsoid", Ec))

    def routh_path(self):
        """Routh's path from P = 0 to its end, or None."""
        return self._of("routh")
