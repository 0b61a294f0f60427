"""carom fit and carom predict: numbers that agree with each other, files that are whole, refusals with places."""
import atexit
import csv
import io
import json
import pathlib
import shutil
import tempfile

from command import SOURCE, carom, check, main

ROD = str(SOURCE / "examples/fit/rod-drops.csv")
DIR = pathlib.Path(tempfile.mkdtemp(prefix="carom-fit-"))
atexit.register(shutil.rmtree, DIR)


def fit(*arguments, expect=0):
    status, out, err = carom("fit", "impacts", *arguments, "--json")
    check(status == expect, arguments, status, out[-500:], err)
    return json.loads(out)


def rows(path=ROD):
    with open(path) as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def test_answer():
    answer = fit(ROD, "--law", "routh,newton", "--bootstrap", "40")
    routh, newton = answer["laws"]
    check((routh["law"], newton["law"]) == ("routh", "newton"), answer["laws"])
    check(answer["rows"] == 80 and answer["planar"] and answer["impossible"] == 0, answer)
    for name, value in (("mu", .35), ("e", .6)):
        p = routh["parameters"][name]
        check(p["determined"] == "yes" and p["lo"] <= p["value"] <= p["hi"], p)
        # twice the interval's half-width is four standard deviations
        check(abs(p["value"] - value) <= p["hi"] - p["lo"], name, p)
    check(routh["behind"] == 0 and newton["behind"] > 10 * newton["behind_se"], newton)
    check(answer["floor"] <= routh["fit_error"] <= routh["error"] < newton["error"], routh)


def test_same_for_any_threads():
    one = carom("fit", "impacts", ROD, "--law", "routh,smith", "--bootstrap", "20", "--json")
    four = carom("fit", "impacts", ROD, "--law", "routh,smith", "--bootstrap", "20", "--json", "--threads", "4")
    other = carom("fit", "impacts", ROD, "--law", "routh,smith", "--bootstrap", "20", "--json", "--seed", "2")
    check(one == four and one[0] == 0, one[1], four[1])
    check(one[1] != other[1], "the seed matters")


def test_predict():
    out = DIR / "rod.json"
    answer = fit(ROD, "--law", "newton,routh", "--bootstrap", "10", "--out", out)
    status, text, err = carom("predict", out, ROD)
    check(status == 0 and "routh: 80 collisions, 0 without an answer, 0 not permissible" in err, err)
    predicted = list(csv.DictReader(io.StringIO(text)))
    check(len(predicted) == 80 and predicted[0]["line"] == "3", predicted[0])
    mean = 0
    for p, r in zip(predicted, rows()):
        m, inertia = float(r["m"]), float(r["I"])
        d = [float(p[k]) - float(r[k]) for k in ("vx_after", "vy_after", "w_after")]
        error = (d[0] ** 2 + d[1] ** 2 + inertia / m * d[2] ** 2) ** .5
        check(abs(error - float(p["error"])) < 1e-9, error, p["error"])
        # kinetic energy, from the velocities
        after = [float(p[k]) for k in ("vx_after", "vy_after", "w_after")]
        before = [float(r[k]) for k in ("vx", "vy", "w")]
        energy = [.5 * m * (v[0] ** 2 + v[1] ** 2) + .5 * inertia * v[2] ** 2 for v in (before, after)]
        check(abs(energy[1] - energy[0] - float(p["energy_change"])) < 1e-12, energy, p)
        check(p["permissible"] == "true" and float(p["energy_change"]) <= 0, p)
        mean += error / 80
    check(abs(mean - answer["laws"][0]["fit_error"]) < 1e-9, mean, answer["laws"][0]["fit_error"])
    status, text, err = carom("predict", out, ROD, "--law", "newton", "--json")
    lines = [json.loads(line) for line in text.splitlines()]
    check(status == 0 and len(lines) == 80 and all(abs(x["P1"]) < 1e-15 for x in lines), err)
    # velocities after may be missing
    bare = DIR / "bare.csv"
    names = ["m", "I", "rx", "ry", "vx", "vy", "w"]
    bare.write_text(",".join(names) + "\n" + "".join(",".join(r[n] for n in names) + "\n" for r in rows()))
    status, text, err = carom("predict", out, bare)
    check(status == 0 and "error" not in text.splitlines()[0] and "mean error" not in err, err)


def test_files():
    svg, page = DIR / "rod.svg", DIR / "rod.html"
    status, out, err = carom("fit", "impacts", ROD, "--law", "routh,newton", "--bootstrap", "5", "--plot", svg, "--report", page)
    check(status == 0 and "routh" in out and "best" in out, out, err)
    check(svg.read_text().lstrip().startswith("<") and svg.read_text().rstrip().endswith("</svg>"), "svg")
    text = page.read_text()
    check(text.startswith("<!doctype html>") and text.rstrip().endswith("</html>") and text.count("<svg") == 4, "page")
    check("http://" not in text.replace("http://www.w3.org", "") and "src=" not in text.replace("default-src", "").replace("style-src", ""), "nothing fetched")
    for option in ("--out", "--plot", "--report"):
        name = "/nowhere/at/all" + {"--plot": ".svg", "--report": ".html"}.get(option, "")
        status, out, err = carom("fit", "impacts", ROD, "--law", "newton", "--bootstrap", "0", option, name)
        check(status == 3 and "nowhere" in err, option, status, err)


