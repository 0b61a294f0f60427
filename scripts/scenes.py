#!/usr/bin/env python3
"""Writes the scenes whose bodies stand by a formula: scripts/scenes.py [DIRECTORY], default scenes/.

One body per line, numbers as Python prints them: running it again changes nothing.
"""
import json
import math
import pathlib
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


def pool_table():
    """The rack on the foot spot of a nine-foot table: 2.54 m by 1.27 m between the cushions."""
    r = 0.028575
    ball = lambda material: {"mass": 0.17, "shapes": [{"type": "sphere", "r": r, "material": material}]}
    bodies = [{"name": "cue", "pos": [-1.2, 0.0, 0.0], "vel": [6, 0, 0], "omega": [0, 6 / r, 0], **ball("ivory")}]
    for row in range(5):
        for k in range(row + 1):
            bodies.append({"name": f"ball{len(bodies)}", "pos": [row * math.sqrt(3.0) * r, (2 * k - row) * r, 0.0], **ball("phenolic")})
    long, wide, rail = 1.27, 0.635, 0.05
    middle = -0.635
    static = [{"type": "box", "half": [long + 2 * rail, wide + 2 * rail, 0.02], "pos": [middle, 0, -r - 0.02], "material": "cloth"}]
    for sign in (-1, 1):
        static.append({"type": "box", "half": [rail, wide + 2 * rail, 0.02],
                       "pos": [middle + sign * (long + rail), 0, 0.02 - r], "material": "cushion"})
    for sign in (-1, 1):
        static.append({"type": "box", "half": [long, rail, 0.02], "pos": [middle, sign * (wide + rail), 0.02 - r],
                       "material": "cushion"})
    head = {"comment": "A break on a table: cloth with friction, four cushions, no pockets. The cue ball rolls at 6 m/s "
                       "into a rack of 15 that touch. Every rule has its own answer: carom run pool-table --rule NAME.",
            "step": {"method": "cone", "dt": 0.002, "duration": 2},
            "impact": {"rule": "poisson"},
            "materials": {"phenolic": {"mu": 0.05, "e": 0.95}, "ivory": {"mu": 0.05, "e": 0.95, "color": "#fffdf5"},
                          "cloth": {"color": "#c9e0d3"}, "cushion": {"color": "#a9805b"}},
            "pairs": [{"materials": [ball, other], "mu": mu, "e": e} for ball in ("phenolic", "ivory")
                      for other, mu, e in (("cloth", 0.2, 0), ("cushion", 0.14, 0.8))]}
    return head, bodies, {"static": static}


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
            "step": {"method": "cone", "dt": 0.002, "duration": 0.6},
            "solver": {"name": "auto", "tol": 1e-7, "quality": "certified"},
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


def ball_drop(count, comment, duration):
    """A lattice that leans, so that no ball falls straight on another."""
    n = round(count ** (1 / 3))
    layers = count // (n * n)
    half = 0.06 * n
    ball = {"name": "b", "pos": [round(-0.06 * (n - 1) - 0.005 * layers, 4), round(-0.06 * (n - 1) - 0.003 * layers, 4), 0.1],
            "repeat": [{"count": n, "step": [0.12, 0, 0]}, {"count": n, "step": [0, 0.12, 0]},
                       {"count": layers, "step": [0.007, 0.004, 0.12]}],
            "shapes": [{"type": "sphere", "r": 0.05, "material": "glass"}]}
    wall = round(half + 0.01 * layers, 4)
    walls = [{"type": "halfspace", "n": n, "offset": o, "material": "glass"}
             for n, o in (([0, 0, 1], 0), ([1, 0, 0], -wall), ([-1, 0, 0], -wall), ([0, 1, 0], -wall), ([0, -1, 0], -wall))]
    head = {"comment": comment, "step": {"method": "cone", "dt": 0.004, "duration": duration},
            "impact": {"threshold": 0.5}, "solver": {"name": "auto", "tol": 1e-6, "quality": "fast"},
            "materials": {"glass": {"mu": 0.3, "e": 0, "density": 2500}}}
    return head, [ball], {"static": walls, "record": {"every": 5}}


