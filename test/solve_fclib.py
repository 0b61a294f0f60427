"""FCLIB's HDF5 layout, checked against files that h5py wrote or reads; Python's own arithmetic for the rest."""
import json
import random

import h5py

from command import check, dot, inverse, main, near, times
from solve_problem import HDF5, Folder, check_solved, full, random_matrix, random_problem, solve

INFO = {"title": "from python", "description": "", "math_info": ""}


def triplets(A):
    return [(i, j, x) for i, row in enumerate(A) for j, x in enumerate(row) if x != 0]


def put_matrix(group, name, A, form):
    """form: csc, csr, siconos (triplets with i the rows) or header (triplets with p the rows)."""
    m, n = len(A), len(A[0])
    entries = triplets(A)
    g = group.create_group(name)
    if form in ("siconos", "header"):
        rows, cols = [e[0] for e in entries], [e[1] for e in entries]
        i, p, nz = (rows, cols, len(entries)) if form == "siconos" else (cols, rows, len(entries))
    else:
        line, other = (1, 0) if form == "csc" else (0, 1)
        entries.sort(key=lambda e: (e[line], e[other]))
        lines = n if form == "csc" else m
        p = [sum(e[line] < k for e in entries) for k in range(lines + 1)]
        i, nz = [e[other] for e in entries], -1 if form == "csc" else -2
    for key, value in (("nzmax", len(entries)), ("m", m), ("n", n), ("nz", nz)):
        g.create_dataset(key, data=[value], dtype="i4")
    g.create_dataset("p", data=p, dtype="i4")
    g.create_dataset("i", data=i, dtype="i4")
    g.create_dataset("x", data=[e[2] for e in entries], dtype="f8")


def get_matrix(g):
    m, n, nz = (int(g[key][0]) for key in ("m", "n", "nz"))
    check(nz == -1, "compressed columns", nz)
    A = [[0.0] * n for _ in range(m)]
    p, i, x = g["p"][:], g["i"][:], g["x"][:]
    check(int(g["nzmax"][0]) == len(x) == p[-1] and len(p) == n + 1, "sizes")
    for j in range(n):
        for k in range(p[j], p[j + 1]):
            A[i[k]][j] = float(x[k])
    return A


def cones(draw, d, count):
    problem = random_problem(draw, ["cone"])
    problem["blocks"] = [{"kind": "cone", "rows": d, "mu": draw.choice([0.2, 0.6])} for _ in range(count)]
    problem["u_free"] = [draw.gauss(0, 1) for _ in range(d * count)]
    problem["W"] = random_matrix(draw, d * count, d * count + 1)
    return problem


def write_local(path, problem, form, d, equalities=0):
    n = len(problem["u_free"])
    m = n - equalities
    W = problem["W"]
    with h5py.File(path, "w") as f:
        root = f.create_group("fclib_local")
        root.create_dataset("spacedim", data=[d], dtype="i4")
        put_matrix(root, "W", [row[:m] for row in W[:m]], form)
        if equalities:
            put_matrix(root, "V", [row[m:] for row in W[:m]], form)
            put_matrix(root, "R", [row[m:] for row in W[m:]], form)
        vectors = root.create_group("vectors")
        vectors.create_dataset("q", data=problem["u_free"][:m])
        vectors.create_dataset("mu", data=[b["mu"] for b in problem["blocks"] if b["kind"] == "cone"])
        if equalities:
            vectors.create_dataset("s", data=problem["u_free"][m:])


def test_local():
    draw = random.Random(1)
    with Folder() as at:
        for form in ("csc", "csr", "siconos", "header"):
            for d in (2, 3):
                problem = cones(draw, d, 3)
                write_local(at("a.hdf5"), problem, form, d)
                answer = solve(at("a.hdf5"))
                check(answer["format"] == "fclib" and answer["blocks"]["cone"] == 3, answer)
                check_solved(problem, answer)
                mixed = cones(draw, d, 2)
                n = 2 * d + 2
                mixed["blocks"].append({"kind": "equality", "rows": 2})
                mixed["u_free"] += [draw.gauss(0, 1), draw.gauss(0, 1)]
                mixed["W"] = random_matrix(draw, n, n + 1)
                write_local(at("b.hdf5"), mixed, form, d, equalities=2)
                check_solved(mixed, solve(at("b.hdf5")))


