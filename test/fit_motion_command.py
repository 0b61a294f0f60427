"""carom fit motion, and carom predict of motions: known parameters, the same answer however it is computed, files that are
whole, refusals."""
import atexit
import csv
import io
import json
import math
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time

from command import COMMAND, SOURCE, carom, check, main

TOSSES = str(SOURCE / "examples/fit/ball-tosses.csv")
BALL = str(SOURCE / "examples/fit/ball-toss.json")
DIR = pathlib.Path(tempfile.mkdtemp(prefix="carom-fit-motion-"))
atexit.register(shutil.rmtree, DIR)
QUICK = ["--points", "6", "--bootstrap", "40"]
E = ["--params", "e:0.2:0.6", "--set", "materials.wood.mu=0.08"]


def fit(*arguments, expect=0):
    status, out, err = carom("fit", "motion", TOSSES, "--scene", BALL, *arguments, "--json")
    check(status == expect, arguments, status, out[-500:], err)
    return json.loads(out)


def test_answer():
    out, scene, svg, page = (DIR / name for name in ("fit.json", "fitted.json", "fit.svg", "fit.html"))
    answer = fit("--params", "mu,e", *QUICK, "--out", out, "--fitted-scene", scene, "--plot", svg, "--report", page)
    check((answer["tosses"], answer["samples"], answer["planar"]) == (14, 182, False), answer["tosses"])
    law = answer["laws"][0]
    for name, value in (("mu", .08), ("e", .4)):
        p = law["parameters"][name]
        check(p["determined"] == "yes" and p["lo"] <= p["value"] <= p["hi"], p)
        # twice the interval's half-width is four standard deviations
        check(abs(p["value"] - value) <= p["hi"] - p["lo"], name, p)
    check(abs(sum(t["loss"] for t in law["tosses"]) / 14 - law["loss"]) < 1e-12, law["loss"])
    check(abs(sum(t["misfit"] for t in law["tosses"]) / 14 - law["misfit"]) < 1e-12, law["misfit"])
    check({t["fold"] for t in law["tosses"]} == {1, 2} and law["behind"] == 0, law)
    certificate = law["certificate"]
    check(certificate["penetration"] < 1e-6 and certificate["energy_created"] == 0, certificate)
    check(certificate["energy_gain"] < 1e-12 and certificate["unsolved"] == 0, certificate)
    # files: what to set, a scene that runs with it, pictures
    written = json.loads(out.read_text())["laws"][0]
    values = json.loads(scene.read_text())["materials"]["wood"]
    check(written["set"] == {"materials.wood.mu": values["mu"], "materials.wood.e": values["e"]}, written, values)
    check(values["mu"] == law["parameters"]["mu"]["value"], values)
    status, text, err = carom("run", scene)
    check(status == 0, text, err)
    check(svg.read_text().rstrip().endswith("</svg>"), "svg")
    text = page.read_text()
    check(text.startswith("<!doctype html>") and text.rstrip().endswith("</html>") and text.count("<svg") == 4, "page")


