"""carom plot --what motion: moving pictures show the motion that closed forms give; GIF and films are whole."""
import json
import math
import os
import pathlib
import re
import shutil
import struct
import tempfile
import xml.etree.ElementTree as ET

from command import carom, check, main

SVG = "{http://www.w3.org/2000/svg}"
G = 9.81
HOLD = 1.0  # s for which the last picture stands
folder = pathlib.Path(tempfile.mkdtemp())
# a ball in flight, a wheel that turns in the plane of the picture, a box that tumbles out of it
SCENE = {"carom": 1, "step": {"dt": 0.005, "duration": 0.6},
         "bodies": [{"name": "ball", "pos": [0, 0, 1], "vel": [2, 0, 1], "shapes": [{"type": "sphere", "r": 0.1}]},
                    {"name": "wheel", "joint": "hinge", "axis": [0, 1, 0], "pos": [0.6, 0, 0.5], "omega": 9,
                     "shapes": [{"type": "box", "half": [0.2, 0.05, 0.05]}]},
                    {"name": "box", "pos": [1, 0, 1.5], "vel": [0, 0, 2], "omega": [7, 3, 5],
                     "shapes": [{"type": "box", "half": [0.1, 0.1, 0.1]}]}]}


def record(name="t.h5", scene=SCENE):
    path = folder / "scene.json"
    path.write_text(json.dumps(scene))
    status, out, err = carom("run", path, "--out", folder / name)
    check(status == 0, "run", status, out, err)
    return folder / name


def save(target, *arguments, expect=0, env=None):
    path = folder / target
    path.unlink(missing_ok=True)
    status, out, err = carom("plot", *arguments, "--what", "motion", "--out", path, env=env)
    check(status == expect, "exit status", status, "expected", expect, arguments, err)
    check(path.exists() == (expect == 0), "a picture if and only if all is well", target)
    check(not list(folder.glob("*.partial*")), "nothing half written is left", target)
    return path, err


def points(path):
    return [tuple(map(float, xy)) for xy in re.findall(r"(-?[\d.]+) (-?[\d.]+)", path.get("d"))]


def keyed(animation, share):
    """The value of an animation at a share of its duration, as SMIL defines it."""
    values = [list(map(float, value.split())) for value in animation.get("values").split(";")]
    times = list(map(float, animation.get("keyTimes").split(";")))
    check(len(values) == len(times) and times[0] == 0 and times[-1] == 1, "keys", len(values), times[:1], times[-1:])
    check(all(a <= b for a, b in zip(times, times[1:])), "times ascend")
    for (a, va), (b, vb) in zip(zip(times, values), zip(times[1:], values[1:])):
        if share <= b:
            s = (share - a) / (b - a) if b > a else 1.0
            return [x + s * (y - x) for x, y in zip(va, vb)]
    return values[-1]


def moving(root, kind):
    return [g for g in root.iter(SVG + "g") if g[0].tag == SVG + "animateTransform" and g[0].get("type") == kind]


def test_svg_follows_closed_forms():
    speed = 0.5
    path, _ = save("m.svg", record(), "--speed", speed)
    root = ET.parse(path).getroot()
    duration = 0.6 / speed + HOLD
    for animation in list(root.iter(SVG + "animateTransform")) + list(root.iter(SVG + "animate")):
        check(abs(float(animation.get("dur")[:-1]) - duration) < 1e-3, "it lasts", animation.get("dur"))
        check(animation.get("repeatCount") == "indefinite", "it goes on")
    ball, turn = moving(root, "translate")[0], moving(root, "rotate")
    outline = points(next(ball.iter(SVG + "path")))
    scale = (max(x for x, _ in outline) - min(x for x, _ in outline)) / 0.2  # pixels per metre
    check(len(turn) == 1, "one body turns in the plane", len(turn))
    for i in range(101):
        t = 0.6 * i / 100
        share = t / speed / duration
        dx, dy = keyed(ball[0], share)
        check(abs(dx - scale * 2 * t) < 0.35, "the ball goes right", t, dx, scale * 2 * t)
        check(abs(dy + scale * (t - 0.5 * G * t * t)) < 0.35, "and flies a parabola", t, dy)
        # about +y, which points away from who looks along it: x right, z up turns clockwise
        check(abs(keyed(turn[0][0], share)[0] - math.degrees(9 * t)) < 0.4, "the wheel turns", t, keyed(turn[0][0], share))
    check(keyed(ball[0], 1.0) == keyed(ball[0], 0.6 / speed / duration + 1e-4), "the last picture stands")
    tumbling = [p for p in root.iter(SVG + "path") if len(p) and p[0].get("attributeName") == "d"]
    check(len(tumbling) == 1, "one body tumbles", len(tumbling))
    shapes, times = tumbling[0][0].get("values").split(";"), tumbling[0][0].get("keyTimes").split(";")
    check(len(shapes) == len(times) > 20 and len(set(shapes)) == len(shapes), "an outline for each picture")
    for shape in shapes:  # the shadow of a cube of side 0.2 is a convex figure of area 0.04 to 0.04 sqrt 3
        xy = [tuple(map(float, p)) for p in re.findall(r"(-?[\d.]+) (-?[\d.]+)", shape)]
        area = abs(sum(a[0] * b[1] - b[0] * a[1] for a, b in zip(xy, xy[1:] + xy[:1]))) / 2 / scale**2
        check(0.0399 < area < 0.0694, "the shadow of a cube", area)


