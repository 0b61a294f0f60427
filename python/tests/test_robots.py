"""The example robots: they import without a warning, hold and stand by simple controllers, and move as they are told."""
import os
import pathlib

import carom
import pytest

np = pytest.importorskip("numpy")
MODELS = pathlib.Path(os.environ.get("CAROM_SOURCE", pathlib.Path(__file__).resolve().parents[2])) / "examples/models"


def load(name, **values):
    return carom.load(MODELS / f"{name}.xml", **values)


@pytest.mark.parametrize("name, joints, servos", [("arm7", 8, 7), ("quadruped", 13, 12), ("hand", 20, 15)])
def test_imports_whole(name, joints, servos):
    scene = load(name)
    assert scene.notes == [] and scene.overlaps == 0
    assert len(scene.model.joints) == joints and len(scene.model.actuators) == servos


def test_arm_has_meshes():
    # links weigh what their hulls enclose: density times the volume by the divergence theorem over the triangles
    text = (MODELS / "meshes/link-long.obj").read_text().split("\n")
    v = np.array([line.split()[1:] for line in text if line.startswith("v ")], float)
    f = np.array([line.split()[1:] for line in text if line.startswith("f ")], int) - 1
    volume = np.einsum("ij,ij->i", v[f[:, 0]], np.cross(v[f[:, 1]], v[f[:, 2]])).sum() / 6
    world = load("arm7").world()
    j2, j3 = world.model.joint("j2").dof, world.model.joint("ball").dof
    assert volume > 0 and world.mass_matrix()[j3, j3] == pytest.approx(0.058)
    # M of j2 is more than that of its own link about its end alone
    assert world.mass_matrix()[j2, j2] > 1200 * volume * 0.3 ** 2 / 4


def test_arm_holds():
    """At rest each servo carries what weight needs: kp (ctrl - q) is the bias force plus the ball's weight."""
    aims = {"a2": 0.5, "a4": 0.6, "a6": -1.1}
    world = load("arm7").world()
    world.step()
    for t in range(1500):
        for name, aim in aims.items():
            world.ctrl[name] = aim * min(1.0, t / 800)
        world.step()
    assert np.abs(world.v).max() < 1e-6
    ball = world.model.joint("ball").q
    linear, _ = world.jacobian("cup", world.q[ball:ball + 3])
    need = world.bias_force() + 0.058 * 9.81 * linear[2]
    for joint, actuator, kp in (("j2", "a2", 800), ("j4", "a4", 800), ("j6", "a6", 200)):
        j = world.model.joint(joint)
        assert kp * (aims[actuator] - world.q[j.q]) == pytest.approx(need[j.dof], abs=2e-3)


def feet(world):
    return np.array([world.sensors[f"{leg}_foot"] for leg in ("fl", "fr", "hl", "hr")])


def test_quadruped_stands_and_crouches():
    """Feet carry the weight while it stands; a controller that leans its hips against its tilt keeps it level."""
    scene = load("quadruped", key="stand")
    world = scene.world()
    weight = 13 * 9.81
    for _ in range(1000):
        world.step()
    height = world.sensors["trunk"][2]
    assert feet(world).sum() == pytest.approx(weight, rel=1e-3)
    assert height > 0.33 and np.abs(world.v).max() < 1e-3
    for t in range(1000):
        share = min(1.0, t / 500)
        lean = float(world.sensors["gyro"][1])
        for leg in ("fl", "fr", "hl", "hr"):
            world.ctrl[f"{leg}_hip"] = 0.5 * share - 0.02 * lean
            world.ctrl[f"{leg}_knee"] = -1.0 * share
        world.step()
    for _ in range(500):
        world.step()
    assert world.sensors["trunk"][2] < height - 0.05
    assert feet(world).sum() == pytest.approx(weight, rel=1e-2)
    w, x, y, z = world.q[3:7]
    assert 1 - 2 * (x * x + y * y) > 0.99


def test_hand_closes_by_tendons():
    """A tendon of length 0.6 mid + 0.4 end pulls both joints in that ratio against their equal springs."""
    world = load("hand", gravity=[0, 0, 0]).world()
    for t in range(5000):
        for finger in ("index", "middle", "ring"):
            world.ctrl[f"{finger}_curl"] = 0.3 * min(1.0, t / 500)
        world.step()
    for finger in ("index", "middle", "ring"):
        mid, end = (world.q[world.model.joint(f"{finger}_{part}").q] for part in ("mid", "end"))
        length = 0.6 * mid + 0.4 * end
        pull = 6 * (0.3 - length)
        assert mid == pytest.approx(0.6 * pull / 0.05, rel=1e-6)
        assert end == pytest.approx(0.4 * pull / 0.05, rel=1e-6)
    # joints that nobody pulls stay where they are
    assert abs(world.q[world.model.joint("little_mid").q]) < 1e-6


def test_misuse():
    world = load("quadruped", key="stand").world()
    before = world.hash
    for name, value, error in (("fl_hipp", 0, KeyError), ("fl_hip", 9, carom.Error), ("fl_hip", float("nan"), carom.Error)):
        with pytest.raises(error):
            world.ctrl[name] = value
    assert world.hash == before
