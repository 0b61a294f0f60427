"""carom run --dump: problems of a step as files, solved and resolved again; dumping changes nothing of the run."""
import json
import pathlib

from command import Folder, carom, check, dot, main, near, scene, times
from solve_problem import full

BOUNCE = {"carom": 1, "step": {"dt": 0.01, "duration": 0.2}, "gravity": [0, 0, 0],
          "materials": {"m": {"mu": 0.2, "e": 0.5}},
          "bodies": [{"name": "a", "pos": [0, 0, 0], "vel": [2, 0, 0], "mass": 1, "inertia": 0.004,
                      "shapes": [{"type": "sphere", "r": 0.1, "material": "m"}]},
                     {"name": "b", "pos": [0.33, 0, 0], "mass": 3, "inertia": 0.012,
                      "shapes": [{"type": "sphere", "r": 0.1, "material": "m"}]}]}


def run(name, *options, expect=0):
    status, out, err = carom("run", name, "--json", *options)
    check(status == expect, "exit status", status, "expected", expect, name, options, err)
    answer = json.loads(out)
    del answer["wall_time"]
    return answer, err


def files(folder):
    """What was written, in the order it was posed."""
    paths = pathlib.Path(folder).glob("x*.json")
    return sorted(paths, key=lambda p: int(p.stem[2:] or 1) if len(p.stem) > 1 else 1)


def check_contact(path):
    """From the file alone: u_free is J v, and p satisfies the cones about as well as the step says."""
    problem = json.loads(path.read_text())
    J, M = full(problem["J"]), full(problem["M"])
    check(len(problem["v"]) == len(M) == len(J[0]) and problem["h"] > 0, path.name, "sizes")
    check(all(abs(M[i][j] - M[j][i]) <= 1e-12 * (M[i][i] * M[j][j]) ** 0.5 for i in range(len(M)) for j in range(i)),
          path.name, "M is symmetric")
    scale = max(abs(x) for x in problem["v"]) + 1e-3
    at = 0
    for block in problem["blocks"]:
        # rows of motors have a velocity of their own
        for i in range(at, at + (block["rows"] if block["kind"] != "box" else 0)):
            near("u_free", problem["u_free"][i], dot(J[i], problem["v"]), scale, 1e-12)
        n, t = problem["p"][at], problem["p"][at + 1:at + block["rows"]]
        if block["kind"] == "cone" and "polygon" not in block:
            check(n >= 0 and dot(t, t) ** 0.5 <= block["mu"] * n + 1e-9, path.name, "inside the cone", n, t)
        at += block["rows"]
    check(at == len(problem["p"]) == len(J), path.name, "rows")
    status, out, _ = carom("solve", str(path), "--json")
    answer = json.loads(out)
    check(status == 0 and answer["status"] == "solved", path.name, answer.get("status"), answer.get("error"))
    check(answer["h"] == problem["h"] and answer["reference_residual"] < 1e-3, path.name, answer["reference_residual"])
    return answer["reference_residual"]


def test_methods():
    """Contact solves of every method: read and solved again, and the run is the same bit for bit."""
    for name in ("box-stack", "falling-rod", "gears"):
        for method in ("cone", "moreau", "lcp", "event"):
            options = ["--method", method, "--duration", "0.6" if name == "falling-rod" else "0.2"]
            # nothing approaches in these gears: a residual relative to what must change says nothing of their files
            idle = (name, method) == ("gears", "lcp")
            plain, _ = run(name, *options, expect=0)
            with Folder() as folder:
                dumped, err = run(name, *options, "--dump-every", "13", "--dump", folder / "x.json", expect=0)
                check(plain == dumped, name, method, "another run with --dump")
                written = files(folder)
                check(f"{len(written)} problem" in err and len(written) > 0, name, method, err)
                for path in [] if idle else written[:4]:
                    if "carom_problem" in path.read_text():
                        check_contact(path)


