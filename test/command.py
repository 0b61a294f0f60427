"""The carom command from outside: every answer recomputed here with plain arithmetic, every refusal by its name.

Python's standard library only. CAROM_COMMAND is the command, CAROM_SOURCE the tree. Prints a line per failure
and the worst errors seen; exits 1 where anything failed.
"""
import json
import math
import os
import pathlib
import pty
import random
import subprocess
import sys
import tempfile

COMMAND = os.environ["CAROM_COMMAND"]
SOURCE = pathlib.Path(os.environ["CAROM_SOURCE"])
SAMPLES = 60000 if "CAROM_SOAK" in os.environ else 2000
LAWS = ("newton bilinear chatterjee-ruina routh whittaker smith anitescu-potra pfeiffer-glocker brach composite "
        "compliant spherical projected").split()
failures = 0
worst = {}


def check(ok, *what):
    global failures
    if not ok:
        failures += 1
        if failures <= 40:
            print("FAILED:", *what)
    return ok


def near(what, a, b, scale, tol=1e-12):
    error = abs(a - b) / scale if scale > 0 else abs(a - b)
    worst[what] = max(worst.get(what, 0.0), error)
    return check(error <= tol, what, a, b, "relative error", error)


def carom(*arguments, text="", env=None):
    if isinstance(text, str):
        text = text.encode()
    run = subprocess.run([COMMAND, *arguments], input=text, capture_output=True, env={**os.environ, **(env or {})})
    return run.returncode, run.stdout.decode(), run.stderr.decode()


def lines(objects, expect=0):
    """One answer per object (or raw line of text)."""
    text = "\n".join(o if isinstance(o, str) else json.dumps(o) for o in objects)
    status, out, err = carom("impact", "--json", "-", text=text)
    answers = [json.loads(line) for line in out.splitlines()]
    check(status == expect and err == "", "exit status", status, "expected", expect, err)
    check(len(answers) == len(objects), "one answer per line", len(answers), len(objects))
    return answers


def one(collision, expect=0):
    return lines([collision], expect)[0]


# vectors as lists

def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def times(A, v):
    return [dot(row, v) for row in A]


def norm(a):
    return math.sqrt(dot(a, a))


def plus(a, s, b):
    return [x + s * y for x, y in zip(a, b)]


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def transpose(A):
    return [list(column) for column in zip(*A)]


def product(A, B):
    return [[dot(row, column) for column in transpose(B)] for row in A]


def inverse(A):
    """Gauss and Jordan with row exchange."""
    n = len(A)
    rows = [list(A[i]) + [float(i == j) for j in range(n)] for i in range(n)]
    for k in range(n):
        pivot = max(range(k, n), key=lambda i: abs(rows[i][k]))
        rows[k], rows[pivot] = rows[pivot], rows[k]
        rows[k] = [x / rows[k][k] for x in rows[k]]
        for i in range(n):
            if i != k:
                rows[i] = plus(rows[i], -rows[i][k], rows[k])
    return [row[n:] for row in rows]


