"""HDF5 trajectories: the same numbers as the CSV, the documented layout, and a killed run's file that opens."""
import json
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time

import h5py

from command import COMMAND, carom, check, main, near

BALL = {"carom": 1, "step": {"dt": 0.002, "duration": 1.5}, "materials": {"m": {"e": 0.8}},
        "bodies": [{"name": "b", "pos": [0, 0, 0.6], "mass": 1, "shapes": [{"type": "sphere", "r": 0.1, "material": "m"}]},
                   {"name": "h", "joint": "hinge", "omega": 1, "mass": 1, "inertia": 1}],
        "static": [{"type": "halfspace", "material": "m"}]}


def test_same_as_csv():
    folder = pathlib.Path(tempfile.mkdtemp())
    (folder / "s.json").write_text(json.dumps(BALL))
    status, out, err = carom("run", str(folder / "s.json"), "--out", str(folder / "t.h5"), "--json")
    if "HDF5 is not in this carom" in err:
        print("  skipped, built without HDF5")
        return
    check(status == 0, status, err)
    answer = json.loads(out)
    carom("run", str(folder / "s.json"), "--out", str(folder / "t.csv"))
    lines = (folder / "t.csv").read_text().splitlines()
    rows = [list(map(float, line.split(","))) for line in lines[1:]]
    with h5py.File(folder / "t.h5") as f:
        check(sorted(f) == sorted("bodies carom_trajectory certificate energy events q scene time v".split()), list(f))
        check(f["carom_trajectory"][0] == 1, "version")
        check([n.decode() for n in f["bodies/name"]] == ["world", "b", "h"], "names")
        check([n.decode() for n in f["bodies/joint"]] == ["fixed", "free", "hinge"], "joints")
        check(list(f["bodies/q"]) == [0, 0, 7] and list(f["bodies/nv"]) == [0, 6, 1], "places")
        check(f["q"].shape == (len(rows), 8) and f["v"].shape == (len(rows), 7), f["q"].shape, len(rows))
        check(f["q"].chunks is not None, "chunked")
        for i, row in enumerate(rows):
            mine = [f["time"][i], *f["q"][i][:7], *f["v"][i][:6], f["q"][i][7], f["v"][i][6]]
            if not check(mine == row, "row", i, mine, row):
                break
        check(f["events"].shape == (answer["events"], 16), f["events"].shape, answer["events"])
        near("energy", sum(f["energy"][0]), answer["energy"]["start"], 1.0)
        near("energy", sum(f["energy"][-1]), answer["energy"]["end"], 1.0)
        near("residual", max(f["certificate"][:, 0]), answer["certificate"]["worst_residual"], 1.0)
    shutil.rmtree(folder)


def test_killed():
    """Killed in the middle: the file opens and holds whole chunks."""
    folder = pathlib.Path(tempfile.mkdtemp())
    (folder / "s.json").write_text(json.dumps({**BALL, "step": {"dt": 1e-6, "duration": 1000}}))
    process = subprocess.Popen([COMMAND, "run", str(folder / "s.json"), "--out", str(folder / "t.h5")],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.time() + 20
    while time.time() < deadline and process.poll() is None and \
            (not (folder / "t.h5").exists() or (folder / "t.h5").stat().st_size < 200000):
        time.sleep(0.02)
    if process.poll() is None:
        process.send_signal(signal.SIGKILL)
        process.wait()
        with h5py.File(folder / "t.h5") as f:
            count = len(f["time"])
            check(count >= 256 and count % 256 == 0 and len(f["q"]) == count, "rows", count, len(f["q"]))
            near("time", f["time"][count - 1], (count - 1) * 1e-6, 1.0)
    shutil.rmtree(folder)


main(globals())
