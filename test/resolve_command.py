"""Answers of carom resolve, recomputed from the impulses it prints by arithmetic of this file's own."""
import json
import math
import random

import command
from command import SOURCE, carom, check, dot, inverse, main, near, one, plus, times, worst

RULES = "newton poisson coupled sequence feasible weighted reflect chain".split()
KEYS = ("rule v impulses energy_change contact_energy work status steps unique notes outcomes audit").split()
TOL = 1e-9  # what the verdict allows, of the terms a margin is the difference of
counts = {}


def mass(impact):
    M = impact["M"]
    if isinstance(M[0], list):
        return M
    return [[m if i == j else 0.0 for j in range(len(M))] for i, m in enumerate(M)]


def rows_of(impact):
    """Rows of J with their contact (or None for a joint), and the velocities before."""
    rows = []
    for index, contact in enumerate(impact["contacts"]):
        rows += [(row, index) for row in [contact["n"], *contact.get("t", [])]]
    for joint in impact.get("joints", []):
        rows += [(row, None) for row in (joint if isinstance(joint[0], list) else [joint])]
    before = [dot(row, impact["v"]) for row, _ in rows]
    at = 0
    for contact in impact["contacts"]:
        w_hat = contact.get("w_hat", 0)
        for k, w in enumerate(w_hat if isinstance(w_hat, list) else [w_hat]):
            before[at + k] += w
        at += 1 + len(contact.get("t", []))
    return [row for row, _ in rows], before


def coefficient(impact, contact, key):
    if key in impact["contacts"][contact]:
        return impact["contacts"][contact][key]
    common = impact.get(key, 0)
    return common[contact] if isinstance(common, list) else common


def flat(impulses):
    out = []
    for p in impulses:
        out += p if isinstance(p, list) else [p]
    return out


def energy(M, v):
    return 0.5 * dot(v, times(M, v))


def check_answer(impact, answer):
    """v, energies and margins follow from the impulses; the verdict follows from the margins."""
    M, v = mass(impact), impact["v"]
    J, before = rows_of(impact)
    p = flat(answer["impulses"]) + flat(answer.get("joint_impulses", []))
    if not check(len(p) == len(J), "one impulse per row", len(p), len(J)):
        return
    force = [sum(row[i] * x for row, x in zip(J, p)) for i in range(len(v))]
    f = impact.get("impulse", [0.0] * len(v))
    Minv = inverse(M)
    after = plus(v, 1.0, times(Minv, plus(force, 1.0, f)))
    speed = max(map(abs, v + after)) + max(map(abs, times(Minv, force)))
    for got, want in zip(answer["v"], after):
        near("v", got, want, speed, 1e-13 * condition(M, Minv))
    T = energy(M, v) + energy(M, after)
    size = T + sum(abs(x) * (abs(a) + abs(dot(row, after))) for row, x, a in zip(J, p, before))
    near("energy", answer["energy_change"], energy(M, after) - energy(M, v), size, 1e-12)
    u = [b + dot(row, plus(after, -1.0, v)) for row, b in zip(J, before)]
    near("contact energy", answer["contact_energy"], 0.5 * sum(x * (a + b) for x, a, b in zip(p, before, u)), size)
    near("work", answer["contact_energy"] + answer["work"], answer["energy_change"], size)
    # terms of a velocity, whose rounding it carries
    terms = max(abs(b) + sum(abs(dot(row, times(Minv, other)) * x) for other, x in zip(J, p))
                + abs(dot(row, times(Minv, f))) for row, b in zip(J, before))
    check_margins(impact, answer, p, u, terms)
    counts[answer["rule"]] = counts.get(answer["rule"], 0) + 1


def condition(M, Minv):
    return max(1.0, max(sum(map(abs, row)) for row in M) * max(sum(map(abs, row)) for row in Minv))


