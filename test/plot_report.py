"""Reports: the page parses, needs nothing else, holds the motion of every body, and no text of a file acts in it.

What its script draws is checked in a browser, by web/test/page.mjs.
"""
import base64
import gzip
import html.parser
import json
import pathlib
import re
import shutil
import subprocess
import tempfile

from command import carom, check, main, near

folder = pathlib.Path(tempfile.mkdtemp())
VOID = {"meta", "input", "br", "path", "rect"}
EVIL = "</script><script>alert(1)</script><img/src=x>&lt"
SCENE = {"carom": 1, "comment": EVIL, "step": {"dt": 0.01, "duration": 0.6},
         "static": [{"type": "halfspace", "n": [0, 0, 1], "offset": 0}],
         "bodies": [{"name": EVIL, "pos": [0, 0, 0.5], "vel": [1, 0.5, 0], "omega": [3, 1, 0],
                     "shapes": [{"type": "box", "half": [0.1, 0.1, 0.1]}]},
                    {"name": "ball", "pos": [1, 0, 1], "shapes": [{"type": "sphere", "r": 0.1}]}]}


class Page(html.parser.HTMLParser):
    """Tags balanced, attributes and texts collected."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.stack, self.tags, self.attributes, self.texts = [], [], [], []
        self.feed(text)
        self.close()
        check(not self.stack, "every tag is closed", self.stack)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += attributes
        if tag not in VOID:
            self.stack.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += attributes

    def handle_endtag(self, tag):
        check(self.stack and self.stack[-1] == tag, "closes", tag, self.stack[-3:])
        if self.stack:
            self.stack.pop()

    def handle_data(self, text):
        self.texts.append((self.stack[-1] if self.stack else "", text))


def report(scene, *options, name="report.html"):
    path = folder / "scene.json"
    path.write_text(json.dumps(scene))
    target = folder / name
    status, out, err = carom("run", str(path), "--report", str(target), *options)
    check(status == 0, "exit status", status, out, err)
    return target.read_text()


def parts(text):
    """The data and the script of a page."""
    found = re.findall(r"<script([^>]*)>(.*?)</script>", text, re.S)
    check(len(found) == 3, "three scripts: data, code and what unpacks it", len(found))
    return json.loads(found[0][1]), gzip.decompress(base64.b64decode(found[1][1])).decode()


def poses(data, run):
    """Poses of the moving bodies, frame by frame."""
    width = 7 * len(run["moving"])
    total, frames = [0] * width, []
    for i in range(0, len(run["frames"]), width):
        total = [a + b for a, b in zip(total, run["frames"][i:i + width])]
        frames.append([x * (data["quantum"] if k % 7 < 3 else data["turn"]) for k, x in enumerate(total)])
    return frames


def table(path):
    rows = path.read_text().splitlines()
    return [dict(zip(rows[0].split(","), map(float, row.split(",")))) for row in rows[1:]]


def test_page():
    text = report(SCENE, "--out", str(folder / "t.csv"))
    page = Page(text)
    ids = {value for name, value in page.attributes if name == "id"}
    check({"stages", "charts", "data", "program"} <= ids and page.tags.count("svg") == 1, "places and strobe", ids)
    check(page.tags.count("script") == 3 and "img" not in page.tags, "no tag from a file")
    names = {name for name, _ in page.attributes}
    check(not names & {"src", "href", "onload", "onclick", "onerror"}, "nothing is fetched", names)
    check("url(" not in text and "@import" not in text and "http://" not in text and "https://" not in text,
          "no address")
    check(dict(page.attributes).get("lang") == "en", "a language")
    shown = [t for tag, t in page.texts if tag not in ("script", "style")]
    check(any(EVIL in t for t in shown), "the name is shown as it is")
    check(any("every step solved" in t for t in shown), "the certificate")
    labels = [v for n, v in page.attributes if n == "aria-labelledby"]
    check(len(labels) == page.tags.count("section") > 5 and set(labels) <= ids, "labels for readers", labels)


def test_motion_is_the_trajectory():
    csv = folder / "t.csv"
    data, _ = parts(report(SCENE, "--out", str(csv)))
    rows = table(csv)
    (run,) = data["runs"]
    frames = poses(data, run)
    check(run["moving"] == [1, 2] and [b["name"] for b in run["bodies"]] == ["world", EVIL, "ball"], "bodies")
    check(len(frames) == len(rows) == len(run["time"]), "frames", len(frames), len(rows))
    for frame, row, t in zip(frames, rows, run["time"]):
        near("time", t, row["t"], 1.0, tol=1e-6)
        for k, body in enumerate((EVIL, "ball")):
            for i, column in enumerate(("x", "y", "z")):
                near("position", frame[7 * k + i], row[body + "." + column], 1.0, tol=data["quantum"])
            for i, column in enumerate(("qw", "qx", "qy", "qz")):
                near("quaternion", frame[7 * k + 3 + i], row[body + "." + column], 1.0, tol=data["turn"])
    # the box's corners and the ball's radius
    corners = run["bodies"][1]["shapes"][0]["v"]
    check(len(corners) == 24 and {abs(x) for x in corners} == {0.1}, "box", corners)
    near("radius", run["bodies"][2]["shapes"][0]["r"], 0.1, 1.0)
    near("floor", run["planes"][0]["offset"], 0.0, 1.0)


def test_faces_look_outwards():
    """Every face of every convex shape turns counterclockwise seen from outside."""
    shapes = [{"type": "capsule", "r": 0.05, "half": 0.1}, {"type": "box", "half": [0.1, 0.05, 0.2]},
              {"type": "cylinder", "r": 0.1, "half": 0.1}, {"type": "cone", "r": 0.1, "half": 0.1},
              {"type": "ellipsoid", "radii": [0.1, 0.05, 0.12]},
              {"type": "prism", "points": [[0.1, -0.05], [0, 0.1], [-0.1, -0.05]], "half": 0.1}]
    scene = {"carom": 1, "step": {"dt": 0.01, "duration": 0.02},
             "bodies": [{"name": s["type"], "pos": [i, 0, 0], "shapes": [s]} for i, s in enumerate(shapes)]}
    data, _ = parts(report(scene))
    for body in data["runs"][0]["bodies"][1:]:
        (shape,) = body["shapes"]
        v = [shape["v"][i:i + 3] for i in range(0, len(shape["v"]), 3)]
        loops, f = [], shape["f"]
        while f:
            loops.append(f[1:1 + f[0]])
            f = f[1 + f[0]:]
        edges = {}
        for loop in loops:
            a, b, c = (v[i] for i in loop[:3])
            u, w = [[q - p for p, q in zip(a, x)] for x in (b, c)]
            n = [u[1] * w[2] - u[2] * w[1], u[2] * w[0] - u[0] * w[2], u[0] * w[1] - u[1] * w[0]]
            centre = [sum(v[i][k] for i in loop) / len(loop) for k in range(3)]
            check(sum(p * q for p, q in zip(n, centre)) > 0, body["name"], "a face looks inwards")
            for i, j in zip(loop, loop[1:] + loop[:1]):
                edges[(i, j)] = edges.get((i, j), 0) + 1
        check(all(edges.get((j, i)) == 1 for i, j in edges), body["name"], "the surface is closed")


def test_numbers_are_the_trajectory():
    """Energy, certificate and events of the data, from the HDF5 file's own tables by way of carom export."""
    data, _ = parts(report(SCENE, "--out", str(folder / "t.h5")))
    (run,) = data["runs"]
    status, out, err = carom("export", str(folder / "t.h5"))
    check(status == 0, "export", err)
    wanted = json.loads(out)
    check(len(run["events"]) == len(wanted["events"]) > 0, "events", len(run["events"]))
    for (t, approach, impulse), event in zip(run["events"], wanted["events"]):
        near("time", t, event["time"], 1.0, tol=1e-6)
        near("approach", approach, event["approach"], 1.0, tol=1e-3 * abs(event["approach"]))
        size = sum(x * x for x in event["impulse"]) ** 0.5
        near("impulse", impulse, size, 1.0, tol=1e-3 * size)
    # a frame has the worst certificate since the one before it; here every record is a frame
    for k, name in enumerate(("residual", "penetration", "contacts")):
        for got, row in zip(run[name], wanted["certificate"]):
            near(name, got, row[k], 1.0, tol=1e-6 * abs(row[k]))
    # no force but gravity and contacts: energy falls and never rises beyond rounding
    total = [k + p for k, p in zip(run["kinetic"], run["potential"])]
    check(all(b <= a + 1e-5 * abs(a) for a, b in zip(total, total[1:])), "energy", total[:3])


