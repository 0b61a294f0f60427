"""Functions inside models: driven bodies, e by speed; friction by polygons; trajectories written."""
import gc
import math
import weakref

import numpy as np
import pytest

import carom


def shaker(drive, **material):
    model = carom.Model()
    rubber = model.material("rubber", **material)
    table = model.body("table", "driven", drive=drive)
    model.box(table, (1, 1, 0.1), material=rubber)
    model.sphere(model.body("ball", pos=(0, 0, 1)), 0.1, material=rubber)
    return model


def test_a_driven_table_lifts_what_lies_on_it():
    speed = 0.3
    model = shaker(lambda t: {"pos": (0, 0, speed * t), "velocity": (0, 0, speed)})
    world = carom.World(model, dt=1e-3)
    world.q[2] = 0.2
    assert world.run(1.0).clean
    # the deadband lets it hover by a thousandth of its size at most
    assert abs(world.q[2] - (0.2 + speed)) < 1e-3 and abs(world.v[2] - speed) < 1e-9
    assert abs(world.poses[1, 2] - speed) < 1e-12


def test_a_driven_table_accelerates_what_hangs_on_it():
    model = carom.Model()
    model.gravity = (0, 0, 0)
    cart = model.body("cart", "driven", drive=lambda t: {"pos": (t * t, 0, 0), "velocity": (2 * t, 0, 0),
                                                         "acceleration": (2, 0, 0)})
    model.body("pendulum", "hinge", parent=cart, axis=(0, 1, 0), mass=1, com=(0, 0, -1), inertia=(0, 0, 0))
    world = carom.World(model, dt=1e-4)
    world.run(1e-4)
    # alpha l = -a: the bob lags behind
    assert abs(world.v[0] / 1e-4 - 2.0) < 1e-6


def bounce(**surface):
    """Velocity of a spinning ball after an oblique bounce."""
    model = carom.Model()
    model.gravity = (0, 0, 0)
    rubber = model.material("rubber", **surface)
    model.halfspace(0, material=rubber)
    model.sphere(model.body("ball", pos=(0, 0, 0.3)), 0.1, material=rubber)
    world = carom.World(model, dt=0.01, rule="sequence", law="chatterjee-ruina")
    world.v[:] = (1, 0.5, -2, 3, -4, 5)
    world.run(0.3)
    return np.array(world.v)


def test_coefficients_that_depend_on_the_impact():
    slip = math.hypot(1 + 4 * 0.1, 0.5 + 3 * 0.1)
    angle = math.atan2(slip, 2)
    seen = []

    def et(*figures):
        seen.append(figures)
        return 0.4 - 0.2 * figures[2]

    constants = bounce(mu=0.9 - 0.1 * slip, e=0.7, et=0.4 - 0.2 * angle)
    tables = bounce(mu={"by": "slip", "rows": [(0, 0.9), (5, 0.4)]}, e={"by": "spin", "rows": [(4, 0.6), (6, 0.8)]},
                    et={"by": "angle", "rows": [(0, 0.4), (1.5, 0.1)]})
    functions = bounce(mu=lambda speed, slip, angle, spin: 0.9 - 0.1 * slip, e=0.7, et=et)
    assert constants[2] == pytest.approx(1.4, abs=1e-9)
    assert np.allclose(tables, constants, atol=1e-12) and np.allclose(functions, constants, atol=1e-12)
    assert any(np.allclose(at, (2, slip, angle, 5), atol=1e-9) for at in seen)


@pytest.mark.parametrize("surface, field", [({"mu": {"by": "slip"}}, "mu.rows"), ({"et": {"form": "grips"}}, "et.form"),
                                            ({"et": "sticky"}, "et"), ({"e": {"by": "angle", "rows": [[0, -1], [1, 0]]}}, "e")])
def test_refused_coefficients(surface, field):
    with pytest.raises(carom.Error) as error:
        carom.Model().material(**surface)
    assert error.value.field == field


@pytest.mark.parametrize("bad, field", [(lambda t: 3, "drive"), (lambda t: {"speed": 1}, "drive"),
                                        (lambda t: {"pos": (1, 2)}, "pos"),
                                        (lambda t: {"pos": (math.nan, 0, 0)}, "drive")])
def test_refused_drives(bad, field):
    model = shaker(bad)
    with pytest.raises(carom.Error) as error:
        carom.World(model).run(1.0)
    assert error.value.field == field


def test_what_a_drive_raises_comes_out_of_the_step():
    def drive(t):
        if t > 0.05:
            raise KeyError("enough")
        return {}
    world = carom.World(shaker(drive), dt=0.01)
    with pytest.raises(KeyError, match="enough"):
        world.run(1.0)
    assert 0.04 < world.time < 0.075
    with pytest.raises(KeyError):
        world.step()
    with pytest.raises(carom.Error, match="drive: must be a function"):
        shaker(3)
    with pytest.raises(carom.Error, match="drive must be given"):
        shaker(None)


