"""The package without NumPy, under any interpreter: run as a script by test/test_python_wheel.sh."""
import array
import gc
import json
import math
import os
import pathlib
import sys
import tempfile

sys.modules["numpy"] = None  # as if it were not installed
import carom

WALL = [[2.0, 0.0, 0.0], [0.0, 3.0, 0.0], [0.0, 0.0, 3.0]]


def near(a, b, within=1e-12):
    return abs(a - b) <= within


def refused(kind, words, call, *arguments, **named):
    try:
        call(*arguments, **named)
    except kind as error:
        assert words in str(error), str(error)
        return error
    raise AssertionError(f"{call} was not refused")


def one_impact():
    hit = carom.impact("newton", V=(-1, 0, 0), e=0.5)
    assert hit.P == [1.5, 0.0, 0.0] and hit.permissible and isinstance(hit.P, list)
    # V+ = V + W P, whatever the law and however the numbers came
    for given in (WALL, tuple(map(tuple, WALL)), memoryview(array.array("d", sum(WALL, []))).cast("B").cast("d", (3, 3))):
        hit = carom.impact("routh", given, array.array("d", [-2, 1, 0]), mu=0.2, e=0.5)
        for i, v in enumerate((-2, 1, 0)):
            assert near(hit.V_plus[i], v + sum(WALL[i][k] * hit.P[k] for k in range(3)))
    lively = carom.impact(lambda c: [-3 * c.V[0] / c.W[0][0], 0, 0], V=(-1, 0, 0))
    assert lively.creates_energy and near(lively.energy_change, 1.5)
    many = carom.impact_many("newton", [WALL] * 3, [[-1, 0, 0], [-2, 0, 0], [1, 0, 0]], e=1)
    assert many.status == [0, 0, 0] and [p[0] for p in many.P] == [1.0, 2.0, 0.0]
    region = carom.Region(carom.contact(V=(-1, 0.5, 0), mu=0.4).contact)
    assert region.P_I == [1.0, 0.0, 0.0] and len(region.mesh(2).vertices) == 162
    ball = carom.Rigid.sphere(0.17, 0.0286, velocity=(2, 0, 0))
    other = carom.Rigid.sphere(0.17, 0.0286, position=(0.0572, 0, 0))
    after = ball.after(other, (0.0286, 0, 0), carom.impact("newton", *carom.collision(ball, other, (0.0286, 0, 0)), e=1).P)
    assert near(after[0].velocity[0], 0) and near(after[1].velocity[0], 2)


def a_world():
    model = carom.Model()
    rubber = model.material("rubber", e=0.8)
    model.halfspace(0, material=rubber)
    model.sphere(model.body("ball", pos=(0, 0, 1.1)), 0.1, material=rubber)
    assert isinstance(model.mass, memoryview) and near(model.mass[1], 4 / 3 * math.pi * 1e-3 * 1000, 1e-6)
    world = carom.World(model, dt=1e-3, force=lambda t, q, v: [0.0] * len(v))
    q = world.q
    assert world.run(0.4).clean and near(q[2], 1.1 - 9.81 * 0.4**2 / 2, 1e-9)
    q[0] = 3.0
    assert world.q[0] == 3.0 and world.poses[1, 0] == 3.0 and world.poses.readonly
    world.v = [0, 0, 0, 0, 0, 0]
    trajectory = world.record(1.0)
    fall = [event for event in trajectory.events if event.body_b == 1 or event.body_a == 1]
    assert fall and near(abs(fall[0].normal[2]), 1.0) and fall[0].approach > 1 and trajectory.q.shape[1] == 7
    ball = trajectory.of("ball")
    del world, trajectory
    gc.collect()
    assert ball[0, 0] == 3.0 and q[0] == 3.0


def a_scene(folder):
    scene = carom.load("pool-break")
    trajectory = scene.run(0.2)
    found = carom.audit(scene, trajectory)
    assert found and len(found.steps["energy"]) == found.records == len(trajectory)
    trajectory.write(folder / "break.csv")
    again = carom.Trajectory.read(folder / "break.csv")
    assert again.q.tolist() == trajectory.q.tolist()
    assert "<animate" in trajectory.animate().svg and "<svg" in scene.show().svg
    for shown in (scene, scene.world(), trajectory):
        assert "data:image/svg+xml" in shown._repr_html_()
    spread = carom.spread("newtons-cradle-3", ["gap=1e-5"], samples=5, set={"step.duration": 0.3})
    assert len(spread.position) == 5 and len(spread.position[0]) == 3 and len(spread.position[0][0]) == 3
    problem = carom.Problem([-1, 0], [[2, -1], [-1, 2]], [("unilateral", 1, {"e": 1})] * 2)
    assert [round(u, 9) + 0.0 for u in problem.resolve("sequence", law="newton").u] == [0.0, 1.0]
    assert problem.W[0, 1] == -1.0 and problem.solve().outcome == "solved"


def parts(folder):
    """What needs other libraries works, or says which one is missing."""
    trajectory = carom.load("bouncing-ball").run(0.1)
    model = carom.Model()
    body = model.body()
    corners = [[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)]
    (folder / "a.xml").write_text('<mujoco><worldbody><body><freejoint/><geom size="0.1"/></body></worldbody></mujoco>')
    had = []
    for name, call in (("HDF5", lambda: trajectory.write(folder / "x.h5")), ("Qhull", lambda: model.hull(body, corners)),
                       ("expat", lambda: carom.load(folder / "a.xml"))):
        try:
            call()
            had.append(name)
        except carom.Error as error:
            assert name in str(error) or "CAROM_" in str(error), str(error)
    if "HDF5" in had:
        assert len(carom.Trajectory.read(folder / "x.h5")) == len(trajectory)
    return had


def refusals():
    refused(TypeError, "V: is 'abc'", carom.impact, "newton", V="abc")
    refused(ValueError, "must be 3", carom.impact, "newton", V=[1, 2])
    refused(FileNotFoundError, "did you mean 'dominoes'", carom.load, "domino")
    refused(ImportError, "carom.fit needs NumPy", __import__, "carom.fit")
    refused(ImportError, "carom.env needs NumPy", __import__, "carom.env")


one_impact()
a_world()
refusals()
with tempfile.TemporaryDirectory() as name:
    a_scene(pathlib.Path(name))
    had = parts(pathlib.Path(name))
world = carom.load("pool-break").world()
world.run(0.2)
print(json.dumps({"python": sys.version.split()[0], "hash": f"{world.hash:016x}", "parts": had,
                  "module": os.path.basename(carom._carom.__file__)}))
