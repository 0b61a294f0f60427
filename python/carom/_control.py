"""Names, controls, sensors and dynamics of a world, by the names a robotics engineer expects."""
from typing import NamedTuple

from carom import _carom


class Joint(NamedTuple):
    """A joint by name: its body, and where its numbers are in q (q, nq) and in v, force and motor_speed (dof, nv).

    >>> import carom
    >>> carom.load("cart-pole").model.joint("hinge").dof
    1
    """
    name: str
    body: int
    q: int
    nq: int
    dof: int
    nv: int


class Actuator(NamedTuple):
    """An actuator by name, and what its control and force are limited to.

    >>> import carom
    >>> carom.load("cart-pole").model.actuators[0].ctrl_upper
    1.0
    """
    name: str
    ctrl_lower: float
    ctrl_upper: float
    force_lower: float
    force_upper: float
    act: int  # place among the activations, -1: it has none


class Sensor(NamedTuple):
    """A sensor by name; its numbers are sensors[first:first + count].

    >>> import carom
    >>> carom.load("cart-pole").model.sensors[1]
    Sensor(name='angle', type='joint_position', first=1, count=1)
    """
    name: str
    type: str
    first: int
    count: int


def _numpy():
    import numpy
    return numpy


def _near(name, names):
    import difflib
    near = difflib.get_close_matches(str(name), [n for n in names if n], 1)
    return f"; did you mean {near[0]!r}?" if near else f"; there are {[n for n in names if n]}"


def _find(kind, name, items):
    for i, item in enumerate(items):
        if item[0] == name:
            return i
    raise KeyError(f"no {kind} {name!r}{_near(name, [item[0] for item in items])}")


class Controls:
    """Controls of a world's actuators by name or index; numpy.asarray(world.ctrl) is a copy of all of them.

    A control that is not a number or outside its actuator's range is refused, and nothing is changed.

    >>> import carom
    >>> world = carom.load("cart-pole").world()
    >>> world.ctrl["slide"] = 0.5
    >>> world.ctrl
    Controls({'slide': 0.5})
    """

    def __init__(self, world):
        self._world = world

    @property
    def names(self):
        """Of the actuators, in their order."""
        return [a[0] for a in _carom._control_names(self._world.model)[1]]

    def _index(self, key):
        return key if not isinstance(key, str) else _find("actuator", key, _carom._control_names(self._world.model)[1])

    def __len__(self):
        return len(_carom._control_get(self._world))

    def __iter__(self):
        return iter(_carom._control_get(self._world))

    def __getitem__(self, key):
        values = _carom._control_get(self._world)
        return _numpy().array(values)[key] if isinstance(key, slice) else values[self._index(key)]

    def __setitem__(self, key, value):
        values = _numpy().array(_carom._control_get(self._world), dtype=float)
        values[self._index(key)] = value
        _carom._control_set(self._world, values)

    def __array__(self, dtype=None, copy=None):
        return _numpy().array(_carom._control_get(self._world), dtype=dtype or float)

    def __repr__(self):
        return f"Controls({dict(zip(self.names, self))})"


class Readings:
    """What the sensors of a world read now, by name; numpy.asarray(world.sensors) is all numbers in their order.

    >>> import carom
    >>> carom.load("cart-pole").world().sensors["angle"]
    0.05
    """

    def __init__(self, world):
        self._world = world

    @property
    def names(self):
        """Of the sensors, in their order."""
        return [s[0] for s in _carom._control_names(self._world.model)[3]]

    def __len__(self):
        return len(self.names)

    def __getitem__(self, name):
        sensors = _carom._control_names(self._world.model)[3]
        _, _, first, count = sensors[_find("sensor", name, sensors)]
        values = _carom._control_sense(self._world)[first:first + count]
        return values[0] if count == 1 else _numpy().array(values)

    def __array__(self, dtype=None, copy=None):
        return _numpy().array(_carom._control_sense(self._world), dtype=dtype or float)

    def __repr__(self):
        return f"Readings({self.names})"


class ControlledWorld:
    """What a world has of control; `World` builds on it."""

    @property
    def ctrl(self):
        """Controls of the actuators by name: world.ctrl["hip"] = 0.3, or world.ctrl[:] = [...]."""
        return Controls(self)

    @ctrl.setter
    def ctrl(self, values):
        _carom._control_set(self, values)

    @property
    def act(self):
        """Activations of the actuators that have one, by name: a copy. world.act = {"servo": 0.2} writes those it names.

        >>> import carom
        >>> model = carom.Model()
        >>> carom.World(model).act
        {}
        """
        values = _carom._control_act(self)
        return {a[0]: values[a[5]] for a in _carom._control_names(self.model)[1] if a[5] >= 0}

    @act.setter
    def act(self, given):
        actuators = _carom._control_names(self.model)[1]
        values = _carom._control_act(self)
        for name, value in given.items():
            place = actuators[_find("actuator", name, actuators)][5]
            if place < 0:
                raise KeyError(f"actuator {name!r} has no activation")
            values[place] = value
        _carom._control_act(self, values)

    @property
    def sensors(self):
        """What the sensors read, by name: world.sensors["imu"]."""
        return Readings(self)

    def reset(self, key=None):
        """Back to the start of its scene or model, or to a keyframe by its name."""
        _carom._control_reset(self, key)

    def set_state(self, q=None, v=None, ctrl=None, time=0.0):
        """Put the world at a state; what is left out is as at the start of the model. Contact forces are forgotten."""
        _carom._control_set_state(self, time, q, v, ctrl)

    def _rows(self, what, given, rows):
        return _numpy().array(_carom._control_dynamics(self, what, given)).reshape(rows, -1)

    def mass_matrix(self):
        """M at the present state (nv, nv)."""
        return self._rows("mass", None, self.model.nv)

    def bias_force(self):
        """Centrifugal, Coriolis and gyroscopic terms and gravity (nv): M a + bias is the force that accelerates by a."""
        return _numpy().array(_carom._control_dynamics(self, "bias", None))

    def acceleration(self):
        """Forward dynamics (nv) by all forces but contacts, loops, limits, motors and dry friction."""
        return _numpy().array(_carom._control_dynamics(self, "acceleration", None))

    def inverse_dynamics(self, acceleration):
        """What actuators and applied forces together must give to accelerate so (nv)."""
        return _numpy().array(_carom._control_dynamics(self, "inverse", acceleration))

    def jacobian(self, body, point):
        """(linear, angular), each (3, nv): velocity of a world point of a body, and its angular velocity, per v."""
        index = body if isinstance(body, int) else self.model.find(body)
        both = self._rows("jacobian", [float(index), *map(float, point)], 6)
        return both[:3], both[3:]


class NamedModel:
    """What a model has by name; `Model` builds on it."""

    @property
    def joints(self):
        """Every joint that moves."""
        return [Joint(*j) for j in _carom._control_names(self)[0]]

    def joint(self, name):
        """A joint by its name, or by that of its body where it has none: model.joint("hip").dof."""
        joints = self.joints
        return joints[_find("joint", name, joints)]

    @property
    def actuators(self):
        """Every actuator."""
        return [Actuator(*a) for a in _carom._control_names(self)[1]]

    @property
    def sites(self):
        """(name, body) of every site."""
        return _carom._control_names(self)[2]

    @property
    def sensors(self):
        """Every sensor."""
        return [Sensor(*s) for s in _carom._control_names(self)[3]]
