"""Contact problems in Python: residuals by their definition, random problems; for the tests of carom solve."""
import json
import math
import os
import tempfile

from command import carom, check, dot, near, times

# whether this carom was built with HDF5; without it the format is refused by name
HDF5 = "needs HDF5" not in carom("solve", "-", "--format", "fclib", text="x")[2]


def full(matrix):
    """A matrix of a problem file in any of its four forms, as a list of rows."""
    if isinstance(matrix, list):
        return matrix
    if "diagonal" in matrix:
        blocks = [[[b]] if not isinstance(b, list) else b for b in matrix["diagonal"]]
        n, at = sum(map(len, blocks)), 0
        out = [[0.0] * n for _ in range(n)]
        for block in blocks:
            for i, row in enumerate(block):
                out[at + i][at:at + len(row)] = row
            at += len(block)
        return out
    if "start" in matrix:
        out = [[0.0] * matrix["cols"] for _ in range(matrix["rows"])]
        for i in range(matrix["rows"]):
            for k in range(matrix["start"][i], matrix["start"][i + 1]):
                out[i][matrix["col"][k]] = matrix["value"][k]
        return out
    out = [[0.0] * matrix["cols"] for _ in range(matrix["rows"])]
    for i, j, value in matrix["entries"]:
        out[i][j] = value
    return out


def project_cone(mu, x):
    """The nearest point of {|x_t| <= mu x_n}."""
    t = math.hypot(*x[1:])
    if t <= mu * x[0]:
        return x
    if mu * t <= -x[0]:
        return [0.0] * len(x)
    n = (x[0] + mu * t) / (1 + mu * mu)
    return [n] + [mu * n * y / t for y in x[1:]]


def natural(problem, p):
    """|natural map| / |u_free + b|, or for raw problems max / max(1, .); with u = u_free + W p."""
    W, q = full(problem["W"]), problem["u_free"]
    b = problem.get("b", [0.0] * len(q))
    u = [x + y for x, y in zip(q, times(W, p))]
    ub = [x + y for x, y in zip(u, b)]
    parts = []
    at = 0
    for block in problem["blocks"]:
        kind = block["kind"]
        rows = block.get("rows", 3 if kind == "cone" else 1)
        v, r = ub[at:at + rows], p[at:at + rows]
        if kind == "equality":
            parts += v
        elif kind == "unilateral":
            parts += [min(x, y) for x, y in zip(v, r)]
        elif kind == "box":
            lo, hi = float(block.get("lo", "-inf")), float(block.get("hi", "inf"))
            parts += [y - min(hi, max(lo, y - x)) for x, y in zip(v, r)]
        else:
            mu = block.get("mu", 0)
            shifted = [r[0] - v[0] - mu * math.hypot(*v[1:])] + [y - x for x, y in zip(v[1:], r[1:])]
            parts += [x - y for x, y in zip(r, project_cone(mu, shifted))]
        at += rows
    right = [x + y for x, y in zip(q, b)]
    if problem.get("raw"):
        return max(map(abs, parts)) / max(1.0, max(map(abs, right))), u
    return math.sqrt(dot(parts, parts)) / (math.sqrt(dot(right, right)) or 1.0), u


def random_matrix(draw, n, rank):
    A = [[draw.gauss(0, 1) for _ in range(rank)] for _ in range(n)]
    return [[dot(a, b) for b in A] for a in A]


def random_problem(draw, kinds):
    blocks = []
    rows = 0
    for _ in range(draw.randint(1, 5)):
        block = {"kind": draw.choice(kinds), "rows": 1}
        if block["kind"] == "cone":
            block.update(rows=draw.choice([2, 3]), mu=draw.choice([0, 0.3, 1.0]))
        elif block["kind"] == "box":
            block.update(lo=-draw.random(), hi=draw.random())
        rows += block["rows"]
        blocks.append(block)
    # driven by impulses and velocities that exist, so that there is something to find
    W = random_matrix(draw, rows, rows + 2)
    return {"carom_problem": 1, "blocks": blocks, "u_free": [draw.gauss(0, 1) for _ in range(rows)], "W": W}


def solve(problem, *arguments, expect=0):
    """The answer to a problem given as JSON, a path or bytes."""
    if isinstance(problem, dict):
        problem = json.dumps(problem).encode()
    if isinstance(problem, bytes):
        status, out, err = carom("solve", "-", "--json", *arguments, text=problem)
    else:
        status, out, err = carom("solve", str(problem), "--json", *arguments)
    check(expect is None or status == expect, "exit status", status, "expected", expect, out[:300], err)
    return json.loads(out) if out else {"stderr": err}


def check_verdict(answer, tol=1e-10):
    """Solved if the residual is at most tol with its rounding errors; cannot tell if only without them."""
    least, most = answer["audit"]["residual_least"], answer["audit"]["residual_most"]
    check(least <= answer["residual"] <= most, "bounds of the residual", answer["audit"])
    check((answer["status"] == "solved") == (most <= tol), answer["status"], answer["audit"])
    check((answer["status"] == "cannot-tell") == (least <= tol < most), answer["status"], answer["audit"])


def check_solved(problem, answer, tol=1e-10):
    key, velocity = ("z", "w") if problem.get("raw") else ("p", "u")
    r, u = natural(problem, answer[key])
    near("natural map", answer["audit"]["natural"], r, 1.0, 1e-12)
    check(answer["residual"] == answer["audit"]["residual"], "the audit's residual", answer)
    size = max(map(abs, u + problem["u_free"])) + 1
    for got, want in zip(answer[velocity], u):
        near("u", got, want, size, 1e-12)
    check_verdict(answer, tol)


class Folder(tempfile.TemporaryDirectory):
    def __enter__(self):
        folder = super().__enter__()
        return lambda name: os.path.join(folder, name)