def turn(rng):
    """A random rotation matrix, and the quaternion (w, x, y, z) it comes from."""
    q = [rng.gauss(0, 1) for _ in range(4)]
    w, x, y, z = (c / norm(q) for c in q)
    R = [[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
         [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
         [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]]
    return R, [w, x, y, z]


def random_collision(rng, dimension):
    A = [[rng.gauss(0, 1) for _ in range(dimension)] for _ in range(dimension)]
    W = product(A, transpose(A))
    for i in range(dimension):
        W[i][i] += 0.05
    W = [[0.5 * (W[i][j] + W[j][i]) for j in range(dimension)] for i in range(dimension)]
    n = [rng.gauss(0, 1) for _ in range(dimension)]
    n = [x / norm(n) for x in n]
    V = [rng.gauss(0, 1) for _ in range(dimension)]
    if dot(n, V) > 0:
        V = [-x for x in V]
    return {"W": W, "V": V, "n": n, "mu": rng.choice([0, rng.uniform(0, 1.5), "inf"]), "e": rng.uniform(0, 1),
            "et": rng.uniform(-1, 1)}


def audit(collision, answer):
    """Everything a result says, recomputed from W, V and the printed P."""
    W, V, n, P = collision["W"], collision["V"], collision["n"], answer["P"]
    mu = math.inf if collision["mu"] == "inf" else collision["mu"]
    law = answer["law"]
    WP = times(W, P)
    # rounding is relative to the products, whatever cancels in their sums; the frame's t1, from V_t, is as
    # accurate as V_t is
    tilt = norm(V) / norm(plus(V, -dot(n, V), n))
    largest = sum(map(norm, W)) * norm(P)
    for a, b, c in zip(answer["V_plus"], V, WP):
        near("V_plus", a, b + c, (norm(V) + largest) * tilt, 1e-14)
    energy = dot(P, V) + 0.5 * dot(P, WP)
    products = norm(P) * (norm(V) + largest) * tilt
    near("energy_change", answer["energy_change"], energy, products, 1e-14)
    margins = answer["margins"]
    near("margin energy", margins["energy"], -energy, products, 1e-14)
    near("margin penetration", margins["penetration"], dot(n, V) + dot(n, WP),
         (norm(V) + largest) * tilt, 1e-14)
    Pn = dot(n, P)
    near("margin tension", margins["tension"], Pn, norm(P) * tilt, 1e-14)
    tangential = norm(plus(P, -Pn, n))
    if math.isinf(mu):
        check(margins["cone"] == "inf" or Pn <= 1e-12 * norm(P), law, "cone is not infinite", margins, P)
    else:
        near("margin cone", margins["cone"], mu * Pn - tangential, (1 + mu) * norm(P) * tilt, 1e-14)
    cone = math.inf if margins["cone"] == "inf" else margins["cone"]
    finite = 1 if math.isinf(mu) else 1 + mu
    terms = abs(dot(P, V)) + 0.5 * abs(dot(P, WP))
    inside = (margins["energy"] >= -1e-9 * terms
              and margins["penetration"] >= -1e-9 * (norm(V) + abs(margins["penetration"] - dot(n, V)))
              and margins["tension"] >= -1e-9 * norm(P) and cone >= -1e-9 * finite * norm(P))
    check(answer["permissible"] == inside, law, "verdict", answer, collision)
    check(answer["creates_energy"] == (energy > 1e-9 * terms), law, "creates_energy", answer)
    check(answer["regime"] in ("separate", "stick", "slip", "reversal", "jam", "no-solution"), answer)
    check(isinstance(answer["solutions"], int), answer)
    # P_I and P_II by their definitions
    P_I = [-dot(n, V) / dot(n, times(W, n)) * x for x in n]
    near("P_I", norm(plus(answer["P_I"], -1, P_I)), 0, norm(P_I) * tilt * norm(V) / abs(dot(n, V)), 1e-14)
    left = plus(times(W, answer["P_II"]), 1, V)
    near("P_II", norm(left), 0, norm(V) + max(map(norm, W)) * norm(answer["P_II"]))


def test_help():
    for arguments in ([], ["--help"], ["help"], ["-h"]):
        status, out, _ = carom(*arguments)
        check(status == 0 and "usage: carom" in out and "impact" in out and "exit status" in out, arguments)
    for verb in ("impact", "laws", "examples"):
        texts = [carom(*arguments) for arguments in ([verb, "--help"], [verb, "-h"], ["help", verb])]
        check(all(t == texts[0] for t in texts), verb, "help differs")
        check(texts[0][0] == 0 and texts[0][1].startswith("usage: carom " + verb), verb)
        check("examples:" in texts[0][1], verb, "has no examples")
        check(max(map(len, texts[0][1].splitlines())) <= 100, verb, "help is too wide")
    status, out, _ = carom("--version")
    check(status == 0 and out.startswith("carom ") and "numerics revision" in out, out)


def test_usage():
    for arguments, said in ((["inpact"], "did you mean 'impact'"), (["--versoin"], "unknown option"),
                            (["qqq"], "unknown verb"), (["help", "law"], "did you mean 'laws'"),
                            (["impact", "--jsn"], "unknown option"), (["impact", "a", "b"], "only one file"),
                            (["laws", "rout"], "did you mean 'routh'"), (["laws", "--x"], "unknown option"),
                            (["examples", "generc"], "did you mean 'generic'"), (["examples", "zzz"], "no example"),
                            (["examples", "--all"], "-o"), (["examples", "-o"], "needs a directory")):
        status, out, err = carom(*arguments)
        check(status == 2 and out == "" and said in err and "--help" in err, arguments, status, err)
    status, out, err = carom("impact", "/no/such/file.json")
    check(status == 3 and out == "" and "/no/such/file.json" in err, status, err)
    status, out, err = carom("impact", "/")
    check(status == 3 and out == "", "a directory", status, err)
    status, out, err = carom("impact", "--json", text="")
    check(status == 1 and out == "" and "empty" in err, "empty input", status, err)
    if os.path.exists("/dev/full"):
        with open("/dev/full", "w") as full:
            status = subprocess.run([COMMAND, "laws"], stdout=full, stderr=subprocess.DEVNULL).returncode
        check(status == 3, "full disk", status)


GOOD = {"law": "newton", "W": [[2, -0.9], [-0.9, 1.5]], "V": [-1, -0.6], "n": [1, 0]}
BODY = {"mass": 1, "inertia": 1}
PAIR = {"law": "newton", "a": {"fixed": True}, "b": {"mass": 1, "inertia": 0.4, "position": [0, 1],
                                                     "velocity": [0, -1]}, "point": [0, 0], "n": [0, 1]}
SPACE = {"law": "newton", "a": BODY, "b": {**BODY, "position": [0, 0, 2], "velocity": [0, 0, -1]},
         "point": [0, 0, 1], "n": [0, 0, 1]}


def changed(base, **fields):
    return {k: v for k, v in {**base, **fields}.items() if v is not None}


def bad_inputs():
    """(input, code, field): every way of being wrong."""
    table = [
        (changed(GOOD, W=[[2, -0.9], [-0.8, 1.5]]), "not-symmetric", "W"),
        (changed(GOOD, W=[[2, 3], [3, 1]]), "not-positive", "W"),
        (changed(GOOD, W=[[-1, 0], [0, 1]]), "not-positive", "W"),
        (changed(GOOD, W=[[2, -0.9]]), "wrong-size", "W"),
        (changed(GOOD, W=[[2, -0.9, 0], [-0.9, 1.5, 0]]), "wrong-size", "W"),
        (changed(GOOD, W=[[1, 0, 0], [0, 1, 0], [0, 0, 1]]), "wrong-size", "W"),
        (changed(GOOD, W=3), "wrong-type", "W"),
        (changed(GOOD, W=[[2, "x"], [0, 1]]), "wrong-type", "W"),
        (changed(GOOD, W=[1, 2]), "wrong-type", "W"),
        (changed(GOOD, W=None), "missing-field", "W"),
        (changed(GOOD, W=None, m=[[2, 0.5], [0.4, 1]]), "not-symmetric", "m"),
        (changed(GOOD, W=None, m=[[1, 2], [2, 1]]), "not-positive", "m"),
        (changed(GOOD, W=None, m=[[1, 1], [1, 1]]), "not-positive", "m"),
        (changed(GOOD, W=None, m=[[0, 0], [0, 0]]), "not-positive", "m"),
        (changed(GOOD, W=None, m=[[1e-320, 0], [0, 1]]), "not-finite", "m"),
        (changed(GOOD, m=[[1, 0], [0, 1]]), "unknown-field", "m"),
        (changed(GOOD, V=None), "missing-field", "V"),
        (changed(GOOD, V=[-1]), "wrong-size", "V"),
        (changed(GOOD, V=[-1, 0, 0]), "wrong-size", "V"),
        (changed(GOOD, V=[-1, True]), "wrong-type", "V"),
        (changed(GOOD, V={"x": 1}), "wrong-type", "V"),
        ('{"law":"newton","W":[[1,0],[0,1]],"V":[NaN,0],"n":[1,0]}', "not-finite", "V"),
        ('{"law":"newton","W":[[1,0],[0,1]],"V":[1e999,0],"n":[1,0]}', "not-finite", "V"),
        ('{"law":"newton","W":[[1,0],[0,1]],"V":[-1,0],"n":[1,0],"mu":Infinity}', "not-finite", "mu"),
        (changed(GOOD, n=None), "missing-field", "n"),
        (changed(GOOD, n=[1, 1]), "not-unit", "n"),
        (changed(GOOD, n=[0, 0], normalize=True), "not-unit", "n"),
        (changed(GOOD, n=[1]), "wrong-size", "n"),
        (changed(GOOD, n=[1, 0, 0, 0]), "wrong-size", "n"),
        (changed(GOOD, n="x"), "wrong-type", "n"),
        (changed(GOOD, mu=-0.1), "out-of-range", "mu"),
        (changed(GOOD, mu="infinite"), "wrong-type", "mu"),
        (changed(GOOD, mu=[1]), "wrong-type", "mu"),
        (changed(GOOD, e=-1e-9), "out-of-range", "e"),
        (changed(GOOD, e="1"), "wrong-type", "e"),
        (changed(GOOD, e=[]), "wrong-size", "e"),
        (changed(GOOD, e=[[1, 0.5], [1, 0.4]]), "out-of-range", "e"),
        (changed(GOOD, e=[[0, 0.5], [1, -0.4]]), "out-of-range", "e"),
        (changed(GOOD, e=[[0, 0.5, 1]]), "wrong-size", "e"),
        (changed(GOOD, e=[0.5]), "wrong-type", "e"),
        (changed(GOOD, e=[[i, 0.5] for i in range(65)]), "limit", "e"),
        (changed(GOOD, et=1.01), "out-of-range", "et"),
        (changed(GOOD, et=-1.01), "out-of-range", "et"),
        (changed(GOOD, et="x"), "wrong-type", "et"),
        (changed(GOOD, normalize=1), "wrong-type", "normalize"),
        (changed(GOOD, name=1), "wrong-type", "name"),
        (changed(GOOD, comment=[]), "wrong-type", "comment"),
        (changed(GOOD, frame=[[1, 0.1], [0, 1]]), "not-unit", "frame"),
        (changed(GOOD, frame=[[0, 1], [1, 0]]), "not-unit", "frame"),
        (changed(GOOD, frame=[[1, 0, 0], [0, 1, 0], [0, 0, 1]]), "wrong-size", "frame"),
        (changed(GOOD, law="nowton"), "unknown-name", "law"),
        (changed(GOOD, law=["newton", "x"]), "unknown-name", "law"),
        (changed(GOOD, law=[]), "wrong-size", "law"),
        (changed(GOOD, law=["newton"] * 17), "wrong-size", "law"),
        (changed(GOOD, law=3), "wrong-type", "law"),
        (changed(GOOD, law=[3]), "wrong-type", "law"),
        (changed(GOOD, law="bilinear"), "not-diagonal", "W"),
        (changed(GOOD, ending="stronge"), "unknown-name", "ending"),
        (changed(GOOD, ending=1), "wrong-type", "ending"),
        (changed(GOOD, cone=2), "out-of-range", "cone"),
        (changed(GOOD, cone=3.5), "out-of-range", "cone"),
        (changed(GOOD, cone=1e9), "out-of-range", "cone"),
        (changed(GOOD, cone="round"), "unknown-name", "cone"),
        (changed(GOOD, cone=[8]), "wrong-type", "cone"),
        (changed(GOOD, nu=1.5), "out-of-range", "nu"),
        (changed(GOOD, nu=-0.5), "out-of-range", "nu"),
        (changed(GOOD, ratios=[1]), "wrong-size", "ratios"),
        (changed(GOOD, ratios=1), "wrong-type", "ratios"),
        (changed(GOOD, psi1=3.2), "out-of-range", "psi1"),
        (changed(GOOD, psi2=6.3), "out-of-range", "psi2"),
        (changed(GOOD, rho=-0.1), "out-of-range", "rho"),
        (changed(GOOD, rho=1.1), "out-of-range", "rho"),
        (changed(GOOD, eta2=0), "out-of-range", "eta2"),
        (changed(GOOD, wish=[1, 2, 3]), "wrong-size", "wish"),
        (changed(GOOD, laws="newton"), "wrong-type", "laws"),
        (changed(GOOD, laws=[]), "wrong-size", "laws"),
        (changed(GOOD, laws=["newton", "rooth"]), "unknown-name", "laws"),
        (changed(GOOD, laws=["newton", "composite"]), "out-of-range", "laws"),
        (changed(GOOD, sigma=1.5), "out-of-range", "sigma"),
        (changed(GOOD, sigma="x"), "wrong-type", "sigma"),
        (changed(GOOD, sigma=[0.5, 0.6]), "out-of-range", "sigma"),
        (changed(GOOD, sigma=[1.5, -0.5]), "out-of-range", "sigma"),
        (changed(GOOD, sigma=[1]), "wrong-size", "sigma"),
        (changed(GOOD, laws=["newton"] * 3), "missing-field", "sigma"),
        (changed(GOOD, laws=["newton"] * 3, sigma=0.5), "wrong-size", "sigma"),
        (changed(GOOD, w=[1]), "unknown-field", "w"),
        (changed(GOOD, friction=0.5), "unknown-field", "friction"),
        (changed(GOOD, point=[0, 0]), "unknown-field", "point"),
        (changed(GOOD, V=[-1e300, 0], W=[[1, 0], [0, 1]]), "not-finite", "law"),
        (changed(GOOD, law="brach", mu=1, e=0.1, ratios=[0.1, 0.1]), "not-planar", "law"),
        (changed(PAIR, W=[[1, 0], [0, 1]]), "unknown-field", "W"),
        (changed(PAIR, V=[0, -1]), "unknown-field", "V"),
        (changed(PAIR, bodies=[BODY, BODY]), "unknown-field", "a"),
        (changed(PAIR, a=None), "missing-field", "a"),
        (changed(PAIR, b=None), "missing-field", "b"),
        (changed(PAIR, a=None, b=None, bodies=[BODY]), "wrong-size", "bodies"),
        (changed(PAIR, a=None, b=None, bodies=BODY), "wrong-type", "bodies"),
        (changed(PAIR, a=None, b=None, bodies=[BODY, 3]), "wrong-type", "b"),
        (changed(PAIR, point=None), "missing-field", "point"),
        (changed(PAIR, point=[0, 0, 0]), "wrong-size", "point"),
        (changed(PAIR, b={"fixed": True}), "argument", "fixed"),
        (changed(PAIR, b={"inertia": 1}), "missing-field", "b.mass"),
        (changed(PAIR, b={"mass": 1}), "missing-field", "b.inertia"),
        (changed(PAIR, b={**BODY, "mass": 0}), "out-of-range", "b.mass"),
        (changed(PAIR, b={**BODY, "mass": "x"}), "wrong-type", "b.mass"),
        (changed(PAIR, b={**BODY, "inertia": 0}), "not-positive", "b.inertia"),
        (changed(PAIR, b={**BODY, "inertia": [1, 1, 1]}), "wrong-type", "b.inertia"),
        (changed(PAIR, b={**BODY, "orientation": [1, 0, 0, 0]}), "wrong-type", "b.orientation"),
        (changed(PAIR, b={**BODY, "omega": [0, 0, 1]}), "wrong-type", "b.omega"),
        (changed(PAIR, b={**BODY, "velocity": [0, 0, 1]}), "wrong-size", "b.velocity"),
        (changed(PAIR, b={**BODY, "weight": 1}), "unknown-field", "b.weight"),
        (changed(PAIR, b={**BODY, "fixed": 1}), "wrong-type", "b.fixed"),
        (changed(SPACE, b={**BODY, "orientation": [1, 1, 0, 0]}), "not-unit", "b.orientation"),
        (changed(SPACE, b={**BODY, "orientation": [1, 0, 0]}), "wrong-size", "b.orientation"),
        (changed(SPACE, a={**BODY, "inertia": [1, 1]}), "wrong-size", "a.inertia"),
        (changed(SPACE, a={**BODY, "inertia": [1, 1, -1]}), "not-positive", "a.inertia"),
        (changed(SPACE, a={**BODY, "inertia": "x"}), "wrong-type", "a.inertia"),
        (changed(SPACE, a={**BODY, "inertia": [[1, 0.5, 0], [0, 1, 0], [0, 0, 1]]}), "not-symmetric", "a.inertia"),
        (changed(SPACE, a={**BODY, "omega": 1}), "wrong-type", "a.omega"),
        ('{"law":"newton"', "syntax", None),
        ('{"law":"newton",}', "syntax", None),
        ('{"e":0,"e":1}', "syntax", "e"),
        ("[1]", "wrong-type", None),
        ('"newton"', "wrong-type", None),
        ("[" * 65, "limit", None),
        ("nonsense", "syntax", None),
    ]
    return table


def test_bad_input():
    table = bad_inputs()
    # good lines in between go on; the first one makes it JSON Lines
    mixed = [GOOD]
    for text, _, _ in table:
        mixed += [text, GOOD]
    answers = lines(mixed, 1)
    codes = set()
    for i, answer in enumerate(answers):
        if i % 2 == 0:
            check(answer.get("P") == [0.5, 0], "a good line among bad ones", answer)
            continue
        text, code, field = table[i // 2]
        if not check(list(answer) == ["error"], text, answer):
            continue
        error = answer["error"]
        codes.add(error["code"])
        check(list(error) == ["code", "field", "message", "line", "column"], error)
        check((error["code"], error["field"]) == (code, field), text, error)
        check(error["line"] == i + 1 and error["column"] >= 1, "position", text, error)
        check(field is None or code == "not-finite" or field.split(".")[-1] in error["message"], "message", error)
    check("did you mean" in answers[1 + 2 * [t[1] for t in table].index("unknown-name")]["error"]["message"])
    # each alone: exit status 1
    for text, code, field in random.Random(7).sample(table, 12):
        status, out, _ = carom("impact", "--json", text=text if isinstance(text, str) else json.dumps(text))
        error = json.loads(out)["error"]
        check(status == 1 and (error["code"], error["field"]) == (code, field), text, status, out)
    print("  error codes provoked:", len(codes), " ".join(sorted(codes)))


def test_positions():
    text = '{\n  "law": "newton",\n  "W": [[1, 0],\n        [0.5, 1]],\n  "V": [-1, 0], "n": [1, 0]\n}\n'
    status, out, _ = carom("impact", "--json", text=text)
    error = json.loads(out)["error"]
    check((status, error["line"], error["column"]) == (1, 3, 8), out)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "bad.json")
        pathlib.Path(path).write_text(text.replace("0.5", "x"))
        status, out, err = carom("impact", path)
        check(status == 1 and out == "" and err.startswith(path + ":4:10: "), status, out, err)
    bodies = '{"law":"newton","bodies":[{"fixed":true},\n{"mass":-1,"inertia":1}],"point":[0,0],"n":[0,1]}'
    status, out, _ = carom("impact", "--json", text=bodies)
    error = json.loads(out)["error"]
    check((error["field"], error["line"], error["column"]) == ("b.mass", 2, 9), out)
    # terminal codes in the input do not reach the terminal
    status, out, err = carom("impact", text='{"\\u001b[31m":1}')
    check(status == 1 and "\033" not in err, repr(err))
    status, out, err = carom("impact", text=json.dumps({**GOOD, "name": "a\033[31m\nb"}))
    check(status == 0 and "\033" not in out and "a?[31m?b" in out, repr(out))


def test_huge():
    for text, code in (("[" * 1000000, "limit"), ('{"x":' * 1000000, "limit"),
                       ('{"name":"' + "x" * (17 << 20) + '"}', "limit"),
                       ('{"V":[' + "0," * 3000000 + "0]}", "limit"), ('{"e":0.' + "1" * 5000 + "}", "limit"),
                       ('{"name":"' + "\\u0041" * 100000, "syntax"), ('{"V":' + "9" * 400 + "}", "not-finite"),
                       ("\x00" * 1000, "syntax"), ("{" + '"a":1,' * 1000000 + '"b":1}', "syntax")):
        status, out, err = carom("impact", "--json", text=text)
        check(status == 1 and json.loads(out)["error"]["code"] == code, text[:20], status, out[:200], err[:200])


def test_shapes():
    single = one({**GOOD, "name": "hit \u20ac"})
    keys = ["name", "law", "P", "V_plus", "regime", "solutions", "energy_change", "margins", "permissible",
            "creates_energy", "P_I", "P_II"]
    check(list(single) == keys, list(single))
    check(single["name"] == "hit \u20ac" and single["law"] == "newton", single)
    check(list(single["margins"]) == ["energy", "penetration", "tension", "cone"], single)
    check(all(len(single[key]) == 2 for key in ("P", "V_plus", "P_I", "P_II")), single)
    listed = one({**GOOD, "law": ["chatterjee-ruina", "bilinear", "newton"]})
    check([r["law"] for r in listed["results"]] == ["chatterjee-ruina", "bilinear", "newton"], listed)
    check(listed["results"][1]["error"]["code"] == "not-diagonal", listed)
    check(listed["results"][2] == {k: v for k, v in single.items() if k != "name"}, "the same law in a list")
    one({**GOOD, "law": ["bilinear"]}, expect=1)
    for law in ("all", None):
        everything = one(changed(GOOD, law=law, mu=0.7, et=0.3, e=0.5))
        check([r["law"] for r in everything["results"]] == LAWS, law, everything)
    separate = one({**GOOD, "V": [1, 3], "law": "chatterjee-ruina", "mu": 0.5})
    check(separate["P"] == [0, 0] and separate["regime"] == "separate" and separate["permissible"], separate)
    check(separate["V_plus"] == [1, 3], separate)
    # a blocked direction: no P_II where V is not in the range of W
    blocked = one({"law": "newton", "W": [[1, 0], [0, 0]], "V": [-1, 1], "n": [1, 0]})
    check(blocked["P_II"] is None and blocked["P_I"] == [1, 0], blocked)
    rigid = one({"law": "newton", "W": [[0, 0], [0, 1]], "V": [-1, 0], "n": [1, 0]})
    check(rigid["P_I"] is None and rigid["regime"] == "no-solution" and rigid["solutions"] == 0, rigid)


def test_random_audit():
    rng = random.Random(1)
    count = 0
    for dimension in (2, 3):
        collisions = [random_collision(rng, dimension) for _ in range(SAMPLES // 20)]
        for c in collisions:
            c["law"] = LAWS
        for collision, answer in zip(collisions, lines(collisions)):
            for row in answer["results"]:
                if "error" in row:
                    check(row["error"]["code"] in ("not-diagonal", "not-planar", "outside-region", "unknown-name",
                                                   "out-of-range"), row)
                    continue
                audit(collision, row)
                count += 1
        # the laws with closed forms
        for law in ("newton", "chatterjee-ruina"):
            collisions = [{**random_collision(rng, dimension), "law": law} for _ in range(SAMPLES // 2)]
            for collision, answer in zip(collisions, lines(collisions)):
                audit(collision, answer)
                count += 1
                n, P_I, P_II, e = collision["n"], answer["P_I"], answer["P_II"], collision["e"]
                if law == "newton":
                    near("newton", norm(plus(answer["P"], -(1 + e), P_I)), 0, norm(P_I))
                    continue
                # at infinite friction an impulse along the surface is the limit of permissible ones
                limit = collision["mu"] == "inf" and answer["margins"]["tension"] <= 1e-12 * norm(answer["P"])
                check(answer["permissible"] or limit, "chatterjee-ruina outside", answer)
                # P lies on (1+e) P_I + kappa (P_II - P_I), kappa in [0, 1+et]
                D = plus(P_II, -1, P_I)
                rest = plus(answer["P"], -(1 + e), P_I)
                kappa = dot(rest, D) / dot(D, D)
                near("chatterjee-ruina line", norm(plus(rest, -kappa, D)), 0, norm(P_I) + norm(P_II), 1e-10)
                check(-1e-9 <= kappa <= 1 + collision["et"] + 1e-9, "kappa", kappa, collision)
    print("  answers recomputed:", count)


def test_coordinates():
    rng = random.Random(2)
    plain, turned, flat, raised = [], [], [], []
    turns = []
    for _ in range(SAMPLES // 10):
        c = {**random_collision(rng, 3), "law": "chatterjee-ruina"}
        R, _ = turn(rng)
        W = product(product(R, c["W"]), transpose(R))
        W = [[0.5 * (W[i][j] + W[j][i]) for j in range(3)] for i in range(3)]
        plain.append(c)
        turned.append({**c, "W": W, "V": times(R, c["V"]), "n": times(R, c["n"]), "normalize": True})
        turns.append(R)
        d = {**random_collision(rng, 2), "law": "chatterjee-ruina"}
        flat.append(d)
        raised.append({**d, "W": [row + [0] for row in d["W"]] + [[0, 0, 0]], "V": d["V"] + [0], "n": d["n"] + [0]})
    for R, a, b in zip(turns, lines(plain), lines(turned)):
        scale = norm(a["P_I"]) + norm(a["P_II"])
        near("turned P", norm(plus(times(R, a["P"]), -1, b["P"])), 0, scale, 1e-10)
        near("turned P_II", norm(plus(times(R, a["P_II"]), -1, b["P_II"])), 0, scale, 1e-10)
    for a, b in zip(lines(flat), lines(raised)):
        for key in ("P", "V_plus", "P_I", "P_II"):
            check(a[key] + [0] == b[key], "2D and 3D differ", key, a, b)
        check({k: a[k] for k in ("regime", "energy_change", "margins")}
              == {k: b[k] for k in ("regime", "energy_change", "margins")}, "2D and 3D differ", a, b)


def test_mass_matrix():
    rng = random.Random(3)
    by_W, by_m = [], []
    for k in range(SAMPLES // 10):
        c = {**random_collision(rng, 2 + k % 2), "law": "chatterjee-ruina"}
        by_W.append(c)
        m = inverse(c["W"])
        size = len(m)
        by_m.append({**changed(c, W=None), "m": [[0.5 * (m[i][j] + m[j][i]) for j in range(size)]
                                                  for i in range(size)]})
    for a, b, c in zip(lines(by_W), lines(by_m), by_W):
        # W is known from m to the condition number of W
        condition = max(map(norm, c["W"])) * max(map(norm, inverse(c["W"])))
        scale = (norm(a["P_I"]) + norm(a["P_II"])) * condition
        near("m for W", norm(plus(a["P"], -1, b["P"])), 0, scale)


def random_body(rng, flat):
    body = {"mass": 10 ** rng.uniform(-1, 1)}
    if flat:
        body.update(inertia=10 ** rng.uniform(-1, 1), position=[rng.gauss(0, 1) for _ in range(2)],
                    velocity=[rng.gauss(0, 1) for _ in range(2)], omega=rng.gauss(0, 1),
                    orientation=rng.uniform(-4, 4))
        return body, None
    R, q = turn(rng)
    A = [[rng.gauss(0, 1) for _ in range(3)] for _ in range(3)]
    inertia = product(A, transpose(A))
    inertia = [[inertia[i][j] + 0.2 * (i == j) for j in range(3)] for i in range(3)]
    kind = rng.randrange(3)
    if kind == 0:
        body["inertia"] = inertia
    elif kind == 1:
        body["inertia"] = [inertia[i][i] for i in range(3)]
        inertia = [[inertia[i][i] * (i == j) for j in range(3)] for i in range(3)]
    else:
        body["inertia"] = inertia[0][0]
        inertia = [[inertia[0][0] * (i == j) for j in range(3)] for i in range(3)]
    body.update(orientation=q, position=[rng.gauss(0, 1) for _ in range(3)],
                velocity=[rng.gauss(0, 1) for _ in range(3)], omega=[rng.gauss(0, 1) for _ in range(3)])
    return body, product(product(R, inertia), transpose(R))


def point_matrix(body, inertia, r):
    """W of one free body: 1/mass - [r] I^-1 [r]."""
    if inertia is None:
        perp = [-r[1], r[0]]
        return [[(i == j) / body["mass"] + perp[i] * perp[j] / body["inertia"] for j in range(2)] for i in range(2)]
    X = [[0, -r[2], r[1]], [r[2], 0, -r[0]], [-r[1], r[0], 0]]
    inner = product(product(X, inverse(inertia)), X)
    return [[(i == j) / body["mass"] - inner[i][j] for j in range(3)] for i in range(3)]


def point_velocity(body, r):
    omega = body["omega"]
    spin = [-omega * r[1], omega * r[0]] if len(r) == 2 else cross(omega, r)
    return plus(body["velocity"], 1, spin)


def test_bodies():
    rng = random.Random(4)
    given, direct, known = [], [], []
    for k in range(SAMPLES // 5):
        flat = k % 2 == 0
        size = 2 if flat else 3
        (a, Ia), (b, Ib) = random_body(rng, flat), random_body(rng, flat)
        fixed = k % 3 == 0
        point = [rng.gauss(0, 1) for _ in range(size)]
        ra, rb = plus(point, -1, a["position"]), plus(point, -1, b["position"])
        W = point_matrix(b, Ib, rb)
        if fixed:
            a["fixed"] = True
        else:
            Wa = point_matrix(a, Ia, ra)
            W = [plus(W[i], 1, Wa[i]) for i in range(size)]
        W = [[0.5 * (W[i][j] + W[j][i]) for j in range(size)] for i in range(size)]
        V = plus(point_velocity(b, rb), -1, point_velocity(a, ra))
        n = [x / norm(V) for x in V]
        n = plus(n, 0.5, [rng.gauss(0, 0.5) for _ in range(size)])
        n = [-x / norm(n) for x in n]
        if dot(n, V) > 0:
            n = [-x for x in n]
        shared = {"law": "chatterjee-ruina", "n": n, "mu": rng.uniform(0, 1), "e": rng.uniform(0, 1), "et": 0.2}
        pair = {"bodies": [a, b]} if k % 4 < 2 else {"a": a, "b": b}
        given.append({**shared, **pair, "point": point})
        direct.append({**shared, "W": W, "V": V})
        known.append((a, b, Ia, Ib, ra, rb, fixed))
    for c, x, y, (a, b, Ia, Ib, ra, rb, fixed) in zip(direct, lines(given), lines(direct), known):
        condition = max(map(norm, c["W"])) * max(map(norm, inverse(c["W"])))
        scale = (norm(y["P_I"]) + norm(y["P_II"])) * condition
        near("bodies for W", norm(plus(x["P"], -1, y["P"])), 0, scale)
        # after the impact: momentum by its definition, and the contact moves as V_plus says
        after = x["bodies"]
        for body, new, inertia, r, sign in ((a, after[0], Ia, ra, -1), (b, after[1], Ib, rb, 1)):
            if body.get("fixed"):
                check(new["velocity"] == body["velocity"] and new["omega"] == body["omega"], "a fixed body", new)
                continue
            change = plus(new["velocity"], -1, body["velocity"])
            near("momentum", norm(plus([body["mass"] * v for v in change], -sign, x["P"])), 0,
                 norm(x["P"]) + body["mass"] * norm(body["velocity"]))
            P = [sign * p for p in x["P"]]
            if inertia is None:
                spin = body["inertia"] * (new["omega"] - body["omega"]) - (r[0] * P[1] - r[1] * P[0])
                size = norm(r) * norm(P) + body["inertia"] * abs(body["omega"])
            else:
                spin = norm(plus(times(inertia, plus(new["omega"], -1, body["omega"])), -1, cross(r, P)))
                size = norm(r) * norm(P) + max(map(norm, inertia)) * norm(body["omega"])
                size *= max(map(norm, inertia)) * max(map(norm, inverse(inertia)))
            near("angular momentum", spin, 0, size)
        moved = plus(point_velocity(after[1], rb), -1, point_velocity(after[0], ra))
        scale = norm(c["V"]) + norm(times(c["W"], x["P"])) + norm(point_velocity(a, ra)) + norm(point_velocity(b, rb))
        near("contact velocity", norm(plus(moved, -1, x["V_plus"])), 0, scale, 1e-11)


def test_fields():
    # e as a table: linear in between, constant beyond
    for speed, expected in ((0.5, 0.9), (1.0, 0.9), (2.0, 0.7), (3.0, 0.5), (9.0, 0.5)):
        answer = one({**GOOD, "V": [-speed, 0], "e": [[1, 0.9], [3, 0.5]]})
        near("table of e", answer["margins"]["penetration"], expected * speed, speed)
    # normalize
    check(one({**GOOD, "n": [2, 0], "normalize": True}) == one(GOOD), "normalize")
    # brach: P = Pn (n + mu2 t1 + mu3 t2) in the given frame, n.V+ = -e n.V
    rng = random.Random(5)
    for _ in range(20):
        R, _ = turn(rng)
        n, t1, t2 = transpose(R)
        W = product(product(R, [[1, 0.1, 0], [0.1, 1.5, 0.2], [0, 0.2, 2]]), transpose(R))
        W = [[0.5 * (W[i][j] + W[j][i]) for j in range(3)] for i in range(3)]
        V = plus(plus([-x for x in n], 0.3, t1), 0.5, t2)
        answer = one({"law": "brach", "W": W, "V": V, "n": n, "frame": R, "mu": 0.6, "e": 0.4,
                      "ratios": [-0.1, -0.2]})
        Pn = dot(answer["P"], n)
        expected = plus(plus(n, -0.1, t1), -0.2, t2)
        near("brach", norm(plus(answer["P"], -Pn, expected)), 0, norm(answer["P"]))
        near("brach e", answer["margins"]["penetration"], 0.4, 1)
        # a wish inside the region comes back, in the coordinates it went in
        law = {"W": W, "V": V, "n": n, "mu": 0.6, "e": 0.4, "et": 0.1}
        inside = [0.3 * a + 0.7 * b for a, b in zip(one({**law, "law": "newton"})["P"],
                                                    one({**law, "law": "chatterjee-ruina"})["P"])]
        back = one({**law, "law": "projected", "wish": inside})
        near("wish", norm(plus(back["P"], -1, inside)), 0, norm(inside))
        # a composite is the weighted sum
        for extra, weights in (({"sigma": 0.25}, (0.25, 0.75)), ({}, (0.5, 0.5)), ({"sigma": [0.1, 0.9]}, (0.1, 0.9))):
            mixed = one({**law, "law": "composite", "laws": ["newton", "chatterjee-ruina"], **extra})
            first, second = (one({**law, "law": name})["P"] for name in ("newton", "chatterjee-ruina"))
            expected = [weights[0] * a + weights[1] * b for a, b in zip(first, second)]
            near("composite", norm(plus(mixed["P"], -1, expected)), 0, norm(expected))
    # bodies in either spelling
    pair = changed(PAIR, a=None, b=None, bodies=[PAIR["a"], PAIR["b"]])
    check(one(pair) == one(PAIR), "bodies and a, b")
    # a driven body: the floor comes up
    up = changed(PAIR, a={"fixed": True, "velocity": [0, 1]}, e=0.5)
    answer = one(up)
    near("driven", answer["bodies"][1]["velocity"][1], 2, 1)
    check(answer["bodies"][0] == {"velocity": [0, 1], "omega": 0}, answer)


def test_stream():
    """An answer comes before the input ends."""
    process = subprocess.Popen([COMMAND, "impact", "--json", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    for _ in range(3):
        process.stdin.write(json.dumps(GOOD).encode() + b"\n")
        process.stdin.flush()
        check(json.loads(process.stdout.readline())["P"] == [0.5, 0], "stream")
    process.stdin.close()
    check(process.stdout.read() == b"" and process.wait() == 0, "end of stream")
    process.stdout.close()


def test_table():
    for path in sorted((SOURCE / "examples/impacts").glob("*.json")):
        status, out, err = carom("impact", str(path))
        check(status == 0 and err == "", path.name, status, err)
        check(max(map(len, out.splitlines())) <= 100, path.name, "is wider than 100 columns")
        check(out.startswith(path.stem + ":") and "\033" not in out, path.name)
        rows = {line.split()[0] for line in out.splitlines() if line.startswith("  ") and line.split()}
        check(rows.issuperset(LAWS), path.name, LAWS, rows)
    status, out, _ = carom("impact", text=json.dumps({**GOOD, "law": "newton"}))
    row = next(line for line in out.splitlines() if "newton" in line)
    check("0.5000" in row and "permissible" in row and "slip" in row, out)
    big = {**GOOD, "V": [-1e7, -6e6], "W": [[2e-5, -9e-6], [-9e-6, 1.5e-5]]}
    status, out, _ = carom("impact", text=json.dumps(big))
    check("1e9 N s" in out and max(map(len, out.splitlines())) <= 100, out)
    bad = {**GOOD, "law": "newton", "e": 5}
    status, out, _ = carom("impact", text=json.dumps(bad))
    check("creates energy" in out, out)


def on_terminal(*arguments, env):
    """Output of the command on a terminal."""
    parent, child = pty.openpty()
    run = subprocess.run([COMMAND, *arguments], stdin=subprocess.DEVNULL, stdout=child, stderr=subprocess.DEVNULL,
                         env={**os.environ, **env})
    os.close(child)
    out = b""
    try:
        while chunk := os.read(parent, 65536):
            out += chunk
    except OSError:
        pass
    os.close(parent)
    return run.returncode, out.decode()


def test_color():
    path = str(SOURCE / "examples/impacts/generic.json")
    check("\033[32m" in on_terminal("impact", path, env={"NO_COLOR": ""})[1], "no colour on a terminal")
    check("\033" not in on_terminal("impact", path, env={"NO_COLOR": "1"})[1], "colour despite NO_COLOR")
    check("\033" not in on_terminal("impact", "--json", path, env={"NO_COLOR": ""})[1], "colour in JSON")


def test_examples():
    status, out, _ = carom("examples")
    listed = [line.split()[0] for line in out.splitlines()]
    files = sorted(path.stem for path in (SOURCE / "examples/impacts").glob("*.json"))
    check(status == 0 and listed == files, listed, files)
    for name in ("generic diagonal grazing infinite-friction pendulum e-above-1 kane-paradox superball tumbling-box "
                 "billiard").split():
        check(name in files, name, "is missing")
    with tempfile.TemporaryDirectory() as folder:
        target = os.path.join(folder, "new")
        status, out, _ = carom("examples", "--all", "-o", target)
        check(status == 0 and len(out.splitlines()) == len(files), out)
        for name in files:
            text = (SOURCE / "examples/impacts" / (name + ".json")).read_text()
            check((pathlib.Path(target) / (name + ".json")).read_text() == text, name, "differs from its file")
            check(json.loads(text)["name"] == name and len(json.loads(text)["comment"]) <= 81, name)
        check(carom("examples", "generic")[1] == (SOURCE / "examples/impacts/generic.json").read_text(), "generic")
        check(carom("examples", "--all", "-o", os.path.join(folder, "no", "such"))[0] == 3, "unwritable folder")


def test_laws():
    status, out, _ = carom("laws")
    check(status == 0 and max(map(len, out.splitlines())) <= 100, "laws is wider than 100 columns")
    status, out, _ = carom("laws", "--json")
    rows = [json.loads(line) for line in out.splitlines()]
    check(status == 0 and [row["law"] for row in rows] == LAWS, out)
    for row in rows:
        check(list(row) == ["law", "title", "parameters", "guarantee", "source", "dimension", "planar",
                            "may_create_energy", "spin_reversal", "spin_non_reversal", "grazing_normal", "grazing_tangential"], row)
    status, out, _ = carom("laws", "newton", "routh")
    check(status == 0 and out.startswith("newton - ") and "\nrouth - " in out and "smith" not in out, out)


def main():
    for name, test in sorted(globals().items()):
        if name.startswith("test_"):
            before = failures
            test()
            if failures > before:
                print("FAILED", name)
    print("  worst relative errors:", ", ".join(f"{k} {v:.1e}" for k, v in sorted(worst.items())))
    print("command: %d failures" % failures)
    sys.exit(1 if failures else 0)


main()
