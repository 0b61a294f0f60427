"""Arrays by the buffer protocol: every way in gives the same numbers, views out keep memory alive, nothing leaks."""
import array
import ctypes
import gc
import sys

import numpy as np
import pytest

import carom

V = [-1.0, 2.0, 3.0]
W = [[2.0, 0.5, 0.0], [0.5, 3.0, -1.0], [0.0, -1.0, 4.0]]


class Wrapped:
    """What only has __array__, as tables and tensors of others do."""

    def __init__(self, values):
        self.values = np.array(values)

    def __array__(self, dtype=None, copy=None):
        return self.values


def spread_out(values):
    """The same numbers with gaps between them."""
    a = np.array(values)
    wide = np.zeros(tuple(2 * n for n in a.shape))
    part = wide[tuple(slice(None, None, 2) for _ in a.shape)]
    part[...] = a
    return part


WAYS = [list, tuple, np.array, spread_out, Wrapped, lambda x: np.array(x)[::-1][::-1],
        lambda x: np.asfortranarray(x), lambda x: np.array(x, dtype=">f8"), lambda x: np.array(x, dtype=object),
        lambda x: [np.float64(y) if np.ndim(y) == 0 else tuple(y) for y in x], lambda x: memoryview(np.array(x)),
        lambda x: np.frombuffer(b"\0" + np.array(x).tobytes(), dtype=np.uint8)[1:].view(float).reshape(np.shape(x))]


@pytest.mark.parametrize("way", WAYS)
def test_every_way_in_gives_the_same_numbers(way):
    contact, frame = carom.contact(way(W), way(V), frame=way(np.eye(3)))
    assert contact.W.tolist() == W and contact.V.tolist() == V


def velocity(given):
    return carom.contact(V=given, frame=np.eye(3)).contact.V.tolist()


@pytest.mark.parametrize("kind", ["f", "b", "h", "i", "l", "q", "B", "H", "I", "L", "Q", "d"])
def test_every_kind_of_number(kind):
    values = [3, 1, 2]
    for given in (array.array(kind, values), np.array(values, dtype=kind), np.array([[v, 0] for v in values], dtype=kind)[:, 0]):
        assert velocity(given) == values
    if kind not in "BHILQ":
        assert velocity(array.array(kind, [-1, 0, -2])) == [-1, 0, -2]
    assert velocity(np.array([True, False, True])) == [1, 0, 1] and velocity(np.array(values, dtype=np.float16)) == values


@pytest.mark.parametrize("bad, words", [
    ([1, 2], "has 1 dimensions and 2 numbers, must be 3"), ([[1, 2, 3]], "must be 3"), (np.zeros((3, 1)), "must be 3"),
    (np.zeros(()), "V: "), ([], "must be 3"), ("abc", "V: is 'abc', must be"), (5, "V: is 5, must be"),
    ([1, "2", 3], "V: is '2', must be a number"), ([1, None, 3], "V: is None, must be a number"),
    ([1, 2j, 3], "V: is 2j, must be a number"), (b"abc", "V: is b'abc'"), (object(), "V: is <object"),
    ({1, 2, 3}, "V: is {1, 2, 3}"), ([[1, 2], [3], 4], "V: "), (np.zeros((1, 1, 1, 1)), "V: ")])
def test_what_is_no_vector_is_refused_with_its_field_and_value(bad, words):
    with pytest.raises((TypeError, ValueError)) as refused:
        carom.contact(V=bad)
    assert words in str(refused.value) and isinstance(refused.value, carom.Error) and refused.value.field == "V"


def test_rows_of_different_lengths_and_other_objects():
    with pytest.raises(carom.Error, match="rows of different lengths"):
        carom.contact(W=[[1, 0, 0], [0, 1], [0, 0, 1]], V=V)

    class Broken:
        def __len__(self):
            return 3

        def __getitem__(self, index):
            raise KeyError("nothing here")

    class Raising:
        def __array__(self, dtype=None, copy=None):
            raise RuntimeError("no array today")

    with pytest.raises(KeyError):
        carom.contact(V=Broken())
    with pytest.raises(RuntimeError, match="today"):
        carom.contact(V=Raising())


def test_arrays_that_are_kept_are_not_copied_and_stay_alive():
    u, big = np.array([-1.0, 0.5]), np.eye(2)
    problem = carom.Problem(u, big, [("cone", 2, {"mu": 0.3})])
    assert np.shares_memory(problem.u_free, u) and np.shares_memory(problem.W, big)
    del u, big
    gc.collect()
    assert problem.u_free.tolist() == [-1.0, 0.5] and problem.W.tolist() == [[1, 0], [0, 1]]
    with pytest.raises(ValueError):
        problem.W[0, 0] = 2.0  # not the caller's to change by way of the problem


def test_triangles_are_integers():
    model = carom.Model()
    points = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
    faces = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]
    assert model.mesh(model.body(), points, np.array(faces, dtype=np.uint8)) == 0
    with pytest.raises(TypeError, match="triangles: has 0.5"):
        model.mesh(1, points, [[0, 2, 0.5]] + faces[1:])


