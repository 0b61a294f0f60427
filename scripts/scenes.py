#!/usr/bin/env python3
"""Writes the scenes whose bodies stand by a formula: scripts/scenes.py [DIRECTORY], default scenes/.

One body per line, numbers as Python prints them: running it again changes nothing.
"""
import json
import math
import pathlib
import random
import sys


def write(folder, name, head, bodies, tail):
    lines = ["{"]
    lines += [f"  {json.dumps(key)}: {json.dumps(value)}," for key, value in {"carom": 1, **head}.items()]
    lines += ['  "bodies": [']
    lines += ["    " + json.dumps(body) + ("," if body is not bodies[-1] else "") for body in bodies]
    lines += ["  ]" + ("," if tail else "")]
    rest = list(tail.items())
    lines += [f"  {json.dumps(key)}: {json.dumps(value)}" + ("," if key != rest[-1][0] else "") for key, value in rest]
    (folder / (name + ".json")).write_text("\n".join(lines + ["}"]) + "\n")


def cradle(count, gap):
    """Pendulums side by side, the first one lifted."""
    bodies = []
    for i in range(count):
        bodies.append({"name": f"ball{i + 1}", "joint": "hinge", "axis": [0, 1, 0], "pos": [i * (0.05 + gap), 0, 0.3],
                       "angle": 0.5 if i == 0 else 0, "mass": 0.1,
                       "shapes": [{"type": "sphere", "r": 0.025, "pos": [0, 0, -0.3], "material": "steel"}]})
    apart = f"{gap * 1e3:g} mm apart" if gap else "touching"
    head = {"comment": f"Newton's cradle, {count} balls {apart}, the first one lifted: what comes out depends on the "
                       "rule where they touch and on the order of time where they do not.",
            "step": {"method": "cone", "dt": 0.005, "duration": 2.5},
            "impact": {"rule": "sequence", "law": "newton"},
            "materials": {"steel": {"mu": 0, "e": 1, "density": 7800}}}
    return head, bodies, {}


def pool_break():
    r = 0.028575
    bodies = [{"name": "cue", "joint": "planar", "pos": [-0.6, 0.0], "vel": [6, 0], "mass": 0.17,
               "shapes": [{"type": "sphere", "r": r, "material": "phenolic"}]}]
    for row in range(5):
        for k in range(row + 1):
            bodies.append({"name": f"ball{len(bodies)}", "joint": "planar",
                           "pos": [row * math.sqrt(3.0) * r, (2 * k - row) * r], "mass": 0.17,
                           "shapes": [{"type": "sphere", "r": r, "material": "phenolic"}]})
    head = {"comment": "Pool break: a cue ball at 6 m/s hits a rack of 15 that touch. Seen from above, cloth left out. "
                       "Every rule has its own answer: carom run scenes/pool-break.json --rule NAME.",
            "gravity": [0, 0, 0], "step": {"method": "cone", "dt": 0.002, "duration": 0.3},
            "impact": {"rule": "poisson"},
            "materials": {"phenolic": {"mu": 0.05, "e": 0.95}}}
    return head, bodies, {}


def box_stack():
    bodies = [{"name": f"box{i + 1}", "pos": [0, 0, 0.1 + 0.2 * i], "mass": 1,
               "shapes": [{"type": "box", "half": [0.1, 0.1, 0.1], "material": "wood"}]} for i in range(5)]
    head = {"comment": "Five boxes on top of each other, at rest: they must stay so.",
            "step": {"method": "cone", "dt": 0.005, "duration": 1},
            "materials": {"wood": {"mu": 0.5, "e": 0, "density": 700}}}
    return head, bodies, {"static": [{"type": "halfspace", "n": [0, 0, 1], "offset": 0, "material": "wood"}]}


def dominoes():
    bodies = [{"name": f"tile{i + 1}", "pos": [0.03 * i, 0, 0.025],
               "shapes": [{"type": "box", "half": [0.004, 0.0125, 0.025], "material": "tile"}]} for i in range(10)]
    bodies[0]["omega"] = [0, 6, 0]
    bodies[0]["vel"] = [0.15, 0, 0]
    head = {"comment": "Ten dominoes, the first one pushed over.",
            "step": {"method": "cone", "dt": 0.002, "duration": 0.6}, "solver": {"name": "auto", "tol": 1e-7},
            "materials": {"tile": {"mu": 0.3, "e": 0.2, "density": 1200}, "table": {"mu": 0.6, "e": 0.2}}}
    return head, bodies, {"static": [{"type": "halfspace", "n": [0, 0, 1], "offset": 0, "material": "table"}]}


def arch():
    """Wedges of a half ring, feet on the floor; each is a convex polygon of x and z, thick along y."""
    count, inner, outer = 7, 0.8, 1.0
    bodies = []
    for i in range(count):
        a, b = math.pi * i / count, math.pi * (i + 1) / count
        corners = [(r * math.cos(t), r * math.sin(t)) for r, t in ((inner, a), (outer, a), (outer, b), (inner, b))]
        cx, cz = (sum(c[k] for c in corners) / 4 for k in (0, 1))
        points = [[c[0] - cx, -(c[1] - cz)] for c in reversed(corners)]
        # thick along y: local y of the polygon becomes -z
        bodies.append({"name": f"stone{i + 1}", "pos": [cx, 0, cz],
                       "shapes": [{"type": "prism", "axis": "y", "points": points, "half": 0.15,
                                   "material": "stone"}]})
    head = {"comment": "An arch of seven stones held by nothing but friction.",
            "step": {"method": "cone", "dt": 0.005, "duration": 1},
            "materials": {"stone": {"mu": 0.7, "e": 0, "density": 2500}}}
    return head, bodies, {"static": [{"type": "halfspace", "n": [0, 0, 1], "offset": 0, "material": "stone"}]}


def ball_drop():
    draw = random.Random(1)
    bodies = []
    for layer in range(4):
        for i in range(5):
            for j in range(5):
                jitter = [round(draw.uniform(-0.01, 0.01), 4) for _ in range(2)]
                bodies.append({"name": f"b{len(bodies) + 1}",
                               "pos": [round(-0.24 + 0.12 * i + jitter[0], 4), round(-0.24 + 0.12 * j + jitter[1], 4),
                                       round(0.1 + 0.12 * layer, 4)],
                               "shapes": [{"type": "sphere", "r": 0.05, "material": "glass"}]})
    walls = [{"type": "halfspace", "n": n, "offset": o, "material": "glass"}
             for n, o in (([0, 0, 1], 0), ([1, 0, 0], -0.3), ([-1, 0, 0], -0.3), ([0, 1, 0], -0.3), ([0, -1, 0], -0.3))]
    head = {"comment": "A hundred balls fall into a box.",
            "step": {"method": "cone", "dt": 0.004, "duration": 0.3}, "impact": {"threshold": 0.5},
            "solver": {"name": "auto", "tol": 1e-6},
            "materials": {"glass": {"mu": 0.3, "e": 0, "density": 2500}}}
    return head, bodies, {"static": walls, "record": {"every": 5}}


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent.parent / "scenes")
    for name, scene in (("newtons-cradle-3", cradle(3, 0.0)), ("newtons-cradle-3-gaps", cradle(3, 0.001)),
                        ("newtons-cradle-5", cradle(5, 0.0)), ("newtons-cradle-5-gaps", cradle(5, 0.001)),
                        ("pool-break", pool_break()), ("box-stack", box_stack()), ("dominoes", dominoes()),
                        ("arch", arch()), ("100-ball-drop", ball_drop())):
        write(folder, name, *scene)


if __name__ == "__main__":
    main()
