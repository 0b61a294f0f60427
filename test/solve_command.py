"""carom solve on every format: residual and velocities recomputed, conversions, exit status, data of others."""
import json
import os
import pathlib
import random

import command
from command import SOURCE, carom, check, dot, main, near, times
from solve_problem import Folder, check_solved, check_verdict, full, natural, random_problem, solve

SOLVERS = "auto gauss-seidel newton interior sparse pivot lemke enumerate".split()
KEYS = "file format rows blocks solver method status residual iterations time audit p u".split()
AUDIT = ("residual residual_least residual_most eta floor distance permits scale asymmetry natural approach cone "
         "dissipation complementarity momentum energy_change worst_block").split()
BLOCK = {"carom_problem": 1, "blocks": [{"kind": "cone", "mu": 0.5}], "u_free": [-1, 2, 0],
         "W": [[1, 0, 0], [0, 1, 0], [0, 0, 1]]}


def test_shape():
    answer = solve(BLOCK)
    check(list(answer) == KEYS, list(answer))
    check(answer["p"] == [1, -0.5, 0] and answer["u"] == [0, 1.5, 0], "a sliding block", answer)
    check(answer["blocks"] == {"equality": 0, "unilateral": 0, "box": 0, "cone": 1}, answer)
    check(answer["solver"] == "auto" and answer["time"] >= 0 and answer["format"] == "json", answer)
    check(list(answer["audit"]) == AUDIT, answer["audit"])
    near("energy", answer["audit"]["energy_change"], 0.5 * dot([1, -0.5], [-1, 2 + 1.5]), 1.0)
    every = solve(BLOCK, "--all")
    check([r["solver"] for r in every["results"]] == SOLVERS, every)
    for result in every["results"]:
        if "error" not in result:
            check_solved(BLOCK, result)
    for name in SOLVERS[::3]:
        one = solve(BLOCK, "--solver", name, expect=None)
        check(one["solver"] == name, one)
    status, out, err = carom("solve", "-", text=json.dumps(BLOCK))
    check(status == 0 and err == "" and "solved" in out and "audit:" in out, out)
    check(max(map(len, out.splitlines())) <= 100, "wider than 100 columns")
    raw = {"carom_problem": 1, "raw": True, "blocks": [{"kind": "unilateral", "rows": 2}], "u_free": [-1, -2],
           "W": [[2, 1], [0, 3]]}
    lcp = solve(raw)
    check("z" in lcp and "w" in lcp and "p" not in lcp, list(lcp))
    check_solved(raw, lcp)
    check(solve({**BLOCK, "p": [1, -0.5, 0]})["reference_residual"] == 0, "the file's own solution")
    check(abs(solve({**BLOCK, "p": [1, 0, 0]})["reference_residual"] - 0.5 / 5**0.5) < 0.3, "a wrong one")


def test_exit_status():
    unsolvable = SOURCE / "examples/solve/no-solution.json"
    answer = solve(unsolvable, expect=4)
    check(answer["status"] in ("ray", "infeasible"), answer)
    check(solve(unsolvable, "--all", expect=4)["results"][0]["status"] != "solved", "no solver solves it")
    answer = solve(BLOCK, "--solver", "pivot", expect=None)
    check("error" in answer or answer["status"] != "solved", "pivoting knows no cones", answer)
    for name in ("sliding-block", "two-block-stack"):
        solve(SOURCE / "examples/solve" / (name + ".json"))
    # a tolerance that cannot be met is no success
    hard = random_problem(random.Random(5), ["cone"])
    tight = solve(hard, "--tol", "1e-30", expect=None)
    check_verdict(tight, 1e-30)
    check(tight["status"] != "solved", tight["status"])


def test_random():
    draw = random.Random(11)
    solved = 0
    count = command.SAMPLES // 50
    for _ in range(count):
        problem = random_problem(draw, draw.choice([["cone"], ["unilateral"], ["equality", "cone"], ["box"],
                                                    ["cone", "unilateral", "box", "equality"]]))
        if draw.random() < 0.3:
            problem["b"] = [draw.gauss(0, 1) for _ in problem["u_free"]]
        answer = solve(problem, expect=None)
        check_solved(problem, answer)
        solved += answer["status"] == "solved"
    print("  random problems:", count, "solved:", solved)
    check(solved >= 0.9 * count, "few solved", solved)


