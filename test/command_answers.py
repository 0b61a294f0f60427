"""Answers of carom impact, recomputed from W, V and the printed P with plain arithmetic."""
import math
import random

from command import (LAWS, SAMPLES, changed, check, cross, dot, inverse, lines, main, near, norm, one, plus,
                     product, times, transpose, GOOD, PAIR)


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
    # at infinite friction an impulse along the surface is only the limit of permissible ones
    limit = math.isinf(mu) and abs(Pn) <= 1e-12 * norm(P)
    check(answer["permissible"] == inside or limit, law, "verdict", answer, collision)
    check(answer["creates_energy"] == (energy > 1e-9 * terms), law, "creates_energy", answer)
    check(answer["regime"] in ("separate", "stick", "slip", "reversal", "jam", "no-solution"), answer)
    check(isinstance(answer["solutions"], int), answer)
    # P_I and P_II by their definitions
    P_I = [-dot(n, V) / dot(n, times(W, n)) * x for x in n]
    near("P_I", norm(plus(answer["P_I"], -1, P_I)), 0, norm(P_I) * tilt * norm(V) / abs(dot(n, V)), 1e-14)
    left = plus(times(W, answer["P_II"]), 1, V)
    near("P_II", norm(left), 0, norm(V) + max(map(norm, W)) * norm(answer["P_II"]))


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
                    check(row["error"]["code"] in ("not-diagonal", "not-planar", "outside-region",
                                                   "unknown-name", "out-of-range"), row)
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
        raised.append({**d, "W": [row + [0] for row in d["W"]] + [[0, 0, 0]], "V": d["V"] + [0],
                       "n": d["n"] + [0]})
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
        return [[(i == j) / body["mass"] + perp[i] * perp[j] / body["inertia"] for j in range(2)]
                for i in range(2)]
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
        shared = {"law": "chatterjee-ruina", "n": n, "mu": rng.uniform(0, 1), "e": rng.uniform(0, 1),
                  "et": 0.2}
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
                check(new == {"velocity": body["velocity"], "omega": body["omega"]}, "a fixed body", new)
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
        scale = norm(c["V"]) + sum(map(norm, c["W"])) * norm(x["P"])
        scale += norm(point_velocity(a, ra)) + norm(point_velocity(b, rb))
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
    for _ in range(5):
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
        for extra, weights in (({"sigma": 0.25}, (0.25, 0.75)), ({}, (0.5, 0.5)),
                               ({"sigma": [0.1, 0.9]}, (0.1, 0.9))):
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


main(globals())