def test_views_are_read_only_or_not_as_they_say():
    world = carom.load("bouncing-ball").world()
    for name, writable in (("q", True), ("v", True), ("force", True), ("motor_speed", True), ("poses", False)):
        view = getattr(world, name)
        assert view.flags.writeable == writable and memoryview(view).readonly == (not writable)
    assert not world.model.mass.flags.writeable and world.model.com.strides[0] > 24
    trajectory = world.record(0.1)
    ball = trajectory.of("ball")
    assert np.shares_memory(ball, trajectory.q) and (ball == trajectory.q).all() and not ball.flags.writeable
    assert (trajectory.velocity("ball")[:, 2] == trajectory.v[:, 2]).all()
    assert trajectory.events.dtype.names[:2] == ("time", "shape_a") and len(trajectory.events) == 0
    with pytest.raises(TypeError):
        carom._carom.Numbers()


def growth(call, count):
    """Blocks of memory that `count` calls leave behind, the least of a few rounds: caches fill in the first."""
    rounds = []
    gc.collect()
    gc.freeze()  # what was there before need not be looked through each time
    for _ in range(4):
        before = sys.getallocatedblocks()
        for _ in range(count):
            call()
        gc.collect()
        rounds.append(sys.getallocatedblocks() - before)
    gc.unfreeze()
    return min(rounds)


def test_growth_sees_what_is_left_behind():
    kept = []
    assert growth(lambda: kept.append([1]), 100) >= 90


def heap():
    """Bytes of C's heap in use; skipped where the C library does not say."""
    class Info(ctypes.Structure):
        _fields_ = [(name, ctypes.c_size_t) for name in ("arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks",
                                                         "uordblks", "fordblks", "keepcost")]
    library = ctypes.CDLL(None)
    if not hasattr(library, "mallinfo2"):
        pytest.skip("no mallinfo2")
    library.mallinfo2.restype = Info
    info = library.mallinfo2()
    return info.uordblks + info.hblkhd


def heap_growth(call, count=20):
    rounds = []
    gc.collect()
    gc.freeze()
    for _ in range(4):
        before = heap()
        for _ in range(count):
            call()
        gc.collect()
        rounds.append((heap() - before) / count)
    gc.unfreeze()
    return min(rounds)


def test_the_heap_of_c_does_not_grow(tmp_path):
    scene = carom.load("bouncing-ball")
    trajectory = scene.run(0.1)
    path = tmp_path / "t.csv"
    trajectory.write(path)
    problem = carom.Problem([-1.0, 0.5], np.eye(2), [("cone", 2, {"mu": 0.3})])
    cube = [[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)]

    def hull():
        model = carom.Model()
        model.hull(model.body("a"), cube)
        return carom.World(model).poses

    def drawn():
        trajectory.show("energy").save(tmp_path / "x.svg")
        trajectory.show().save(tmp_path / "x.svg")
        trajectory.animate().save(tmp_path / "x.svg")
    calls = [lambda: carom.load("newtons-cradle-3").world().run(0.05), lambda: scene.run(0.05), lambda: carom.Trajectory.read(path),
             lambda: trajectory.write(path), lambda: carom.audit(scene, path), lambda: problem.solve(), lambda: problem.resolve("newton"),
             drawn, lambda: carom.gradient("routh", W, V, mu=0.3, e=0.5)]
    try:
        hull()
        calls.append(hull)
    except carom.Error:
        pass  # without Qhull
    for i, call in enumerate(calls):
        assert heap_growth(call, 4 if call is drawn else 20) < 8, i  # bytes a call: the smallest block is larger
    kept = []
    assert heap_growth(lambda: kept.append(bytearray(1000))) > 500  # and growth is seen


def test_nothing_is_left_behind():
    scene = carom.load("bouncing-ball")
    trajectory = scene.run(0.05)

    def refused(call):
        def tried():
            with pytest.raises((TypeError, ValueError, LookupError, OSError)):
                call()
        return tried
    calls = [lambda way=way: carom.contact(way(W), way(V)) for way in WAYS]
    calls += [refused(lambda bad=bad: carom.contact(V=bad)) for bad in ([1, 2], "abc", [1, "2", 3], [[1], [2, 3], 4])]
    calls += [lambda: trajectory.of("ball"), lambda: trajectory.events, lambda: scene.model.com, lambda: scene.world().contacts,
              lambda: carom.impact_many("newton", [W] * 4, [V] * 4, e=0.5), lambda: carom.laws(),
              lambda: carom.audit(scene, trajectory), refused(lambda: trajectory.show("energi").svg),
              refused(lambda: carom.World(scene.model, dtt=1)), refused(lambda: carom.World(scene.model, dt="x")),
              refused(lambda: scene.model.dofs(9)), refused(lambda: carom.Trajectory.read("/nowhere/x.csv"))]
    for i, call in enumerate(calls):
        assert growth(call, 40) < 20, i  # one block that is left behind each time would be 40
    assert growth(lambda: trajectory.animate().svg, 10) < 10