def check_margins(impact, answer, p, u, speed):
    margins = answer["audit"]["margins"]
    penetration, tension, cone, joint = [], [math.inf], [math.inf], [0.0]
    at = 0
    for index, contact in enumerate(impact["contacts"]):
        tangents = len(contact.get("t", []))
        penetration.append(u[at])
        tension.append(p[at])
        mu = coefficient(impact, index, "mu")
        if tangents and mu != "inf":
            cone.append(mu * p[at] - math.hypot(*p[at + 1:at + 1 + tangents]))
        at += 1 + tangents
    joint += [-abs(x) for x in u[at:]]
    impulse = max(map(abs, p), default=0.0)
    # a convex corner is left through any one of its surfaces
    worst_of = max if "convex" in answer["notes"] else min
    near("penetration", margins["penetration"], worst_of(penetration), speed, 1e-12)
    check(margins["tension"] == min(tension), "tension", margins, tension)
    if min(cone) < math.inf:
        near("cone", margins["cone"], min(cone), impulse or 1.0, 1e-14)
    near("joint", margins["joint"], min(joint), speed, 1e-12)
    near("energy margin", margins["energy"], -answer["contact_energy"], 1.0, 0.0)
    mus = [coefficient(impact, i, "mu") for i in range(len(impact["contacts"]))]
    friction = 1 + max((mu for mu in mus if mu != "inf"), default=0)
    holds = (worst_of(penetration) >= -TOL * speed and min(tension) >= -TOL * impulse
             and min(cone) >= -TOL * friction * impulse and min(joint) >= -TOL * speed
             and not answer["audit"]["creates_energy"])
    check(answer["audit"]["permissible"] == holds, "permissible", holds, answer)


def check_shape(impact, answer):
    keys = [key for key in answer if key not in ("name", "joint_impulses", "tie")]
    check(keys == KEYS, keys)
    check(answer["status"] in ("solved", "ray", "infeasible", "stalled", "limit"), answer["status"])
    check(answer["unique"] in (True, False, None) and answer["steps"] >= 0, answer)
    for contact, p in zip(impact["contacts"], answer["impulses"]):
        tangents = len(contact.get("t", []))
        check(isinstance(p, list) and len(p) == 1 + tangents if tangents else not isinstance(p, list), p)
    check(("joint_impulses" in answer) == bool(impact.get("joints")), "joint impulses", list(answer))
    outcomes = answer["outcomes"]
    check(outcomes is None or answer["rule"] == "feasible", "outcomes", answer["rule"])
    check(outcomes is not None or answer["rule"] != "feasible" or answer["status"] != "solved", "no outcomes", answer)
    if outcomes and answer["status"] == "solved" and impact.get("pick", "nearest") == "nearest":
        # the nearest outcome is one of the set
        check(any(max(map(abs, plus(o, -1.0, answer["v"]))) <= 1e-12 for o in outcomes), answer)


def run(impact, expect=0):
    """All answers of one impact, each checked; errors are left in. One named rule: its answer."""
    got = one(impact, expect, "resolve")
    if "error" in got:
        return got
    for answer in got["results"]:
        if "error" not in answer:
            check_shape(impact, answer)
            check_answer(impact, answer)
    named = impact.get("rule", "all")
    if named == "all" or isinstance(named, list):
        return got
    check(len(got["results"]) == 1 and got["results"][0]["rule"] == named, "a list of one", got)
    return got["results"][0]


def example(name):
    return json.loads((SOURCE / "examples/resolve" / (name + ".json")).read_text())


def by_rule(impact):
    return {answer["rule"]: answer for answer in run(impact)["results"]}


def close(what, got, want, tol=1e-12):
    check(len(got) == len(want) and all(abs(a - b) <= tol for a, b in zip(got, want)), what, got, want)


def test_examples():
    for path in sorted((SOURCE / "examples/resolve").glob("*.json")):
        impact = json.loads(path.read_text())
        answers = by_rule(impact)
        check(list(answers) == RULES, path.name, list(answers))
        status, out, err = carom("resolve", str(path))
        check(status == 0 and err == "" and out.startswith(path.stem + ":"), path.name, status, err)
        check(max(map(len, out.splitlines())) <= 100, path.name, "is wider than 100 columns")
        check({line.split()[0] for line in out.splitlines() if line.split()}.issuperset(RULES), out)


