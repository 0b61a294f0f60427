"""Derivatives of steps and runs, with a verdict; as arrays of NumPy, and as functions that JAX and PyTorch differentiate through.

>>> import numpy as np
>>> import carom
>>> from carom.derivatives import Steps
>>> model = carom.Model()
>>> rubber = model.material("rubber", e=0.8)
>>> floor = model.halfspace(0, material=rubber)
>>> ball = model.sphere(model.body("ball", pos=(0, 0, 0.3)), 0.1, material=rubber)
>>> steps = Steps(model, by=[("e", rubber, rubber)], dt=0.01)
>>> start = steps.start()
>>> end = steps.run(*start, count=40)
>>> found = steps.adjoint(*start, by_q=[0, 0, 1, 0, 0, 0, 0], count=40)   # the height after .4 s ...
>>> round(float(found.params[0]), 4), found.verdict.verdict                     # ... by the restitution
(0.3924, 'smooth')
"""
from typing import Any, NamedTuple

from carom import _carom
from carom._array import need
from carom._scene import Scene
from carom._world import World

np = need("carom.derivatives")

_KINDS = {"mass": 0, "mu": 1, "e": 2, "et": 3, "ctrl": 4, "mu_spin": 5, "mu_roll": 6}
_BODIES = ("mass", "ctrl")  # of one thing; the others of two materials


class StepVerdict(NamedTuple):
    """Whether a derivative may be trusted. verdict: smooth, one-sided or none. switch: the nearest, and distance: the change of a
    contact's velocity that reaches it, m/s (NaN: not known). differenced: a step as a whole or an impact in it was differenced, and why.

    >>> from carom.derivatives import StepVerdict
    >>> StepVerdict("smooth", "open/close", 0.1, 0.0, 1e-14, False, None).verdict
    'smooth'
    """
    verdict: str
    switch: str
    distance: float
    jump: float
    residual: float
    differenced: bool
    why: Any


class State(NamedTuple):
    """Coordinates (nq) and velocities (nv).

    >>> from carom.derivatives import State
    >>> State([1.0], [0.0]).q
    [1.0]
    """
    q: Any
    v: Any


class Change(NamedTuple):
    """What a change becomes after a step (2 nv): for the change times a falling and a rising number.

    >>> from carom.derivatives import Change
    >>> Change([0.0], [1.0], None).plus
    [1.0]
    """
    minus: Any
    plus: Any
    verdict: Any


class Jacobian(NamedTuple):
    """J (2 nv, 3 nv + parameters) along the velocities.

    >>> from carom.derivatives import Jacobian
    >>> Jacobian([[1.0]], None).J
    [[1.0]]
    """
    J: Any
    verdict: Any


class Adjoint(NamedTuple):
    """Derivatives of a figure of the last state by the first q (nq) and v (nv), by the force of each step (count, nv) and by the
    parameters.

    >>> from carom.derivatives import Adjoint
    >>> Adjoint([1.0], [0.0], [[0.0]], [], None).q
    [1.0]
    """
    q: Any
    v: Any
    forces: Any
    params: Any
    verdict: Any