def test_columns():
    plain = fit(ROD, "--law", "newton", "--bootstrap", "0")
    renamed = DIR / "renamed.csv"
    names = {"vx": "u", "w": "omega", "w_after": "omega2"}
    with open(renamed, "w") as file:
        keys = list(rows()[0])
        file.write(",".join(names.get(k, k) for k in keys) + ",flag\n")
        for i, r in enumerate(rows()):
            turned = {**r, "w": str(-float(r["w"])), "w_after": str(-float(r["w_after"]))}
            file.write(",".join(turned[k] for k in keys) + f",{i % 2}\n")
    columns = ["--column", "vx=u,w=-omega,w_after=-omega2"]
    same = fit(renamed, *columns, "--law", "newton", "--bootstrap", "0")
    check(same["laws"] == plain["laws"] and same["floor"] == plain["floor"], same, plain)
    half = fit(renamed, *columns, "--where", "flag=1", "--law", "newton", "--bootstrap", "0")
    check(half["rows"] == 40 and half["left_out"] == 40, half)
    wrong = fit(renamed, "--column", "vx=u,w=omega,w_after=omega2,rx=-rx", "--skip", "--law", "newton", "--bootstrap", "0")
    check("clockwise" in wrong["note"] and wrong["mirrored_floor"] < wrong["floor"] / 3, wrong["note"])


def test_undetermined():
    answer = fit(ROD, "--law", "chatterjee-ruina", "--params", "et", "--fix", "mu=0,e=0.6", "--bootstrap", "5")
    et = answer["laws"][0]["parameters"]["et"]
    check(et["determined"] == "no" and (et["flat_lo"], et["flat_hi"]) == (-1, 1), et)
    status, out, err = carom("fit", "impacts", ROD, "--law", "chatterjee-ruina", "--params", "et", "--fix", "mu=0,e=0.6", "--bootstrap", "5")
    check("et is not determined by these data" in out, out)


def test_refusals():
    bad = DIR / "bad.csv"
    bad.write_text("m,I,rx,ry,vx,vy,w,vx_after,vy_after,w_after\n1,.01,0,-.1,.5,-2,1,nan,1,2\n")
    out = DIR / "rod.json"
    cases = [
        (["fit"], 2, "fit what"), (["fit", "motions", ROD], 2, "fit what"), (["fit", "impacts"], 2, "which file"),
        (["fit", "impacts", ROD, ROD], 2, "second one"), (["fit", "impacts", ROD, "--law", "ruth"], 2, "did you mean 'routh'"),
        (["fit", "impacts", ROD, "--law", "composite"], 2, "cannot be fitted"),
        (["fit", "impacts", ROD, "--law", "routh,routh"], 2, "listed twice"),
        (["fit", "impacts", ROD, "--params", "mass"], 2, "no parameter"), (["fit", "impacts", ROD, "--fix", "e=2"], 2, "from 0 to 1"),
        (["fit", "impacts", ROD, "--fix", "e"], 2, "NAME=VALUE"), (["fit", "impacts", ROD, "--folds", "1"], 2, "from 2 to 100"),
        (["fit", "impacts", ROD, "--plot", "x.txt"], 2, ".svg, .png or .pdf"), (["fit", "impacts", ROD, "--bootstrap"], 2, "needs a value"),
        (["fit", "impacts", ROD, "--frob"], 2, "unknown option"), (["fit", "impacts", ROD, "--column", "m"], 2, "NAME=VALUE"),
        (["fit", "impacts", ROD, "--where", "m=x"], 2, "number"), (["fit", "impacts", "nowhere.csv"], 3, "cannot open"),
        (["fit", "impacts", bad], 1, "bad.csv:2:21: vx_after: 'nan' is not a finite number (not-finite)"),
        (["fit", "impacts", bad, "--column", "vx_after=0.4"], 1, "too few"),
        (["fit", "impacts", ROD, "--law", "bilinear"], 1, "needs W diagonal"),
        (["fit", "impacts", ROD, "--column", "w_after=omega"], 1, "there is no column 'omega'"),
        (["predict"], 2, "which files"), (["predict", out, ROD, ROD], 2, "third"), (["predict", out, ROD, "--frob"], 2, "unknown"),
        (["predict", out, ROD, "--law"], 2, "needs a value"), (["predict", "nowhere.json", ROD], 3, "nowhere"),
        (["predict", out, ROD, "--law", "smith"], 1, "not in the file"), (["predict", out, "nowhere.csv"], 3, "cannot open"),
        (["predict", out, bad], 1, "bad.csv:2:21"),
    ]
    for arguments, expected, words in cases:
        status, text, err = carom(*arguments)
        check(status == expected and words in err, arguments, status, err)
    for verb in ("fit", "predict"):
        status, text, err = carom(verb, "--help")
        check(status == 0 and text.startswith(f"usage: carom {verb}"), text)


main(globals())
