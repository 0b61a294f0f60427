"""carom plot: pictures of every kind are valid and show what the trajectory says; refusals name what is wrong."""
import json
import pathlib
import re
import shutil
import tempfile
import xml.etree.ElementTree as ET

from command import SOURCE, carom, check, main, near

SVG = "{http://www.w3.org/2000/svg}"
G = 9.81
# two balls in flight, one of them twice as large, and one that hits the floor
SCENE = {"carom": 1, "step": {"dt": 0.01, "duration": 0.5},
         "static": [{"type": "halfspace", "n": [0, 0, 1], "offset": 0}],
         "bodies": [{"name": "a", "pos": [0, 0, 2], "vel": [1, 0, 1], "shapes": [{"type": "sphere", "r": 0.1}]},
                    {"name": "big", "pos": [1, 0, 2], "vel": [0.5, 0, 0], "shapes": [{"type": "sphere", "r": 0.2}]},
                    {"name": "drop", "pos": [2, 0, 0.2], "vel": [0, 0, -1],
                     "shapes": [{"type": "box", "half": [0.1, 0.1, 0.1]}]}]}
TETRAHEDRON = [[0, 0, 0], [0.2, 0, 0], [0, 0.2, 0], [0, 0, 0.2]]
CHARTS = ["energy", "positions", "velocities", "forces", "certificate", "events"]
VIEWS = ["strobe", "plan", "elevation"]
folder = pathlib.Path(tempfile.mkdtemp())


def make(name, scene=SCENE, *options):
    path = folder / "scene.json"
    path.write_text(json.dumps(scene))
    status, out, err = carom("run", str(path), "--out", str(folder / name), *options)
    check(status == 0, "run", status, out, err)
    return str(folder / name)


def plot(*arguments, expect=0, out="picture.svg"):
    target = folder / out
    target.unlink(missing_ok=True)
    status, text, err = carom("plot", *map(str, arguments), "--out", str(target))
    check(status == expect, "exit status", status, "expected", expect, arguments, err)
    check(target.exists() == (expect == 0), "a picture if and only if all is well", arguments)
    check(not list(folder.glob("*.partial*")), "nothing half written is left", arguments)
    return target, err


def picture(*arguments):
    target, _ = plot(*arguments)
    root = ET.parse(target).getroot()
    check(root.tag == SVG + "svg", "an SVG")
    return root


def texts(root):
    return [t.text for t in root.iter(SVG + "text")]


def points(path):
    return [tuple(map(float, xy)) for xy in re.findall(r"(-?[\d.]+) (-?[\d.]+)", path.get("d"))]


def lines(root, ink, width="1.7"):
    """Points of the curves of one colour."""
    return [points(p) for p in root.iter(SVG + "path")
            if p.get("class").split()[-1] == f"line-{ink}" and p.get("stroke-width") == width]


def test_every_kind():
    h5, csv = make("t.h5"), make("t.csv")
    for what in CHARTS + VIEWS:
        root = picture(h5, "--what", what)
        check(len(list(root.iter(SVG + "path"))) > 5, what, "is drawn")
    picture(h5, "--what", "impulses", "--at", "0.1")
    for what in ["positions", "velocities"]:
        picture(csv, "--what", what)
    scene = folder / "scene.json"
    for what in ["energy", "positions", "velocities", "forces"] + VIEWS:
        picture(csv, "--what", what, "--scene", scene)
    # a scene that comes with carom is found by its name, as carom run finds it, and is the same picture
    rack = str(folder / "rack.csv")
    check(carom("run", "pool-break", "--out", rack)[0] in (0, 4), "run")
    by_name = ET.tostring(picture(rack, "--what", "strobe", "--scene", "pool-break"))
    check(by_name == ET.tostring(picture(rack, "--what", "strobe", "--scene", SOURCE / "scenes/pool-break.json")), "a scene by name")
    names = texts(picture(h5))
    check("energy [J]" in names and "z [m]" in names and "drop" in names, "the default", names)
    names = texts(picture(h5, "--what", "positions", "--bodies", "big"))
    check("big" in names and "drop" not in names, "chosen bodies", names)


