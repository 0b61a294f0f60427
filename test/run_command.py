"""carom run: the table it writes against closed forms, its summary, exit status, refusals, Ctrl-C, pictures."""
import json
import math
import os
import shutil
import signal
import subprocess
import time

from command import COMMAND, Folder, carom, check, main, near, scene

G = 9.81
FALL = {"carom": 1, "step": {"dt": 0.01, "duration": 0.5},
        "bodies": [{"name": "a", "pos": [1, 2, 3], "vel": [0.5, -0.25, 2], "omega": [0, 0, 3], "mass": 2, "inertia": 0.5},
                   {"name": "p", "joint": "planar", "pos": [1, 2], "angle": 0.5, "vel": [3, 4], "omega": 2, "mass": 1,
                    "inertia": 1},
                   {"name": "s", "joint": "slider", "axis": [0, 0, 1], "vel": 1, "mass": 1},
                   {"name": "h", "joint": "hinge", "axis": [1, 0, 0], "omega": 3, "mass": 1, "inertia": 1},
                   {"name": "b", "joint": "ball", "omega": [0, 0, 2], "mass": 1, "inertia": 1},
                   {"name": "f", "joint": "fixed"}]}
HEADER = ("t,a.x,a.y,a.z,a.qw,a.qx,a.qy,a.qz,a.vx,a.vy,a.vz,a.wx,a.wy,a.wz,p.x,p.y,p.theta,p.vx,p.vy,p.omega,"
          "s.q,s.v,h.q,h.v,b.qw,b.qx,b.qy,b.qz,b.wx,b.wy,b.wz")


def run(tree, *options, expect=0):
    with Folder() as folder:
        status, out, err = carom("run", scene(folder, tree), "--json", *options)
    check(status == expect, "exit status", status, "expected", expect, out, err)
    return json.loads(out) if out else {}


def table(tree, *options, expect=0):
    with Folder() as folder:
        out = folder / "out.csv"
        status, text, err = carom("run", scene(folder, tree), "--out", str(out), *options)
        check(status == expect, "exit status", status, text, err)
        lines = out.read_text().splitlines()
    return lines[0], [dict(zip(lines[0].split(","), map(float, line.split(",")))) for line in lines[1:]]


def test_flight():
    """Flight under constant gravity is exact; joints without a force keep their rate."""
    header, rows = table(FALL)
    check(header == HEADER, header)
    check(len(rows) == 51, "records", len(rows))
    for i, row in enumerate(rows):
        t = row["t"]
        near("time", t, 0.01 * i, 1.0)
        near("flight", row["a.z"], 3 + 2 * t - G * t * t / 2, 1.0)
        near("flight", row["a.x"], 1 + 0.5 * t, 1.0)
        near("flight", row["a.vz"], 2 - G * t, 1.0)
        near("spin", row["a.qw"], math.cos(1.5 * t), 1.0)
        near("spin", row["a.qz"], math.sin(1.5 * t), 1.0)
        near("planar", row["p.x"], 1 + 3 * t, 1.0)
        near("planar", row["p.theta"], 0.5 + 2 * t, 1.0)
        near("hinge", row["h.q"], 3 * t, 1.0)
        near("ball", row["b.qz"], math.sin(t), 1.0)
        near("slider's speed", row["s.v"], 1 - G * t, 1.0)
    # the summary's last state is the last record
    last = run(FALL)["bodies"]
    for name, columns in last.items():
        for column, value in columns.items():
            check(value == rows[-1][f"{name}.{column}"], name, column, value)


def test_energy():
    """The balance is that of the states: m v^2 / 2 + I w^2 / 2 + m g z of every body."""
    answer = run({**FALL, "bodies": FALL["bodies"][:1]})
    start = 2 * (0.25 + 0.0625 + 4) / 2 + 0.5 * 9 / 2 + 2 * G * 3
    near("energy", answer["energy"]["start"], start, start)
    near("energy", answer["energy"]["end"], start, start)
    check(answer["energy"]["change"] == answer["energy"]["end"] - answer["energy"]["start"], answer["energy"])
    check(answer["steps"] == 50 and answer["contacts"] == 0 and answer["certificate"]["unsolved_steps"] == 0, answer)