def test_worked_results():
    cradle = by_rule(example("cradle-3"))
    for rule in ("sequence", "feasible", "reflect"):
        close(rule, cradle[rule]["v"], [0, 0, 1])
    for rule in ("newton", "poisson"):
        close(rule, cradle[rule]["v"], [-1 / 3, 2 / 3, 2 / 3])
    close("soft", cradle["coupled"]["v"], [1 / 3] * 3)
    two = by_rule(example("cradle-5"))
    for rule in ("sequence", "feasible", "reflect"):
        close(rule, two[rule]["v"], [0, 0, 0, 1, 1])
    wall = by_rule(example("ball-wall"))
    for rule in ("newton", "poisson", "sequence", "feasible", "reflect"):
        close(rule, wall[rule]["v"], [-2, -1])
    check(wall["feasible"]["unique"] is True and len(wall["feasible"]["outcomes"]) == 1, wall["feasible"])
    rod = by_rule(example("flat-rod"))
    close("flat rod", rod["sequence"]["v"], [0.3359375, -0.140625])
    check(rod["sequence"]["unique"] is False and "direction" in rod["sequence"]["tie"], rod["sequence"])
    check(len(rod["feasible"]["outcomes"]) == 2 and rod["feasible"]["unique"] is False, rod["feasible"])
    for rule in ("newton", "poisson"):
        close(rule, rod[rule]["v"], [0.5, 0])
        check(rod[rule]["unique"] is True and "tie" not in rod[rule], rod[rule])
    stop = by_rule(example("rod-on-two-supports"))
    for rule in ("newton", "poisson", "coupled"):
        close(rule, stop[rule]["v"], [0, 0])
        check(min(stop[rule]["impulses"]) > 0, stop[rule])
    rocks = by_rule(example("rocking-rod"))
    check(rocks["newton"]["impulses"][1] == 0 and rocks["newton"]["v"][1] > 0, rocks["newton"])
    pendulum = by_rule(example("impact-pendulum"))
    check(abs(pendulum["newton"]["energy_change"]) < 1e-12, pendulum["newton"])
    s, c, mu = 0.5, math.sqrt(0.75), 0.3
    near("pendulum", pendulum["poisson"]["v"][2], (s - mu * c) / (s + mu * c), 1.0, 1e-10)


