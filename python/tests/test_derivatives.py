"""Derivatives of steps and runs: closed forms, and the protocols of JAX and PyTorch by small stand-ins."""
import sys
import types

import numpy as np
import pytest

import carom
from carom.derivatives import Steps, to_jax, to_torch

G, R, E = 9.81, 0.1, 0.6


def ball(z=0.3, **settings):
    model = carom.Model()
    rubber = model.material("rubber", mu=0.3, e=E)
    model.halfspace(0, material=rubber)
    model.sphere(model.body("ball", pos=(0, 0, z)), R, material=rubber)
    return Steps(model, by=[("e", rubber, rubber), ("mass", "ball")], **settings)


def bounce(z, v, e, t):
    """Height and velocity of a ball at t, by the closed motion; the time of its first touch."""
    x = z - R
    while True:
        hit = (v + np.sqrt(v * v + 2 * G * x)) / G
        if hit > t:
            return x + R + v * t - G * t * t / 2, v - G * t
        v, x, t = -e * (v - G * hit), 0.0, t - hit


def by(f, x, step=1e-6):
    return (f(x + step) - f(x - step)) / (2 * step)


def test_a_step_with_an_impact():
    steps = ball(dt=0.1)
    q, v = steps.start()
    v[2] = -3.0
    J, verdict = steps.jacobian(q, v)
    assert verdict.verdict == "smooth" and not verdict.differenced and verdict.distance > 0
    for row, pick in ((2, 0), (8, 1)):
        assert J[row, 2] == pytest.approx(by(lambda z: bounce(z, -3.0, E, 0.1)[pick], 0.3), rel=1e-6)
        assert J[row, 8] == pytest.approx(by(lambda s: bounce(0.3, s, E, 0.1)[pick], -3.0), rel=1e-6)
        assert J[row, 18] == pytest.approx(by(lambda e: bounce(0.3, -3.0, e, 0.1)[pick], E), rel=1e-6)
        assert abs(J[row, 19]) < 1e-7
    d = np.linspace(-1, 1, 20)
    minus, plus, verdict = steps.apply(q, v, d)
    assert np.allclose(plus, J @ d, rtol=1e-8, atol=1e-9) and np.array_equal(minus, plus)
    y = np.linspace(0.5, -0.7, 12)
    out, verdict = steps.back(q, v, y)
    assert np.allclose(out, y @ J, rtol=1e-8, atol=1e-9)


def test_a_run_by_start_restitution_and_forces():
    steps = ball(dt=0.02)
    q, v = steps.start()
    found = steps.adjoint(q, v, by_q=[0, 0, 1, 0, 0, 0, 0], count=30)
    assert found.verdict.verdict == "smooth" and steps.verdict == found.verdict
    assert found.q[2] == pytest.approx(by(lambda z: bounce(z, 0.0, E, 0.6)[0], 0.3), rel=1e-5)
    assert found.v[2] == pytest.approx(by(lambda s: bounce(0.3, s, E, 0.6)[0], 0.0), rel=1e-5)
    assert found.params[0] == pytest.approx(by(lambda e: bounce(0.3, 0.0, e, 0.6)[0], E), rel=1e-5)
    assert found.forces.shape == (30, 6)
    # a force in the last step, in the air, lifts by h^2/m
    mass = 1000 * 4 / 3 * np.pi * R**3
    found = steps.adjoint(q, v, by_q=[0, 0, 1, 0, 0, 0, 0], count=25)
    assert found.forces[-1, 2] == pytest.approx(0.02**2 / mass, rel=1e-6)


def test_parameters_are_set_and_refused():
    steps = ball(dt=0.02)
    q, v = steps.start()
    steps.set([0.3, 5.0])
    assert steps.run(q, v, count=15).q[2] == pytest.approx(bounce(0.3, 0.0, 0.3, 0.3)[0], abs=1e-6)
    with pytest.raises(carom.Error, match="values"):
        steps.set([-1.0, 1.0])
    with pytest.raises(ValueError, match="must be"):
        Steps(steps.model, by=[("spin", 1)])
    with pytest.raises(carom.Error, match="params"):
        Steps(steps.model, by=[("mu", 0, 99)])
    with pytest.raises(carom.Error, match="functions of Python"):
        Steps(steps.model, force=lambda t, q, v: np.zeros(6))
    with pytest.raises(carom.Error, match="d:"):
        steps.apply(q, v, [1.0])