def test_bounce():
    """A ball dropped from h lands at sqrt(2 h / g) and leaves at e sqrt(2 g h)."""
    h, e = 0.5, 0.8
    ball = {"carom": 1, "step": {"dt": 0.005, "duration": 0.4}, "materials": {"m": {"e": e}},
            "bodies": [{"name": "b", "pos": [0, 0, 0.1 + h], "mass": 1,
                        "shapes": [{"type": "sphere", "r": 0.1, "material": "m"}]}],
            "static": [{"type": "halfspace", "material": "m"}]}
    answer = run(ball)
    landing = math.sqrt(2 * h / G)
    t = 0.4 - landing
    v = e * math.sqrt(2 * G * h)
    near("bounce", answer["bodies"]["b"]["z"], 0.1 + v * t - G * t * t / 2, 1.0, 1e-5)
    near("bounce", answer["bodies"]["b"]["vz"], v - G * t, 1.0, 1e-5)
    check(answer["impacts"] == 1 and answer["contacts"] >= 1 and answer["events"] >= 1, answer)
    check(answer["certificate"]["impermissible"] == 0 and answer["certificate"]["energy_created"] == 0, answer)


def test_options():
    """An option does what the field does; the last steps are shorter where dt does not divide the duration."""
    base = run(FALL, "--dt", "0.02", "--duration", "0.05")
    check(base["steps"] == 3 and base["dt"] == 0.02, base["steps"])
    near("time", base["time"], 0.05, 1.0)
    same = run({**FALL, "step": {"dt": 0.02, "duration": 0.05}})
    check(base["bodies"] == same["bodies"] and base["hash"] == same["hash"], "options are fields")
    answer = run(FALL, "--rule", "sequence", "--law", "routh", "--solver", "newton", "--tol", "1e-6", "--method", "moreau")
    check([answer[k] for k in ("rule", "law", "solver", "tol", "method")] ==
          ["sequence", "routh", "newton", 1e-6, "moreau"], answer)
    moved = run(FALL, "--set", "bodies.a.pos[2]=10", "--set", "bodies[1].angle=0", "--set", "gravity=[0,0,0]")
    near("set", moved["bodies"]["a"]["z"], 10 + 2 * 0.5, 1.0)
    near("set", moved["bodies"]["p"]["theta"], 2 * 0.5, 1.0)
    header, rows = table(FALL, "--set", "record.every=20")
    check([round(r["t"], 6) for r in rows] == [0, 0.2, 0.4, 0.5], "the last state is always recorded", rows)
    check(run(FALL, "--duration", "0")["steps"] == 0, "no time at all")
    status, out, err = carom("run", "-", text=json.dumps(FALL))
    check(status == 0 and "energy" in out and err == "" and max(map(len, out.splitlines())) <= 100, out, err)


def test_overlap():
    two = {"carom": 1, "step": {"duration": 0}, "bodies": [
        {"name": "a", "shapes": [{"type": "sphere", "r": 1}]},
        {"name": "b", "pos": [1.75, 0, 0], "shapes": [{"type": "sphere", "r": 1}]}]}
    with Folder() as folder:
        path = scene(folder, two)
        status, out, err = carom("run", path)
        check(status == 0 and "warning: a and b overlap at the start by 0.25 m" in err, err)
        status, out, err = carom("run", path, "--strict")
        check(status == 1 and "error: a and b overlap" in err and out == "", out, err)
    check(run(two)["overlaps"] == [{"a": "a", "b": "b", "depth": 0.25}], "overlaps in the summary")