def test_few_keys_for_straight_ways():
    flight = dict(SCENE, gravity=[0, 0, 0], bodies=[dict(SCENE["bodies"][0], vel=[2, 1, 0])])
    root = ET.parse(save("s.svg", record(scene=flight))[0]).getroot()
    check(len(moving(root, "translate")[0][0].get("keyTimes").split(";")) == 3, "start, end, and the hold")


def test_seen_from_above_where_nothing_falls():
    scene = dict(SCENE, static=[{"type": "halfspace", "n": [0, 0, 1], "offset": 0}],
                 bodies=[dict(SCENE["bodies"][0], pos=[0, 0, 0.1], vel=[1, 1, 0])])
    root = ET.parse(save("above.svg", record(scene=scene))[0]).getroot()
    dx, dy = keyed(moving(root, "translate")[0][0], 1.0)
    check(dx > 50 and dy < -50, "along y is up", dx, dy)


def test_dark():
    text = save("d.svg", record())[0].read_text()
    check("prefers-color-scheme:dark" in text, "colours for dark screens")


def test_colors_of_materials():
    scene = dict(SCENE, materials={"cloth": {"color": "#C9e0d3"}, "bare": {}}, bodies=[SCENE["bodies"][0]],
                 static=[{"type": "box", "half": [1, 1, 0.1], "pos": [1, 0, 0], "material": "cloth"}])
    file = record(scene=scene)
    filled = [p for p in ET.parse(save("c.svg", file)[0]).getroot().iter(SVG + "path") if "fill:#c9e0d3" in p.get("style", "")]
    check(len(filled) == 1 and filled[0].get("fill-opacity") is None, "the table has its colour, whole", len(filled))
    width, height, colors, frames = read_gif(save("c.gif", file)[0])
    check((0xc9, 0xe0, 0xd3) in colors, "also in pixels")
    for color in ["green", "#c9e0d", "#c9e0d3f", "c9e0d3", "#c9e0dg", 7]:
        bad = folder / "bad.json"
        bad.write_text(json.dumps(dict(scene, materials={"cloth": {"color": color}})))
        status, _, err = carom("run", bad)
        check(status == 1 and "materials.cloth.color" in err, "refused by field", color, err)


def decode(data, colors):
    """LZW of one picture: the list of its pixels."""
    size, at, stream = data[0], 1, bytearray()
    while data[at]:
        stream += data[at + 1:at + 1 + data[at]]
        at += 1 + data[at]
    clear, stop = 1 << size, (1 << size) + 1
    out, bits, held, position, width, table, last = bytearray(), 0, 0, 0, size + 1, [], None
    while True:
        while held < width:
            bits |= stream[position] << held
            held += 8
            position += 1
        code, bits, held = bits & ((1 << width) - 1), bits >> width, held - width
        if code == clear:
            table, width, last = [bytes([i]) for i in range(clear)] + [b"", b""], size + 1, None
            continue
        if code == stop:
            break
        word = table[code] if code < len(table) else last + last[:1]
        if last is not None and len(table) < 4096:
            table.append(last + word[:1])
        if len(table) == 1 << width and width < 12:
            width += 1
        out += word
        last = word
    check(position == len(stream), "nothing is left over", position, len(stream))
    return out, at + 1