def stack():
    return json.loads((SOURCE / "examples/solve/two-block-stack.json").read_text())


def test_operator():
    """J with M, with Minv, and the W they make are the same problem."""
    problem = stack()
    J, M = full(problem["J"]), problem["M"]
    Minv = [[1 / M[i][i] if i == j else 0 for j in range(4)] for i in range(4)]
    W = [[dot(a, times(Minv, b)) for b in J] for a in J]
    bare = {k: v for k, v in problem.items() if k not in ("J", "M", "v")}
    dense = {**bare, "W": W, "u_free": times(J, problem["v"])}
    answers = [solve(problem), solve({**bare, "J": J, "Minv": Minv, "v": problem["v"]}), solve(dense)]
    check_solved(dense, answers[2])
    for answer in answers:
        for a, b in zip(answer["p"], answers[2]["p"]):
            near("operator", a, b, 1.0, 1e-12)
    # the same by hand: the lower block keeps sliding, the upper one is dragged along or slips
    p = answers[0]["p"]
    near("weight", p[0], 3 * 0.0981, 1.0, 1e-12)
    near("upper weight", p[2], 0.0981, 1.0, 1e-12)


def sparse(matrix, draw):
    entries = [[i, j, x] for i, row in enumerate(matrix) for j, x in enumerate(row) if x != 0]
    draw.shuffle(entries)
    return {"rows": len(matrix), "cols": len(matrix[0]), "entries": entries}


def test_own_files():
    """Everything the format can say comes back from a dump, number by number."""
    draw = random.Random(3)
    rows = 3 + 3 + 4 + 5 + 1 + 2 + 2
    problem = {"name": "all \u20ac", "blocks": [
        {"kind": "cone", "rows": 3, "mu": 0.3, "e": 0.5, "et": -0.25},
        {"kind": "cone", "rows": 3, "mu": 0.3, "mu2": 0.7}, {"kind": "cone", "rows": 4, "mu": 0.1, "spin": 0.2},
        {"kind": "cone", "rows": 5, "mu": 0.2, "roll": 0.05},
        {"kind": "equality", "rows": 1}, {"kind": "box", "rows": 2, "lo": "-inf", "hi": 1.5},
        {"kind": "unilateral", "rows": 2}]}
    A = [[draw.gauss(0, 1) for _ in range(rows)] for _ in range(rows)]
    problem.update(carom_problem=1, u_free=[draw.gauss(0, 1) for _ in range(rows)],
                   b=[draw.gauss(0, 1e-3) for _ in range(rows)], W=[[dot(a, b) for b in A] for a in A])
    polygon = {**BLOCK, "blocks": [{"kind": "cone", "rows": 3, "mu": 0,
                                    "polygon": [[0.5, 0.1], [-0.3, 0.4], [0, -0.6]]}]}
    diagonal = {**BLOCK, "W": sparse([[1, 0, 0], [0, 2, 0], [0, 0, 3]], draw)}
    infinite = {**BLOCK, "blocks": [{"kind": "cone", "rows": 3, "mu": "inf"}]}
    with Folder() as at:
        for case in (problem, polygon, diagonal, infinite, stack(), {**BLOCK, "p": [1, 2, 3]}):
            first = solve(case, "--dump", at("a.json"), expect=None)
            again = solve(at("a.json"), "--dump", at("b.json"), expect=None)
            key = lambda answer: (answer["p"], answer["u"], answer["residual"], answer["status"], answer["iterations"])
            check(key(first) == key(again), "the same answer from the dump", case.get("name"))
            dumped = json.loads(pathlib.Path(at("a.json")).read_text())
            twice = json.loads(pathlib.Path(at("b.json")).read_text())
            check(dumped == twice, "the same dump from the dump", case.get("name"))
            for field in ("u_free", "b", "v", "W", "M", "J"):
                if field in case:
                    same = full(dumped[field]) == full(case[field]) if field in "WMJ" else dumped[field] == case[field]
                    check(same, field, "differs in the dump")
            if first["status"] == "solved":
                check(dumped["p"] == first["p"], "the solution is dumped")
            for block, written in zip(case["blocks"], dumped["blocks"]):
                check({**block, "rows": written["rows"]}.items() <= written.items(), block, written)
        status, out, _ = carom("solve", "-", "--dump", "-", text=json.dumps(BLOCK))
        check(status == 1, "a dump must have a name that ends in .json or .hdf5", status)


