"""carom.spread: the numbers of the command, the same for any threads, refusals."""
import json
import os
import subprocess

import numpy as np
import pytest

import carom

COMMAND = os.environ.get("CAROM_COMMAND")


@pytest.mark.skipif(not COMMAND, reason="needs the command")
def test_the_same_numbers_as_the_command():
    text = subprocess.run([COMMAND, "spread", "pool-break", "--jitter", "gap=1e-5", "--samples", "60", "--until", "0.2",
                           "--json"], check=True, capture_output=True).stdout
    told = json.loads(text)
    found = carom.spread("pool-break", ["gap=1e-5"], samples=60, threads=3, set={"step.duration": 0.2})
    for o in told["outcomes"]:
        column = found.position[:, found.bodies.index(o["body"]), "xyz".index(o["axis"])]
        assert column.mean() == pytest.approx(o["mean"], abs=1e-14)
        assert np.median(column) == pytest.approx(o["q50"], abs=1e-14)
    assert [c["count"] for c in told["clusters"]] == np.bincount(found.cluster).tolist()
    assert [o["count"] for o in told["orders"]] == np.bincount(found.order).tolist()
    assert [[[tuple(p) for p in impact] for impact in o["pairs"]] for o in told["orders"]] == found.orders
    assert [p["explained"] for p in told["prefixes"]] == found.explained.tolist()
    assert [c["representative"] - 1 for c in told["clusters"]] == found.representatives
    assert found.failed == 0 and found.why == ""


def test_one_and_many_threads_and_a_checkpoint(tmp_path):
    def run(**more):
        return carom.spread("newtons-cradle-3", {"gap": "uniform:1e-5", "spin": 0.01}, samples=30, **more,
                            set={"step.duration": 0.4})
    one, many = run(), run(threads=4, checkpoint=tmp_path / "ck")
    again = run(checkpoint=tmp_path / "ck")
    for other in (many, again):
        assert (one.position == other.position).all() and (one.velocity == other.velocity).all()
    assert (one.velocity != run(seed=2).velocity).any()
    with pytest.raises(carom.Error, match="other work"):
        run(seed=3, checkpoint=tmp_path / "ck")


def test_refusals():
    for jitter, words in ((["gap"], "NAME=SIZE"), (["gap=-1"], "must be >= 0"), (["gpa=1"], "did you mean gap"),
                          ([], "nothing is jittered"), (["gap=1"] * 33, "at most 32")):
        with pytest.raises(carom.Error, match=words):
            carom.spread("pool-break", jitter, samples=4)
    with pytest.raises(carom.Error, match="samples is 1"):
        carom.spread("pool-break", ["gap=1e-5"], samples=1)
    with pytest.raises(ValueError, match="must be 'position'"):
        carom.spread("pool-break", ["gap=1e-5"], of="speed")
    failing = carom.spread("pool-break", ["materials.phenolic.e=2"], samples=20, set={"step.duration": 0.01})
    assert 0 < failing.failed < 20 and "materials.phenolic.e" in failing.why
    assert np.isnan(failing.position[failing.cluster < 0]).all()