def global_problem(draw, nv, d, contacts, equalities):
    M = random_matrix(draw, nv, nv + 2)
    H = [[draw.gauss(0, 1) for _ in range(d * contacts)] for _ in range(nv)]
    G = [[draw.gauss(0, 1) for _ in range(equalities)] for _ in range(nv)]
    f = [draw.gauss(0, 1) for _ in range(nv)]
    w = [draw.gauss(0, 1) for _ in range(d * contacts)]
    b = [draw.gauss(0, 1) for _ in range(equalities)]
    mu = [draw.choice([0.1, 0.7]) for _ in range(contacts)]
    Minv = inverse(M)
    J = [list(column) for column in zip(*H)] + [list(column) for column in zip(*G)]
    v = times(Minv, f)
    local = {"blocks": [{"kind": "cone", "rows": d, "mu": m} for m in mu],
             "W": [[dot(a, times(Minv, c)) for c in J] for a in J],
             "u_free": [dot(row, v) + x for row, x in zip(J, w + b)]}
    if equalities:
        local["blocks"].append({"kind": "equality", "rows": equalities})
    return M, H, G, f, w, b, mu, local


def test_global():
    draw = random.Random(2)
    with Folder() as at:
        for form in ("csc", "csr", "siconos", "header"):
            for equalities in (0, 1):
                M, H, G, f, w, b, mu, local = global_problem(draw, 8, 3, 2, equalities)
                with h5py.File(at("a.hdf5"), "w") as file:
                    root = file.create_group("fclib_global")
                    root.create_dataset("spacedim", data=[3], dtype="i4")
                    put_matrix(root, "M", M, form)
                    put_matrix(root, "H", H, form)
                    if equalities:
                        put_matrix(root, "G", G, form)
                    vectors = root.create_group("vectors")
                    for key, value in (("f", f), ("w", w), ("mu", mu), *((("b", b),) if equalities else ())):
                        vectors.create_dataset(key, data=value)
                answer = solve(at("a.hdf5"))
                check(answer["audit"]["momentum"] < 1e-12, "momentum", answer["audit"])
                check_solved(local, answer)


def lower(A):
    return [[x if j <= i else 0.0 for j, x in enumerate(row)] for i, row in enumerate(A)]


def upper(A):
    return [list(row) for row in zip(*lower([list(c) for c in zip(*A)]))]


def test_triangles():
    """W, R and M are symmetric by the format: one triangle alone stands for both, and carom says so."""
    draw = random.Random(8)
    with Folder() as at:
        for side, name in ((lower, "lower"), (upper, "upper")):
            problem = cones(draw, 3, 3)
            problem["blocks"].append({"kind": "equality", "rows": 2})
            problem["u_free"] += [draw.gauss(0, 1), draw.gauss(0, 1)]
            problem["W"] = random_matrix(draw, 11, 12)
            W = problem["W"]
            half = [row[:9] + rest for row, rest in zip(side([row[:9] for row in W[:9]]), [row[9:] for row in W[:9]])]
            half += [row[:9] + rest for row, rest in zip(W[9:], side([row[9:] for row in W[9:]]))]
            write_local(at("a.hdf5"), {**problem, "W": half}, "csc", 3, equalities=2)
            answer = solve(at("a.hdf5"))
            check(answer.get("symmetrised") == {"matrix": "W", "triangle": name}, answer.get("symmetrised"))
            check_solved(problem, answer)
            M, H, G, f, w, b, mu, local = global_problem(draw, 8, 3, 2, 0)
            with h5py.File(at("b.hdf5"), "w") as file:
                put_global(file, "fclib_global", side(M), H, f, w, {"mu": mu}, 3)
            answer = solve(at("b.hdf5"))
            check(answer.get("symmetrised") == {"matrix": "M", "triangle": name}, answer.get("symmetrised"))
            check_solved(local, answer)
        # slightly unsymmetric: the symmetric part, by how much and where
        problem = cones(draw, 2, 2)
        W = [list(row) for row in problem["W"]]
        largest = max(abs(x) for row in W for x in row)
        W[2][1] += 1e-3 * largest
        write_local(at("c.hdf5"), {**problem, "W": W}, "csr", 2)
        answer = solve(at("c.hdf5"))
        said = answer["symmetrised"]
        check((said["row"], said["col"], said["at"], said["across"]) == (2, 1, W[2][1], W[1][2]), said)
        near("asymmetry", said["asymmetry"], 1e-3, 1e-3, 1e-2)
        problem["W"][1][2] = problem["W"][2][1] = (W[1][2] + W[2][1]) / 2
        check_solved(problem, answer)
        W[2][1] += 0.1 * largest
        write_local(at("c.hdf5"), {**problem, "W": W}, "csr", 2)
        error = solve(at("c.hdf5"), expect=1)["error"]
        check(error["code"] == "not-symmetric" and "entry (2, 1)" in error["message"], error)


def put_global(file, root, M, H, f, w, coefficients, d, form="csc"):
    group = file.create_group(root)
    group.create_dataset("spacedim", data=[d], dtype="i4")
    put_matrix(group, "M", M, form)
    put_matrix(group, "H", H, form)
    vectors = group.create_group("vectors")
    for key, value in (("f", f), ("w", w), *coefficients.items()):
        vectors.create_dataset(key, data=value)


