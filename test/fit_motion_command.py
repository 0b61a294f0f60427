"""carom fit motion: known parameters, the same answer however it is computed, files that are whole, refusals."""
import atexit
import json
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
        (with_scene + ["--bootstrap", "0", "--report", "/nowhere/at/all"], 3, "nowhere"),
        (with_scene + ["--bootstrap", "0", "--checkpoint", "/nowhere/at/all"], 3, "nowhere"),
    ]
    for arguments, expected, words in cases:
        status, text, err = carom(*arguments)
        check(status == expected and words in err, arguments, status, err)
    status, text, err = carom("fit", "motion", "--help")
    check(status == 0 and text.startswith("usage: carom fit motion") and max(map(len, text.splitlines())) <= 100, text)


main(globals())