def test_ropes_pins_and_springs():
    """Their ends are where the bodies are: lengths in pixels by the scale of a ball of known size."""
    ball = {"type": "sphere", "r": 0.1}
    scene = {"carom": 1, "gravity": [0, 0, 0], "step": {"dt": 0.01, "duration": 0.02},
             "bodies": [{"name": "roped", "pos": [0, 0, 0.3], "shapes": [ball]},
                        {"name": "slides", "joint": "slider", "axis": [0, 0, 1], "pos": [1, 0, 0], "shift": 0.4, "stiffness": 1e-9, "shapes": [ball]},
                        {"name": "turns", "joint": "hinge", "axis": [0, 1, 0], "pos": [2, 0, 0], "stiffness": 1e-9,
                         "shapes": [{**ball, "pos": [0, 0, -0.2]}]}],
             "constraints": [{"type": "distance", "bodies": ["world", "roped"], "points": [[0, 0, 1], [0, 0, 0]], "length": 0.7}]}
    root = picture(make("joints.h5", scene), "--what", "elevation", "--times", "0.02")
    outlines = [points(p) for p in root.iter(SVG + "path") if "fill-" in (p.get("class") or "") and len(points(p)) > 20]
    balls = [(min(x for x, _ in o), max(x for x, _ in o), min(y for _, y in o), max(y for _, y in o)) for o in outlines]
    check(len(balls) == 3, "three balls", len(balls))
    scale = (balls[0][1] - balls[0][0]) / 0.2
    drawn = [points(p) for p in root.iter(SVG + "path") if "line-2" in (p.get("class") or "") and p.get("stroke-width") == "1.3"]
    by_count = {len(path): path for path in drawn}
    check(sorted(by_count) == [2, 11, 48], "a rope, a zigzag and a spiral", sorted(by_count))
    for count, length in ((2, 0.7), (11, 0.4)):
        (x0, y0), (x1, y1) = by_count[count][0], by_count[count][-1]
        check(abs(x1 - x0) < 0.3 and abs(abs(y1 - y0) - length * scale) < 0.4, count, "has the length", length, abs(y1 - y0) / scale)
    pins = [points(p) for p in root.iter(SVG + "path") if p.get("class") == "fill-2" and len(points(p)) == 13]
    check(len(pins) == 1, "one pin", len(pins))
    middle = [sum(c) / 12 for c in zip(*pins[0][:12])]
    turning = max(balls)
    check(abs(middle[0] - (turning[0] + turning[1]) / 2) < 0.4, "the pin is above its ball", middle, turning)
    check(abs((turning[2] + turning[3]) / 2 - middle[1] - 0.2 * scale) < 0.4, "by its distance", middle, turning)


def test_other_formats():
    if shutil.which("gnuplot") is None:
        print("  PNG and PDF skipped, no gnuplot")
        return
    h5 = make("t.h5")
    for extension, begin in (("png", b"\x89PNG\r\n\x1a\n"), ("pdf", b"%PDF-")):
        for what in ["energy", "strobe"]:
            target, _ = plot(h5, "--what", what, out="picture." + extension)
            check(target.read_bytes().startswith(begin), extension, what)


def scaled(curve):
    """0 to 1 along x, and the same for y between the first and last point."""
    (x0, y0), (x1, y1) = curve[0], curve[-1]
    return [((x - x0) / (x1 - x0), (y - y0) / (y1 - y0)) for x, y in curve]


def test_curves_are_the_motion():
    """Free flight: x is a straight line, z a parabola. Pixels are written to a tenth."""
    h5 = make("t.h5")
    root = picture(h5, "--what", "positions", "--bodies", "a")
    x, z = lines(root, 6)
    check(len(x) == 51, "all records are drawn", len(x))
    for s, y in scaled(x):
        near("straight", y, s, 1.0, tol=3e-3)
    # z = 2 + t - g t^2/2 over half a second
    def height(s):
        t = 0.5 * s
        return (t - 0.5 * G * t * t) / (0.5 - 0.125 * G)
    for s, y in scaled(z):
        near("parabola", y, height(s), 1.0, tol=6e-3)


def test_energy_and_forces():
    """Energy of bodies in flight is kept; the box that rests is held up by its weight."""
    h5 = make("t.h5")
    root = picture(h5, "--what", "forces", "--bodies", "drop")
    resting = lines(root, 6)[-1][-10:]
    check(max(y for _, y in resting) - min(y for _, y in resting) < 0.2, "a constant force at rest", resting)
    flying = lines(picture(h5, "--what", "energy", "--to", "0.05"), 8)
    check(len(flying) == 1, "the total", flying)


