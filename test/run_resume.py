"""carom run --resume: the same end as a run that never stopped, files cut anywhere, files of others, bad files."""
import itertools
import json
import os
import resource
import signal
import struct
import subprocess
import time

from command import COMMAND, Folder, carom, check, main, scene

STACK = {"carom": 1, "step": {"dt": 0.004, "duration": 0.8}, "materials": {"m": {"mu": 0.4, "e": 0.3}},
         "bodies": [{"name": "low", "pos": [0, 0, 0.1], "shapes": [{"type": "box", "half": [0.1, 0.1, 0.1], "material": "m"}]},
                    {"name": "high", "pos": [0.05, 0.01, 0.4], "vel": [0.2, 0, 0], "omega": [1, 2, 2.5],
                     "shapes": [{"type": "box", "half": [0.1, 0.1, 0.1], "material": "m"}]},
                    {"name": "arm", "joint": "hinge", "axis": [0, 1, 0], "pos": [2, 0, 1], "omega": 1, "mass": 1, "inertia": 1}],
         "static": [{"type": "halfspace", "material": "m"}]}
FLIGHT = {"carom": 1, "step": {"dt": 0.01, "duration": 0.5},
          "bodies": [{"name": "a", "pos": [1, 2, 3], "vel": [0.5, -0.25, 2], "omega": [0, 0, 3], "mass": 2, "inertia": 0.5},
                     {"name": "p", "joint": "planar", "vel": [3, 4], "omega": 2, "mass": 1, "inertia": 1}]}


def run(path, *options, expect=0):
    status, out, err = carom("run", path, "--json", *map(str, options))
    check(status == expect, "exit status", status, "expected", expect, options, out[-300:], err)
    return json.loads(out) if out else {}, err


def has_hdf5(folder):
    return "HDF5 is not in this carom" not in carom("run", scene(folder, FLIGHT, "f.json"), "--out", str(folder / "f.h5"))[2]


def wait_for(path, size, process):
    deadline = time.time() + 20
    while time.time() < deadline and process.poll() is None and (not path.exists() or path.stat().st_size < size):
        time.sleep(0.005)


def test_exact():
    """Stopped and resumed several times, the bits of an HDF5 run are those of one that never stopped."""
    with Folder() as folder:
        if not has_hdf5(folder):
            print("  skipped, built without HDF5")
            return
        path = scene(folder, STACK)
        whole, _ = run(path)
        for threads in (2, 3):
            check(run(path, "--threads", threads)[0]["hash"] == whole["hash"], "threads", threads)
        for quality in ("fast", "accurate", "certified"):
            check(run(path, "--quality", quality)[0]["certificate"]["unsolved_steps"] == 0, quality)
        run(path, "--out", folder / "t.h5", "--duration", "0.2")
        for duration in (0.2, 0.204, 0.6, 0.8):
            part, err = run(path, "--resume", folder / "t.h5", "--duration", duration)
            check(err == "", err)
        check(part["hash"] == whole["hash"] and part["bodies"] == whole["bodies"], part["hash"], whole["hash"])
        check(part["resumed_at"] == 0.6 or abs(part["resumed_at"] - 0.6) < 1e-9, part["resumed_at"])
        check(part["steps"] == 50, part["steps"])
        # threads, record and comments may change; nothing else may
        run(path, "--resume", folder / "t.h5", "--threads", "2", "--set", "record.every=5", "--set", "comment=x")
        for option in ("--dt=0.002", "--rule=newton", "--quality=certified"):
            name, value = option.split("=")
            status, _, err = carom("run", path, "--resume", str(folder / "t.h5"), name, value)
            check(status == 1 and "other values" in err and "(out-of-range)" in err, option, status, err)