def test_rolling():
    """Rolling friction: 5 rows in space, 3 in the plane; read, written and read again."""
    draw = random.Random(9)
    with Folder() as at:
        for d, stored in ((5, 5), (5, 3), (3, 3)):
            M, H, _, f, w, _, mu, local = global_problem(draw, 11, d, 2, 0)
            roll = [0.05, 0.1]
            with h5py.File(at("a.hdf5"), "w") as file:
                put_global(file, "fclib_global_rolling", M, H, f, w, {"mu": mu, "mu_r": roll}, stored)
            answer = solve(at("a.hdf5"), "--dump", at("a.json"))
            dumped = json.loads(open(at("a.json")).read())
            key = "roll" if d == 5 else "spin"
            check([b[key] for b in dumped["blocks"]] == roll and [b["mu"] for b in dumped["blocks"]] == mu, dumped["blocks"])
            check(all(b["rows"] == d for b in dumped["blocks"]), dumped["blocks"])
            for x, y in zip(dumped["u_free"], local["u_free"]):
                near("u_free", x, y, 1.0, 1e-12)
            # the local form of the same problem has the same answer
            blocks = [{"kind": "cone", "rows": d, "mu": m, key: r} for m, r in zip(mu, roll)]
            plain = {"carom_problem": 1, "blocks": blocks, "W": local["W"], "u_free": local["u_free"]}
            other = solve(plain, "--dump", at("b.hdf5"))
            for x, y in zip(answer["u"], other["u"]):
                near("rolling", x, y, 1.0, 1e-8)
            with h5py.File(at("b.hdf5")) as file:
                root = file["fclib_local_rolling"]
                check(list(root["vectors/mu_r"][:]) == roll and int(root["spacedim"][0]) == d, "rolling written")
            again = solve(at("b.hdf5"))
            check(again["blocks"]["cone"] == 2, "rolling read back")
            for x, y in zip(again["u"], other["u"]):
                near("rolling", x, y, 1.0, 1e-8)


def test_written():
    """What carom writes, read by h5py and by carom."""
    draw = random.Random(3)
    with Folder() as at:
        problem = {**cones(draw, 3, 2), "name": "two contacts"}
        answer = solve(problem, "--dump", at("a.hdf5"))
        with h5py.File(at("a.hdf5")) as f:
            root = f["fclib_local"]
            check(get_matrix(root["W"]) == problem["W"] and int(root["spacedim"][0]) == 3, "W")
            check(list(root["vectors/q"][:]) == problem["u_free"], "q")
            check(list(root["vectors/mu"][:]) == [b["mu"] for b in problem["blocks"]], "mu")
            check(root["info/title"][()].rstrip(b"\0") == b"two contacts", root["info/title"][()])
            check(list(f["solution/r"][:]) == answer["p"] and list(f["solution/u"][:]) == answer["u"], "solution")
        again = solve(at("a.hdf5"), "--dump", at("b.json"))
        check(again["p"] == answer["p"] and again["name"] == "two contacts", "the same answer")
        check(again["reference_residual"] == answer["residual"], "the solution is the reference", again)
        back = json.loads(open(at("b.json")).read())
        check(full(back["W"]) == problem["W"] and back["u_free"] == problem["u_free"], "back to JSON")
        # equalities first, contacts after: they change places; the bias joins q
        swapped = {"carom_problem": 1,
                   "blocks": [{"kind": "equality", "rows": 1}, {"kind": "cone", "rows": 2, "mu": 0.5}],
                   "u_free": [0.5, -1, 2], "b": [0.25, 0, 0.125], "W": random_matrix(draw, 3, 4)}
        answer = solve(swapped, "--dump", at("c.hdf5"))
        with h5py.File(at("c.hdf5")) as f:
            root = f["fclib_local"]
            check(list(root["vectors/q"][:]) == [-1, 2.125] and list(root["vectors/s"][:]) == [0.75], "q and s")
            W = swapped["W"]
            check(get_matrix(root["W"]) == [row[1:] for row in W[1:]], "W")
            check(get_matrix(root["R"]) == [[W[0][0]]], "R")
            check(get_matrix(root["V"]) == [[W[1][0]], [W[2][0]]], "V")
        again = solve(at("c.hdf5"))
        for a, b in zip(again["p"], answer["p"][1:] + answer["p"][:1]):
            near("in other places", a, b, 1.0, 1e-12)
        check_written_global(draw, at)


