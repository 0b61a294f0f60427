"""carom region from outside: pictures well formed, refusals by name, and the CSV data recomputed.

Python's standard library only. CAROM_COMMAND is the command, CAROM_SOURCE the tree. W, V, the frame, P_I, P_II and
the four conditions of the permissible region are computed here from the example files; curves are compared with
carom impact at the same e. Prints a line per failure and the worst errors seen; exits 1 where anything failed.
"""
import csv
import json
import math
import os
import struct
import subprocess
import xml.etree.ElementTree as xml

from command import COMMAND, LAWS, SOURCE, Folder, carom, check, cross, dot, main, times, worst

EXAMPLES = sorted((SOURCE / "examples" / "impacts").glob("*.json"))
GENERIC = {"W": [[2, 1], [1, 1.2]], "V": [-1, -0.75], "n": [1, 0], "mu": 0.6, "e": 0.7, "et": 0.4}


def near(what, error, tol):
    worst[what] = max(worst.get(what, 0.0), error)
    return check(error <= tol, what, error, "allowed", tol)


def svg_texts(path):
    """All text of an SVG, with subscripts run together."""
    root = xml.parse(path).getroot()
    check(root.tag.endswith("svg"), path, "is no SVG")
    return ["".join(t.itertext()) for t in root.iter() if t.tag.endswith("}text")]


# pictures


def pictures_of_examples(folder):
    largest = 0
    for example in EXAMPLES:
        path = folder / (example.stem + ".svg")
        status, out, err = carom("region", example, "-o", path)
        if not check(status == 0 and out == "" and err == "", example.stem, status, err):
            continue
        texts = svg_texts(path)
        whole = " ".join(texts)
        check(texts.count(example.stem) == 1, example.stem, "title", texts[:5])
        for word in ("N s", "normal impulse", "tangential impulse", "maximum compression", "sticking", "e = 1",
                     "reversal", "friction", "permissible impulses", "2PII", "2PI", "O", "μ = ", "Vn = "):
            check(word in whole, example.stem, "lacks", word)
        named = {t.split(":")[0].split(" ")[0] for t in texts}
        check(len(named & set(LAWS)) >= 11, example.stem, "names of laws", named & set(LAWS))
        spatial = len(json.loads(example.read_text())["n"]) == 3
        check(("solid: friction cone" in whole) == spatial, example.stem, "solid")
        largest = max(largest, path.stat().st_size)
    print(f"largest SVG of an example: {largest / 1000:.0f} kB")
    check(largest < 150e3, "SVG larger than 150 kB", largest)


def formats(folder):
    text = json.dumps(GENERIC)
    for size in (None, (1200, 500)):
        option = ["--size", "%dx%d" % size] if size else []
        status, _, err = carom("region", "-o", folder / "a.png", *option, text=text)
        data = (folder / "a.png").read_bytes()
        check(status == 0 and data[:8] == b"\x89PNG\r\n\x1a\n", "png", status, err)
        check(data[-8:-4] == b"IEND", "png is complete")
        check(struct.unpack(">II", data[16:24]) == (size or (1020, 700)), "png size", data[16:24])
        status, _, err = carom("region", "-", "-o", folder / "a.pdf", *option, text=text)
        data = (folder / "a.pdf").read_bytes()
        check(status == 0 and data[:5] == b"%PDF-" and b"%%EOF" in data[-16:], "pdf", status, err)
        status, _, err = carom("region", "-o", folder / "A.SVG", *option, text=text)
        root = xml.parse(folder / "A.SVG").getroot()
        check((root.get("width"), root.get("height")) == tuple(map(str, size or (1020, 700))), "svg size", root.attrib)