class Steps:
    """Steps of a model, or of a scene with its settings, solved as far as they can be.

    by: parameters, each ("mass", body), ("mu", a, b), ("e", a, b), ("et", a, b), ("mu_spin", a, b), ("mu_roll", a, b) with
    indices of materials, or ("ctrl", actuator). Other keywords are those of `World`. A law may be a function of Python: impacts
    by it are differenced, and the verdict says so. Other functions (forces, drives, coefficients) are refused.

    A change along the velocities has nv entries of position, nv of v, nv of the applied forces, and one for each
    parameter. Where q has more numbers than v (quaternions), derivatives by q are those of changes that keep them unit.

    >>> import carom
    >>> from carom.derivatives import Steps
    >>> model = carom.Model(gravity=(0, 0, 0))
    >>> body = model.body("bead", "slider", axis=(1, 0, 0), mass=2.0, inertia=(1, 1, 1))
    >>> steps = Steps(model, dt=0.1)
    >>> steps.jacobian([0.0], [1.0]).J.round(4).tolist()
    [[1.0, 0.1, 0.0025], [0.0, 1.0, 0.05]]
    """

    def __init__(self, model, by=(), **settings):
        if isinstance(model, Scene):
            if settings:
                raise TypeError("a scene has its own settings; set them where it is loaded")
            self._world = model.world()
        else:
            self._world = World(model, **settings)
        self.model = self._world.model
        self.dt = self._world.settings["dt"]
        self.by = tuple(tuple(item) for item in by)
        self.verdict = None
        self._wrt = _carom._wrt_new(self._world)
        _carom._wrt_params(self._wrt, [self._param(item) for item in self.by] or np.zeros((0, 3), dtype=np.int32))

    def _param(self, item):
        kind, *rest = item
        if kind not in _KINDS or len(rest) != (1 if kind in _BODIES else 2):
            raise ValueError(f"by: {item!r} must be ('mass', body), ('ctrl', actuator), or 'mu', 'e', 'et', 'mu_spin' or 'mu_roll' with "
                             "two materials")
        if kind == "mass" and isinstance(rest[0], str):
            rest[0] = self.model.find(rest[0])
        return [_KINDS[kind], int(rest[0]), int(rest[1]) if len(rest) > 1 else 0]

    def start(self):
        """The state that the model, or the scene, starts with."""
        return State(np.array(self._world.q), np.array(self._world.v))

    def set(self, values):
        """Values of the parameters from now on; those of controls are ignored."""
        _carom._wrt_set(self._wrt, np.ascontiguousarray(values, dtype=float))

    def _state(self, q, v, force, ctrl, time):
        numbers = [None if x is None else np.ascontiguousarray(x, dtype=float) for x in (q, v, force, ctrl)]
        return (float(time), *numbers)

    def _told(self, verdict):
        self.verdict = StepVerdict(**verdict)
        return self.verdict

    def _forces(self, forces, count):
        if forces is None:
            return np.zeros((count, self.model.nv))
        return np.ascontiguousarray(np.reshape(forces, (-1, self.model.nv)), dtype=float)

    def run(self, q, v, forces=None, *, count=1, ctrl=None, time=0.0):
        """The state after `count` steps, or one for each row of forces (steps, nv)."""
        state = self._state(q, v, None, ctrl, time)
        return State(*_carom._wrt_run(self._wrt, state, self._forces(forces, count)))

    def apply(self, q, v, d, *, force=None, ctrl=None, time=0.0):
        """J d of one step: what the change d (3 nv + parameters) becomes."""
        minus, plus, verdict = _carom._wrt_apply(self._wrt, self._state(q, v, force, ctrl, time),
                                                 np.ascontiguousarray(d, dtype=float))
        return Change(minus, plus, self._told(verdict))

    def jacobian(self, q, v, *, force=None, ctrl=None, time=0.0):
        """J of one step, along the velocities."""
        J, verdict = _carom._wrt_jacobian(self._wrt, self._state(q, v, force, ctrl, time))
        return Jacobian(J, self._told(verdict))

    def back(self, q, v, by, *, force=None, ctrl=None, time=0.0):
        """y^T J of one step, y (2 nv) along the velocities: (3 nv + parameters), and the verdict."""
        out, verdict = _carom._wrt_back(self._wrt, self._state(q, v, force, ctrl, time),
                                        np.ascontiguousarray(by, dtype=float))
        return out, self._told(verdict)

    def _along(self, q, by_q):
        """Derivatives along the velocities from those by q."""
        return _carom._wrt_rates(self._wrt, np.ascontiguousarray(q, dtype=float)).T @ by_q

    def _by_q(self, q, along):
        """The shortest derivatives by q from those along the velocities."""
        R = _carom._wrt_rates(self._wrt, np.ascontiguousarray(q, dtype=float))
        return R @ np.linalg.solve(R.T @ R, along) if len(along) else np.zeros(len(q))

    def adjoint(self, q, v, forces=None, *, by_q=None, by_v=None, count=1, ctrl=None, time=0.0):
        """Derivatives of a figure of the last state, given those by its q and v, by the first state, forces and parameters.

        States are kept at about sqrt(count) steps and made again in between."""
        nq, nv = self.model.nq, self.model.nv
        forces = self._forces(forces, count)
        by_q = np.zeros(nq) if by_q is None else np.asarray(by_q, dtype=float)
        by_v = np.zeros(nv) if by_v is None else np.asarray(by_v, dtype=float)
        end = self.run(q, v, forces, ctrl=ctrl, time=time)
        by_end = np.concatenate([self._along(end.q, by_q), by_v])
        start, by_force, params, verdict = _carom._wrt_adjoint(self._wrt, self._state(q, v, None, ctrl, time), forces,
                                                               by_end)
        return Adjoint(self._by_q(q, start[:nv]), start[nv:], by_force, params, self._told(verdict))