def test_window():
    h5 = make("t.h5")
    root = picture(h5, "--what", "positions", "--bodies", "a", "--from", "0.1", "--to", "0.2")
    check(len(lines(root, 6)[0]) == 11, "records between", len(lines(root, 6)[0]))


def width(root, ink):
    spans = [max(x for x, _ in points(p)) - min(x for x, _ in points(p)) for p in root.iter(SVG + "path")
             if p.get("class") == f"fill-{ink} line-{ink}"]
    return max(spans)


def test_shapes_have_their_size():
    root = picture(make("t.h5"), "--what", "strobe", "--times", "0,0.25,0.5")
    near("twice as large", width(root, 7) / width(root, 6), 2.0, 1.0, tol=0.01)
    near("round", width(root, 6) / width(root, 8), 1.0, 1.0, tol=0.02)  # as wide as the box
    count = sum(p.get("class") == "fill-6 line-6" for p in root.iter(SVG + "path"))
    check(count == 3, "one outline per time", count)
    check({"0 s", "0.25 s", "0.5 s"} <= set(texts(root)), "times", texts(root))


def test_several_files():
    coarse, fine = make("coarse.h5", SCENE, "--dt", "0.02"), make("fine.h5")
    names = texts(picture(coarse, fine, "--what", "energy"))
    check("coarse" in names and "fine" in names, "both in the legend", names)
    names = texts(picture(coarse, fine, "--what", "strobe", "--labels", "one,two"))
    check("one" in names and "two" in names, "labels", names)


def test_every_shape():
    """All kinds of shapes, and a body without any, from three sides."""
    shapes = [{"type": "sphere", "r": 0.1}, {"type": "capsule", "r": 0.05, "half": 0.1},
              {"type": "box", "half": [0.1, 0.05, 0.1]}, {"type": "cylinder", "r": 0.1, "half": 0.1},
              {"type": "cone", "r": 0.1, "half": 0.1}, {"type": "ellipsoid", "radii": [0.1, 0.05, 0.12]},
              {"type": "prism", "points": [[0.1, 0], [0, 0.1], [-0.1, 0]], "half": 0.1},
              {"type": "mesh", "vertices": TETRAHEDRON, "triangles": [[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]]}]
    bodies = [{"name": s["type"], "pos": [i, 0, 0.5], "omega": [1, 2, 3], "shapes": [s]}
              for i, s in enumerate(shapes)]
    bodies.append({"name": "stick", "joint": "hinge", "axis": [0, 1, 0], "pos": [0, 0, 2], "com": [0.2, 0, 0],
                   "mass": 1, "inertia": 0.1})
    h5 = make("shapes.h5", {"carom": 1, "step": {"dt": 0.01, "duration": 0.1}, "bodies": bodies,
                             "static": [{"type": "heightfield", "nx": 3, "ny": 2, "dx": 4, "dy": 1,
                                         "z": [0, 0.4, 0, 0.4, 0, 0.4]}]})
    for what in VIEWS:
        root = picture(h5, "--what", what, "--times", "0.1")
        for ink in [4, *range(6, 14)]:
            drawn = [p for p in root.iter(SVG + "path") if f"line-{ink}" in p.get("class")]
            check(drawn, what, "colour", ink)