def marked_laws(folder):
    kane = SOURCE / "examples" / "impacts" / "kane-paradox.json"
    carom("region", kane, "-o", folder / "kane.svg")
    texts = svg_texts(folder / "kane.svg")
    check(any(t.startswith("whittaker:") and "creates energy" in t for t in texts), "whittaker creates energy", texts)
    check(any(t.startswith("not drawn: bilinear") and "not-diagonal" in t for t in texts), "caption", texts)
    ball = SOURCE / "examples" / "impacts" / "billiard.json"
    carom("region", ball, "-o", folder / "ball.svg", "--laws", "bilinear,routh,newton")
    check("routh (= bilinear)" in svg_texts(folder / "ball.svg"), "laws that agree", svg_texts(folder / "ball.svg"))
    carom("region", kane, "-o", folder / "kane.svg", "--laws", "smith,routh")
    texts = svg_texts(folder / "kane.svg")
    check("smith" in texts and "routh" in texts and "newton" not in texts, "--laws", texts)
    check(not any("chatterjee" in t for t in texts), "no area without its law", texts)


def special(folder):
    cases = {"separating": {"V": [0.5, -1]}, "grazing": {"V": [0, -1]}, "no friction": {"mu": 0},
             "infinite friction": {"mu": "inf"}, "e above 1": {"e": 3}, "tiny": {"V": [-1e-9, -2e-9]},
             "huge": {"V": [-1e9, 2e9]}, "no tangential velocity": {"V": [-1, 0]}, "nothing moves": {"V": [0, 0]},
             "blocked": {"W": [[0, 0], [0, 1]], "V": [-1, -1]}, "no P_II": {"W": [[1, 1], [1, 1]], "V": [-1, 1]},
             "no W": {"W": [[0, 0], [0, 0]]}, "nearly singular": {"W": [[1, 1], [1, 1.0000001]], "V": [-1, -1]},
             "a needle": {"W": [[1, 0], [0, 1e6]]}, "table of e": {"e": [[0, 0.9], [2, 0.3]]},
             "tiny, from 1e-300": {"V": [-1e-300, -1e-300]}, "3D": {"n": [1, 0, 0], "V": [-1, -0.3, 0.5],
             "W": [[2, 1, 0.2], [1, 1.5, 0.1], [0.2, 0.1, 1]]}, "3D, rank 1": {"n": [1, 0, 0], "V": [-1, -1, -1],
             "W": [[1, 1, 1], [1, 1, 1], [1, 1, 1]]}, "3D, grazing": {"n": [1, 0, 0], "V": [0, -1, 0],
             "W": [[1, -0.8, 0], [-0.8, 1, 0], [0, 0, 1]], "mu": 1.6}, "3D, no friction": {"n": [1, 0, 0], "mu": 0,
             "V": [-1, -1, 0], "W": [[1, 0.3, 0], [0.3, 1, 0], [0, 0, 1]]}, "3D, infinite friction": {"n": [0, 0, 1],
             "mu": "inf", "V": [1, 0.2, -1], "W": [[1, 0.3, 0.1], [0.3, 1, 0.2], [0.1, 0.2, 1]]}}
    for name, change in cases.items():
        path = folder / "special.svg"
        path.unlink(missing_ok=True)
        status, _, err = carom("region", "-o", path, text=json.dumps({**GENERIC, **change, "name": name}))
        if check(status == 0 and err == "" and path.exists(), name, status, err):
            texts = svg_texts(path)
            check(name in texts, name, "title")
            check(any("separating" in t for t in texts[1:]) == (name == "separating"), name, texts)
            check("nan" not in " ".join(texts).lower(), name, "has a NaN")


# refusals


def refused(folder, what, expect, words, *arguments, text="", env=None):
    before = sorted(p.name for p in folder.iterdir())
    status, out, err = carom("region", *arguments, text=text, env=env)
    check(status == expect, what, "exit status", status, "expected", expect, err)
    check(out == "" and all(w in err for w in words), what, err)
    check(sorted(p.name for p in folder.iterdir()) == before, what, "left something behind")


