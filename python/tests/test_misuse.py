"""Calls with wrong arguments raise; none of them takes the interpreter down, and none changes a world that it refused."""
import inspect
import random

import numpy as np
import pytest

import carom

ODD = [None, -1, 0, 1, 9999, 2**31 - 1, -2**31, 2**40, 0.5, -1.0, float("nan"), float("inf"), "", "ball", "no such",
       b"bytes", (), [], (1,), (1, 2, 3), [[1, 2], [3]], {}, {"a": 1}, np.zeros(0), np.zeros(3), np.zeros((2, 3)),
       np.zeros((3, 3, 3)), np.array(["a"]), object(), int, len]
# their time is their argument, or they write files, or wait for threads
LEFT_OUT = {"run", "record", "step", "write", "load", "from_model", "mesh"}


def box_model():
    model = carom.Model()
    model.halfspace(0)
    model.box(model.body("box", pos=(0, 0, 0.1)), (0.1, 0.1, 0.1))
    model.sphere(model.body("ball", pos=(1, 0, 0.1)), 0.1)
    return model


def objects():
    model = box_model()
    world = carom.World(box_model())
    contact, _ = carom.contact(V=(-1, 0.3, 0), mu=0.3)
    problem = carom.Problem([-1.0, 0.0, 0.0], np.eye(3), [("cone", 3, {"mu": 0.5})])
    return [model, world, carom.load("bouncing-ball"), world.record(0.05), problem, carom.Law("routh"),
            carom.Rule("poisson"), carom.Region(contact)]


def calls(thing):
    """Public methods and classes of an object or module."""
    for name in dir(thing):
        if not name.startswith("_") and name not in LEFT_OUT and callable(getattr(thing, name, None)):
            yield name


def tried(call, arguments):
    try:
        call(*arguments)
    except Exception:  # any exception will do: the interpreter lives
        return True
    return False


def test_odd_arguments_raise_or_are_taken():
    rng = random.Random(1)
    things = objects()
    count = raised = 0
    for thing in [*things, carom]:
        for name in calls(thing):
            call = getattr(thing, name)
            if thing is carom and (inspect.ismodule(call) or name in ("VecEnv", "spread", "scenes")):
                continue
            for _ in range(40):
                count += 1
                raised += tried(call, [rng.choice(ODD) for _ in range(rng.randint(0, 4))])
    assert count > 1500 and raised > count // 2


def test_odd_values_for_attributes_raise_or_are_taken():
    for thing in objects():
        for name in dir(type(thing)):
            if name.startswith("_") or not inspect.isgetsetdescriptor(getattr(type(thing), name)):
                continue
            for value in ODD:
                tried(setattr, (thing, name, value))
                getattr(thing, name)


@pytest.mark.parametrize("index", [-1, 3, 9999, 2**31 - 1, -2**31])
def test_indices_out_of_range_raise(index):
    model = box_model()
    for wrong in (lambda: model.sphere(index, 0.1), lambda: model.exclude(index, 1), lambda: model.exclude(1, index),
                  lambda: model.dofs(index), lambda: model.sphere(1, 0.1, material=index)):
        with pytest.raises((carom.Error, IndexError, ValueError, KeyError)):
            wrong()


@pytest.mark.parametrize("name, shape", [("q", (13,)), ("q", (15,)), ("v", (11,)), ("v", (2, 6)), ("force", (0,))])
def test_arrays_of_the_wrong_shape_raise(name, shape):
    world = carom.World(box_model())
    before = world.hash
    with pytest.raises(ValueError):
        setattr(world, name, np.zeros(shape))
    assert world.hash == before


def test_times_before_the_present_raise():
    world = carom.World(box_model())
    for wrong in (lambda: world.run(-1), lambda: world.record(-1), lambda: carom.load("bouncing-ball").run(-1)):
        with pytest.raises(ValueError, match="time: is -1"):
            wrong()
    world.run(0.1)
    with pytest.raises(carom.Error, match="present") as refused:
        world.run(0.05)
    assert refused.value.field == "time" and world.time == 0.1
    world.run(0.1)  # the present is no step


def test_names_of_scenes_are_suggested():
    with pytest.raises(FileNotFoundError, match="dominoes"):
        carom.load("domino")
    with pytest.raises(FileNotFoundError, match="scenes"):
        carom.load("nothing like any of them")


def test_snapshots_of_others_raise():
    world = carom.World(box_model())
    saved = world.save()
    other = box_model()
    other.gravity = (0, 0, -1.62)
    for into, field in ((carom.World(other), "model"), (carom.World(box_model(), dt=0.01), "settings")):
        before = into.hash
        with pytest.raises(carom.Error) as refused:
            into.load(saved)
        assert refused.value.field == field and into.hash == before
    for bad in (b"", b"no snapshot", saved[:-1], b"3Wrc" + saved[4:], saved[:60] + b"\xff" * 8 + saved[68:]):
        with pytest.raises(carom.Error):
            world.load(bad)
    carom.World(box_model()).load(saved)
