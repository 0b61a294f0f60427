"""Batches: the bits of worlds one by one, arrays in and out, refusals."""
import numpy as np
import pytest

import carom
from carom._batch import DeviceArray


def dice():
    model = carom.Model()
    stone = model.material("stone", mu=0.4)
    model.halfspace(0, material=stone)
    die = model.body("die", pos=(0, 0, 0.1))
    model.box(die, (0.02, 0.02, 0.02), material=stone)
    return model


def throw(batch, seed=1):
    rng = np.random.default_rng(seed)
    q, v = batch.q, rng.uniform(-1, 1, (len(batch), 6))
    turn = rng.standard_normal((len(batch), 4))
    q[:, 3:] = turn / np.linalg.norm(turn, axis=1, keepdims=True)
    batch.q, batch.v = q, v
    return q, v


@pytest.mark.parametrize("device, threads", [("serial", 1), ("threads", 1), ("threads", 3)])
def test_worlds_of_a_batch_have_the_bits_of_worlds(device, threads):
    model = dice()
    batch = carom.Batch(model, 17, device=device, threads=threads, quality="fast")
    q, v = throw(batch)
    for steps in (1, 5, 60):
        batch.step(steps)
    assert batch.failed == 0 and batch.handed == 0 and batch.status == ["ok"] * 17
    assert batch.summary().steps == 17 * 60
    assert np.all(batch.time > 0.27)
    for i in range(17):
        world = carom.World(model, quality="fast")
        world.q[:], world.v[:] = q[i], v[i]
        for _ in range(66):
            world.step()
        assert world.hash == batch.hash(i)
        assert np.array_equal(world.q, batch.q[i]) and np.array_equal(world.v, batch.v[i])


def test_worlds_go_in_and_out():
    model = dice()
    batch = carom.Batch(model, 3, threads=2, quality="fast")
    world = carom.World(model, quality="fast")
    world.v[2] = -1.0
    world.run(0.2)
    batch.put(1, world)
    assert batch.hash(1) == world.hash != batch.hash(0)
    taken = batch.take(1, carom.World(model, quality="fast"))
    taken.step()
    batch.step()
    assert batch.hash(1) == taken.hash


def test_numbers_vary_from_world_to_world():
    model = dice()
    batch = carom.Batch(model, 3, quality="fast", threads=1)
    batch.vary("mu", 1, [0.0, 0.3, 1.0])
    q, v = batch.q, np.zeros((3, 6))
    q[:, 2], v[:, 0] = 0.02, 1.0
    batch.q, batch.v = q, v
    batch.step(60)
    # braked by mu g and no more: v = v0 - mu g t
    t = 0.25
    assert np.allclose(batch.v[:, 0], [1.0, 1.0 - 0.3 * 9.81 * t, 0.0], atol=2e-3)


def test_a_world_that_fails_is_told():
    batch = carom.Batch(dice(), 3, threads=1)
    v = batch.v
    v[1, 0] = np.nan
    batch.v = v
    batch.step()
    assert batch.status == ["ok", "not-finite", "ok"] and batch.failed == 1


def test_refusals():
    model = dice()
    with pytest.raises(carom.Error, match="gpus"):
        carom.Batch(model, 2, device="gpus")
    with pytest.raises(carom.Error, match="count"):
        carom.Batch(model, 0)
    with pytest.raises(carom.Error, match="gpu|program"):
        carom.Batch(model, 2, device="gpu", program="/nowhere")
    with pytest.raises(carom.Error, match="Python"):
        carom.Batch(model, 2, force=lambda t, q, v: v)
    batch = carom.Batch(model, 2, threads=1)
    with pytest.raises(carom.Error, match="values"):
        batch.vary("mass", 1, [1.0, 0.0])
    with pytest.raises(carom.Error, match="h"):
        batch.step(1, h=-1.0)
    with pytest.raises(carom.Error):
        batch.q = np.zeros((2, 3))
    with pytest.raises(ValueError, match="device"):
        batch.on_device("q")


def test_arrays_of_a_device_say_where_they_lie():
    """The protocols by themselves, on the host's memory: address, shape and strides are those of the batch."""
    batch = carom.Batch(dice(), 5, threads=1)
    array = DeviceArray(batch._batch, 1)
    told = array.__cuda_array_interface__
    assert told["shape"] == (5, 7) and told["typestr"] == "<f8" and told["version"] == 3

    class Host:
        """The same numbers by NumPy's protocol, whose fields are the same."""
        __array_interface__ = told
    assert np.array_equal(np.asarray(Host()), batch.q)
    assert array.__dlpack_device__() == (1, 0)
    taken = np.from_dlpack(array)
    assert taken.shape == (5, 7) and np.array_equal(taken, batch.q)
    # the numbers outlive the batch, and a capsule that nobody takes is let go
    q = batch.q
    array.__dlpack__()
    del batch, array
    assert np.array_equal(taken, q)
