"""Motions from anywhere, judged: arrays, trajectories and files give the same; closed forms; refusals."""
import numpy as np
import pytest

import carom

G = 9.81


def ball(**more):
    return carom.Scene({"carom": 1, "bodies": [{"name": "ball", "pos": [0, 0, 5], "mass": 2, **more,
                                                "shapes": [{"type": "sphere", "r": 0.1}]}],
                        "static": [{"type": "halfspace", "n": [0, 0, 1], "offset": 0}]})


def flight(up, kink=None, after=0.0, count=50, h=0.01):
    """time, q, v of a parabola from 5 m; at the record kink the speed becomes `after`."""
    time = h * np.arange(count)
    q, v = np.zeros((count, 7)), np.zeros((count, 6))
    z, vz = 5.0, up
    for i in range(count):
        vz = after if i == kink else vz
        q[i, 2:4], v[i, 2] = (z, 1.0), vz
        z, vz = z + h * vz - G * h * h / 2, vz - G * h
    return time, q, v


def test_flight_and_a_bounce_in_the_air():
    time, q, v = flight(4.0)
    for motion in ((time, q, v), (time, q)):
        found = carom.audit(ball(), motion)
        assert found and found.holds == "yes" and found.jumps == 0 and found.gain == 0
    before = 4.0 - G * 0.2
    found = carom.audit(ball(), flight(4.0, 20, 5.0))
    assert not found and found.flies == "no" and found.jumps == 1
    assert found.momentum.value == pytest.approx(5.0 - before, abs=1e-12) and found.momentum.a == "ball"
    assert found.gain == pytest.approx(25 - before * before, abs=1e-10)
    assert np.nanargmax(found.steps["gain"]) == 20


def test_overlap_and_driven_bodies():
    time, q, v = flight(0.0, count=2)
    q[:, 2] = 0.1 - 0.004
    found = carom.audit(ball(), (time, q))
    assert found.overlap.value == pytest.approx(0.004, abs=1e-15) and {found.overlap.a, found.overlap.b} == {"ball", "world"}
    assert found.no_overlap == "no" and carom.audit(ball(), (time, q), overlap=0.005).no_overlap == "yes"
    model = carom.Model()
    table = model.body("table", joint="driven", drive=lambda t: {"pos": (0, 0, t), "velocity": (0, 0, 1)})
    model.box(table, (1, 1, 0.1))
    top = model.body("top", pos=(0, 0, 0.2))
    model.sphere(top, 0.1)
    q = np.zeros((5, 7))
    time = np.linspace(0, 0.4, 5)
    q[:, 2], q[:, 3] = 0.2 + time, 1.0
    v = np.zeros((5, 6))
    v[:, 2] = 1.0
    found = carom.audit(model, (time, q, v))
    assert found.no_gain == "cannot tell" and np.isnan(found.gain) and found.no_overlap == "yes"


def test_files_and_trajectories(tmp_path):
    scene = carom.load("bouncing-ball")
    trajectory = scene.run(1.0)
    path = tmp_path / "ball.csv"
    trajectory.write(path)
    one, two = carom.audit(scene, trajectory), carom.audit(scene, path)
    assert one.holds == two.holds == "yes" and one.overlap == two.overlap and one.energy_end == two.energy_end
    assert (one.steps["energy"] == two.steps["energy"]).all() and one.records == len(trajectory)


def test_refusals(tmp_path):
    time, q, v = flight(4.0)
    with pytest.raises(carom.Error) as caught:
        carom.audit(ball(), (time[::-1], q, v))
    assert caught.value.field == "time"
    with pytest.raises(carom.Error) as caught:
        carom.audit(ball(), (time, q[:, :6], v))
    assert caught.value.field == "q"
    q[3, 0] = np.nan
    with pytest.raises(carom.Error):
        carom.audit(ball(), (time, q, v))
    path = tmp_path / "x.csv"
    path.write_text("t,bal.x\n0,1\n")
    with pytest.raises(carom.Error, match="did you mean 'ball'"):
        carom.audit(ball(), path)