def test_script():
    _, script = parts(report(SCENE))
    node = shutil.which("node")
    if node is None:
        print("  script not parsed, no node")
        return
    path = folder / "page.js"
    path.write_text(script)
    done = subprocess.run([node, "--check", str(path)], capture_output=True, text=True)
    check(done.returncode == 0, "syntax", done.stderr)


def test_side_by_side():
    """Files side by side; labels are text, and each run has its own data."""
    path = folder / "scene.json"
    path.write_text(json.dumps(SCENE))
    files = []
    for rule in ("newton", "poisson", "sequence"):
        files.append(str(folder / f"{rule}.h5"))
        check(carom("run", str(path), "--rule", rule, "--out", files[-1])[0] == 0, rule)
    status, _, err = carom("plot", *files, "--labels", "a<b>,b&c,</script>", "--out", str(folder / "rules.html"))
    check(status == 0, status, err)
    text = (folder / "rules.html").read_text()
    page = Page(text)
    check(page.tags.count("svg") == 3 and page.tags.count("script") == 3, "three strobes")
    data, _ = parts(text)
    check(len(data["runs"]) == 3, "three runs")
    check([r["label"] for r in data["runs"]] == ["a<b>", "b&c", "</script>"], "labels")
    check(any(t == "a<b>" for _, t in page.texts), "label in the table")
    csv = folder / "t.csv"
    check(carom("run", str(path), "--out", str(csv))[0] == 0, "csv")
    status, _, err = carom("plot", str(csv), "--out", str(folder / "no.html"))
    check(status == 1 and "--scene" in err, "no shapes", status, err)
    check(carom("plot", str(csv), "--scene", str(path), "--out", str(folder / "yes.html"))[0] == 0, "with a scene")