def test_law_of_python_is_differenced_and_says_so():
    def own(c):
        return (-(1 + c.e) * c.V[0] / c.W[0][0], 0, 0)

    def broken(c):
        raise ValueError("broken")

    model = carom.Model(gravity=(0, 0, 0))
    rubber = model.material("rubber", e=0.5)
    model.halfspace(0, material=rubber)
    model.sphere(model.body("ball", pos=(0, 0, 0.105)), 0.1, material=rubber)
    found = {}
    for name, law in (("own", own), ("newton", "newton"), ("both", carom.Law("composite", laws=["newton"], weights=[1]))):
        steps = Steps(model, dt=0.01, rule="sequence", law=law)
        q, v = steps.start()
        v[2] = -1.0
        found[name] = steps.jacobian(q, v)
        assert found[name].verdict.differenced == (name == "own")
    assert found["own"].J == pytest.approx(found["newton"].J, abs=1e-7)
    assert found["both"].J == pytest.approx(found["newton"].J, abs=1e-12)
    steps = Steps(model, dt=0.01, rule="sequence", law=broken)
    for call in (lambda: steps.run(q, v), lambda: steps.jacobian(q, v), lambda: steps.adjoint(q, v, by_v=v)):
        with pytest.raises(ValueError, match="broken"):
            call()


def test_edge_of_slip_has_two_sides():
    model = carom.Model()
    stone = model.material("stone", mu=0.5)
    model.halfspace(0, material=stone)
    model.box(model.body("block", pos=(0, 0, 0.1)), (0.5, 0.5, 0.1), material=stone)
    steps = Steps(model, dt=0.01)
    q, v = steps.start()
    mass = 1000 * 0.2
    force, d = np.zeros(6), np.zeros(18)
    force[0], d[12] = 0.5 * mass * G, 1.0
    minus, plus, verdict = steps.apply(q, v, d, force=force)
    assert verdict.verdict == "one-sided" and verdict.differenced and verdict.why
    assert minus[6] == pytest.approx(0.0, abs=1e-8) and plus[6] == pytest.approx(0.01 / mass, rel=1e-3)


def stand_in_jax(monkeypatch):
    """The part of JAX that to_jax uses: custom_vjp, pure_callback and ShapeDtypeStruct."""
    jax = types.ModuleType("jax")

    class custom_vjp:
        def __init__(self, function):
            self.function = function

        def defvjp(self, forward, backward):
            self.forward, self.backward = forward, backward

        def __call__(self, *arguments):
            return self.function(*arguments)

        def vjp(self, *arguments):
            out, saved = self.forward(*arguments)
            return out, lambda *by: self.backward(saved, by)

    def pure_callback(function, shapes, *arguments):
        out = function(*arguments)
        for found, told in zip(out, shapes, strict=True):
            assert found.shape == told.shape and found.dtype == told.dtype
        return out
    jax.custom_vjp, jax.pure_callback = custom_vjp, pure_callback
    jax.ShapeDtypeStruct = lambda shape, dtype: types.SimpleNamespace(shape=shape, dtype=dtype)
    monkeypatch.setitem(sys.modules, "jax", jax)


def stand_in_torch(monkeypatch):
    """The part of PyTorch that to_torch uses: Function with apply, as_tensor, and tensors."""
    torch = types.ModuleType("torch")

    class Tensor:
        def __init__(self, data):
            self.data = np.asarray(data)

        def detach(self):
            return self

        cpu = detach

        def numpy(self):
            return self.data

        def to(self, like):
            return Tensor(self.data.astype(like.data.dtype))

    class Function:
        last = None

        @classmethod
        def apply(cls, *arguments):
            ctx = types.SimpleNamespace(saved_tensors=())
            ctx.save_for_backward = lambda *tensors: setattr(ctx, "saved_tensors", tensors)
            Function.last = lambda *by: cls.backward(ctx, *by)
            return cls.forward(ctx, *arguments)
    torch.Tensor, torch.as_tensor = Tensor, Tensor
    torch.autograd = types.SimpleNamespace(Function=Function)
    monkeypatch.setitem(sys.modules, "torch", torch)
    return Tensor, Function


