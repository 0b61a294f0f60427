"""carom converge: Stewart and Trinkle's Table 1, errors re-derived from recorded trajectories, orders of closed forms."""
import csv
import json
import math
import pathlib
import shutil
import tempfile

from command import SOURCE, carom, check, main, near

BALLS = str(SOURCE / "scenes/four-balls.json")
STEPS = [0.02, 0.01, 0.005, 0.0025, 0.00125]
# Table 1 of the paper; with its g = 9.82 the rows .02 and .0025 agree to the last digit, the others to three
PRINTED = {0.02: (0.5050, 0.2505, 19.4046), 0.01: (0.3523, 0.2015, 19.1728), 0.005: (0.1657, 0.0838, 19.1702),
           0.0025: (0.0700, 0.0298, 19.0862)}


def converge(*arguments, expect=0):
    status, out, err = carom("converge", *arguments, "--json")
    check(status == expect, arguments, status, out, err)
    return json.loads(out)


def test_table_1():
    answer = converge(BALLS, "--dt", ",".join(map(str, STEPS)))
    check([row["dt"] for row in answer["rows"]] == STEPS and answer["reference"] == STEPS[-1], answer)
    for row in answer["rows"][:-1]:
        exact = row["dt"] in (0.02, 0.0025)
        for name, printed in zip(("velocity_error", "position_error", "variation"), PRINTED[row["dt"]]):
            check(abs(row[name] - printed) < (0.5e-4 if exact else 3e-3), row["dt"], name, row[name], printed)
    last = answer["rows"][-1]
    check(last["reference"] and last["velocity_error"] == 0 and last["position_error"] == 0 and last["order"] is None, last)
    check(abs(last["variation"] - 19.0690) < 0.5e-4, last)
    check(0.9 < answer["order"] < 1.2, "overall order", answer["order"])
    status, out, _ = carom("converge", BALLS, "--dt", ".02,.0025,.00125")
    check(status == 0 and "0.5050          0.2505       19.4046" in out and "0.0700          0.0298       19.0862" in out, out)


def recorded(dt, folder):
    """Velocities and coordinates after each step, rotations as integrals of omega, from a recorded CSV."""
    path = folder / f"{dt}.csv"
    check(carom("run", BALLS, "--dt", str(dt), "--out", str(path))[0] == 0, "run", dt)
    v, x = [], []
    with open(path) as file:
        for row in csv.DictReader(file):
            row = {k: float(value) for k, value in row.items()}
            names = [f"ball{i}." for i in range(1, 5)]
            v.append([row[n + c] for n in names for c in ("vx", "vy", "vz", "wx", "wy", "wz")])
            turned = [(x[-1][k] if x else 0.0) + (dt * v[-1][k] if x else 0.0) for k in range(24)]
            x.append([row[n + c] if c else turned[6 * i + k] for i, n in enumerate(names)
                      for k, c in enumerate(("x", "y", "z", "", "", ""))])
    return v, x


def test_definition():
    """The same errors from trajectories written by carom run, on the grid of the finest."""
    folder = pathlib.Path(tempfile.mkdtemp())
    coarse, fine = 0.01, 0.0025
    ratio = 4
    (v, x), (rv, rx) = recorded(coarse, folder), recorded(fine, folder)
    velocity = position = 0.0
    for i in range(1, len(rv)):
        at = (i + ratio - 1) // ratio
        share = (i - (at - 1) * ratio) / ratio
        velocity += fine * max(abs(a - b) for a, b in zip(v[at], rv[i]))
        position = max(position, max(abs(p + share * (q - p) - r) for p, q, r in zip(x[at - 1], x[at], rx[i])))
    variation = max(sum(abs(v[i][k] - v[i - 1][k]) for i in range(1, len(v))) for k in range(24))
    row = converge(BALLS, "--dt", f"{coarse},{fine}")["rows"][0]
    near("velocity", row["velocity_error"], velocity, 1.0, 1e-9)
    near("position", row["position_error"], position, 1.0, 1e-9)
    near("variation", row["variation"], variation, 1.0, 1e-9)
    # against a recorded reference: the same as against its step
    for name in ("r.csv", "r.h5"):
        status, _, err = carom("run", BALLS, "--dt", str(fine), "--out", str(folder / name))
        if "HDF5 is not in this carom" in err:
            continue
        answer = converge(BALLS, "--dt", str(coarse), "--reference", str(folder / name))
        check(answer["reference"] == str(folder / name), answer["reference"])
        for column in ("velocity_error", "position_error", "variation"):
            near(column, answer["rows"][0][column], row[column], 1.0, 1e-12)
    other = str(SOURCE / "scenes/falling-rod.json")
    status, _, err = carom("converge", other, "--dt", "0.01", "--reference", str(folder / "r.csv"))
    check(status == 1 and "(unknown-name)" in err and '"rod"' in err, status, err)
    (folder / "bad.csv").write_text("t,a.x\n1")
    status, _, err = carom("converge", BALLS, "--dt", "0.01", "--reference", str(folder / "bad.csv"))
    check(status == 1 and err.startswith("carom converge: "), status, err)
    status, _, err = carom("converge", BALLS, "--dt", "0.01", "--reference", str(folder / "none.csv"))
    check(status == 3, status, err)
    shutil.rmtree(folder)


