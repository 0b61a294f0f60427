"""Shared by the tests of the carom command: running it, checking, and vectors as plain lists.

Python's standard library only. CAROM_COMMAND is the command, CAROM_SOURCE the tree.
"""
import json
import math
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

COMMAND = os.environ["CAROM_COMMAND"]
SOURCE = pathlib.Path(os.environ["CAROM_SOURCE"])
SAMPLES = 60000 if "CAROM_SOAK" in os.environ else 2000


def catalogue():
    """Names of laws in the order of lists, from the rows in their sources: each has a page."""
    rows = []
    for path in (SOURCE / "src/resolve").glob("law_*.c"):
        text = path.read_text()
        order = re.search(r"\.order = (\d+)", text)
        rows.append((int(order[1]) if order else 1000, path.name, re.search(r'\.name = "([\w-]+)"', text)[1]))
    names = [name for _, _, name in sorted(rows)]
    assert sorted(names) == sorted(page.stem for page in (SOURCE / "docs/laws").glob("*.md")), "a page for each law"
    return names


LAWS = catalogue()
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
    run = subprocess.run([COMMAND, *map(str, arguments)], input=text, capture_output=True,
                         env={**os.environ, **(env or {})})
    return run.returncode, run.stdout.decode(), run.stderr.decode()


def lines(objects, expect=0, verb="impact"):
    """One answer per object (or raw line of text)."""
    text = "\n".join(o if isinstance(o, str) else json.dumps(o) for o in objects)
    status, out, err = carom(verb, "--json", "-", text=text)
    answers = [json.loads(line) for line in out.splitlines()]
    check(status == expect and err == "", "exit status", status, "expected", expect, err)
    check(len(answers) == len(objects), "one answer per line", len(answers), len(objects))
    return answers


def one(collision, expect=0, verb="impact"):
    return lines([collision], expect, verb)[0]


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


GOOD = {"law": "newton", "W": [[2, -0.9], [-0.9, 1.5]], "V": [-1, -0.6], "n": [1, 0]}
BODY = {"mass": 1, "inertia": 1}
PAIR = {"law": "newton", "a": {"fixed": True}, "b": {"mass": 1, "inertia": 0.4, "position": [0, 1],
                                                     "velocity": [0, -1]}, "point": [0, 0], "n": [0, 1]}
SPACE = {"law": "newton", "a": BODY, "b": {**BODY, "position": [0, 0, 2], "velocity": [0, 0, -1]},
         "point": [0, 0, 1], "n": [0, 0, 1]}


class Folder:
    """A folder for as long as a test needs it."""

    def __enter__(self):
        self.path = pathlib.Path(tempfile.mkdtemp())
        return self.path

    def __exit__(self, *_):
        shutil.rmtree(self.path)


def scene(folder, tree, name="scene.json"):
    path = folder / name
    path.write_text(tree if isinstance(tree, str) else json.dumps(tree))
    return str(path)


def changed(base, **fields):
    return {k: v for k, v in {**base, **fields}.items() if v is not None}


def main(tests):
    """Runs every test_* of a module; prints the worst errors seen and exits 1 where anything failed."""
    for name, test in sorted(tests.items()):
        if name.startswith("test_"):
            before = failures
            test()
            if failures > before:
                print("FAILED", name)
    if worst:
        print("  worst relative errors:", ", ".join(f"{k} {v:.1e}" for k, v in sorted(worst.items())))
    print(failures, "failures")
    sys.exit(1 if failures else 0)