def refusals(folder):
    text = json.dumps(GENERIC)
    picture = folder / "x.svg"
    refused(folder, "no output", 2, ["-o", ".svg"], text=text)
    for bad in ("x.gif", "x", "x.svg.txt", "svg", ".svg/x"):
        refused(folder, bad, 2, [".svg, .png or .pdf"], "-o", folder / bad, text=text)
    refused(folder, "size", 2, ["--size"], "-o", picture, "--size", "10x10", text=text)
    refused(folder, "size", 2, ["--size"], "-o", picture, "--size", "800", text=text)
    refused(folder, "size", 2, ["needs a value"], "-o", picture, "--size", text=text)
    refused(folder, "option", 2, ["--colour"], "-o", picture, "--colour", text=text)
    refused(folder, "second file", 2, ["second"], "a", "b", "-o", picture, text=text)
    refused(folder, "law", 2, ["ruoth", "did you mean 'routh'"], "-o", picture, "--laws", "smith,ruoth", text=text)
    refused(folder, "empty law", 2, ["no law"], "-o", picture, "--laws", "smith,", text=text)
    refused(folder, "syntax", 1, ["standard input:1:", "(syntax)"], "-o", picture, text='{"W": [}')
    refused(folder, "empty", 1, ["empty"], "-o", picture, text=" \n")
    refused(folder, "field", 1, ["mu", "(out-of-range)"], "-o", picture, text=json.dumps({**GENERIC, "mu": -1}))
    refused(folder, "unknown field", 1, ["(unknown-field)"], "-o", picture, text=json.dumps({**GENERIC, "mv": 1}))
    refused(folder, "two collisions", 1, ["one collision"], "-o", picture, text=text + "\n" + text)
    refused(folder, "no file", 3, ["nothing.json"], folder / "nothing.json", "-o", picture)
    refused(folder, "no folder", 3, ["(file)"], "-o", folder / "no" / "x.svg", text=text)
    (folder / "d.svg").mkdir()
    refused(folder, "a folder", 3, ["(file)"], "-o", folder / "d.svg", text=text)
    refused(folder, "no gnuplot", 3, ["gnuplot: not found", "(file)"], "-o", picture, text=text,
            env={"PATH": str(folder / "nowhere")})


def failing_gnuplot(folder):
    """A gnuplot that fails in the middle must leave neither half a picture nor touch the old one."""
    text = json.dumps(GENERIC)
    bin_folder = folder / "bin"
    bin_folder.mkdir()
    fake = bin_folder / "gnuplot"
    env = {"PATH": f"{bin_folder}:{os.environ['PATH']}"}
    old = folder / "old.svg"
    for what, script in {"error": "echo '<svg'; echo 'line 7: no such thing' >&2; exit 1",
                         "killed": "echo '<svg'; kill -9 $$", "silent": "exit 0"}.items():
        fake.write_text("#!/bin/sh\n" + script + "\n")
        fake.chmod(0o755)
        old.write_text("old")
        refused(folder, what, 3, ["gnuplot: made no picture"], "-o", old, text=text, env=env)
        check(old.read_text() == "old", what, "changed the old picture")
        refused(folder, what, 3, ["no such thing"] if what == "error" else [], "-o", folder / "new.svg", text=text,
                env=env)
    fake.chmod(0o644)


def odd_names(folder):
    """File names and titles reach no shell and no gnuplot command."""
    odd = folder / "odd"
    odd.mkdir()
    for name in ("it's \"odd\" $(touch a) `touch b`;.svg", "-x.svg", "ä ö\n.svg", "%s\\n.svg", "a" * 200 + ".svg"):
        status, _, err = carom("region", "-o", odd / name, text=json.dumps(GENERIC))
        check(status == 0 and (odd / name).exists(), name, status, err)
    before = sorted(p.name for p in odd.iterdir())
    for title in ("it's {/=40 big} _x ^y @z `touch c` $(touch d) \\n %g", "\"; system 'touch e'; \" tab\t\u0001 <&>",
                  "ü" * 300, "\uffff\ufffe"):
        carom("region", "-o", odd / "-x.svg", text=json.dumps({**GENERIC, "name": title}))
        texts = svg_texts(odd / "-x.svg")
        wanted = "".join(" " if ord(c) < 32 or ord(c) >= 0xfffe else c for c in title)
        check(any(t.replace("\u00a0", " ").strip() == wanted.strip() or (len(t) > 40 and wanted.startswith(t[:-1]))
                  for t in texts), "title", title, texts[:3])
    check(sorted(p.name for p in odd.iterdir()) == before, "something was run")
    # a file name that is no UTF-8 becomes a title that is
    name = os.fsencode(odd) + b"/\xff\xc3.json"
    with open(name, "w") as file:
        json.dump(GENERIC, file)
    subprocess.run([COMMAND, "region", name, "-o", odd / "-x.svg"], check=False)
    svg_texts(odd / "-x.svg")