def check_adjoint(q, v, forces, params):
    assert q[2] == pytest.approx(by(lambda z: bounce(z, 0.0, E, 0.6)[0], 0.3), rel=1e-5)
    assert params[0] == pytest.approx(by(lambda e: bounce(0.3, 0.0, e, 0.6)[0], E), rel=1e-5)
    assert np.shape(forces) == (30, 6) and np.shape(v) == (6,)


def test_jax_differentiates_through_a_run(monkeypatch):
    stand_in_jax(monkeypatch)
    steps = ball(dt=0.02)
    run = to_jax(steps, 30)
    q, v = steps.start()
    forces, params = np.zeros((30, 6)), np.array([E, 4.0])
    (end_q, end_v), back = run.vjp(q, v, forces, params)
    assert end_q[2] == pytest.approx(bounce(0.3, 0.0, E, 0.6)[0], abs=1e-6)
    assert np.array_equal(run(q, v, forces, params)[1], end_v)
    check_adjoint(*back(np.array([0, 0, 1.0, 0, 0, 0, 0]), np.zeros(6)))
    assert steps.verdict.verdict == "smooth"


def test_torch_differentiates_through_a_run(monkeypatch):
    Tensor, Function = stand_in_torch(monkeypatch)
    steps = ball(dt=0.02)
    run = to_torch(steps, 30)
    q, v = (Tensor(x) for x in steps.start())
    forces, params = Tensor(np.zeros((30, 6))), Tensor(np.array([E, 4.0]))
    end_q, end_v = run(q, v, forces, params)
    assert end_q.numpy()[2] == pytest.approx(bounce(0.3, 0.0, E, 0.6)[0], abs=1e-6)
    found = Function.last(Tensor(np.array([0, 0, 1.0, 0, 0, 0, 0])), Tensor(np.zeros(6)))
    check_adjoint(*(x.numpy() for x in found))


def test_quaternions_keep_unit():
    """A tumbling box that bounces: derivatives by q against differences that keep quaternions unit."""
    model = carom.Model()
    wood = model.material("wood", mu=0.4, e=0.5)
    model.halfspace(0, material=wood)
    model.box(model.body("box", pos=(0, 0, 0.4)), (0.1, 0.1, 0.1), material=wood)
    steps = Steps(model, dt=0.01, cluster=1e-12)
    q, v = steps.start()
    q[3:] = np.array([0.9, 0.2, 0.3, 0.1]) / np.linalg.norm([0.9, 0.2, 0.3, 0.1])
    v[:] = [0.5, 0.2, -1, 2, 1, -3]
    weights = np.linspace(-1, 1, 7)
    found = steps.adjoint(q, v, by_q=weights, count=12)

    def figure(turn):
        w = np.array([1.0, *(0.5 * turn)])
        a, b = w, q[3:]
        product = np.array([a[0] * b[0] - a[1:] @ b[1:], *(a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:]))])
        moved = np.concatenate([q[:3], product / np.linalg.norm(product)])
        return weights @ steps.run(moved, v, count=12).q
    for k in range(3):
        turn = np.eye(3)[k]
        slope = (figure(1e-5 * turn) - figure(-1e-5 * turn)) / 2e-5
        # dq = (0, turn) q / 2
        b = q[3:]
        dq = 0.5 * np.array([-turn @ b[1:], *(b[0] * turn + np.cross(turn, b[1:]))])
        assert found.q[3:] @ dq == pytest.approx(slope, rel=2e-4, abs=1e-5)


def test_rolling_friction_slows_a_ball():
    model = carom.Model()
    felt = model.material("felt", mu=0.5, e=0.0, mu_roll=2e-4)
    model.halfspace(0, material=felt)
    model.sphere(model.body("ball", pos=(0, 0, R)), R, material=felt)
    steps = Steps(model, by=[("mu_roll", felt, felt)], dt=0.01)
    q, v = steps.start()
    v[0], v[4] = 0.8, 0.8 / R
    J, verdict = steps.jacobian(q, v)
    assert verdict.verdict == "smooth" and not verdict.differenced
    assert J[6, 18] == pytest.approx(-5 / 7 * G * 0.01 / R, rel=1e-7)
    with pytest.raises(ValueError, match="mu_spin"):
        Steps(model, by=[("mu_roll", felt)])