def test_csv():
    """Without contacts a resumed CSV is byte for byte the whole one, wherever it was cut."""
    with Folder() as folder:
        path = scene(folder, FLIGHT)
        run(path, "--out", folder / "whole.csv")
        whole = (folder / "whole.csv").read_bytes()
        lines = whole.splitlines(True)
        starts = [sum(map(len, lines[:k])) for k in range(len(lines) + 1)]
        for cut in (starts[2], starts[2] + 1, starts[20] + 5, starts[20] - 1, len(whole) - 1, len(whole)):
            (folder / "t.csv").write_bytes(whole[:cut])
            _, err = run(path, "--resume", folder / "t.csv")
            check("warm start" in err, err)
            check((folder / "t.csv").read_bytes() == whole, "cut at", cut)
        # the records keep their rhythm
        run(path, "--out", folder / "e.csv", "--set", "record.every=10", "--duration", "0.2")
        run(path, "--resume", folder / "e.csv", "--set", "record.every=10")
        times = [float(line.split(",")[0]) for line in (folder / "e.csv").read_text().splitlines()[1:]]
        check([round(t, 9) for t in times] == [0, 0.1, 0.2, 0.3, 0.4, 0.5], times)
        # an end between two steps
        run(path, "--out", folder / "o.csv", "--duration", "0.025")
        answer, _ = run(path, "--resume", folder / "o.csv", "--duration", "0.04")
        check(answer["steps"] == 2 and abs(answer["time"] - 0.04) < 1e-12, answer["steps"], answer["time"])


def test_killed():
    """kill -9, aimed at the growing file and thus at its flushes: it can be drawn, and gone on with to the end of a run that
    was never killed."""
    with Folder() as folder:
        if not has_hdf5(folder):
            print("  skipped, built without HDF5")
            return
        path = scene(folder, {**STACK, "step": {"dt": 0.001, "duration": 0.8}})
        whole, _ = run(path)
        killed = 0
        for i in range(300 if "CAROM_SOAK" in os.environ else 6):
            out = folder / "k.h5"
            out.unlink(missing_ok=True)
            process = subprocess.Popen([COMMAND, "run", path, "--out", str(out)], stdout=subprocess.DEVNULL)
            wait_for(out, 1 + 25000 * (i % 6), process)
            killed += process.poll() is None
            process.kill()
            process.wait()
            status, _, err = carom("plot", out, "--what", "energy", "--out", folder / "e.svg")
            check(status == 0, i, status, err)
            part, err = run(path, "--resume", out)
            check(part["hash"] == whole["hash"] and part["resumed_at"] >= 0 and err == "", i, part["hash"], err)
        print(f"  killed {killed} times before the end")