def test_impacts():
    """An impact goes to carom resolve: p = (1 + e) m1 m2 / (m1 + m2) 2 for masses 1 and 3 at 2 m/s."""
    for method in ("cone", "event"):
        with Folder() as folder:
            _, err = run(scene(folder, BOUNCE), "--method", method, "--dump-at", "0.065", "--dump", folder / "x.json")
            (path,) = files(folder)
            impact = json.loads(path.read_text())
            check(impact["rule"] == "poisson" and len(impact["v"]) == 12 and "1 problem written" in err, impact)
            status, out, _ = carom("resolve", "--json", str(path))
            (answer,) = json.loads(out)["results"]
            p = answer["impulses"][0]
            near("impulse", p[0], 1.5 * 3 / 4 * 2, 1, 1e-12)
            near("velocity", answer["v"][0], 2 - p[0], 1, 1e-12)
            near("velocity", answer["v"][6], p[0] / 3, 1, 1e-12)
            momentum = [x - y for x, y in zip(times(impact["M"], answer["v"]), times(impact["M"], impact["v"]))]
            rows = [impact["contacts"][0]["n"]] + impact["contacts"][0]["t"]
            for j, got in enumerate(momentum):
                near("momentum", got, sum(r[j] * x for r, x in zip(rows, p)), 1, 1e-12)


def test_times():
    """The step that contains T: from its beginning on, up to but not with its end; the last one with its end."""
    with Folder() as folder:
        stack = ["box-stack", "--dt", "0.01", "--duration", "0.1"]
        for at, wanted in (("0.03", 0.03), ("0.0399", 0.03), ("0", 0.0), ("0.1", 0.09)):
            run(*stack, "--dump-at", at, "--dump", folder / "x.json")
            (path,) = files(folder)
            name = json.loads(path.read_text())["name"]
            near("time", float(name.split()[-2]), wanted, 1, 1e-9)
            path.unlink()
        run(*stack, "--dump-at", "0.02,0.05,0.05", "--dump", folder / "x.json")
        check([p.name for p in files(folder)] == ["x.json", "x-2.json"], files(folder))
        for path in files(folder):
            path.unlink()
        _, err = run(*stack, "--dump-at", "7", "--dump", folder / "x.json")
        check(files(folder) == [] and "0 problems written" in err, "a time beyond the end", err)


def test_usage():
    with Folder() as folder:
        to = ["--dump", folder / "x.json"]
        for options in (to, ["--dump-at", "1"], ["--dump-every", "2"], [*to, "--dump-at", "-1"], [*to, "--dump-at", "1,,2"],
                        [*to, "--dump-at", "x"], [*to, "--dump-at", "inf"], [*to, "--dump-every", "0"],
                        [*to, "--dump-every", "1.5"], ["--dump", folder / "x.h5", "--dump-at", "1"], [*to, "--dump-at"],
                        [*to, "--dump-at", ",".join(["1"] * 65)]):
            status, out, err = carom("run", "box-stack", *options)
            check(status == 2 and out == "" and "--dump" in err, options, status, err)
        status, _, err = carom("run", "box-stack", "--duration", "0.1", "--dump", "/no/such/folder/x.json", "--dump-at", "0")
        check(status == 3 and "cannot write" in err, "a file that cannot be written", status, err)


def test_a_thousand_balls():
    """The whole problem of a step of 1000 bodies, written and read back."""
    with Folder() as folder:
        status, _, err = carom("run", "1000-ball-drop", "--duration", "0.6", "--dump-at", "0.59", "--dump",
                               folder / "x.json")
        check("1 problem written" in err, status, err)
        problem = json.loads((folder / "x.json").read_text())
        rows, nv = len(problem["p"]), len(problem["v"])
        check(problem["J"]["rows"] == rows > 1000 and problem["J"]["cols"] == nv <= 6000, rows, nv)
        check(len(problem["M"]["diagonal"]) == nv // 6 and all(len(b) == 6 for b in problem["M"]["diagonal"]), "blocks")
        # a solver that takes only small ones: the file is read, and nothing is solved
        status, out, _ = carom("solve", folder / "x.json", "--solver", "enumerate", "--json")
        answer = json.loads(out)
        check(answer.get("rows") == rows and "reference_residual" in answer, str(answer)[:300])


main(globals())
