"""Models: what exists."""
from typing import NamedTuple

from carom import _carom
from carom._control import NamedModel
from carom._picture import counted


class Dofs(NamedTuple):
    """Where the numbers of a body are: q[q:q + nq] and v[v:v + nv]."""
    q: int
    nq: int
    v: int
    nv: int


class Shape(NamedTuple):
    """A shape of a model; size as its kind has it, offset of a half-space, pos and quat in the frame of its body."""
    kind: str
    body: int
    material: int
    size: tuple
    offset: float
    pos: tuple
    quat: tuple


class Model(NamedModel, _carom.Model):
    """Bodies in kinematic trees with joints, shapes, materials and loops; body 0 is the world.

    It may grow until a `World` or an array looks at it, and cannot change while one does.

    >>> import carom
    >>> model = carom.Model()
    >>> rubber = model.material("rubber", mu=0.5, e=0.8)
    >>> model.halfspace(0, material=rubber)
    0
    >>> ball = model.body("ball", pos=(0, 0, 1.1))
    >>> model.sphere(ball, 0.1, material=rubber)
    1
    >>> model.nv, round(float(model.mass[ball]), 4)
    (6, 4.1888)
    """

    def material(self, name=None, **fields):
        """Add a material: density, mu, e, et, mu2 and axis (elliptic friction), polygon, mu_spin, mu_roll, viscous,
        mu_stribeck, speed_stribeck. Returns its index; material 0 is there from the start (mu 0.5, e 0).

        e is a number, rows of (approach speed, e), or a function of the approach speed. mu, e and et may also be a dict
        with a form or a table over speed, slip, angle and spin as scenes have it; mu and et a function of these four. They
        are computed from the velocities before the impact. polygon is a convex region of
        friction instead of mu: vertices (n, 2) of P_t / P_n along axis and across, counterclockwise, the origin inside.

        >>> import carom
        >>> model = carom.Model()
        >>> model.material("steel", e=[(0.1, 0.95), (5, 0.6)])
        1
        >>> model.material("lead", e=lambda speed: 0.3 / (1 + speed))
        2
        >>> model.material("tennis", e=0.75, et={"form": "grip", "grip": 0.2, "limit": 1.2})
        3
        >>> model.material("ice", polygon=[(0.1, 0), (0, 0.02), (-0.1, 0), (0, -0.02)], axis=(1, 0, 0))
        4
        """
        return self._add_material(name, **fields)

    def pair(self, a, b, **surface):
        """What happens where materials a and b touch, instead of what they make together: mu, e, et ...; law: that of
        their impacts with rule sequence, by name or a carom.Law of the catalogue."""
        self._add_pair(a, b, **surface)

    def exclude(self, a, b):
        """Shapes of bodies a and b never meet."""
        self._exclude(a, b)

    def filter(self, shape, group, mask):
        """Two shapes meet where the group of one has a bit of the mask of the other; 1 and all bits unless set."""
        self._filter(shape, group, mask)

    def body(self, name=None, joint="free", pos=(0, 0, 0), quat=(1, 0, 0, 0), **fields):
        """Add a body: joint is fixed, hinge, slider, planar, ball, free or driven; pos and quat are those at q = 0 in the
        frame of parent (0). Others: axis (hinge, slider), mass with com and inertia (3 numbers or 3 x 3) where they do not
        come from shapes, dof (a dict: lower, upper, stiffness, rest, damping, friction, motor_force, motor_speed,
        armature; one number or one for each velocity), gravity_scale, linear_drag, angular_drag. Returns its index.

        A driven body is where drive(time) says: a dict with pos, quat, velocity (of its origin), omega, acceleration
        and alpha in world axes; what is missing is at rest at pos and quat. Velocities must be the rates of the pose. What
        the function raises comes out of the step.

        >>> import carom, math
        >>> model = carom.Model()
        >>> def shake(t):
        ...     return {"pos": (0, 0, 0.01 * math.sin(9 * t)), "velocity": (0, 0, 0.09 * math.cos(9 * t))}
        >>> table = model.body("table", "driven", drive=shake)
        >>> shape = model.box(table, (1, 1, 0.1))
        >>> model.nv
        0
        """
        return self._add_body(name, joint, pos, quat, **fields)

    def _shape(self, body, kind, data, material, pos, quat):
        return self._add_shape(body, kind, data, material, pos, quat)

    def sphere(self, body, radius, *, material=0, pos=None, quat=None):
        """Add a ball to a body; returns the index of the shape, as all of these do."""
        return self._shape(body, "sphere", [radius], material, pos, quat)

    def capsule(self, body, radius, half_length, *, material=0, pos=None, quat=None):
        """Along local z, round ends beyond half_length."""
        return self._shape(body, "capsule", [radius, half_length], material, pos, quat)

    def cylinder(self, body, radius, half_height, *, material=0, pos=None, quat=None):
        """Along local z."""
        return self._shape(body, "cylinder", [radius, half_height], material, pos, quat)

    def cone(self, body, radius, half_height, *, material=0, pos=None, quat=None):
        """Base at -half_height, apex at +half_height along local z."""
        return self._shape(body, "cone", [radius, half_height], material, pos, quat)

    def box(self, body, half_edges, *, material=0, pos=None, quat=None):
        """Three half edges."""
        return self._shape(body, "box", half_edges, material, pos, quat)

    def ellipsoid(self, body, semi_axes, *, material=0, pos=None, quat=None):
        """Three semi-axes."""
        return self._shape(body, "ellipsoid", semi_axes, material, pos, quat)

    def halfspace(self, body=0, normal=(0, 0, 1), offset=0.0, *, material=0):
        """Solid where normal.x <= offset."""
        return self._shape(body, "halfspace", [*normal, offset], material, None, None)

    def hull(self, body, points, *, material=0, pos=None, quat=None):
        """Convex hull of points (n, 3)."""
        return self._shape(body, "hull", points, material, pos, quat)

    def mesh(self, body, vertices, triangles, *, material=0, pos=None, quat=None):
        """Triangles (m, 3), counterclockwise from outside; a moving body needs a closed one."""
        return self._shape(body, "mesh", (vertices, triangles), material, pos, quat)

    def heightfield(self, body, heights, dx, dy, *, material=0, pos=None, quat=None):
        """Heights[j, i] at (i dx, j dy), solid below."""
        return self._shape(body, "heightfield", (heights, dx, dy), material, pos, quat)

    def loop(self, kind, a, b, *, pos_a=None, pos_b=None, quat_a=None, quat_b=None, length=float("nan"), coef=None,
             range=None):
        """Tie two bodies beyond the tree: connect (points coincide), weld, distance (length apart), joint (the joint of
        a follows that of b: five numbers, q_a = coef[0] + coef[1] q_b + ...). With range (least, most) a distance only
        keeps within it, a rope is (0, length); and so does q_a minus the polynomial."""
        return self._add_loop(kind, a, b, pos_a, pos_b, quat_a, quat_b, length, coef, range)

    def dofs(self, body):
        """Where the numbers of a body are, by its index or its name.

        >>> import carom
        >>> model = carom.Model()
        >>> cart = model.body("cart", "slider", mass=1)
        >>> model.dofs("cart")
        Dofs(q=0, nq=1, v=0, nv=1)
        """
        return Dofs(*self._dofs(self.find(body) if isinstance(body, str) else body))

    @property
    def shapes(self):
        """Kind, body, material, size, offset, pos and quat of every shape."""
        return [Shape(**shape) for shape in self._shapes]

    def __repr__(self):
        return f"<carom.Model: {counted(self.nb - 1, 'body', 'bodies')}, {counted(len(self.shapes), 'shape')}, {counted(self.nv, 'velocity', 'velocities')}>"