# data


def rotation(q):
    w, x, y, z = q
    return [[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]]


def spatial(v):
    return list(v) + [0.0] * (3 - len(v))


def body_part(body, point):
    """What a body adds to W, and the velocity of its contact point."""
    planar = len(point) == 2
    r = [p - c for p, c in zip(spatial(point), spatial(body.get("position", [0, 0, 0])))]
    omega = [0, 0, body.get("omega", 0)] if planar else body.get("omega", [0, 0, 0])
    velocity = [v + w for v, w in zip(spatial(body.get("velocity", [0, 0, 0])), cross(omega, r))]
    W = [[0.0] * 3 for _ in range(3)]
    if body.get("fixed"):
        return W, velocity
    inertia = body["inertia"]
    moments = [inertia] * 3 if isinstance(inertia, (int, float)) else inertia
    R = rotation([1, 0, 0, 0] if planar else body.get("orientation", [1, 0, 0, 0]))
    for j in range(2 if planar else 3):
        unit = [float(i == j) for i in range(3)]
        torque = cross(r, unit)
        local = [dot([R[i][k] for i in range(3)], torque) / moments[k] for k in range(3)]
        spin = [dot(R[i], local) for i in range(3)]
        column = cross(spin, r)
        for i in range(3):
            W[i][j] = column[i] + unit[i] / body["mass"]
    return W, velocity


def collision(example):
    """W, V in the frame (n, t1, t2) and the frame itself, from the file alone."""
    if "W" in example:
        size = len(example["n"])
        W = [list(map(float, row)) + [0.0] * (3 - size) for row in example["W"]] + [[0.0] * 3] * (3 - size)
        V = spatial(example["V"])
    else:
        a, b = example["bodies"] if "bodies" in example else (example["a"], example["b"])
        (Wa, va), (Wb, vb) = body_part(a, example["point"]), body_part(b, example["point"])
        W = [[x + y for x, y in zip(p, q)] for p, q in zip(Wa, Wb)]
        V = [y - x for x, y in zip(va, vb)]
    n = spatial(example["n"])
    tangential = [v - dot(n, V) * k for v, k in zip(V, n)]
    speed = math.hypot(*tangential)
    t1 = [-x / speed for x in tangential]
    frame = [n, t1, cross(n, t1)]
    return [[dot(a, times(W, b)) for b in frame] for a in frame], [dot(a, V) for a in frame], frame


def read_csv(path, columns):
    with open(path, newline="") as file:
        rows = list(csv.reader(file))
    check(rows[0] == columns, path, "columns", rows[0])
    return rows[1:]


def check_curves(name, example, frame, rows, scale):
    """Every row is what carom impact says at that e, and no answer of carom impact is missing."""
    top = example.get("e", 0) if isinstance(example.get("e", 0), (int, float)) else 0
    grid = [i / 100 for i in range(101)] + [1 + (top - 1) * i / 100 for i in range(1, 101) if top > 1]
    found = {(row[0], float(row[1])): [float(x) for x in row[2:]] for row in rows}
    check(len(found) == len(rows), name, "a row twice")
    asked = [(law, e) for law in LAWS for e in grid]
    text = "\n".join(json.dumps({**example, "law": law, "e": e}) for law, e in asked)
    _, out, _ = carom("impact", "--json", "-", text=text)
    answers = [json.loads(line) for line in out.splitlines()]
    check(len(answers) == len(asked), name, "answers", len(answers), len(asked))
    count = 0
    for key, answer in zip(asked, answers):
        if "P" not in answer or answer["regime"] == "no-solution":
            check(key not in found, name, key, "should not be there")
            continue
        P = spatial(answer["P"])
        if not check(key in found, name, key, "is missing"):
            continue
        count += 1
        near("curve against carom impact", math.dist(times(frame, P), found[key]) / scale, 1e-12)
    check(count == len(rows), name, "rows that nobody asked for", count, len(rows))
    return count