def read_gif(path):
    """Width, height, [(hundredths, pixels as (r, g, b))], by the specification of 1990."""
    data = path.read_bytes()
    check(data[:6] == b"GIF89a", "a GIF", data[:6])
    width, height, flags = struct.unpack("<HHB", data[6:11])
    check(flags == 0xf7, "256 common colours")
    colors = [tuple(data[13 + 3 * i:16 + 3 * i]) for i in range(256)]
    at, canvas, frames, stands = 13 + 768, bytearray(width * height), [], 0
    while data[at] != 0x3b:
        if data[at] == 0x21:
            if data[at + 1] == 0xf9:
                stands = struct.unpack("<H", data[at + 4:at + 6])[0]
            at += 2
            while data[at]:
                at += 1 + data[at]
            at += 1
            continue
        check(data[at] == 0x2c, "a picture", data[at])
        x, y, w, h, local = struct.unpack("<HHHHB", data[at + 1:at + 10])
        check(local == 0 and x + w <= width and y + h <= height, "within the screen", x, y, w, h)
        pixels, used = decode(data[at + 10:], colors)
        check(len(pixels) == w * h, "all pixels", len(pixels), w * h)
        for row in range(h):
            canvas[(y + row) * width + x:(y + row) * width + x + w] = pixels[row * w:(row + 1) * w]
        frames.append((stands, bytes(canvas)))
        at += 10 + used
    check(at == len(data) - 1, "it ends with its trailer")
    return width, height, colors, frames