def test_refusals():
    bad = [("{", 1, "syntax"), ("[]", 1, "wrong-type"), ('{"carom":1}{}', 1, "syntax"), ("", 1, "syntax"),
           ('{"carom":1,"bodies":[{"mas":1}]}', 1, "unknown-field"),
           ('{"carom":1,\n"static":[{"type":"sphere","r":1,"material":"x"}]}', 1, "unknown-name")]
    with Folder() as folder:
        for text, expect, code in bad:
            path = scene(folder, text)
            status, out, err = carom("run", path)
            check(status == expect and f"({code})" in err and out == "", text, status, err)
            status, out, err = carom("run", path, "--json")
            check(status == expect and json.loads(out)["error"]["code"] == code, text, status, out)
        path = scene(folder, bad[-1][0])
        column = bad[-1][0].splitlines()[1].index('"x"') + 1
        check(f"{path}:2:{column}: " in carom("run", path)[2], "line and column", carom("run", path)[2])
        good = scene(folder, FALL)
        for options, expect in ([], 2), (["a", "b"], 2), ([good, "--nope"], 2), ([good, "--dt"], 2), (["nofile"], 3), \
                ([good, "--set", "x"], 2), ([good, "--set", "a..b=1"], 1), ([good, "--dt", "-1"], 1), \
                ([good, "--dt", "x"], 1), ([good, "--rule", "nope"], 1), ([good, "--set", "bodies.z.mass=1"], 1), \
                ([good, "--out", str(folder / "x.txt")], 1), ([good, "--out", str(folder / "no/x.csv")], 3), \
                ([good, "--plot", "x.gif"], 2), (["--help"], 0):
            status, out, err = carom("run", *options)
            check(status == expect and (err != "") == (expect != 0), options, status, err)
        check(carom("schema", "x")[0] == 2 and carom("schema", "--help")[0] == 0, "schema's usage")
        if os.path.exists("/dev/full"):
            os.symlink("/dev/full", folder / "full.csv")
            status, out, err = carom("run", good, "--out", str(folder / "full.csv"))
            check(status == 3, "a full disk", status, err)


def test_interrupt():
    """Ctrl-C, SIGTERM and SIGHUP end the run and keep all that was computed; the exit status says which it was."""
    with Folder() as folder:
        path = scene(folder, {**FALL, "step": {"dt": 1e-6, "duration": 1000}})
        for how in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            out = folder / f"{how.name}.csv"
            process = subprocess.Popen([COMMAND, "run", path, "--json", "--out", str(out)], stdout=subprocess.PIPE)
            deadline = time.time() + 20
            while time.time() < deadline and (not out.exists() or out.stat().st_size < 20000):
                time.sleep(0.02)
            process.send_signal(how)
            answer = process.communicate(timeout=20)[0]
            if not check(process.returncode == 128 + how and answer, how, process.returncode):
                continue
            answer = json.loads(answer)
            lines = out.read_text().splitlines()
            check(answer["interrupted"], how)
            check(len(lines) == answer["steps"] + 2 and float(lines[-1].split(",")[0]) == answer["time"], how, len(lines))


