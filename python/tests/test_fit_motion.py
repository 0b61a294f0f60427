"""carom.fit.motion and predictions of motions: the numbers of the command, watching and stopping, refusals."""
import csv
import io
import json
import os
import pathlib
import signal
import subprocess
import threading

import numpy as np
import pytest

import carom
import carom.fit

SOURCE = os.environ.get("CAROM_SOURCE")
COMMAND = os.environ.get("CAROM_COMMAND")
FOLDER = pathlib.Path(SOURCE or ".") / "examples/fit"
TOSSES, BALL = FOLDER / "ball-tosses.csv", FOLDER / "ball-toss.json"
SCENE, TABLE = carom.fit._example()

needs_tree = pytest.mark.skipif(not (SOURCE and COMMAND and BALL.exists()), reason="needs the tree and the command")


@needs_tree
def test_the_same_numbers_as_the_command(tmp_path):
    options = ["--points", "5", "--bootstrap", "20", "--seed", "3", "--rule", "newton,poisson", "--set",
               "materials.wood.mu=0.08", "--out", tmp_path / "a.json", "--json"]
    text = subprocess.run([COMMAND, "fit", "motion", TOSSES, "--scene", BALL, "--params", "e:0.2:0.6", *options],
                          check=True, capture_output=True, text=True).stdout
    told = json.loads(text)
    fits = carom.fit.motion(TOSSES, BALL, ["e:0.2:0.6"], rules=["newton", "poisson"], points=5, bootstrap=20, seed=3,
                            threads=2, set={"materials.wood.mu": 0.08}, out=tmp_path / "b.json")
    assert [fit.law for fit in fits] == [law["law"] for law in told["laws"]]
    for fit, law in zip(fits, told["laws"]):
        for name in ("misfit", "misfit_se", "behind", "behind_se", "loss", "loss_se", "fit_misfit", "fit_loss", "set",
                     "certificate"):
            assert getattr(fit, name) == law[name], name
        for key in ("value", "lo", "hi", "determined", "flat_lo", "flat_hi"):
            assert getattr(fit["e"], key) == law["parameters"]["e"][key], key
        assert fit.losses.tolist() == [t["loss"] for t in law["tosses"]]
        assert (fit.fold + 1).tolist() == [t["fold"] for t in law["tosses"]]
    assert (tmp_path / "a.json").read_text() == (tmp_path / "b.json").read_text()

    # predictions by the file, by what --json printed and by the fit itself
    (tmp_path / "told.json").write_text(text)
    rows = subprocess.run([COMMAND, "predict", tmp_path / "a.json", TOSSES, "--law", "newton", "--out", tmp_path / "poses.csv"],
                          check=True, capture_output=True, text=True).stdout
    rows = list(csv.DictReader(io.StringIO(rows)))
    poses = np.genfromtxt(tmp_path / "poses.csv", delimiter=",", names=True)
    for law, which in ((tmp_path / "b.json", "newton"), (str(tmp_path / "told.json"), "newton"), (fits["newton"], None)):
        answer = carom.fit.predict(TOSSES, law, which=which, threads=2)
        for name in ("misfit", "loss", "position", "rotation", "penetration", "energy_gain", "toss"):
            assert getattr(answer, name).tolist() == [float(row[name]) for row in rows], name
        assert (answer.p == np.array([poses["px"], poses["py"], poses["pz"]]).T).all()
        assert (answer.q[:, 3] == poses["qz"]).all() and (answer.t == poses["t"]).all()
        assert answer.law == "newton" and answer.certificate["unsolved"] == 0
        assert (np.bincount(answer.of) == 13).all() and len(answer.of) == 182


@needs_tree
def test_a_file_of_laws_of_collisions(tmp_path):
    drops = FOLDER / "rod-drops.csv"
    fits = carom.fit.impacts(drops, laws=["routh", "newton"], bootstrap=0, out=tmp_path / "law.json")
    by_file = carom.fit.predict(drops, tmp_path / "law.json", which="newton")
    assert (by_file.P == carom.fit.predict(drops, fits["newton"]).P).all()
    with pytest.raises(KeyError):
        carom.fit.predict(drops, tmp_path / "law.json", which="smith")


def test_progress_is_told_and_can_stop():
    seen = []
    carom.fit.motion(TABLE, SCENE, ["e"], bootstrap=0, points=4, threads=2, progress=lambda *a: seen.append(a))
    done = [a for a, b in seen]
    assert done == sorted(done) and all(a <= b for a, b in seen[-50:]) and len(seen) > 100

    def enough(done, count):
        if done == 20:
            raise ValueError(f"{done} are enough")
    for threads in (1, 3):
        with pytest.raises(ValueError, match="20 are enough"):
            carom.fit.motion(TABLE, SCENE, ["e"], threads=threads, progress=enough)
    fit = carom.fit.motion(TABLE, SCENE, bootstrap=0).best
    with pytest.raises(ValueError):
        carom.fit.predict(TABLE, fit, progress=lambda *a: int("x"))