def test_fall():
    """Free fall by v+ over the whole step is late by g t h / 2, exactly: order one, whatever divides whatever."""
    g, end = 9.81, 1.2
    fall = {"carom": 1, "step": {"method": "lcp", "dt": 0.1, "duration": end},
            "bodies": [{"name": "a", "mass": 1, "inertia": 1, "omega": [0, 0, 2]}]}
    folder = pathlib.Path(tempfile.mkdtemp())
    path = folder / "s.json"
    path.write_text(json.dumps(fall))
    answer = converge(str(path), "--dt", "0.3,0.2,0.1", "--reference", "0.05")
    for row in answer["rows"]:
        near("fall", row["position_error"], g * end * (row["dt"] - 0.05) / 2, 1.0, 1e-12)
        near("variation", row["variation"], g * end, 1.0, 1e-12)
        # v is ahead of the reference by whole steps of it, (k - 1 - j) h on the j-th of k within a step
        k = round(row["dt"] / 0.05)
        near("velocity", row["velocity_error"], g * end * 0.05 * (k - 1) / 2, 1.0, 1e-12)
    order = math.log(0.25 / 0.15) / math.log(0.3 / 0.2)
    near("order", answer["rows"][1]["order"], order, 1.0, 1e-9)
    check(answer["rows"][0]["order"] is None and answer["reference"] == 0.05, answer)
    # a duration that no step divides
    odd = converge(str(path), "--dt", "0.07,0.03", "--duration", "0.1")
    check(odd["rows"][0]["steps"] == 2 and odd["rows"][1]["steps"] == 4, odd)
    status, out, _ = carom("converge", "-", "--dt", "0.2,0.1", text=json.dumps(fall))
    check(status == 0 and "standard input" in out and max(map(len, out.splitlines())) <= 100, out)
    if shutil.which("gnuplot"):
        picture = folder / "p.svg"
        for options in (["--dt", "0.2,0.1,0.05"], ["--dt", "0.2,0.1", "--set", "gravity=[0,0,0]"]):
            status, _, err = carom("converge", str(path), *options, "--plot", str(picture))
            check(status == 0 and picture.read_text().startswith("<?xml"), status, err)
    shutil.rmtree(folder)


def test_refusals():
    for arguments, expect, words in (
            ([], 2, "which scene"), ([BALLS], 2, "which steps"), ([BALLS, "--dt"], 2, "--dt"), ([BALLS, "--dt", "0.1"], 2, "two steps"),
            ([BALLS, "--dt", "0.1,x"], 2, "must be positive"), ([BALLS, "--dt", "0.1,"], 2, "must be positive"),
            ([BALLS, "--dt", "0.1,-1"], 2, "must be positive"), ([BALLS, "--dt", "0.1,inf"], 2, "must be positive"),
            ([BALLS, "--dt", "0.1,0.1"], 2, "twice"), ([BALLS, "--dt", ",".join(str(i + 1) for i in range(33))], 2, "more than 32"),
            ([BALLS, "--dt", "0.1", "--reference", "0"], 2, "--reference"), ([BALLS, "--dt", "2,1", "--nope"], 2, "unknown option"),
            ([BALLS, "--dt", "2,1", "--plot", "x.gif"], 2, "must end in"), ([BALLS, BALLS, "--dt", "2,1"], 2, "only one scene"),
            (["nothing-like-it", "--dt", "2,1"], 3, "no such file"), ([BALLS, "--dt", "2,1", "--method", "x"], 1, "method"),
            (["--help"], 0, "")):
        status, out, err = carom("converge", *arguments)
        check(status == expect and words in err, arguments, status, err)


main(globals())