def test_nohup():
    """A process that was started to outlive its terminal does."""
    with Folder() as folder:
        path = scene(folder, {**FALL, "step": {"dt": 1e-6, "duration": 0.3}})
        process = subprocess.Popen([COMMAND, "run", path, "--json"], stdout=subprocess.PIPE,
                                   preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        for _ in range(5):
            time.sleep(0.02)
            process.send_signal(signal.SIGHUP)
        answer = json.loads(process.communicate(timeout=60)[0])
        check(process.returncode == 0 and not answer["interrupted"] and abs(answer["time"] - 0.3) < 1e-9, process.returncode, answer["time"])


def test_energy_that_is_not_finite():
    """m g z beyond the numbers is an error with the body's name, just below it is a run."""
    for z, good in ((1e308, False), (1e307, True)):
        status, out, err = carom("run", "bouncing-ball", "--duration", "0.01", "--set", f"bodies.ball.pos=[0,0,{z}]")
        if good:
            check(status == 0 and "inf" not in out, z, status, out, err)
        else:
            check(status not in (0, 2) and "body 1 ball" in err and "energy" in err, z, status, err)
            check("no step was made" in out and "every step" not in out, out)


def test_mechanism_in_any_unit():
    """A crank, a rod and a slider without weight or shapes, from rest: figures are finite and the verdict that of any unit."""
    for length, mass, time in ((1, 1, 1), (2**10, 1, 1), (2**-10, 1, 1), (1, 2**20, 1), (1, 1, 2**10), (2**20, 2**-20, 2**-10)):
        torque = mass * length**2 / time**2
        crank = {"name": "crank", "joint": "hinge", "axis": [0, 0, 1], "mass": 0.2 * mass, "com": [0.05 * length, 0, 0],
                 "inertia": 5e-4 * mass * length**2, "motor": {"speed": 12.5 / time, "force": 5 * torque}}
        rod = {"name": "rod", "joint": "hinge", "parent": "crank", "axis": [0, 0, 1], "pos": [0.1 * length, 0, 0],
               "mass": 0.3 * mass, "com": [0.15 * length, 0, 0], "inertia": 3e-3 * mass * length**2}
        slider = {"name": "slider", "joint": "slider", "axis": [1, 0, 0], "pos": [0.4 * length, 0, 0], "mass": 0.5 * mass}
        tie = {"type": "connect", "bodies": ["rod", "slider"], "points": [[0.3 * length, 0, 0], [0, 0, 0]]}
        for method in ("cone", "moreau", "lcp"):
            tree = {"carom": 1, "gravity": [0, 0, 0], "step": {"method": method, "dt": 0.002 * time, "duration": 0.05 * time},
                    "bodies": [crank, rod, slider], "constraints": [tie]}
            with Folder() as folder:
                status, out, err = carom("run", scene(folder, tree), "--json")
            check(status == 0, status, out, err)
            found = json.loads(out)["certificate"]
            figures = [found["worst_residual"], found["mean_residual"], found["eta"]]
            check(found["outcome"] == "solved" and all(isinstance(x, (int, float)) and x == x and abs(x) < 1e-3 * max(1, length / time)
                                                       for x in figures), method, length, mass, time, found)


def test_median():
    """The median of the residuals, whose single values follow from the means of runs of 1, 2, 3 ... steps."""
    balls = [{"name": "b%d" % i, "pos": [0.199 * (i % 4), 0.03 * i, 0.1 + 0.15 * (i // 4)], "mass": 1 + i, "vel": [1 - i, i, -1],
              "shapes": [{"type": "sphere", "r": 0.1}]} for i in range(12)]
    floor = {"name": "floor", "joint": "fixed", "shapes": [{"type": "halfspace"}]}
    tree = {"carom": 1, "solver": {"quality": "fast"}, "bodies": [floor] + balls}
    found, total = [], 0.0
    for steps in range(1, 16):
        tree["step"] = {"dt": 0.004, "duration": 0.004 * steps}
        c = run(tree)["certificate"]
        found.append(max(0.0, steps * c["mean_residual"] - total))
        total = steps * c["mean_residual"]
        middle = sorted(found)[(steps - 1) // 2]
        check(abs(c["median_residual"] - middle) <= 0.01 * middle + 1e-15 * total + 2.0**-64, steps, c["median_residual"], found)
    check(max(found) > 1.02 * min(found), "all residuals are alike", found)


def test_plot():
    if shutil.which("gnuplot") is None:
        print("  pictures skipped, no gnuplot")
        return
    with Folder() as folder:
        picture = folder / "p.svg"
        status, out, err = carom("run", scene(folder, FALL), "--plot", str(picture))
        check(status == 0, status, err)
        text = picture.read_text()
        check("<svg" in text[:200] and "kinetic" in text and "time [s]" in text and ">a<" in text, text[:200])
        status, out, err = carom("run", scene(folder, {"carom": 1}), "--plot", str(picture))
        check(status == 0, "an empty world has a picture too", err)


main(globals())