def gears():
    """Wheels of round teeth: the second has half as many again and turns by two thirds of the first's speed."""
    bodies = []
    for name, teeth, x, phase in (("driver", 10, 0.0, 0.0), ("driven", 15, 0.25, 0.0)):
        radius = 0.01 * teeth
        shapes = [{"type": "cylinder", "r": round(radius - 0.03, 4), "half": 0.01, "material": "steel"}]
        for k in range(teeth):
            t = 2 * math.pi * (k + phase) / teeth
            tooth = {"type": "capsule", "r": 0.009, "half": 0.016, "axis": "x",
                     "pos": [round((radius - 0.016) * math.cos(t), 9), round((radius - 0.016) * math.sin(t), 9), 0],
                     "quat": [round(math.cos(t / 2), 12), 0, 0, round(math.sin(t / 2), 12)], "material": "steel"}
            # the capsule lies along x before the wheel turns it
            shapes.append(tooth)
        body = {"name": name, "joint": "hinge", "axis": [0, 0, 1], "pos": [x, 0, 0], "mass": radius * radius * 100,
                "com": [0, 0, 0], "inertia": round(50 * radius ** 4, 9)}
        if name == "driver":
            body["motor"] = {"speed": 6, "force": 10}
        else:
            body["friction"] = 0.2
        bodies.append({**body, "shapes": shapes})
    head = {"comment": "Two toothed wheels on hinges: a motor turns the first one, ten teeth push fifteen, and dry friction in the "
                       "second hinge keeps them in touch. The second turns by two thirds of the first.",
            "gravity": [0, 0, 0], "step": {"method": "cone", "dt": 0.0005, "duration": 2.0943951},
            "materials": {"steel": {"mu": 0.1, "e": 0.2}}}
    return head, bodies, {}


def flexible_rod():
    """Six links with springs between them, and a rigid rod of the same length, mass and start."""
    links, length, tilt = 6, 0.6, 0.2
    piece = length / links
    mass = 1.0 / links
    shape = {"type": "capsule", "axis": "x", "r": 0.01, "half": piece / 2, "material": "steel"}
    inertia = mass * piece * piece / 12
    across, up = math.cos(tilt), math.sin(tilt)
    bodies = [{"name": "rigid", "joint": "planar", "pos": [0, 0.5], "angle": tilt, "mass": 1, "inertia": length * length / 12,
               "shapes": [{"type": "capsule", "axis": "x", "r": 0.01, "half": length / 2, "material": "steel"}]}]
    for i in range(links):
        body = {"name": f"link{i + 1}", "joint": "hinge" if i else "planar"}
        if i:
            body |= {"parent": f"link{i}", "pos": [piece, 0, 0], "anchor": [-piece / 2, 0, 0], "stiffness": 200, "damping": 0.02}
        else:
            centre = (length - piece) / 2
            body |= {"pos": [round(1 - centre * across, 12), round(0.5 - centre * up, 12)], "angle": tilt}
        bodies.append({**body, "mass": mass, "com": [0, 0, 0], "inertia": inertia, "shapes": [shape]})
    head = {"comment": "A lumped flexible rod beside a rigid one (Glocker 2001, figure 8), same length, mass and e = 0.8: the "
                       "flexible one takes the impact up in vibrations and its centre hardly comes up.",
            "gravity": [0, -9.81, 0], "step": {"method": "event", "dt": 0.0002, "duration": 0.5},
            "impact": {"rule": "poisson"}, "materials": {"steel": {"mu": 0, "e": 0.8}}}
    return head, bodies, {"static": [{"type": "halfspace", "n": [0, 1, 0], "offset": 0, "material": "steel"}]}


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent.parent / "scenes")
    for name, scene in (("newtons-cradle-3", cradle(3, 0.0)), ("newtons-cradle-3-gaps", cradle(3, 0.001)),
                        ("newtons-cradle-5", cradle(5, 0.0)), ("newtons-cradle-5-gaps", cradle(5, 0.001)),
                        ("pool-break", pool_break()), ("pool-table", pool_table()), ("box-stack", box_stack()), ("dominoes", dominoes()),
                        ("arch", arch()), ("gears", gears()), ("flexible-rod", flexible_rod()),
                        ("1000-ball-drop", ball_drop(1000, "A thousand balls fall into a box.", 1))):
        write(folder, name, *scene)


if __name__ == "__main__":
    main()