def to_jax(steps, count=1):
    """A function (q, v, forces, params) -> (q, v) of `count` steps that JAX differentiates in reverse (jax.custom_vjp).

    forces has shape (count, nv), params one number for each of steps.by. The verdict of the last derivative is
    steps.verdict. JAX must be installed.

    >>> from carom.derivatives import to_jax
    >>> to_jax.__name__
    'to_jax'
    """
    import jax

    def forward_host(q, v, forces, params):
        if steps.by:
            steps.set(np.asarray(params))
        end = steps.run(np.asarray(q), np.asarray(v), np.asarray(forces), count=count)
        return end.q.astype(q.dtype), end.v.astype(v.dtype)

    def backward_host(q, v, forces, params, by_q, by_v):
        if steps.by:
            steps.set(np.asarray(params))
        found = steps.adjoint(np.asarray(q), np.asarray(v), np.asarray(forces), by_q=np.asarray(by_q),
                              by_v=np.asarray(by_v), count=count)
        return (found.q.astype(q.dtype), found.v.astype(v.dtype), found.forces.astype(forces.dtype),
                found.params.astype(params.dtype))

    def like(*arrays):
        return tuple(jax.ShapeDtypeStruct(x.shape, x.dtype) for x in arrays)

    @jax.custom_vjp
    def run(q, v, forces, params):
        return jax.pure_callback(forward_host, like(q, v), q, v, forces, params)

    def forward(q, v, forces, params):
        return run(q, v, forces, params), (q, v, forces, params)

    def backward(saved, by):
        return jax.pure_callback(backward_host, like(*saved), *saved, *by)

    run.defvjp(forward, backward)
    return run


def to_torch(steps, count=1):
    """A function (q, v, forces, params) -> (q, v) of `count` steps for PyTorch (torch.autograd.Function).

    Tensors as for `to_jax`. The verdict of the last derivative is steps.verdict. PyTorch must be installed.

    >>> from carom.derivatives import to_torch
    >>> to_torch.__name__
    'to_torch'
    """
    import torch

    def host(x):
        return x.detach().cpu().numpy().astype(float)

    def tensor(x, like):
        return torch.as_tensor(x).to(like)

    class Run(torch.autograd.Function):
        @staticmethod
        def forward(ctx, q, v, forces, params):
            ctx.save_for_backward(q, v, forces, params)
            if steps.by:
                steps.set(host(params))
            end = steps.run(host(q), host(v), host(forces), count=count)
            return tensor(end.q, q), tensor(end.v, v)

        @staticmethod
        def backward(ctx, by_q, by_v):
            q, v, forces, params = ctx.saved_tensors
            if steps.by:
                steps.set(host(params))
            found = steps.adjoint(host(q), host(v), host(forces), by_q=host(by_q), by_v=host(by_v), count=count)
            return (tensor(found.q, q), tensor(found.v, v), tensor(found.forces, forces),
                    tensor(found.params, params))

    return Run.apply