def check_region(example, W, V, points, scale):
    """Each vertex fulfils the four conditions and lies on the edge of at least one of them."""
    mu = math.inf if example.get("mu") == "inf" else example.get("mu", 0)
    speed = math.hypot(*V)
    for P in points:
        WP = times(W, P)
        energy = -(dot(P, V) + dot(P, WP) / 2) / (speed * scale)
        penetration = (V[0] + WP[0]) / speed
        tension = P[0] / scale
        cone = tension if math.isinf(mu) else (mu * P[0] - math.hypot(P[1], P[2])) / ((1 + mu) * scale)
        margin = min(energy, penetration, tension, cone)
        near("vertex of the region outside of it", -margin, 1e-9)
        near("vertex of the region off its edge", margin, 1e-9)
    # one turn about the middle, never back: a simple polygon
    middle = [sum(p[k] for p in points) / len(points) for k in range(3)]
    arms = [[x - y for x, y in zip(P, middle)] for P in points]
    turns = [cross(a, b) for a, b in zip(arms, arms[1:] + arms[:1])]
    axis = [sum(v[k] for v in turns) for k in range(3)]
    near("section turns back", max(-dot(v, axis) for v in turns) / dot(axis, axis), 1e-12)


def check_path(points, end, scale):
    near("Routh's path starts at O", math.hypot(*points[0]) / scale, 1e-12)
    near("Routh's path ends at Routh's answer", math.dist(points[-1], end) / scale, 1e-9)
    fall = max([a[0] - b[0] for a, b in zip(points, points[1:])])
    near("Routh's path falls", fall / scale, 1e-12)


def reach_of(folder, example):
    """Rows (eta2, e, P) of compliant.csv."""
    status, _, err = carom("region", "-", "--data", folder, text=json.dumps(example))
    check(status == 0, "data", err)
    rows = read_csv(folder / "compliant.csv", ["eta2", "e", "Pn", "Pt1", "Pt2"])
    return [(float(r[0]), float(r[1]), [float(x) for x in r[2:]]) for r in rows]


def check_reach(name, rows, W, V, mu, P_I, scale):
    """The compliant law's set: its ends, and the four conditions from W, V and P alone."""
    stiff = sorted({eta2 for eta2, _, _ in rows})
    check(len(stiff) > 30 and stiff[-1] == math.inf, name, "stiffness ratios", stiff[:2], stiff[-1])
    check({e for _, e, _ in rows} == {k / 8 for k in range(9)}, name, "e")
    for eta2, e, P in rows:
        after = [v + w for v, w in zip(V, times(W, P))]
        gain = dot(P, V) + 0.5 * dot(P, times(W, P))
        near("compliant set creates energy", gain / (scale * math.hypot(*V)), 1e-9)
        near("compliant set penetrates", -after[0] / math.hypot(*V), 1e-9)
        if math.isfinite(mu):
            near("compliant set leaves the cone", (math.hypot(P[1], P[2]) - mu * P[0]) / scale, 1e-9)
        if eta2 == math.inf:
            near("compliant set, no tangential force", math.dist(P, [(1 + e) * x for x in P_I]) / scale, 1e-12)