@pytest.mark.parametrize("e", [0.6, [(0.0, 0.6), (9.0, 0.6)], lambda speed: 0.6])
def test_restitution_by_number_table_and_function(e):
    model = carom.Model()
    rubber = model.material("rubber", e=e)
    model.halfspace(0, material=rubber)
    model.sphere(model.body("ball", pos=(0, 0, 1.1)), 0.1, material=rubber)
    world = carom.World(model, dt=1e-3)
    world.run(0.6)
    fall = math.sqrt(2 * 1.0 / 9.81)
    up = 0.6 * 9.81 * fall
    t = 0.6 - fall
    # the impact is located to about 1e-8 m
    assert abs(world.q[2] - (0.1 + up * t - 9.81 / 2 * t * t)) < 5e-8


def test_restitution_falls_with_speed():
    seen = []

    def e(speed):
        seen.append(speed)
        return max(0.0, 1 - 0.1 * speed)
    model = carom.Model()
    rubber = model.material(e=e)
    model.pair(rubber, 0, e=e)
    model.halfspace(0)
    model.sphere(model.body(pos=(0, 0, 1.1)), 0.1, material=rubber)
    world = carom.World(model, dt=1e-3)
    world.run(0.46)
    impact = math.sqrt(2 * 9.81)
    assert min(abs(s - impact) for s in seen) < 1e-6
    t = 0.46 - impact / 9.81
    assert abs(world.v[2] - ((1 - 0.1 * impact) * impact - 9.81 * t)) < 1e-6


@pytest.mark.parametrize("e", [lambda speed: -1.0, lambda speed: math.nan, lambda speed: "x", lambda: 1.0])
def test_refused_restitutions(e):
    model = carom.Model()
    rubber = model.material(e=e)
    model.halfspace(0, material=rubber)
    model.sphere(model.body(pos=(0, 0, 0.3)), 0.1, material=rubber)
    with pytest.raises((carom.Error, TypeError)):
        carom.World(model).run(1.0)
    with pytest.raises(carom.Error):
        model.material(e=[(1, 2, 3)])


def test_a_function_that_knows_its_world_is_collected():
    class Mark:
        pass
    mark = Mark()
    seen = weakref.ref(mark)

    def make():
        box = {"mark": mark}
        model = shaker(lambda t: {} if box else {})
        box["world"] = carom.World(model)
        box["world"].step()
    make()
    del mark
    gc.collect()
    assert seen() is None


def slide(force, direction, **surface):
    """Speed after a second of a block pushed along a direction on a plane."""
    model = carom.Model()
    ice = model.material("ice", axis=(1, 0, 0), **surface)
    model.halfspace(0, material=ice)
    model.box(model.body("block", pos=(0, 0, 0.1)), (0.2, 0.2, 0.1), material=ice)
    mass = float(model.mass[1])
    d = np.array(direction) / np.linalg.norm(direction)
    world = carom.World(model, dt=1e-3, force=lambda t, q, v: np.concatenate([force * mass * d, np.zeros(4)]))
    assert world.run(1.0).clean
    return float(world.v[:2] @ d)


def test_friction_by_a_polygon():
    # a rhombus: 0.4 along x, 0.1 along y; pushed by more than that along an axis, the rest accelerates
    rhombus = [(0.4, 0), (0, 0.1), (-0.4, 0), (0, -0.1)]
    assert abs(slide(3.0, (1, 0), polygon=rhombus)) < 1e-9
    assert abs(slide(5.0, (1, 0), polygon=rhombus) - (5.0 - 0.4 * 9.81)) < 1e-6
    assert abs(slide(3.0, (0, 1), polygon=rhombus) - (3.0 - 0.1 * 9.81)) < 1e-6
    model = carom.Model()
    with pytest.raises(carom.Error):
        model.material(polygon=[(0, 0), (1, 0)])
    with pytest.raises(carom.Error) as error:
        model.material(polygon=[1, 2, 3])
    assert error.value.field == "polygon"


@pytest.mark.parametrize("ending", ["csv", "h5"])
def test_trajectories_are_written_and_read(tmp_path, ending):
    trajectory = carom.load("pool-break").run(0.2, every=5)
    path = tmp_path / f"break.{ending}"
    try:
        trajectory.write(path)
    except carom.Error as error:
        if ending == "h5" and "HDF5" in str(error):
            pytest.skip("built without HDF5")
        raise
    again = carom.Trajectory.read(path)
    assert (again.q == trajectory.q).all() and (again.v == trajectory.v).all()
    assert (again.time == trajectory.time).all() and again.bodies == trajectory.bodies
    if ending == "h5":
        assert (again.energy == trajectory.energy).all() and (again.certificate == trajectory.certificate).all()
        assert len(again.events) == len(trajectory.events)
        assert (again.events["impulse"] == trajectory.events["impulse"]).all()
    again.write(tmp_path / f"once-more.{ending}")
    assert (carom.Trajectory.read(tmp_path / f"once-more.{ending}").q == trajectory.q).all()


def test_trajectories_that_cannot_be_written(tmp_path):
    trajectory = carom.load("bouncing-ball").run(0.1)
    with pytest.raises(carom.Error, match="must end in"):
        trajectory.write(tmp_path / "x.txt")
    with pytest.raises(carom.Error) as error:
        trajectory.write(tmp_path / "nowhere" / "x.csv")
    assert error.value.status == "file"