def check_written_global(draw, at):
    M, H, G, f, w, b, mu, local = global_problem(draw, 6, 2, 2, 1)
    J = [list(c) for c in zip(*H)] + [list(c) for c in zip(*G)]
    v = times(inverse(M), f)
    problem = {"carom_problem": 1, "blocks": local["blocks"], "J": J, "M": M, "v": v, "u_free": local["u_free"]}
    answer = solve(problem, "--dump", at("d.hdf5"))
    check_solved(local, answer)
    with h5py.File(at("d.hdf5")) as file:
        root = file["fclib_global"]
        check(get_matrix(root["M"]) == M and get_matrix(root["H"]) == H and get_matrix(root["G"]) == G, "M, H and G")
        for key, want in (("f", f), ("w", w), ("b", b), ("mu", mu)):
            for x, y in zip(root["vectors"][key][:], want):
                near("vectors", x, y, 1.0, 1e-11)
        r, l, vs = (file["solution"][key][:] for key in "rlv")
        # M v = H r + G l + f
        for i in range(6):
            near("balance", dot(M[i], vs), dot(H[i], r) + dot(G[i], l) + f[i], 10.0, 1e-12)
    check_solved(local, solve(at("d.hdf5")))


def test_refused():
    draw = random.Random(4)
    problem = cones(draw, 3, 2)

    def broken(change, code, field):
        write_local(at("x.hdf5"), problem, "csc", 3)
        with h5py.File(at("x.hdf5"), "r+") as f:
            change(f["fclib_local"], f)
        error = solve(at("x.hdf5"), expect=1).get("error", {})
        check((error.get("code"), error.get("field")) == (code, "fclib_local" + field), code, field, error)

    def replace(path, data, dtype=None):
        def change(root, _):
            del root[path]
            root.create_dataset(path, data=data, dtype=dtype)
        return change

    def without(path):
        def change(root, _):
            del root[path]
        return change

    with Folder() as at:
        for path in ("spacedim", "vectors/q", "vectors/mu", "W/x", "W/p", "W/i", "W/m", "W/nz"):
            broken(without(path), "missing-field", "/" + path)
        broken(without("W"), "missing-field", "/W/m")
        broken(replace("spacedim", [4]), "out-of-range", "/spacedim")
        broken(replace("spacedim", [2, 3]), "wrong-size", "/spacedim")
        broken(replace("spacedim", [3.5]), "wrong-type", "/spacedim")
        broken(replace("vectors/q", [1.0] * 5), "wrong-size", "/vectors/q")
        broken(replace("vectors/q", ["x"] * 6, h5py.string_dtype()), "wrong-type", "/vectors/q")
        broken(replace("vectors/q", [1.0] * 5 + [float("nan")]), "not-finite", "/vectors/q")
        broken(replace("vectors/mu", [0.5, -1]), "out-of-range", "/vectors/mu")
        broken(replace("W/x", [float("inf")] * 36), "not-finite", "/W/x")
        broken(replace("W/x", [1.0] * 5), "out-of-range", "/W")
        broken(replace("W/m", [5]), "out-of-range", "/W")
        broken(replace("W/m", [-1]), "wrong-size", "/W")
        broken(replace("W/n", [2000000000]), "limit", "/W")
        broken(replace("W/nz", [-3]), "wrong-size", "/W")
        broken(replace("W/nz", [1000]), "wrong-size", "/W")
        broken(replace("W/i", [99] * 36), "out-of-range", "/W")
        broken(replace("W/i", [-1] * 36), "out-of-range", "/W")
        broken(replace("W/p", [0, 6, 5, 18, 24, 30, 36]), "out-of-range", "/W")

        def huge(root, _):
            # ten billion zeros that take no room in the file
            del root["vectors/q"]
            root.create_dataset("vectors/q", shape=(10**10,), chunks=(10**6,), dtype="f8")
        broken(huge, "limit", "/vectors/q")

        def elsewhere(root, f):
            with h5py.File(at("other.hdf5"), "w") as other:
                other.create_dataset("q", data=problem["u_free"])
            del root["vectors/q"]
            root["vectors/q"] = h5py.ExternalLink(at("other.hdf5"), "/q")
        broken(elsewhere, "missing-field", "/vectors/q")
        with h5py.File(at("e.hdf5"), "w") as f:
            f.create_dataset("x", data=[1])
        check(solve(at("e.hdf5"), expect=1)["error"]["field"] == "fclib_local", "not a problem")
        write_local(at("x.hdf5"), problem, "csc", 3)
        whole = open(at("x.hdf5"), "rb").read()
        for cut in range(8, len(whole) - 1, len(whole) // 10):
            check("error" in solve(whole[:cut], expect=1), "cut off at", cut)


if HDF5:
    main(globals())
else:
    print("skipped, carom was built without HDF5")