def test_bad_files():
    csv = make("t.csv")
    good = pathlib.Path(csv).read_text().splitlines(True)
    cases = {
        "no-such-file.csv": (None, 3, "cannot read"),
        "no-such-file.h5": (None, 3, "cannot read"),
        "t.txt": ("", 1, ".csv, .h5 or .hdf5"),
        "empty.csv": ("", 1, "no whole line"),
        "header.csv": ("time,a.x\n", 1, "1:1: header"),
        "joint.csv": ("t,a.x,a.z\n", 1, "1:2: header"),
        "word.csv": (good[0] + good[1].replace(",", ",one", 1), 1, "2:3: cell"),
        "short.csv": (good[0] + "0,1\n", 1, "2:4: row"),
        "long.csv": (good[0] + good[1].rstrip("\n") + ",7\n", 1, "more cells"),
        "back.csv": ("".join(good[:2]) + good[1], 1, "later"),
        "inf.csv": (good[0] + good[1].replace("0,", "1e999,", 1), 1, "finite"),
        "none.csv": (good[0], 1, "no record"),
        "garbage.h5": ("\x89HDF not really", 3, "not HDF5"),
    }
    for name, (text, expect, says) in cases.items():
        path = folder / name
        if text is not None:
            path.write_text(text)
        _, err = plot(path, expect=expect)
        check(says in err, name, "says", err)
    # a killed run: the line that was cut off is left out
    cut = folder / "cut.csv"
    cut.write_text("".join(good)[:-5])
    root = picture(cut, "--what", "positions", "--bodies", "a")
    check(len(lines(root, 6)[0]) == 50, "one record less", len(lines(root, 6)[0]))


def test_strange_numbers():
    """Numbers that no picture can hold: still a picture, and no hang."""
    path, scene = folder / "far.csv", folder / "one.json"
    scene.write_text(json.dumps({"carom": 1, "bodies": [{"name": "a", "shapes": [{"type": "sphere", "r": 1}]}]}))
    header = "t,a.x,a.y,a.z,a.qw,a.qx,a.qy,a.qz,a.vx,a.vy,a.vz,a.wx,a.wy,a.wz\n"
    rows = {"large": ["0,1e308,0,0,1,0,0,0,1e300,0,0,0,0,0", "1,-1e308,0,0,1,0,0,0,-1e300,0,0,0,0,0"],
            "late": ["1e16,0,0,0,1,0,0,0,0,0,0,0,0,0", "10000000000000002,1,0,0,1,0,0,0,0,0,0,0,0,0"],
            "far": ["0,1e20,1e20,1e20,1,0,0,0,0,0,0,0,0,0", "1,1e20,1e20,1e20,1,0,0,0,0,0,0,0,0,0"],
            "still": ["0,0,0,0,0,0,0,0,0,0,0,0,0,0"]}
    for lines_ in rows.values():
        path.write_text(header + "\n".join(lines_) + "\n")
        for what in ["positions", "forces", "strobe"]:
            picture(path, "--scene", scene, "--what", what)
        target, _ = plot(path, "--scene", scene, out="far.html")
        data = re.search(r'id="data">(.*?)</script>', target.read_text(), re.S).group(1)
        check(json.loads(data)["runs"][0]["moving"] == [1], "data")


def test_refusals():
    h5, csv = make("t.h5"), make("t.csv")
    other = folder / "other.json"
    other.write_text(json.dumps({"carom": 1, "bodies": [{"name": "x", "mass": 1, "inertia": 1}]}))
    broken = folder / "broken.json"
    broken.write_text('{"carom": 1, "bodis": []}')
    for arguments, expect, says in (
            ([csv, "--what", "strobe"], 1, "--scene"), ([csv, "--what", "forces"], 1, "--scene"),
            ([csv, "--what", "energy"], 1, "--scene"), ([csv, "--what", "events"], 1, "HDF5"),
            ([csv, "--what", "certificate"], 1, "HDF5"),
            ([csv, "--scene", other], 1, "bodies"), ([csv, "--scene", broken], 1, "bodis"),
            ([csv, "--scene", "pool-braek"], 3, "pool-break"),
            ([h5, "--what", "enrgy"], 2, "energy"), ([h5, "--bodies", "bigg"], 2, "big"),
            ([h5, "--what", "impulses"], 2, "--at"), ([h5, "--at", "1"], 2, "impulses"),
            ([h5, "--times", "1"], 2, "strobe"), ([h5, "--from", "2", "--to", "1"], 2, "after"),
            ([h5, "--from", "x"], 2, "number"), ([h5, "--from", "7"], 1, "no record"),
            ([h5, "--labels", "a,b"], 2, "labels"), ([], 2, "which"), ([h5, "--colour"], 2, "unknown option")):
        _, err = plot(*arguments, expect=expect)
        check(says in err, arguments, "says", err)
    check(carom("plot", h5, "--out", "x.gif")[0] == 2, "extension")
    check(carom("plot", h5, "--what")[0] == 2, "value")
    check(carom("plot", h5, "--out", str(folder / "no" / "x.svg"))[0] == 3, "folder")
    check(carom("plot", "--help")[0] == 0, "help")