def reach(folder):
    # a ball under infinite friction: V_t goes as a cosine of the time that the normal spring takes
    ball = {"W": [[1, 0], [0, 3.5]], "V": [-1, 1.2], "n": [1, 0], "mu": "inf", "e": 0.5}
    rows = [row for row in reach_of(folder / "ball", ball) if row[0] < math.inf]
    check(len(rows) > 200, "rows of a ball", len(rows))
    for eta2, e, P in rows:
        turned = 1.2 * math.cos(math.sqrt(3.5 / eta2) * math.pi / 2 * (1 + e))
        near("ball, closed form", max(abs(P[0] - 1 - e), abs(abs(P[1]) - abs(turned - 1.2) / 3.5)), 1e-9)
    # a rigid patch is the end of the set: there the law is Routh's, with the energetic ending
    rod = {"W": [[2, 1.2], [1.2, 1.5]], "V": [-1, -0.4], "n": [1, 0], "mu": 0.7, "e": 0.5}
    rows = reach_of(folder / "rod", rod)
    for _, e, P in [row for row in rows if row[0] == 0]:
        stiff = [{**rod, "e": e, "eta2": eta2, "law": "compliant"} for eta2 in (1e-4, 1e-5)]
        _, answer, _ = carom("impact", "--json", "-", text="\n".join(json.dumps(c) for c in stiff))
        soft, hard = [json.loads(line)["P"] for line in answer.splitlines()]
        # what is left goes with the square root of eta2
        limit = [h + (h - s) / (math.sqrt(10) - 1) for s, h in zip(soft, hard)]
        near("rigid patch", math.dist([P[0], abs(P[1])], [limit[0], abs(limit[1])]), 2e-3)


def data(folder):
    total = 0
    for path in EXAMPLES:
        name = path.stem
        example = json.loads(path.read_text())
        out = folder / "data" / name
        out.parent.mkdir(exist_ok=True)
        status, _, err = carom("region", path, "--data", out)
        if not check(status == 0, name, "data", err):
            continue
        W, V, frame = collision(example)
        rows = read_csv(out / "points.csv", ["point", "Pn", "Pt1", "Pt2"])
        points = {row[0]: [float(x) for x in row[1:]] for row in rows}
        check(sorted(points) == ["2P_I", "2P_II", "O", "P_I", "P_II"], name, points)
        speed = math.hypot(*V)
        near("W P_II + V", math.hypot(*[x + y for x, y in zip(times(W, points["P_II"]), V)]) / speed, 1e-12)
        near("W P_I + V, normal", abs(times(W, points["P_I"])[0] + V[0]) / speed, 1e-12)
        scale = max(math.hypot(*points["P_I"]), math.hypot(*points["P_II"]))
        rows = read_csv(out / "curves.csv", ["law", "e", "Pn", "Pt1", "Pt2"])
        total += check_curves(name, example, frame, rows, scale)
        region = [[float(x) for x in row] for row in read_csv(out / "region.csv", ["Pn", "Pt1", "Pt2"])]
        check(len(region) >= 100, name, "region", len(region))
        check_region(example, W, V, region, scale)
        _, answer, _ = carom("impact", "--json", "-", text=json.dumps({**example, "law": "routh"}))
        end = times(frame, spatial(json.loads(answer)["P"]))
        track = [[float(x) for x in row] for row in read_csv(out / "routh-path.csv", ["Pn", "Pt1", "Pt2"])]
        if check(len(track) >= 2, name, "Routh's path", len(track)):
            check_path(track, end, scale)
        rows = read_csv(out / "compliant.csv", ["eta2", "e", "Pn", "Pt1", "Pt2"])
        rows = [(float(r[0]), float(r[1]), [float(x) for x in r[2:]]) for r in rows]
        check_reach(name, rows, W, V, float(example["mu"]), points["P_I"], scale)
    print(f"{total} points of curves compared with carom impact")
    status, _, err = carom("region", EXAMPLES[0], "--data", EXAMPLES[0])
    check(status == 3 and "data" in err, "data into a file", status, err)


with Folder() as folder:
    for test in (pictures_of_examples, formats, marked_laws, special, refusals, failing_gnuplot, odd_names, data, reach):
        own = folder / test.__name__
        own.mkdir()
        test(own)
status, out, _ = carom("region", "--help")
check(status == 0 and "carom examples generic | carom region" in out, "help")
main({})
