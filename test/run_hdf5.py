"""HDF5 trajectories: the same numbers as the CSV, the documented layout, a killed run's file that opens, and files that
lie to --resume."""
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
LAYOUT = "bodies carom_trajectory certificate energy events q scene scene_hash snapshot_bytes snapshots time v"


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
        check(sorted(f) == sorted(LAYOUT.split()), list(f))
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
    """Killed in the middle: the file holds whole chunks. Amid a flush others cannot read it before carom opened it."""
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
        status, _, err = carom("run", str(folder / "s.json"), "--resume", str(folder / "t.h5"), "--duration", "1e-6")
        check(status == 0, status, err)
        with h5py.File(folder / "t.h5") as f:
            count = len(f["time"])
            check(count >= 256 and count % 256 == 0 and len(f["q"]) == count, "rows", count, len(f["q"]))
            near("time", f["time"][count - 1], (count - 1) * 1e-6, 1.0)
    shutil.rmtree(folder)


def recorded(folder, duration):
    """A trajectory of the ball up to a time; its path, or None without HDF5."""
    (folder / "s.json").write_text(json.dumps(BALL))
    status, _, err = carom("run", str(folder / "s.json"), "--out", str(folder / "t.h5"), "--duration", str(duration))
    if "HDF5 is not in this carom" in err:
        return None
    check(status == 0, status, err)
    return folder / "t.h5"


def test_resumed_rows():
    """The tables of a resumed file are those of a whole one, bit for bit; only snapshots are more."""
    folder = pathlib.Path(tempfile.mkdtemp())
    whole = recorded(folder, 1.5)
    if whole is not None:
        whole.rename(folder / "whole.h5")
        for duration in (0.3, 0.302, 1.1, 1.5):
            if duration == 0.3:
                recorded(folder, duration)
            else:
                carom("run", str(folder / "s.json"), "--resume", str(folder / "t.h5"), "--duration", str(duration))
        with h5py.File(folder / "whole.h5") as a, h5py.File(folder / "t.h5") as b:
            for name in ("time", "q", "v", "energy", "certificate", "events"):
                check((a[name][:].tobytes()) == (b[name][:].tobytes()), "table", name, a[name].shape, b[name].shape)
            last = b["snapshots"][-1]
            check(last[0] == len(b["time"]) and last[1] == len(b["events"]), last)
            check(last[2] + last[3] == len(b["snapshot_bytes"]), last)
    shutil.rmtree(folder)


def replaced(name, data, **options):
    def change(f):
        del f[name]
        if data is not None:
            f.create_dataset(name, data=data, **options)
    return change


def resized(name):
    def change(f):
        f[name].resize(0, axis=0)
    return change


def edited(name, where, value):
    def change(f):
        f[name][where] = value
    return change


def test_hostile():
    """Datasets that are missing, of another type or shape, or that lie: refused by name, never a crash."""
    folder = pathlib.Path(tempfile.mkdtemp())
    file = recorded(folder, 1.1)
    if file is None:
        shutil.rmtree(folder)
        return
    good = file.read_bytes()
    grows = {"maxshape": (None, 8), "chunks": (16, 8)}
    zeros = [[0.0] * 8] * 3
    cases = [(replaced("carom_trajectory", None), "missing-field"), (replaced("carom_trajectory", [2]), "out-of-range"),
             (replaced("carom_trajectory", [1, 1]), "limit"), (replaced("carom_trajectory", [1.5]), "wrong-type"),
             (replaced("scene_hash", None), "out-of-range"), (replaced("scene_hash", [1]), "out-of-range"),
             (replaced("bodies/name", None), "wrong-size"), (replaced("bodies/name", [1, 2, 3]), "wrong-size"),
             (replaced("bodies/joint", [b"x" * 63] * 3, dtype="S64"), "unknown-name"),
             (replaced("q", None), "missing-field"), (replaced("q", zeros), "wrong-size"),
             (replaced("q", [[1] * 8] * 3, **grows), "wrong-type"), (replaced("q", zeros, **grows), "syntax"),
             (replaced("time", zeros, **grows), "wrong-size"), (replaced("snapshots", None), "missing-field"),
             (replaced("snapshot_bytes", None), "missing-field"),
             (edited("snapshots", (slice(None), 0), 1e300), "syntax"), (edited("snapshots", (slice(None), 1), -1), "syntax"),
             (edited("snapshots", (slice(None), 2), 0.5), "syntax"), (edited("snapshots", (slice(None), 3), 1e18), "syntax"),
             (edited("snapshots", (slice(None), 3), float("nan")), "syntax"), (edited("snapshot_bytes", slice(None), 255), "syntax"),
             (resized("snapshots"), "syntax"),
             (edited("q", slice(None), float("nan")), "syntax"), (edited("time", slice(None), 5), "syntax")]
    for i, (change, code) in enumerate(cases):
        file.write_bytes(good)
        with h5py.File(file, "r+") as f:
            change(f)
        status, out, err = carom("run", str(folder / "s.json"), "--resume", str(file))
        check(status == 1 and f"({code})" in err and out == "", "case", i, status, code, err)
    # links that lead elsewhere are not followed
    for link in (h5py.SoftLink("/v"), h5py.ExternalLink("other.h5", "/q")):
        file.write_bytes(good)
        with h5py.File(file, "r+") as f:
            del f["q"]
            f["q"] = link
        status, out, err = carom("run", str(folder / "s.json"), "--resume", str(file))
        check(status == 1 and "(missing-field)" in err, status, err)
    # the last snapshot is damaged: the one before it serves, and the end is the same
    file.write_bytes(good)
    with h5py.File(file, "r+") as f:
        count = len(f["snapshots"])
        first = int(f["snapshots"][-1][2])
        f["snapshot_bytes"][first + 40] ^= 1
    check(count >= 3, "snapshots", count)
    end = json.loads(carom("run", str(folder / "s.json"), "--resume", str(file), "--json")[1])
    whole = json.loads(carom("run", str(folder / "s.json"), "--json")[1])
    check(end["hash"] == whole["hash"] and end["resumed_at"] < 1.1, end["resumed_at"])
    shutil.rmtree(folder)


main(globals())