def test_an_interrupt_stops_and_the_checkpoint_goes_on(tmp_path):
    whole = carom.fit.motion(TABLE, SCENE, ["e"], bootstrap=20, points=4)
    with pytest.raises(KeyboardInterrupt):
        carom.fit.motion(TABLE, SCENE, ["e"], bootstrap=20, points=4, checkpoint=tmp_path / "part",
                         progress=lambda done, count: signal.raise_signal(signal.SIGINT) if done == 100 else None)
    first = []
    again = carom.fit.motion(TABLE, SCENE, ["e"], bootstrap=20, points=4, checkpoint=tmp_path / "part",
                             progress=lambda done, count: first.append(done))
    assert again.best["e"] == whole.best["e"] and again.best.misfit == whole.best.misfit
    # what was kept is not simulated again
    assert first[0] > 90


def test_other_threads_run_meanwhile():
    stop, count = threading.Event(), [0]

    def turn():
        while not stop.is_set():
            count[0] += 1
            stop.wait(1e-4)
    thread = threading.Thread(target=turn)
    thread.start()
    carom.fit.motion(TABLE, SCENE, ["e"], bootstrap=0, points=20)
    stop.set()
    thread.join()
    assert count[0] > 2


def test_a_planar_table_and_another_scene():
    scene = {"carom": 1, "step": {"dt": 0.01}, "gravity": [0, -9.81, 0], "materials": {"a": {"mu": 0.1, "e": 0.5}},
             "bodies": [{"name": "disc", "joint": "planar", "mass": 1, "inertia": 0.01, "pos": [0, 1, 0],
                         "shapes": [{"type": "sphere", "r": 0.1, "material": "a"}]}],
             "static": [{"type": "halfspace", "n": [0, 1, 0], "offset": 0, "material": "a"}]}
    t = np.arange(6) * 0.02
    table = {"t": t, "px": 2 * t, "py": 1 - 4.905 * t**2, "angle": 3 * t, "vx": 2, "vy": -9.81 * t, "w": 3}
    fit = carom.fit.motion({"toss": np.repeat([1, 2, 3, 4], 6), **{k: np.tile(v * np.ones(6), 4) for k, v in table.items()}},
                           scene, bootstrap=0).best
    answer = carom.fit.predict(table, fit)
    # free flight is exact
    assert answer.loss[0] < 1e-24 and np.allclose(answer.p[:, 1], table["py"], atol=1e-14)
    weightless = {**scene, "gravity": [0, -4.0, 0]}
    other = carom.fit.predict(table, fit, scene=weightless)
    assert np.allclose(other.p[:, 1], 1 - 2 * t**2, atol=1e-14)


@pytest.mark.parametrize("options, field", [
    ({"params": ["nu"]}, "params"), ({"params": ["e", "e"]}, "params"), ({"params": ["e:1:0"]}, "params"),
    ({"laws": ["ruth"]}, "laws"), ({"rules": ["poison"]}, "rules"), ({"methods": ["euler"]}, "methods"),
    ({"folds": 1}, "folds"), ({"threads": 0}, "threads"), ({"bootstrap": -1}, "bootstrap"), ({"points": -1}, "points"),
    ({"substeps": -1}, "substeps"), ({"length": -1.0}, "length"), ({"body": "cube"}, "body"),
    ({"set": {"step.dt": -1}}, "step.dt"), ({"column": {"px": "X"}}, None), ({"where": {"x": 1}}, None)])
def test_refusals(options, field):
    with pytest.raises(carom.Error) as error:
        carom.fit.motion(TABLE, SCENE, **{"bootstrap": 0, **options})
    assert field is None or error.value.field == field


def test_bad_tables_and_files_are_told_apart(tmp_path):
    def refused(words, table, **options):
        with pytest.raises(carom.Error, match=words) as error:
            carom.fit.motion(table, SCENE, bootstrap=0, **options)
        return error.value
    some = {name: np.broadcast_to(column, 56).copy() for name, column in TABLE.items()}
    assert refused("no such column", {k: v for k, v in TABLE.items() if k != "qz"}).field == "qz"
    holes = {**some, "pz": np.where(np.arange(56) == 9, np.nan, some["pz"])}
    assert refused("not a finite number", holes).line == 11
    assert carom.fit.motion(holes, SCENE, bootstrap=0, skip=True).summary["skipped"] == 1
    refused("lengths are in m", {**some, "pz": 1000 * some["pz"]})
    refused("too few", {name: column[:14] for name, column in some.items()}, params=["e"])
    fit = carom.fit.motion(TABLE, SCENE, bootstrap=0).best
    with pytest.raises(carom.Error, match="no such column"):
        carom.fit.predict({"t": [0, 1]}, fit)
    with pytest.raises(TypeError, match="not with e"):
        carom.fit.predict(TABLE, fit, e=0.5)
    (tmp_path / "bad.json").write_text('{"fit": "motion", "laws": [{"law": "scene", "set": {}}]}')
    with pytest.raises(carom.Error, match="no scene in it"):
        carom.fit.predict(TABLE, tmp_path / "bad.json")
    assert carom.fit.predict(TABLE, tmp_path / "bad.json", scene=SCENE).loss.shape == (8,)
    with pytest.raises(carom.Error, match="not in the file"):
        carom.fit.predict(TABLE, tmp_path / "bad.json", which="routh")