def test_times_cover_nothing():
    # a rack that flies apart: balls are drawn as closed outlines, times as texts of size 11
    for rule in ["poisson", "sequence", "chain"]:
        file = str(folder / "rack.h5")
        check(carom("run", "pool-break", "--rule", rule, "--out", file)[0] in (0, 4), "run")
        root = picture(file, "--what", "plan", "--from", "0.09", "--times", "0.09,0.11,0.14")
        balls = []
        for path in root.iter(SVG + "path"):
            if "fill-" in (path.get("class") or "") and len(points(path)) > 20:
                xs, ys = zip(*points(path))
                balls.append(((min(xs) + max(xs)) / 2, (min(ys) + max(ys)) / 2, (max(xs) - min(xs)) / 2))
        check(len(balls) == 48, "sixteen balls, three times", len(balls))
        labels = [t for t in root.iter(SVG + "text") if re.fullmatch(r"[\d.]+ s", t.text)]
        left = [t.text for t in root.iter(SVG + "text") if t.text.startswith("also at")]
        check(len(labels) + sum(text.count(",") + 1 for text in left) == 3, "every time is said", [t.text for t in labels], left)
        boxes = []
        for label in labels:
            x, y, half = float(label.get("x")), float(label.get("y")), 0.5 * 0.55 * 11 * len(label.text)
            boxes.append((x - half, y - 8, x + half, y))
            for cx, cy, r in balls:
                dx, dy = max(x - half - cx, 0, cx - x - half), max(y - 8 - cy, 0, cy - y)
                check(dx * dx + dy * dy >= (r - 0.6) ** 2, "a time lies on a ball", rule, label.text, cx, cy)
        for i, a in enumerate(boxes):
            for b in boxes[:i]:
                check(a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1], "two times lie on each other", rule)


def row_of_balls(count):
    return {"carom": 1, "gravity": [0, 0, 0], "step": {"dt": 0.01, "duration": 0.1},
            "bodies": [{"name": f"n{i}", "pos": [i, 0, 0], "vel": [1, i, 0], "shapes": [{"type": "sphere", "r": 0.1}]}
                       for i in range(count)]}


def test_charts_say_what_they_leave_out():
    for count, wanted in [(16, 12), (12, 12), (3, 3)]:
        file = make("row.h5", row_of_balls(count))
        for what in ["positions", "velocities", "forces"]:
            words = texts(picture(file, "--what", what))
            said = [t for t in words if "bodies" in t and " of " in t]
            check(bool(said) == (wanted < count), "bodies that are left out are counted", what, count, words)
            check(all(f"{wanted} of {count} bodies" in t for t in said), "as many as there are", said)
            check(sum(t.startswith("n") and t[1:].isdigit() for t in words) % wanted == 0, "those that are shown", words)
        if count == 16:
            check(any("2 of 16 bodies" in t for t in texts(picture(file, "--what", "positions", "--bodies", "n1,n2"))), "chosen ones")
    # of residuals, which are 0 while nothing touches, a logarithmic axis shows none
    words = texts(picture(make("row.h5", row_of_balls(2)), "--what", "certificate"))
    check(sum(t == "without 11 values of 0" for t in words) == 2, "zeros on a logarithmic axis", words)


def test_compare_names_bodies():
    scene = folder / "scene.json"
    for count in (1, 16):
        scene.write_text(json.dumps(row_of_balls(count)))
        target = folder / "compare.svg"
        status, _, err = carom("compare", scene, "--rule", "newton,poisson,coupled,weighted,sequence,chain", "--plot", target)
        check(status == 0, "compare", err)
        words = texts(ET.parse(target).getroot())
        shown = [t for t in words if re.search(r"\bn\d+\b", t)]
        check(shown, "which bodies are drawn is said", words)
        check(count == 1 or any("2 of 16 bodies" in t for t in words), "and how many are not", words)
    # a single body is in the title, since the legend has the rules
    scene.write_text(json.dumps(row_of_balls(16)))
    carom("compare", scene, "--rule", "newton,poisson", "--bodies", "n7", "--plot", target)
    check(any(t.endswith(", n7") for t in texts(ET.parse(target).getroot())), "one body")


main(globals())