def text_of(matrix):
    return "\n".join(" ".join(repr(float(x)) for x in row) for row in matrix)


def test_siconos_texts():
    """The same problems written by hand in each of Siconos' text forms."""
    draw = random.Random(2)
    lcp = {"carom_problem": 1, "raw": True, "blocks": [{"kind": "unilateral", "rows": 3}], "u_free": [-1, -2, 1],
           "W": [[4, 1, 0], [0.5, 5, 2], [-1, 0, 3]]}
    columns = [list(c) for c in zip(*lcp["W"])]
    q = " ".join(map(str, lcp["u_free"]))
    texts = {"siconos-lcp": f"3\n0\n3\n3\n3 3\n{text_of(columns)}\n{q}\n",
             "siconos-lcp-rows": f"3\n{text_of(lcp['W'])}\n{q}\n"}
    for name, text in texts.items():
        for arguments in (["--format", name], []):
            answer = solve(text.encode(), *arguments)
            check(answer["format"] == name, name, answer["format"])
            check_solved(lcp, answer)
    cone = random_problem(draw, ["cone"])
    while len(cone["blocks"]) < 2 or any(b["rows"] != 3 for b in cone["blocks"]):
        cone = random_problem(draw, ["cone"])
    n = len(cone["u_free"])
    mu = " ".join(str(b["mu"]) for b in cone["blocks"])
    text = f"3\n{n // 3}\n0\n{n}\n{n}\n{n} {n}\n{text_of(cone['W'])}\n{' '.join(map(repr, cone['u_free']))}\n{mu}\n"
    answer = solve(text.encode(), "--format", "siconos-fc")
    check_solved(cone, answer)
    check(solve(text.encode())["format"] == "siconos-fc", "guessed", answer["format"])


def test_data():
    folder = os.environ.get("CAROM_DATA", "")
    if not os.path.isdir(folder):
        print("  data: skipped, CAROM_DATA is not set")
        return
    expected = {"siconos-lcp": 0, "siconos-mlcp": 0, "siconos-fc-A": 0, "contactbench": 0}
    # no solution exists, or none is found to 1e-10; a matrix that is not square
    other = {"lcp_Pang_isolated_sol_perturbed.dat": 4, "pang.dat": 4, "Rectangular_mlcp.dat": 1}
    worst_residual, count, unsure = 0.0, 0, 0
    with Folder() as at:
        for kind in expected:
            for path in sorted(pathlib.Path(folder, kind).rglob("*")):
                if path.suffix not in (".dat", ".txt") or path.name.startswith("LICENSE"):
                    continue
                answer = solve(path, "--dump", at("dump.json"), expect=None)
                if path.name in other:
                    refused = "error" in answer if other[path.name] == 1 else answer["status"] != "solved"
                    check(refused, path.name, answer)
                    continue
                if not check("error" not in answer, path.name, answer):
                    continue
                if path.name != "2cubes_t0.txt":
                    check(answer["status"] in ("solved", "cannot-tell"), path.name, answer["status"], answer["residual"])
                    check_verdict(answer)
                    unsure += answer["status"] != "solved"
                count += 1
                dumped = json.loads(pathlib.Path(at("dump.json")).read_text())
                rolling = any("roll" in block for block in dumped["blocks"])
                if "W" in dumped and not rolling:
                    key = "z" if dumped.get("raw") else "p"
                    r, _ = natural(dumped, answer[key])
                    near("natural map of data", answer["audit"]["natural"], r, 1.0, 1e-12)
                    worst_residual = max(worst_residual, r if answer["status"] == "solved" else 0.0)
    print(f"  files of others: {count}, {unsure} at the rounding floor, worst natural map recomputed {worst_residual:.1e}")
    check(unsure <= 0.05 * count, "few at the rounding floor", unsure)
    check(count > 80, "files found", count)


main(globals())