def test_many_records():
    """A long run keeps a page small, and its last frame is the last state."""
    csv = folder / "long.csv"
    scene = dict(SCENE, step={"dt": 0.0001, "duration": 1.5})
    text = report(scene, "--out", str(csv))
    check(len(text) < 640000, "size", len(text))
    data, _ = parts(text)
    frames = poses(data, data["runs"][0])
    check(200 < len(frames) <= 600, "frames", len(frames))
    last = table(csv)[-1]
    near("last time", data["runs"][0]["time"][-1], last["t"], 1.0, tol=1e-6)
    near("last place", frames[-1][0], last[EVIL + ".x"], 1.0, tol=data["quantum"])


def test_refusals():
    path = folder / "scene.json"
    path.write_text(json.dumps(SCENE))
    status, _, err = carom("run", str(path), "--report", str(folder / "no" / "x.html"))
    check(status == 3 and "report" in err, "folder", status, err)
    check(carom("run", str(path), "--report")[0] == 2, "value")
    check(not list(folder.glob("*.partial*")), "nothing half written is left")
    # nothing moves, nothing is there
    for scene in ({"carom": 1}, {"carom": 1, "bodies": [{"name": "f", "joint": "fixed"}]}):
        Page(report(scene))


def test_long_lists_are_folded():
    few = re.search(r"<details( open)?><summary>(\d+) events", report(SCENE))
    check(few and few.group(1) and int(few.group(2)) <= 20, "few events are shown", few and few.group(0))
    status, _, err = carom("run", "dominoes", "--report", folder / "many.html")
    text = (folder / "many.html").read_text()
    many = re.search(r"<details( open)?><summary>(\d+) events \(the first 200\)", text)
    check(many and not many.group(1) and int(many.group(2)) > 200, "many are folded", many and many.group(0))
    check('<div class="wide long"><table>' in text and re.search(r"\.long\{[^}]*max-height", text), "and scroll where unfolded")


def test_what_bodies_hang_on():
    """Strings from a hinge to what hangs on it; joints, springs, ropes and colours as the scene has them."""
    ball = [{"type": "sphere", "r": 0.1, "pos": [0, 0, -1], "material": "brass"}]
    hinge = {"joint": "hinge", "axis": [0, 1, 0], "stiffness": 2}
    scene = {"carom": 1, "step": {"duration": 0.05}, "materials": {"brass": {"color": "#c0a040"}},
             "bodies": [{"name": "hung", **hinge, "shapes": ball},
                        {"name": "rod", "joint": "ball", "pos": [1, 0, 0], "shapes": [{"type": "box", "half": [0.1, 0.1, 1], "pos": [0, 0, -1]}]},
                        {"name": "free", "pos": [3, 0, 0], "shapes": [{"type": "sphere", "r": 0.1}]}],
             "constraints": [{"type": "distance", "bodies": ["free", "world"], "points": [[0, 0, 0], [3, 0, 1]], "length": 1}]}
    scene["bodies"].append({"name": "cart", "parent": "rod", "joint": "slider", "axis": [1, 0, 0], "anchor": [0, 0, -2], "stiffness": 5,
                            "shapes": [{"type": "sphere", "r": 0.1}]})
    run = parts(report(scene))[0]["runs"][0]
    hung, rod, free, cart = run["bodies"][1:]
    check(cart["joint"]["spring"] and cart["joint"]["parent"] == 2 and len(cart["joint"]["at"]) == 3, "a slider's spring begins on its parent", cart)
    check(hung["sticks"] == [[0, 0, -1]] and rod["sticks"] == free["sticks"] == [], "a string where the joint is outside", hung, rod)
    check(hung["joint"] == {"kind": "hinge", "spring": True, "axis": [0, 1, 0]}, hung["joint"])
    check(rod["joint"]["kind"] == "ball" and not rod["joint"]["spring"] and "joint" not in free, rod["joint"])
    check(hung["shapes"][0]["c"] == "#c0a040" and "c" not in free["shapes"][0], "colours")
    check(run["ties"] == [{"a": 3, "b": 0, "p": [0, 0, 0], "q": [3, 0, 1]}], "ropes", run["ties"])


main(globals())
