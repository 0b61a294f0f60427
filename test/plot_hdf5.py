"""carom plot on HDF5 files that are not quite what carom writes: each is refused by the name of what is wrong."""
import json
import pathlib
import shutil
import tempfile

import h5py
import numpy as np

from command import carom, check, main

folder = pathlib.Path(tempfile.mkdtemp())
SCENE = {"carom": 1, "step": {"dt": 0.01, "duration": 0.1},
         "bodies": [{"name": "a", "pos": [0, 0, 1], "shapes": [{"type": "sphere", "r": 0.1}]}]}


def original():
    path = folder / "good.h5"
    if not path.exists():
        (folder / "scene.json").write_text(json.dumps(SCENE))
        status, out, err = carom("run", str(folder / "scene.json"), "--out", str(path))
        check(status == 0, status, out, err)
    return path


def replaced(file, name, data):
    if name in file:
        del file[name]
    if data is not None:
        file[name] = data


def refused(change, says, expect=1):
    path = folder / "bad.h5"
    shutil.copy(original(), path)
    with h5py.File(path, "r+") as file:
        change(file)
    status, out, err = carom("plot", str(path), "--out", str(folder / "x.svg"))
    check(status == expect and says in err, says, "status", status, err)


def test_layout():
    with h5py.File(original()) as file:
        check(json.loads(file["scene"][()]) == SCENE, "the scene's text", file["scene"][()])


def test_what_was_set_is_in_the_scene():
    path = folder / "set.h5"
    original()
    status, _, err = carom("run", str(folder / "scene.json"), "--out", str(path), "--set", "bodies.a.pos[2]=2")
    check(status == 0, err)
    with h5py.File(path) as file:
        check(json.loads(file["scene"][()])["bodies"][0]["pos"] == [0, 0, 2], "as it was run", file["scene"][()])


def test_refusals():
    for change, says in (
            (lambda f: replaced(f, "carom_trajectory", None), "carom_trajectory"),
            (lambda f: replaced(f, "carom_trajectory", np.array([2])), "carom_trajectory"),
            (lambda f: replaced(f, "time", None), "time"),
            (lambda f: replaced(f, "time", np.array(["a", "b"], dtype="S4")), "time"),
            (lambda f: replaced(f, "time", np.zeros(11)), "later"),
            (lambda f: replaced(f, "q", np.full((11, 7), np.inf)), "finite"),
            (lambda f: replaced(f, "q", np.full((11, 7), np.nan)), "q: number 0 is nan"),
            (lambda f: replaced(f, "q", np.zeros((11, 6))), "bodies"),
            (lambda f: replaced(f, "q", None), "bodies"),
            (lambda f: replaced(f, "q", np.zeros((0, 7))), "q: has 0 rows, time has 11"),
            (lambda f: replaced(f, "energy", np.zeros(5)), "energy"),
            (lambda f: replaced(f, "events", np.zeros((3, 5))), "events"),
            (lambda f: replaced(f, "events", np.full((1, 16), 99.0)), "events"),
            (lambda f: replaced(f, "bodies/name", None), "bodies/name"),
            (lambda f: replaced(f, "bodies/name", np.array([1, 2])), "bodies/name"),
            (lambda f: replaced(f, "bodies/joint", np.array(["x", "y"], dtype="S64")), "bodies/joint"),
            (lambda f: replaced(f, "bodies/nq", np.array([0, 9])), "bodies"),
            (lambda f: replaced(f, "bodies/q", np.array([0, -1])), "bodies"),
            (lambda f: replaced(f, "bodies/q", np.array([0])), "bodies"),
            (lambda f: replaced(f, "scene", np.bytes_("{broken")), "1:2"),
            (lambda f: replaced(f, "scene", np.bytes_('{"carom":1}')), "no body")):
        refused(change, says)
    # names that lead to other files are not followed
    def link(file):
        del file["q"]
        file["q"] = h5py.ExternalLink(str(original()), "/q")
    refused(link, "bodies")


def test_truncated():
    """Cut anywhere, the file is refused or read, and nothing crashes."""
    whole = original().read_bytes()
    for share in range(0, 12):
        path = folder / "cut.h5"
        path.write_bytes(whole[:len(whole) * share // 12])
        status, _, err = carom("plot", str(path), "--out", str(folder / "x.svg"))
        check(status in (0, 1, 3) and (status == 0 or err), "status", status, err)


main(globals())