def test_full_disk():
    """A file that cannot grow is named, in both formats; the HDF5 one holds what was flushed and can be gone on with."""
    with Folder() as folder:
        path = scene(folder, {**STACK, "step": {"dt": 0.001, "duration": 0.8}})
        whole, _ = run(path)
        for name, limit in [("t.csv", 30000)] + [("t.h5", 350000)] * has_hdf5(folder):
            out = folder / name
            done = subprocess.run([COMMAND, "run", path, "--out", str(out)], capture_output=True, text=True,
                                  preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
            check(done.returncode == 3 and "cannot be written: File too large (file)" in done.stderr, name, done.returncode, done.stderr)
            part, _ = run(path, "--resume", out)
            check(name == "t.csv" or part["hash"] == whole["hash"] and part["resumed_at"] > 0, name, part["resumed_at"])


def test_interrupted():
    """Ctrl-C, SIGTERM and SIGHUP leave a file that can be gone on with, in both formats, and no step is lost."""
    with Folder() as folder:
        path = scene(folder, {**FLIGHT, "step": {"dt": 1e-5, "duration": 0.6}})
        whole, _ = run(path)
        names = ["t.csv"] + ["t.h5"] * has_hdf5(folder)
        for name, how in itertools.product(names, (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)):
            out = folder / (how.name + name)
            process = subprocess.Popen([COMMAND, "run", path, "--json", "--out", str(out)], stdout=subprocess.PIPE)
            wait_for(out, 20000, process)
            process.send_signal(how)
            answer = json.loads(process.communicate(timeout=20)[0])
            check(process.returncode in (0, 128 + how), process.returncode)
            part, _ = run(path, "--resume", out)
            check(part["bodies"] == whole["bodies"], name, how)
            check(part["steps"] + answer["steps"] == whole["steps"], part["steps"], answer["steps"])


def refused(path, file, status, code, words):
    got, out, err = carom("run", path, "--resume", str(file))
    check(got == status and f"({code})" in err and words in err and out == "", file.name, got, code, err, out)


def test_bad_csv():
    with Folder() as folder:
        path = scene(folder, FLIGHT)
        run(path, "--out", folder / "whole.csv")
        lines = (folder / "whole.csv").read_text().splitlines(True)
        head, row = lines[0], lines[5]
        values = row.strip().split(",")
        bad = [("", "wrong-size", "fewer"), ("t\n", "wrong-size", "fewer"), (head[:40], "wrong-size", "fewer"),
               (head.replace("a.y", "b.y") + row, "unknown-name", "a.y"), (head.strip() + ",z.q\n" + row, "wrong-size", "more"),
               (head, "syntax", "no whole row"), (head + row[:20], "syntax", "no whole row"),
               (head + "1,2\n", "wrong-size", "has 2 values"), (head + "\n", "wrong-size", "has 0 values"),
               (head + row.replace(values[3], "x"), "syntax", "column"), (head + row.replace(values[3], "null"), "not-finite", "null"),
               (head + row.replace(values[3], '"inf"'), "not-finite", "string"), (head + row.replace(values[3], "1e999"), "not-finite", ""),
               (head + row.replace(values[3], "[1]"), "not-finite", "array"), (head + row.strip() + ",1\n", "wrong-size", "has"),
               (head + ",".join(values[:4] + ["2"] + values[5:]) + "\n", "not-unit", "norm"),
               (head + "1" * 100000 + "\n", "syntax", ""), (head + row.strip() + "\0\n", "syntax", "")]
        for text, code, words in bad:
            file = folder / "bad.csv"
            file.write_text(text)
            refused(path, file, 1, code, words)
            check(file.read_text() == text, "a refused file is left alone", text[:60])
        refused(path, folder / "none.csv", 3, "file", "No such file")
        refused(path, folder / "x.txt", 1, "unknown-name", "must end in")
        status, _, err = carom("run", path, "--resume", str(folder / "whole.csv"), "--out", "x.csv")
        check(status == 2 and "--out" in err, status, err)
        for options in (["--threads", "0"], ["--threads", "x"], ["--quality", "best"], ["--quality"]):
            status, _, err = carom("run", path, *options)
            check(status == 2 and options[0] in err, options, status, err)


def test_bad_bytes():
    """HDF5 files of other scenes, or cut short: refused by name."""
    with Folder() as folder:
        if not has_hdf5(folder):
            return
        path = scene(folder, {**FLIGHT, "step": {"dt": 0.001, "duration": 0.6}})
        run(path, "--out", folder / "t.h5", "--duration", "0.3")
        whole = (folder / "t.h5").read_bytes()
        refused(path, folder / "none.h5", 3, "file", "none.h5: No such file")
        (folder / "text.h5").write_text("no HDF5 file")
        refused(path, folder / "text.h5", 3, "file", "text.h5 is not a whole HDF5 file")
        other = scene(folder, STACK, "other.json")
        refused(other, folder / "t.h5", 1, "wrong-size", "bodies/name")
        renamed = {**FLIGHT, "bodies": [{**FLIGHT["bodies"][0], "name": "z"}, FLIGHT["bodies"][1]]}
        refused(scene(folder, renamed, "renamed.json"), folder / "t.h5", 1, "unknown-name", '"a" in the file and "z"')
        for cut in (0, 7, 100, 2048, len(whole) // 2, len(whole) - 1):
            (folder / "c.h5").write_bytes(whole[:cut])
            status, out, err = carom("run", path, "--resume", str(folder / "c.h5"))
            check(status in (1, 3) and out == "" and err.startswith("carom run: "), cut, status, err)


def fnv(data):
    """64-bit FNV-1a."""
    value = 0xcbf29ce484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001b3 % 2**64
    return value


def forge(data, change):
    """Every snapshot in the bytes of an HDF5 file changed, with a hash that fits; how many there are."""
    at = count = 0
    while (at := data.find(b"crWs\2\0\0\0", at)) >= 0:
        nq, nv, warm, ties, sleep = struct.unpack_from("<5i", data, at + 24)
        first = at + 52
        sleepers = first + 8 * (1 + nq + 3 * nv + ties) + 48 * warm
        end = sleepers + 32 * sleep
        change(data, sleepers)
        struct.pack_into("<Q", data, at + 44, fnv(data[first:end]))
        at, count = end, count + 1
    return count


def test_forged_snapshots():
    """Indices out of range in snapshots that look whole: refused by the field's name, whatever the index."""
    with Folder() as folder:
        if not has_hdf5(folder):
            return
        path = scene(folder, {**STACK, "step": {"dt": 0.004, "duration": 1.2, "sleep_time": 0.1}})
        run(path, "--out", folder / "t.h5", "--duration", "1.0")
        whole = (folder / "t.h5").read_bytes()
        for place, field in ((24, "sleep[1].island"), (28, "sleep[1].carrier")):
            for index in (4, 9999, -1, 2**31 - 1, -2**31):
                data = bytearray(whole)
                count = forge(data, lambda d, at: struct.pack_into("<i", d, at + 32 + place, index))
                check(count > 0, "no snapshot found")
                (folder / "t.h5").write_bytes(data)
                refused(path, folder / "t.h5", 1, "out-of-range", field)
        data = bytearray(whole)
        forge(data, lambda d, at: None)
        check(data == whole, "the layout is not as this test has it")
        old = whole.replace(b"crWs\2\0\0\0", b"3Wrc\2\0\0\0")
        (folder / "t.h5").write_bytes(old)
        refused(path, folder / "t.h5", 1, "out-of-range", "version 1")


def test_other_files():
    """A trajectory where a scene is expected is called that; carom info opens .h5."""
    with Folder() as folder:
        for verb, name in (("info", "t.csv"), ("info", "T.HDF5"), ("run", "t.csv"), ("run", "t.h5"), ("run", "T.HDF5")):
            (folder / name).write_text("t,a.x\n")
            status, out, err = carom(verb, str(folder / name))
            check(status == 1 and "carom plot" in err and "(wrong-type)" in err and out == "", verb, name, status, err)
        if has_hdf5(folder):
            status, out, err = carom("info", str(folder / "t.h5"))
            check(status == 3 and "is not HDF5" in err and out == "", status, err)


def test_shipped():
    """Scenes that come with carom run by name, in a folder without any."""
    with Folder() as folder:
        answer = json.loads(subprocess.run([COMMAND, "run", "bouncing-ball", "--json", "--duration", "0.1"], cwd=folder,
                                           capture_output=True, check=True).stdout)
        check(answer["scene"] == "bouncing-ball" and answer["bodies"]["ball"]["z"] < 1.1, answer)
        status, _, err = carom("run", "bouncing-bal")
        check(status == 3 and "did you mean 'bouncing-ball'" in err, status, err)
        status, out, _ = carom("examples", "--all", "-o", str(folder / "x"))
        check(status == 0 and (folder / "x/scenes/pool-break.json").exists() and (folder / "x/pool-break.json").exists(), out)
        shipped = carom("examples", "scenes/pool-break")[1]
        check(shipped == (folder / "x/scenes/pool-break.json").read_text() and '"carom"' in shipped, "scenes/NAME")
        (folder / "bouncing-ball").write_text('{"carom": 1}')
        done = subprocess.run([COMMAND, "run", "bouncing-ball", "--json"], cwd=folder, capture_output=True, check=True)
        check(json.loads(done.stdout)["bodies"] == {}, "a file of that name goes first")


main(globals())