def test_parameters():
    """Each field reaches the rule: the answer changes as its definition says."""
    cradle = {"M": [1, 1, 1], "v": [1, 0, 0], "contacts": [{"n": [-1, 1, 0]}, {"n": [0, -1, 1]}]}
    plain = run({**cradle, "rule": "coupled"})
    passed = run({**cradle, "rule": "coupled", "eps": [[0, 0], [1, 0]]})
    close("eps is zero by default", plain["v"], [1 / 3] * 3)
    # 0 <= u+ + eps u-: the second contact must leave at 1
    close("eps", [passed["v"][2] - passed["v"][1]], [1])
    per_contact = run({**cradle, "rule": "sequence", "e": [1, 0]})
    close("one e for each contact", per_contact["v"], [0, 0.5, 0.5])
    own = run({**cradle, "rule": "sequence", "e": 1,
               "contacts": [{"n": [-1, 1, 0]}, {"n": [0, -1, 1], "e": 0}]})
    close("a contact's own e comes first", own["v"], per_contact["v"], 0)
    plastic = run({**cradle, "rule": "feasible", "e": 1, "threshold": 10})
    close("threshold", plastic["v"], [1 / 3] * 3)
    check("plastic" in plastic["notes"], plastic)
    short = run({**cradle, "rule": "sequence", "e": 1, "budget": 1})
    check(short["status"] == "limit", short)
    full = {**cradle, "M": [[1, 0, 0], [0, 1, 0], [0, 0, 1]], "rule": "newton", "e": 0.5}
    check(run(full) == run({**full, "M": [1, 1, 1]}), "a diagonal and the whole matrix")
    mirrored = example("flat-rod") | {"rule": "sequence", "direction": [-1, 0]}
    close("direction", run(mirrored)["v"], [0.3359375, 0.140625])
    seen = {run(example("flat-rod") | {"rule": "sequence", "ties": "random", "seed": seed})["v"][1]
            for seed in range(6)}
    check(seen == {0.140625, -0.140625} or len(seen) == 2, "random ties", seen)
    ball = {"M": [1, 1], "v": [-1, 0], "rule": "newton", "contacts": [{"n": [1, 0], "t": [[0, 1]], "mu": 0.5}]}
    close("no slip before, none after", run(ball)["impulses"][0], [1, 0])
    close("a moving wall", run({**ball, "contacts": [{"n": [1, 0], "w_hat": -1}]})["v"], [1, 0])
    belt = run({**ball, "contacts": [{"n": [1, 0], "t": [[0, 1]], "w_hat": [0, 3], "mu": 0.5}]})
    close("a belt drags at mu p_n", belt["impulses"][0], [1, -0.5])
    check(belt["work"] > 0 and belt["contact_energy"] < 0, belt)
    pushed = run({**ball, "impulse": [0.25, 2], "contacts": [{"n": [1, 0]}]})
    close("impulse", pushed["v"], [0, 2])
    for law in ("newton", "chatterjee-ruina", "routh"):
        got = run({**ball, "v": [-1, 2], "rule": "sequence", "law": law, "e": 0.5,
                   "contacts": [{"n": [1, 0], "t": [[0, 1]], "mu": 0.3}]})
        close(law, got["impulses"][0], [1.5, 0 if law == "newton" else -0.45])
    infinite = run({**ball, "v": [-1, 2], "mu": "inf", "contacts": [{"n": [1, 0], "t": [[0, 1]]}]})
    close("infinite friction", infinite["v"], [0, 0])
    chain = run({**cradle, "rule": "chain", "e": 1, "stiffness": [1e6, 1]})
    close("a stiff first contact passes the ball on", chain["v"], [0, 0, 1], 1e-2)
    check(run({**cradle, "rule": "chain", "e": 1, "hertz": True})["v"] != run({**cradle, "rule": "chain", "e": 1})["v"],
          "hertz changes the chain")
    apart = example("impact-pendulum") | {"rule": "sequence", "mechanism": "apart", "mu": 0, "e": 0.6}
    check(abs(run(apart)["v"][2] - run(apart | {"mechanism": "intact"})["v"][2]) > 1e-3, "apart is not intact")
    wedge = {"M": [1, 1], "v": [-1, -1.5], "rule": "feasible", "e": 1, "contacts": [{"n": [1, 0]}, {"n": [0, 1]}]}
    check(run(wedge)["v"] == [1, 1.5] and run({**wedge, "corner": "convex"})["v"] == [1, -1.5], "corner")
    uneven = {"M": [1.1, 1], "v": [1.5, 1], "rule": "feasible", "e": 1, "contacts": [{"n": [-1, 1]}, {"n": [0, -1]}]}
    picks = [run({**uneven, "pick": pick}) for pick in ("nearest", "hull", "arc")]
    check(len(picks[0]["outcomes"]) == 2 and picks[1]["energy_change"] < -1e-6, picks)
    near("arc stays on the energy sphere", picks[2]["energy_change"], 0.0, 1.0, 1e-12)


def random_impact(draw):
    nv = draw.randint(1, 6)
    A = [[draw.gauss(0, 1) for _ in range(nv)] for _ in range(nv)]
    M = [[dot(a, b) + (nv if i == j else 0) for j, b in enumerate(A)] for i, a in enumerate(A)]
    row = lambda: [draw.gauss(0, 1) for _ in range(nv)]
    e = draw.choice([0, 0.3, 0.8, 1])
    contacts = []
    for _ in range(draw.randint(1, 4)):
        contact = {"n": row(), "e": e}
        tangents = draw.choice([0, 0, 1, 2]) if nv > 2 else 0
        if tangents:
            contact["t"] = [row() for _ in range(tangents)]
            contact["mu"] = draw.choice([0, 0.2, 0.8])
        if draw.random() < 0.1:
            contact["w_hat"] = draw.gauss(0, 1)
        contacts.append(contact)
    impact = {"M": M, "v": row(), "contacts": contacts, "budget": 2000}
    if nv > 3 and draw.random() < 0.3:
        impact["joints"] = [row()]
        # a joint is shut before as after: v without its part along the row
        a = times(inverse(M), impact["joints"][0])
        impact["v"] = plus(impact["v"], -dot(impact["joints"][0], impact["v"]) / dot(impact["joints"][0], a), a)
    if draw.random() < 0.1:
        impact["impulse"] = row()
    return impact


