"""carom impact --gradient from outside: table, JSON against differences of carom impact --json, refusals.

Python's standard library only. CAROM_COMMAND is the command. Prints a line per failure; exits 1 where anything failed.
"""
import copy
import json

from command import carom, check, main

GOOD = {"W": [[1, -0.3], [-0.3, 2]], "V": [-1, 0.5], "n": [1, 0], "mu": 0.5, "e": 0.6, "et": 0.2, "normalize": True}


def impact(problem, *options):
    status, out, err = carom("impact", "--json", *options, text=json.dumps(problem))
    check(status == 0, problem, status, out, err)
    return json.loads(out)


def moved(problem, name, h):
    there = copy.deepcopy(problem)
    axis = {"x": 0, "y": 1}
    if name[0] == "W":
        i, j = axis[name[1]], axis[name[2]]
        there["W"][i][j] += h
        if i != j:
            there["W"][j][i] += h
    elif name[0] in "Vn" and name[-1] in axis:
        there[name[0]][axis[name[1]]] += h
    else:
        there[name] += h
    return there


def test_derivatives():
    for law in ("chatterjee-ruina", "routh", "smith", "compliant"):
        problem = dict(GOOD, law=law)
        found = impact(problem, "--gradient")["gradients"][0]
        check(found["law"] == law and found["verdict"] == "smooth", found)
        check(not found["differenced"], law, found["differenced"])
        for name, by in found["by"].items():
            if name == "eta2":
                continue
            h = 1e-4
            more, less = impact(moved(problem, name, h)), impact(moved(problem, name, -h))
            for key, column in (("P", "P_plus"), ("V_plus", "V_plus")):
                for i in range(2):
                    slope = (more[key][i] - less[key][i]) / (2 * h)
                    check(abs(slope - by[column][i]) < 1e-6, law, name, key, slope, by[column][i])
            check(by["P_plus"] == by["P_minus"], law, name)


def test_verdicts():
    held = dict(GOOD, law="whittaker", W=[[1, 0], [0, 2]], V=[-1, 1.5], e=0.5)
    found = impact(held, "--gradient")["gradients"][0]
    check(found["verdict"] == "one-sided" and found["switch"] == "stick/slip" and found["distance"] < 1e-9, found)
    # slip: Pt = -mu Pn with Pn = 1.5; stick: no change
    check(abs(found["by"]["mu"]["P_minus"][1] + 1.5) < 1e-12 and abs(found["by"]["mu"]["P_plus"][1]) < 1e-12, found)
    blocked = dict(GOOD, law="chatterjee-ruina", W=[[1, 1], [1, 1]], V=[-1, -1])
    found = impact(blocked, "--gradient")["gradients"][0]
    check(found["verdict"] == "none" and found["by"]["Vx"]["P_plus"] == [None, None], found)


def test_tables():
    status, out, _ = carom("impact", "--gradient", text=json.dumps(dict(GOOD, name="case")))
    check(status == 0 and out.startswith("case\n") and "routh: stick, smooth; switch stick/slip" in out, out)
    check("bilinear: W:" in out, "a law that refuses is not named", out)
    check(all(line == line.rstrip() for line in out.splitlines()), "blanks at the end of a line")
    status, out, err = carom("impact", "--gradient", text=json.dumps(dict(GOOD, mu=-1)))
    check(status == 1 and "mu" in err, status, out, err)
    status, out, err = carom("impact", "--gradients", text="{}")
    check(status == 2, status, out, err)


def test_forms_of_restitution():
    """e by a named form is e at the approach speed, and a wrong form is refused by its field."""
    base = dict(GOOD, law="newton")
    speed = -sum(a * b for a, b in zip(base["V"], base["n"]))
    form = {"form": "power", "speed": speed, "e": 0.7, "exponent": 0.25}
    found = impact(dict(base, e=form))
    expected = impact(dict(base, e=0.7))
    check(all(abs(a - b) < 1e-12 for a, b in zip(found["P"], expected["P"])), found, expected)
    for wrong in ({"form": "powr"}, {"form": "power", "speed": 0, "e": 0.5}, {"form": "spline", "rows": [[0, 0.5]]}, {},
                  {"form": "plastic", "exponent": 1}):
        status, out, err = carom("impact", text=json.dumps(dict(base, e=wrong)))
        check(status == 1 and "e" in err, wrong, status, err)


def test_time_error():
    """First order of Stewart and Trinkle's steps in flight: half an error g dt t, and bad times are refused."""
    status, out, err = carom("run", "falling-rod", "--time-error", "0.2,0.3", "--json")
    errors = json.loads(out)["time_error"]
    check(status == 0 and [e["time"] for e in errors] == [0.2, 0.3], out)
    for e in errors:
        check(abs(e["position"] - 0.5 * 9.81 * 0.0025 * e["time"]) < 0.02 * e["position"], e)
        check(abs(e["order"] - 1) < 0.01, e)
    status, out, err = carom("run", "falling-rod", "--time-error", "0.3,0.2")
    check(status == 2 and "--time-error" in err, status, err)


if __name__ == "__main__":
    main(globals())