def centre(width, height, colors, pixels, wanted):
    """Centre and area of what has about a colour, above the bar of the time."""
    near = {i for i, c in enumerate(colors) if sum(abs(a - b) for a, b in zip(c, wanted)) < 40}
    found = [(i % width, i // width) for i, p in enumerate(pixels) if p in near and i // width < height - 40]
    return [sum(v) / len(found) + 0.5 for v in zip(*found)] + [len(found)] if found else None


def test_gif_follows_closed_forms():
    flight = dict(SCENE, bodies=[SCENE["bodies"][0]])
    file = record(scene=flight)
    outline = points(next(moving(ET.parse(save("g.svg", file)[0]).getroot(), "translate")[0].iter(SVG + "path")))
    scale = (max(x for x, _ in outline) - min(x for x, _ in outline)) / 0.2
    x0, y0 = (sum(v) / 2 for v in zip(min(outline), max(outline)))
    y0 = (min(y for _, y in outline) + max(y for _, y in outline)) / 2
    width, height, colors, frames = read_gif(save("g.gif", file)[0])
    check(len(frames) == 16 and frames[-1][0] == 100 * HOLD and all(f[0] == 4 for f in frames[:-1]), "25 a second, then a hold",
          [f[0] for f in frames])
    # 0.9 of the blue of the first series on white
    blue = [0.9 * c + 0.1 * 255 for c in (0x00, 0x72, 0xb2)]
    for i in (0, 5, 9, 15):
        # records are 5 ms apart
        t = min(0.04 * i, 0.6)
        x, y, area = centre(width, height, colors, frames[i][1], blue)
        check(abs(x - x0 - scale * 2 * t) < 1.0 and abs(y - y0 + scale * (t - 0.5 * G * t * t)) < 1.0, "where the ball is", i, x, y)
        check(abs(area / (math.pi * (0.1 * scale) ** 2) - 1) < 0.08, "as large as the ball", area)


def test_gif_of_much_that_changes():
    # codes of every length, and dictionaries that fill up
    width, height, colors, frames = read_gif(save("much.gif", record(), "--speed", 2)[0])
    check(len(frames) == 9, "pictures", len(frames))


def test_films():
    tools = folder / "tools"
    tools.mkdir()
    fake = tools / "ffmpeg"
    fake.write_text(f'#!/bin/sh\necho "$@" >"{folder}/asked"\nfor target; do :; done\nwc -c >"${{target#file:}}"\n')
    fake.chmod(0o755)
    env = {"PATH": f"{tools}:{os.environ['PATH']}"}
    file = record()
    for name in ("f.mp4", "f.webm", "-f: odd.mp4"):
        path, _ = save(name, file, env=env)
        asked = (folder / "asked").read_text()
        width, height = map(int, re.search(r"-s (\d+)x(\d+)", asked).groups())
        check(width % 2 == 0 and height % 2 == 0, "an even number of pixels", asked)
        check(f"-f {name.split('.')[-1]} file:" in asked, "the format by its name", asked)
        check(int(path.read_text()) == 3 * width * height * (16 + 25), "every picture, and the hold", path.read_text())
    fake.write_text("#!/bin/sh\necho 'no such codec' >&2\nexit 3\n")
    check("no such codec" in save("f.mp4", file, expect=3, env=env)[1], "what ffmpeg says")
    err = save("f.mp4", file, expect=3, env={"PATH": "/nonexistent"})[1]
    check("ffmpeg" in err and ".gif" in err, "what to do without", err)
    if shutil.which("ffmpeg"):
        check(save("real.mp4", file)[0].read_bytes()[4:8] == b"ftyp", "a film")


def pictures(path):
    """The pictures of an .svg through a camera: [(from, to, [(fill, points)])], and the panel's left, top, right, bottom."""
    root = ET.parse(path).getroot()
    shown = []
    for g in root.iter(SVG + "g"):
        check(g[0].get("attributeName") == "display" and g[0].get("calcMode") == "discrete", "pictures in turn")
        values, times = g[0].get("values").split(";"), [*map(float, g[0].get("keyTimes").split(";")), 1.0]
        at = values.index("inline")
        check(values.count("inline") == 1 and (g.get("display") == "none") == (at > 0), "the first stands where nothing plays")
        marks = [(re.search(r"#(......)", p.get("style", "#      "))[1], float(p.get("fill-opacity", 1)), points(p))
                 for p in g.iter(SVG + "path")]
        shown.append((times[at], times[at + 1], marks))
    check(shown[0][0] == 0 and shown[-1][1] == 1, "from the beginning to the end")
    check(all(a[1] == b[0] for a, b in zip(shown, shown[1:])), "one picture at a time")
    width, height = map(float, root.get("viewBox").split()[2:])
    return shown, (10, 22, width - 10, height - 40)


def middle_of(points):
    """Centre and size of a figure in pixels."""
    lo, hi = [min(v) for v in zip(*points)], [max(v) for v in zip(*points)]
    return [(a + b) / 2 for a, b in zip(lo, hi)], max(b - a for a, b in zip(lo, hi))


def eye_sees(eye, at, distance, panel, zoom=1.0):
    """Pixels of points, by the definition of a pinhole with a field of view of 12 degrees; z is up in the picture."""
    def unit(a):
        return [x / math.hypot(*a) for x in a]

    def cross(a, b):
        return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
    toward = unit(eye)
    right = unit(cross([0, 0, 1], toward))
    up = cross(toward, right)
    pixels = zoom * (panel[3] - panel[1]) / 2 / math.tan(math.radians(6))

    def pixel(x):
        d = [a - b for a, b in zip(x, at)]
        depth = distance - sum(a * b for a, b in zip(d, toward))
        u, v = (sum(a * b for a, b in zip(d, axis)) / depth for axis in (right, up))
        return (panel[0] + panel[2]) / 2 + pixels * u, (panel[1] + panel[3]) / 2 - pixels * v, pixels / depth
    return pixel


# three balls that stand still far from each other, r = 0.1
STILL = {"carom": 1, "step": {"dt": 0.01, "duration": 0.05}, "gravity": [0, 0, -1e-9],
         "bodies": [{"name": n, "pos": p, "shapes": [{"type": "sphere", "r": 0.1}]}
                    for n, p in (("near", [0.3, -1, 0]), ("far", [0, 1.5, 0.4]), ("side", [1, 0, 1]))]}


def test_camera_is_a_pinhole():
    eye = (0.5, -2, 0.7)
    shown, panel = pictures(save("p.svg", record("still.h5", STILL), "--eye", "0.5,-2,0.7")[0])
    lo, hi = (-0.1, -1.1, -0.1), (1.1, 1.6, 1.1)
    centre, half = [(a + b) / 2 for a, b in zip(lo, hi)], [(b - a) / 2 for a, b in zip(lo, hi)]
    # all corners are in the picture with a tenth to spare, and one is just there: solved by halving
    aspect = (panel[2] - panel[0]) / (panel[3] - panel[1])
    corners = [[c + s * h for c, s, h in zip(centre, (1 - 2 * (i & 1), 1 - (i & 2), 1 - (i & 4) / 2), half)] for i in range(8)]

    def fits(distance):
        wide = eye_sees(eye, centre, distance, (-aspect, -1, aspect, 1))
        return all(abs(u) * 1.1 <= aspect and abs(v) * 1.1 <= 1 for u, v, _ in map(wide, corners))
    a, b = 3.0, 1e3
    for _ in range(80):
        a, b = ((a + b) / 2, b) if not fits((a + b) / 2) else (a, (a + b) / 2)
    pixel = eye_sees(eye, centre, b, panel)
    for body in STILL["bodies"]:
        x, y, scale = pixel(body["pos"])
        balls = [middle_of(m[2]) for m in shown[0][2] if m[1] == 1]
        at, size = max((f for f in balls if math.dist(f[0], (x, y)) < 1.0), key=lambda f: f[1], default=((0, 0), 0))
        check(abs(size / (0.2 * scale) - 1) < 0.01, "a ball where the pinhole has it, and as large", body["name"], size, 0.2 * scale)


def test_camera_follows_and_zooms():
    flight = dict(SCENE, bodies=[SCENE["bodies"][0]])
    file = record(scene=flight)

    def ball(*options):
        """Middle and size of the ball in each picture; it is the first figure that is not a shadow, its darkest cap."""
        shown, panel = pictures(save("z.svg", file, "--eye", "0,-1,0", *options)[0])
        seen = ([m[2] for m in marks if m[1] == 1] for _, _, marks in shown)
        return [middle_of(figures[0]) for figures in seen if figures], panel
    (followed, panel), (zoomed, _) = ball("--follow", "ball"), ball("--follow", "ball", "--zoom", 2)
    middle = (panel[0] + panel[2]) / 2, (panel[1] + panel[3]) / 2
    check(len(followed) == 12 and all(math.dist(at, middle) < 0.3 for at, _ in followed), "it stays in the middle", followed[:3])
    check(all(abs(z[1] / f[1] - 2) < 0.02 for z, f in zip(zoomed, followed)), "twice as large", zoomed[0], followed[0])
    free, _ = ball("--zoom", 1)
    check(math.dist(free[0][0], free[-1][0]) > 200, "else it flies through the picture", free[0], free[-1])
    looked, _ = ball("--look", "0,0,1")
    check(math.dist(looked[0][0], middle) < 0.3, "what is looked at is in the middle", looked[0])


def test_camera_order_and_light():
    # from the front the near box hides the far one, whatever their order in the file; tops are lighter than sides
    def box(name, y, size):
        return {"name": name, "pos": [0, y, 0], "shapes": [{"type": "box", "half": [size] * 3, "material": name}]}
    for order in ((0, 1), (1, 0)):
        bodies = [box("red", 0.5, 0.2), box("blue", -1.5, 1.2)]
        scene = dict(STILL, bodies=[bodies[i] for i in order], materials={"red": {"color": "#c00000"}, "blue": {"color": "#0000c0"}})
        shown, _ = pictures(save("o.svg", record("o.h5", scene), "--eye", "0.2,-1,0.6")[0])
        marks = [m for m in shown[0][2] if m[1] == 1]
        red, blue = ([i for i, m in enumerate(marks) if f(m[0])] for f in (lambda c: c[4:] == "00", lambda c: c[:2] == "00"))
        check(red and blue and max(red) < min(blue), "the near one is drawn last", order, red, blue)
        faces = [(m[0], middle_of(m[2])[0][1]) for m in marks if m[0][:2] == "00"][1:]
        check(len(faces) == 3, "three faces are seen", len(faces))
        check(max(faces)[1] == min(f[1] for f in faces), "the top is the lightest", faces)


def test_camera_of_the_page_and_dark():
    # every joint, spring, rope and shape, by the eye of the page
    for name in ("cart-pole", "ball-in-cup", "woodpecker", "pool-table", "gears"):
        check(carom("run", name, "--duration", "0.05", "--out", folder / "page.h5")[0] in (0, 4), "run", name)
        shown, panel = pictures(save("page.svg", folder / "page.h5", "--eye", "page")[0])
        for _, _, marks in shown:
            for _, _, figure in marks:
                for x, y in figure:
                    check(panel[0] - 1 < x < panel[2] + 1 and panel[1] - 1 < y < panel[3] + 1, "within the panel", name, x, y)
    width, height, colors, frames = read_gif(save("dark.gif", record("still.h5", STILL), "--dark")[0])
    check(colors[frames[0][1][0]] == (0x14, 0x17, 0x1b), "dark paper", colors[frames[0][1][0]])


def test_refusals():
    file = record()
    for words, *arguments in [("must end in .svg, .gif", file, "--what", "motion", "--out", folder / "x.png"),
                              ("goes with --what motion", file, "--what", "energy", "--out", folder / "x.gif"),
                              ("goes with --what motion", file, "--out", folder / "x.mp4"),
                              ("--speed", file, "--speed", "2"), ("--speed", file, "--what", "motion", "--speed", "0"),
                              ("--speed", file, "--what", "motion", "--speed", "fast"),
                              ("strobe", file, "--what", "motion", "--times", "0"),
                              ("three numbers", file, "--what", "motion", "--eye", "1,2"),
                              ("three numbers", file, "--what", "motion", "--look", "page"),
                              ("not all zeros", file, "--what", "motion", "--eye", "0,0,0"),
                              ("0.01 to 1000", file, "--what", "motion", "--zoom", "0"),
                              ("did you mean 'wheel'", file, "--what", "motion", "--follow", "whel"),
                              ("one of them", file, "--what", "motion", "--follow", "ball", "--look", "0,0,0"),
                              ("--eye goes with --what motion", file, "--what", "energy", "--eye", "page"),
                              ("--dark goes with --what motion", file, "--what", "energy", "--dark"),
                              ("screen", file, "--what", "motion", "--dark", "--out", folder / "x.svg"),
                              ("needs a value", file, "--what", "motion", "--eye")]:
        status, out, err = carom("plot", *arguments)
        check(status == 2 and words in err, "refused", arguments, status, err)
    save("x.svg", folder / "none.h5", expect=3)
    check("cannot be written" in save("no/where.gif", file, expect=3)[1], "an unwritable target")


def test_visuals():
    """A body with visuals is drawn as one whose shapes they are, in every kind of picture; its own shapes are not seen."""
    mesh = {"type": "mesh", "vertices": [[0, 0, 0], [0.3, 0, 0], [0, 0.2, 0], [0, 0, 0.4]],
            "triangles": [[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]], "color": "#aa3311"}
    ball = {"type": "sphere", "r": 0.1, "pos": [0, 0, 0.3]}
    body = {"name": "b", "pos": [0, 0, 1], "vel": [1, 0, 1], "omega": [1, 2, 3], "mass": 1, "inertia": 0.1, "com": [0, 0, 0]}

    def pictures(name, **parts):
        path = record(f"{name}.h5", {"carom": 1, "step": {"dt": 0.01, "duration": 0.3}, "bodies": [dict(body, **parts)]})
        out = []
        for kind, ending, *rest in (("motion", "svg"), ("motion", "svg", "--eye", "1,-2,1"), ("motion", "gif", "--eye", "page"),
                                    ("strobe", "svg"), ("elevation", "svg"), ("plan", "svg")):
            target = folder / f"visual.{ending}"
            status, _, err = carom("plot", path, "--what", kind, *rest, "--labels", "x", "--out", target)
            check(status == 0, kind, ending, err)
            out.append(target.read_bytes())
        status, _, err = carom("plot", path, "--labels", "x", "--out", folder / "visual.html")
        out.append(re.findall(r'"shapes":(\[.*?\])', (folder / "visual.html").read_text()))
        return out

    expected = pictures("shapes", shapes=[mesh, ball])
    got = pictures("visuals", shapes=[{"type": "box", "half": [0.5, 0.5, 0.5]}], visuals=[mesh, ball])
    other = pictures("other", shapes=[{"type": "box", "half": [0.5, 0.5, 0.5]}])
    check(len(expected[-1]) > 0 and expected == got, "pictures are those of the visuals", [a == b for a, b in zip(expected, got)])
    check(all(a != b for a, b in zip(expected, other)), "and not those of the shapes")


if __name__ == "__main__":
    try:
        main(globals())
    finally:
        shutil.rmtree(folder, ignore_errors=True)