def test_same_however_computed():
    one = carom("fit", "motion", TOSSES, "--scene", BALL, *E, *QUICK, "--json")
    check(one[0] == 0, one)
    check(carom("fit", "motion", TOSSES, "--scene", BALL, *E, *QUICK, "--json", "--threads", "3") == one, "threads")
    # killed, then the same command again
    checkpoint = DIR / "fit.checkpoint"
    command = [COMMAND, "fit", "motion", TOSSES, "--scene", BALL, *E, *QUICK, "--json", "--checkpoint", str(checkpoint)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.time() + 60
    while process.poll() is None and time.time() < deadline:
        if checkpoint.exists() and checkpoint.stat().st_size > 5000:
            process.send_signal(signal.SIGKILL)
        time.sleep(.005)
    process.wait()
    check(carom(*command[1:]) == one, "resumed")
    status, out, err = carom("fit", "motion", TOSSES, "--scene", BALL, *E, *QUICK, "--seed", "2", "--checkpoint", checkpoint)
    check(status != 0 and "checkpoint" in err, status, err)
    if shutil.which("mpirun") is None:
        return
    ranks = subprocess.run(["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "2", *command[:-2]],
                           capture_output=True, text=True, check=False)
    if ranks.returncode == 0:
        check(ranks.stdout == one[1], "ranks", ranks.stdout[:300], ranks.stderr)


def test_laws():
    answer = fit("--rule", "newton,poisson", "--law", "routh,chatterjee-ruina", "--method", "cone,moreau", "--bootstrap", "0",
                 "--set", "materials.wood.mu=0.08", "--set", "materials.wood.e=0.4")
    names = {law["law"] for law in answer["laws"]}
    check(names == {"cone newton", "cone poisson", "cone sequence routh", "cone sequence chatterjee-ruina", "moreau"}, names)
    check([law["misfit"] for law in answer["laws"]] == sorted(law["misfit"] for law in answer["laws"]), "ranked")
    # a ball has a diagonal W: Newton's and Poisson's rule are the same
    by = {law["law"]: law for law in answer["laws"]}
    check(abs(by["cone newton"]["misfit"] - by["cone poisson"]["misfit"]) < 1e-9, by["cone newton"]["misfit"])
    status, out, err = carom("fit", "motion", TOSSES, "--scene", BALL, "--bootstrap", "0")
    check(status == 0 and "14 tosses" in out and "deepest overlap" in out, out, err)


def test_other_axes_are_noticed():
    text = open(TOSSES).read().replace("wx,wy,wz", "wbx,wby,wbz")
    wrong = DIR / "body.csv"
    wrong.write_text(text)
    status, out, err = carom("fit", "motion", wrong, "--scene", BALL, "--bootstrap", "0")
    check(status == 0 and "other axes" in " ".join(out.split()), out, err)


def rows_of(text):
    return [{key: float(value) for key, value in row.items()} for row in csv.DictReader(io.StringIO(text))]


def turned(p, q):
    """The angle between two rotations, by the definition: |trace of the product|."""
    return 2 * math.acos(min(1.0, abs(sum(p[k] * q[k] for k in ("qw", "qx", "qy", "qz")))))


def fitted_file(name="predict.json"):
    out = DIR / name
    if not out.exists():
        told = carom("fit", "motion", TOSSES, "--scene", BALL, "--rule", "newton,poisson", "--bootstrap", "0", "--out", out,
                     "--set", "materials.wood.mu=0.08", "--set", "materials.wood.e=0.4", "--json")
        check(told[0] == 0, told)
        (DIR / ("told-" + name)).write_text(told[1])
    return out


def test_predict():
    out, poses, page = fitted_file(), DIR / "poses.csv", DIR / "predict.html"
    status, text, err = carom("predict", out, TOSSES, "--out", poses, "--report", page)
    check(status == 0 and "14 tosses; misfit" in err and "deepest overlap" in err and "cross-validated" in err, err)
    rows = rows_of(text)
    with open(TOSSES) as file:
        measured = rows_of("".join(line for line in file if not line.startswith("#")))
    predicted = rows_of(poses.read_text())
    check(len(rows) == 14 and len(predicted) == len(measured) == 182, len(rows), len(predicted))
    # errors from the poses, by their definitions: the length is the ball's radius over the root of three
    length = .05 / math.sqrt(3)
    for row in rows:
        at = [i for i, m in enumerate(measured) if m["toss"] == row["toss"]]
        square = [sum((measured[i][k] - predicted[i][k]) ** 2 for k in ("px", "py", "pz")) for i in at]
        angle = [turned(measured[i], predicted[i]) for i in at]
        far = [(s / length ** 2 + a * a) / .04 for s, a in zip(square, angle)]
        check(abs(row["position"] - sum(square) / length / len(at)) < 1e-12, row)
        # an angle by its cosine has half the digits, and quaternions of the file have nine
        check(abs(row["rotation"] - sum(a * a for a in angle) / len(at)) < 1e-7, row)
        check(abs(row["misfit"] - sum(f / (1 + f) for f in far) / len(at)) < 1e-5, row)
        check(row["loss"] == row["position"] + row["rotation"] and row["samples"] == len(at) == 13, row)
        check(abs(row["end_distance"] - math.sqrt(square[-1])) < 1e-12, row)
        check(row["penetration"] < 1e-6 and row["energy_created"] == 0 and row["energy_gain"] < 1e-12, row)
    text = page.read_text()
    check(text.startswith("<!doctype html>") and text.rstrip().endswith("</html>") and text.count("<svg") == 8, "page")
    check("best" in text and "in the middle" in text and "worst" in text, "page")
    # the same from what --json printed, with threads, and as JSON
    again = carom("predict", DIR / "told-predict.json", TOSSES, "--json", "--threads", "3")
    answer = json.loads(again[1])
    check([p["loss"] for p in answer["predictions"]] == [row["loss"] for row in rows], "told")
    check(abs(answer["loss"] - sum(row["loss"] for row in rows) / 14) < 1e-15, answer["loss"])
    check(answer["certificate"]["unsolved"] == 0 and answer["fitted"]["misfit"] > 0, answer["certificate"])


def test_predict_elsewhere():
    """Another law of the file, another scene, other steps; the fitted values are set in all."""
    out = fitted_file()
    plain = carom("predict", out, TOSSES)
    check(carom("predict", out, TOSSES, "--scene", BALL, "--law", "newton")[0] == 0, "newton")
    # the scene of the file had mu and e set, the one that comes with it has others and nothing was fitted
    other = carom("predict", out, TOSSES, "--scene", BALL)
    check(other[0] == 0 and other[1] != plain[1], other[2])
    fine = carom("predict", out, TOSSES, "--substeps", "20")
    check(rows_of(fine[1])[0]["steps"] == 240, fine[1][:300])
    one = carom("predict", out, TOSSES, "--where", "toss=3")
    check(one[0] == 0 and len(rows_of(one[1])) == 1 and rows_of(one[1])[0] == rows_of(plain[1])[3], one)


def test_predict_refusals():
    out, old, law = fitted_file(), DIR / "old.json", DIR / "law.json"
    whole = json.loads(out.read_text())
    old.write_text(json.dumps({key: value for key, value in whole.items() if key != "tree"}))
    status, text, err = carom("fit", "impacts", SOURCE / "examples/fit/rod-drops.csv", "--law", "newton", "--bootstrap", "0",
                              "--out", law)
    check(status == 0, err)
    bad = {}
    lines = [line for line in open(TOSSES) if not line.startswith("#")]
    head = lines[0].strip().split(",")

    def change(name, column, by):
        cells = [line.strip().split(",") for line in lines]
        for k in range(1, len(cells)):
            cells[k][head.index(column)] = by(k, cells[k][head.index(column)])
        bad[name] = DIR / f"{name}.csv"
        bad[name].write_text("\n".join(",".join(c) for c in cells) + "\n")
    change("hole", "qy", lambda k, x: "nan" if k == 16 else x)
    change("millimetres", "pz", lambda k, x: str(1000 * float(x)))
    change("degrees", "wx", lambda k, x: str(300 * float(x)))
    change("turn", "qw", lambda k, x: "3" if k == 1 else x)
    change("late", "t", lambda k, x: "0")
    bad["short"] = DIR / "short.csv"
    bad["short"].write_text("".join(lines[:2]))
    bad["none"] = DIR / "none.csv"
    bad["none"].write_text(lines[0])
    bad["column"] = DIR / "column.csv"
    bad["column"].write_text("".join(lines).replace("qz", "z"))
    bad["ragged"] = DIR / "ragged.csv"
    bad["ragged"].write_text("".join(lines[:5]) + "1,2,3\n")
    for verb in (["predict", out], ["fit", "motion", "--scene", BALL, "--bootstrap", "0"]):
        for name, words in (("hole", "hole.csv:17:"), ("millimetres", "lengths are in m"), ("degrees", "w is in rad/s"),
                            ("turn", "quaternion's length"), ("late", "must ascend"), ("short", "one sample"),
                            ("none", "none is left"), ("column", "qz: no such column"), ("ragged", "ragged.csv:6")):
            status, text, err = carom(*verb, bad[name])
            check(status == 1 and words in err and text == "", verb, name, status, err)
    status, text, err = carom("predict", out, bad["hole"], "--skip")
    check(status == 0 and len(rows_of(text)) == 13 and "1 bad ones skipped" in err, err)
    cases = [
        (["predict", out], 2, "which files"), (["predict", law, TOSSES, "--report", DIR / "x.html"], 2, "--report is for motions"),
        (["predict", out, TOSSES, "--threads", "0"], 2, "from 1 to 256"), (["predict", out, TOSSES, "--substeps", "x"], 2, "whole number"),
        (["predict", out, TOSSES, "--out"], 2, "needs a value"), (["predict", out, TOSSES, "--law", "routh"], 1, "not in the file"),
        (["predict", old, TOSSES], 1, "no scene in it"), (["predict", out, "nowhere.csv"], 3, "cannot open"),
        (["predict", out, TOSSES, "--scene", "nowhere"], 3, "no such file"), (["predict", "nowhere.json", TOSSES], 3, "nowhere"),
        (["predict", out, TOSSES, "--out", "/nowhere/at/all"], 3, "nowhere"),
        (["predict", out, TOSSES, "--report", "/nowhere/at/all.html"], 3, "nowhere"),
        (["predict", out, SOURCE / "examples/fit/rod-drops.csv"], 1, "no such column"),
    ]
    for arguments, expected, words in cases:
        status, text, err = carom(*arguments)
        check(status == expected and words in err, arguments, status, err)
    check(carom("predict", old, TOSSES, "--scene", BALL)[0] == 0, "with a scene")


def test_refusals():
    header = "toss,t,px,py,pz,qw,qx,qy,qz,vx,vy,vz,wx,wy,wz\n"
    bad, few = DIR / "bad.csv", DIR / "few.csv"
    bad.write_text(header + "1,0,0,0,1,1,0,0,0,0,0,-1,0,0,0\n1,.1,0,nan,.9,1,0,0,0,0,0,-1,0,0,0\n")
    few.write_text(header + "1,0,0,0,1,1,0,0,0,0,0,-1,0,0,0\n1,.1,0,0,.9,1,0,0,0,0,0,-1.9,0,0,0\n")
    with_scene = ["fit", "motion", TOSSES, "--scene", BALL]
    cases = [
        (["fit", "motion"], 2, "which file"), (["fit", "motion", TOSSES], 2, "--scene"),
        (with_scene + [TOSSES], 2, "second one"), (with_scene + ["--params", "nu"], 2, "did you mean 'mu'"),
        (with_scene + ["--params", "mu,mu"], 2, "listed twice"), (with_scene + ["--params", "e:1:0"], 2, "smaller first"),
        (with_scene + ["--params", "h=static[0].offset"], 2, "NAME=PATH:LO:HI"), (with_scene + ["--law", "ruth"], 2, "'routh'"),
        (with_scene + ["--rule", "poison"], 2, "'poisson'"), (with_scene + ["--method", "euler"], 2, "cone, lcp"),
        (with_scene + ["--device", "card"], 2, "must be serial, threads or gpu"),
        (with_scene + ["--folds", "1"], 2, "from 2 to 100"), (with_scene + ["--length", "0"], 2, "> 0"),
        (with_scene + ["--plot", "x.txt"], 2, ".svg, .png or .pdf"), (with_scene + ["--frob", "1"], 2, "unknown option"),
        (with_scene + ["--set", "step.dt"], 2, "PATH=VALUE"), (with_scene + ["--seed"], 2, "needs a value"),
        (with_scene + ["--body", "cube"], 1, "none called 'cube'"), (with_scene + ["--set", "step.dt=-1"], 1, "step.dt"),
        (["fit", "motion", "nowhere.csv", "--scene", BALL], 3, "cannot open"), (["fit", "motion", TOSSES, "--scene", "nowhere"], 3, "no such file"),
        (["fit", "motion", bad, "--scene", BALL], 1, "bad.csv:3:8: py: 'nan' is not a finite number (not-finite)"),
        (["fit", "motion", few, "--scene", BALL, "--params", "mu,e"], 1, "too few"),
        (with_scene + ["--column", "px=1000*px"], 1, "there is no column"),
        (with_scene + ["--column", "t=t*1000"], 1, "lengths are in m"),
        (with_scene + ["--set", "gravity=[0,0,0]"], 1, "energy of toss"),
        (with_scene + ["--bootstrap", "0", "--out", "/nowhere/at/all"], 3, "nowhere"),
        (with_scene + ["--bootstrap", "0", "--report", "/nowhere/at/all.html"], 3, "nowhere"),
        (with_scene + ["--bootstrap", "0", "--checkpoint", "/nowhere/at/all"], 3, "nowhere"),
    ]
    for arguments, expected, words in cases:
        status, text, err = carom(*arguments)
        check(status == expected and words in err, arguments, status, err)
    status, text, err = carom("fit", "motion", "--help")
    check(status == 0 and text.startswith("usage: carom fit motion") and max(map(len, text.splitlines())) <= 100, text)


main(globals())
