"""Controls, sensors and dynamics by name."""
import json

import numpy as np
import pytest

import carom

ARM = """{"carom": 1, "step": {"duration": 1},
 "bodies": [{"name": "arm", "joint": "hinge", "joint_name": "shoulder", "axis": [0, 1, 0], "mass": 1, "com": [0, 0, -0.3],
             "inertia": 0.01},
            {"name": "fore", "joint": "hinge", "parent": "arm", "pos": [0, 0, -0.6], "axis": [0, 1, 0], "mass": 0.5, "damping": 0.5,
             "com": [0, 0, -0.2], "inertia": 0.005}],
 "actuators": [{"name": "servo", "type": "position", "joint": "shoulder", "kp": 80, "kv": 8, "ctrl_range": [-1, 1]},
               {"name": "elbow", "joint": "fore"}],
 "sites": [{"name": "tip", "body": "fore", "pos": [0, 0, -0.4]}],
 "sensors": [{"name": "angle", "type": "joint_position", "joint": "shoulder"},
             {"name": "tip", "type": "position", "site": "tip"}],
 "keyframes": [{"name": "raised", "q": [1.5, 0.1], "ctrl": [1, 0.2]}]}"""


@pytest.fixture(name="arm")
def fixture_arm(tmp_path):
    path = tmp_path / "arm.json"
    path.write_text(ARM)
    return carom.load(str(path)).world()


def test_names(arm):
    model = arm.model
    assert model.joint("shoulder").dof == 0 and model.joint("fore").dof == 1
    assert [a.name for a in model.actuators] == ["servo", "elbow"] and model.actuators[0].ctrl_upper == 1
    assert [s.name for s in model.sensors] == ["angle", "tip"] and model.sites == [("tip", 2)]
    with pytest.raises(KeyError, match="did you mean 'shoulder'"):
        model.joint("sholder")


def test_controls(arm):
    arm.ctrl["servo"] = 0.5
    arm.ctrl["elbow"] = 0.3
    assert arm.ctrl["servo"] == 0.5 and list(arm.ctrl) == [0.5, 0.3] and len(arm.ctrl) == 2
    before = arm.hash
    for key, value, error in (("servo", 2, carom.Error), ("servo", np.nan, carom.Error), ("serov", 0, KeyError)):
        with pytest.raises(error):
            arm.ctrl[key] = value
    assert arm.hash == before
    arm.ctrl[:] = [0.1, 0.0]
    assert np.array_equal(np.asarray(arm.ctrl), [0.1, 0])
    arm.run(8.0)
    # at rest the servo carries the moment of gravity of both links
    moment = arm.inverse_dynamics(np.zeros(2))[0]
    assert abs(80 * (0.1 - arm.q[0]) - moment) < 1e-6


def test_sensors_and_kinematics(arm):
    arm.set_state(q=[0.3, -0.7], v=[0.5, 0.2])
    a, b = 0.3, 0.3 - 0.7
    tip = -0.6 * np.array([np.sin(a), 0, np.cos(a)]) - 0.4 * np.array([np.sin(b), 0, np.cos(b)])
    assert np.allclose(arm.sensors["tip"], tip, atol=1e-14) and arm.sensors["angle"] == 0.3
    linear, angular = arm.jacobian("fore", tip)
    assert np.allclose(angular @ arm.v, [0, 0.7, 0], atol=1e-14)
    # the Jacobian is the derivative of the position
    h = 1e-6
    for k in range(2):
        ends = []
        for sign in (1, -1):
            q = np.array([0.3, -0.7])
            q[k] += sign * h
            arm.set_state(q=q)
            ends.append(arm.sensors["tip"])
        assert np.allclose((ends[0] - ends[1]) / (2 * h), linear[:, k], atol=1e-8)


def test_dynamics(arm):
    arm.set_state(q=[0.3, -0.7], v=[0.5, 0.2], ctrl=[0.2, 0.1])
    arm.force[:] = [0.4, -0.2]
    M, bias, a = arm.mass_matrix(), arm.bias_force(), arm.acceleration()
    control = np.array([80 * (0.2 - 0.3) - 8 * 0.5, 0.1])
    assert np.allclose(M @ a + bias, control + [0.4, -0.2 - 0.5 * 0.2], atol=1e-12)
    assert np.allclose(arm.inverse_dynamics(a), control + [0.4, -0.2], atol=1e-12)
    assert np.allclose(M, M.T) and np.linalg.eigvalsh(M)[0] > 0


def test_reset(arm):
    arm.run(0.5)
    arm.reset("raised")
    assert list(arm.q) == [1.5, 0.1] and list(arm.ctrl) == [1, 0.2] and arm.time == 0
    arm.reset()
    assert list(arm.q) == [0, 0] and list(arm.ctrl) == [0, 0]
    before = arm.hash
    with pytest.raises(carom.Error, match="raised"):
        arm.reset("rised")
    with pytest.raises(carom.Error):
        arm.set_state(q=[np.nan, 0])
    assert arm.hash == before


def test_activations_by_name(tmp_path):
    scene = {"carom": 1, "gravity": [0, 0, 0], "step": {"dt": 0.01},
             "bodies": [{"name": "a", "joint": "hinge", "mass": 1, "inertia": [1, 1, 2]}],
             "actuators": [{"name": "now", "joint": "a"},
                           {"name": "slow", "joint": "a", "activation": "filter", "time_constant": 0.1, "act": 0.5}]}
    path = tmp_path / "scene.json"
    path.write_text(json.dumps(scene))
    loaded = carom.load(str(path))
    world = loaded.world()
    assert [a.act for a in loaded.model.actuators] == [-1, 0] and world.act == {"slow": 0.5}
    world.ctrl["slow"] = 1.0
    world.step()
    assert world.act["slow"] == pytest.approx(0.55) and world.v[0] == pytest.approx(0.01 * 0.5 / 2)
    world.act = {"slow": -2.0}
    assert world.act == {"slow": -2.0}
    with pytest.raises(KeyError, match="no activation"):
        world.act = {"now": 1.0}
    with pytest.raises(carom.Error) as error:
        world.act = {"slow": float("nan")}
    assert error.value.field == "act" and world.act == {"slow": -2.0}