def test_random():
    draw = random.Random(20240607)
    impacts = [random_impact(draw) for _ in range(command.SAMPLES // 10)]
    refused = 0
    for impact, got in zip(impacts, command.lines(impacts, verb="resolve")):
        for answer in got["results"]:
            if "error" in answer:
                refused += 1
                continue
            check_shape(impact, answer)
            check_answer(impact, answer)
    print("  answers recomputed:", sum(counts.values()), "refused:", refused, counts)


def test_newton_and_poisson_conditions():
    """Frictionless: complementarity of the rule itself, from the definition."""
    draw = random.Random(7)
    solved = 0
    impacts = []
    for _ in range(100):
        impact = {**random_impact(draw), "rule": ["newton", "poisson"]}
        impact.pop("joints", None)
        impact.pop("impulse", None)
        for contact in impact["contacts"]:
            contact.pop("t", None)
            contact.pop("mu", None)
        impacts.append(impact)
    for impact, answers in zip(impacts, command.lines(impacts, verb="resolve")):
        J, before = rows_of(impact)
        got = answers["results"]
        for answer in got:
            check_answer(impact, answer)
        if got[0]["status"] != "solved":
            continue
        solved += 1
        u = [b + dot(row, plus(got[0]["v"], -1.0, impact["v"])) for row, b in zip(J, before)]
        for contact, p, b, a in zip(impact["contacts"], got[0]["impulses"], before, u):
            gap = a + contact["e"] * b
            size = 1 + max(map(abs, before + u))
            check(p >= -1e-9 and gap >= -1e-9 * size and abs(p * gap) <= 1e-8 * size * (1 + p), "newton", p, gap)
        check(got[1]["energy_change"] - got[1]["work"] <= 1e-10, "poisson created energy", got[1])
    check(solved > 80, "most have a solution", solved)


def test_table():
    one_contact = {"M": [2], "v": [-1], "contacts": [{"n": [1], "e": 0.5}]}
    status, out, err = carom("resolve", text=json.dumps(one_contact) + "\n" + json.dumps({**one_contact, "name": "x"}))
    check(status == 0 and err == "" and "line 1: 1 velocity, 1 contact" in out and "\nx: " in out, out, err)
    check("0.5000" in out and "3.0000" in out and "-75.0%" in out, out)
    refused = {**one_contact, "rule": "reflect",
               "contacts": [{"n": [1], "e": 0.5}, {"n": [1], "e": 0.7}]}
    status, out, err = carom("resolve", text=json.dumps(refused))
    check(status == 1 and "reflect" in out, status, out, err)
    broken = {**one_contact, "rule": "newton", "contacts": [{"n": [1], "e": 3}]}
    status, out, err = carom("resolve", text=json.dumps(broken))
    check(status == 0 and "creates energy" in out, out)


def test_rules_of_the_command_line():
    """--rule asks what the input's own rule would: the same bytes, in its order; unknown names get a suggestion."""
    impact = {"M": [1, 2, 1], "v": [1, 0, 0], "e": 0.7, "rule": "newton", "contacts": [{"n": [-1, 1, 0]}, {"n": [0, -1, 1]}]}
    for asked, wanted in (("chain,sequence", ["chain", "sequence"]), ("all", RULES), ("reflect", "reflect")):
        for options in ([], ["--json"]):
            by_option = carom("resolve", "--rule", asked, *options, text=json.dumps(impact))
            check(by_option[0] == 0 and by_option == carom("resolve", *options, text=json.dumps(dict(impact, rule=wanted))), asked, by_option)
    for bad, said in (("chian", "did you mean 'chain'?"), ("", "needs a value"), (",", "needs a value"), (",".join(3 * RULES), "at most")):
        status, out, err = carom("resolve", "--rule", bad, text=json.dumps(impact))
        check(status == 2 and said in err and out == "", bad, status, err)
    check(carom("resolve", "--rule")[0] == 2, "a value")


main(globals())
