"""carom audit: answers to problems and trajectories of scenes, judged from outside; refusals; files it writes."""
import html.parser
import json
import math
import re

from command import Folder, carom, check, main, near, scene

G = 9.81
BALL = {"carom": 1, "step": {"dt": 0.01, "duration": 0.5},
        "bodies": [{"name": "ball", "pos": [0, 0, 5], "mass": 2, "shapes": [{"type": "sphere", "r": 0.1}]}],
        "static": [{"type": "halfspace", "n": [0, 0, 1], "offset": 0}]}


def audit(*arguments, expect=0):
    status, out, err = carom("audit", *arguments, "--json")
    check(status == expect, arguments, "exit status", status, "expected", expect, out, err)
    return json.loads(out)


def refused(word, *arguments, status=1):
    got, out, err = carom("audit", *arguments)
    check(got == status and word in err, arguments, got, out, err, "expected", word)
    return err


def bounce(folder, name, after, digits=17, velocities=True, order=None, rotation=True):
    """A ball that flies from 5 m at 4 m/s up and is turned to the speed `after` at record 20, 4.8 m above all else."""
    h, z, v, rows = 0.01, 5.0, 4.0, []
    for i in range(50):
        if i == 20:
            v = after
        rows.append({"t": i * h, "ball.x": 0, "ball.y": 0, "ball.z": z, "ball.qw": 1, "ball.qx": 0, "ball.qy": 0,
                     "ball.qz": 0, "ball.vx": 0, "ball.vy": 0, "ball.vz": v, "ball.wx": 0, "ball.wy": 0, "ball.wz": 0})
        z += h * v - G * h * h / 2
        v -= G * h
    names = order or list(rows[0])
    names = [n for n in names if velocities or n.split(".")[-1] not in ("vx", "vy", "vz", "wx", "wy", "wz")]
    path = folder / name
    path.write_text("\n".join([",".join(names)] + [",".join(f"{row[n]:.{digits}g}" for n in names) for row in rows]) + "\n")
    return path


def test_bounce_in_the_air():
    before = 4.0 - G * 0.2
    with Folder() as folder:
        where = scene(folder, BALL)
        for velocities in (True, False):
            report = audit(where, bounce(folder, "up.csv", 5.0, velocities=velocities), expect=4)
            near("speed", report["momentum"]["value"], 5.0 - before, 1.0, 1e-9)
            near("energy", report["energy"]["gain"], 0.5 * 2 * (25 - before * before), 1.0, 1e-8)
            check(report["jumps"] == 1 and report["velocities"] == velocities, report)
            check(report["momentum"]["a"] == "ball" and report["no_gain"] == "no" and report["flies"] == "no", report)
            fine = audit(where, bounce(folder, "fine.csv", before, velocities=velocities), expect=0)
            check(fine["holds"] == "yes" and fine["jumps"] == 0 and fine["energy"]["gain"] == 0, fine)
        order = ["ball.vz", "ball.z", "note", "t"]
        full = bounce(folder, "full.csv", before).read_text().splitlines()
        names = full[0].split(",")
        columns = [names[-1 - i] for i in range(len(names))]
        rows = [dict(zip(names, line.split(","))) for line in full[1:]]
        (folder / "turned.csv").write_text("\n".join([",".join(["note"] + columns)]
                                                     + [",".join(["x"] + [r[n] for n in columns]) for r in rows]) + "\n")
        turned = audit(where, folder / "turned.csv")
        check({**turned, "trajectory": 0} == {**audit(where, folder / "full.csv"), "trajectory": 0}, order, turned)


def test_digits():
    before = 4.0 - G * 0.2
    with Folder() as folder:
        where = scene(folder, BALL)
        path = bounce(folder, "few.csv", before, digits=5)
        few = audit(where, path, expect=5)
        # five digits of numbers below 10: half of 1e-4
        near("digits", few["digits"]["position"], 5e-5, 1.0)
        check(few["momentum"]["value"] <= few["momentum"]["floor"] and few["no_gain"] == "cannot tell", few)
        exact = audit(where, path, "--exact", expect=4)
        check(exact["digits"]["position"] == 0 and exact["energy"]["gain"] > 0, exact)


def test_own_run():
    with Folder() as folder:
        where = scene(folder, BALL)
        for end in ("csv", "h5"):
            out = folder / f"own.{end}"
            status, _, err = carom("run", where, "--out", out, "--duration", 1.5)
            if end == "h5" and status != 0 and "HDF5" in err:
                print("hdf5: skipped, built without")
                continue
            check(status == 0, err)
            steps, picture = folder / "steps.csv", folder / "steps.svg"
            report = audit(where, out, "--per-step", steps, "--plot", picture)
            check(report["holds"] == "yes" and report["flights"] > 50 and report["overlap"]["value"] < 1e-6, report)
            rows = [dict(zip(steps.read_text().splitlines()[0].split(","), line.split(",")))
                    for line in steps.read_text().splitlines()[1:]]
            check(len(rows) == report["records"] == 151, len(rows), report["records"])
            near("energy", float(rows[0]["energy"]), 2 * G * 5, 1.0)
            near("energy", float(rows[30]["energy"]), 2 * G * 5, 1.0, 1e-11)
            check("<svg" in picture.read_text(), "no picture")
        status, out, err = carom("audit", where, folder / "own.csv")
        check(status == 0 and "kept" in out and "flights" in out and err == "", out, err)


def test_agrees_with_certificates():
    """Energy gained, from the file alone, is what the certificates of the steps say; corners that hit are no jumps."""
    with Folder() as folder:
        for name in ("pendulum", "spinning-disc", "bouncing-pen", "rocking-rod", "tetrahedron"):
            out = folder / f"{name}.csv"
            run = json.loads(carom("run", name, "--out", out, "--json")[1])
            report = json.loads(carom("audit", name, out, "--json")[1])
            gain = run["certificate"]["energy_gain"]
            check((gain > 0) == (name in ("pendulum", "spinning-disc")), name, gain)
            near("gain of certificates", report["energy"]["gain"], gain, max(gain, 1e-300), 1e-9)
            check(report["jumps"] == 0 and report["flies"] == "yes", name, report)


def test_poses_of_joints():
    """A pendulum given by the pose of its bob, as engines without joint coordinates have it."""
    tree = {"carom": 1, "bodies": [{"name": "bob", "joint": "hinge", "axis": [0, 1, 0], "pos": [0, 0, 2], "mass": 1,
                                    "com": [0, 0, -1], "inertia": [0.1, 0.1, 0.1]}]}
    with Folder() as folder:
        where = scene(folder, tree)
        lines = ["t,bob.x,bob.y,bob.z,bob.qw,bob.qx,bob.qy,bob.qz,bob.vx,bob.vy,bob.vz,bob.wx,bob.wy,bob.wz"]
        for i in range(3):
            a = 0.1 * i
            c, s = math.cos(a / 2), math.sin(a / 2)
            w = 1.0
            # centre at (-sin a, 0, -cos a) below the hinge, omega about y
            lines.append(",".join(map(repr, [a, 0, 0, 2, c, 0, s, 0, -w * math.cos(a), 0, w * math.sin(a), 0, w, 0])))
        path = folder / "bob.csv"
        path.write_text("\n".join(lines) + "\n")
        report = audit(where, path, expect=4)
        rise = G * (1 - math.cos(0.2))
        near("energy of a pendulum that keeps its speed", report["energy"]["gain"], rise, 1.0, 1e-12)
        near("T + U", report["energy"]["start"], 0.5 + 0.05 + G * 1.0, 1.0)


def test_refusals():
    with Folder() as folder:
        where = scene(folder, BALL)
        good = bounce(folder, "good.csv", 4.0 - G * 0.2).read_text()
        bad = folder / "bad.csv"

        def word(text, expected):
            bad.write_text(text)
            return refused(expected, where, bad)

        word(good.replace("ball.", "bal."), "did you mean 'ball'?")
        word(good.replace("ball.qx", "ball.foo"), "no column ball.qx")
        word(good.replace("t,", "s,", 1), "no column t or time")
        lines = good.splitlines()
        err = word("\n".join(lines[:5] + [lines[4]] + lines[5:]) + "\n", "must be later")
        check(":6:" in err, "line", err)
        err = word("\n".join(lines[:3] + [lines[3].replace(",1,", ",nan,", 1)] + lines[4:]) + "\n", "'nan'")
        check(":4:" in err and "ball.qw" in err, "line", err)
        word("\n".join(lines[:3] + [lines[3] + ",7"]) + "\n", "cells")
        word("\n".join(lines[:3] + [lines[3].replace(",1,", ",1.5,", 1)]) + "\n", "norm")
        word(lines[0] + "\n", "no record")
        refused("cannot open", where, folder / "none.csv", status=3)
        refused("no such file", folder / "none.json", bad, status=3)
        for arguments in ((), (where, bad, bad), (where, bad, "--p", bad), (where, "--plot", "x.svg"), (where, bad, "--speed", "-1"),
                          (where, bad, "--nothing")):
            check(carom("audit", *arguments)[0] == 2, arguments)
        # velocities that are not all there are not used, and that is said
        bad.write_text(good.replace("ball.wz", "other"))
        status, out, _ = carom("audit", where, bad)
        check(status == 0 and "ball.wz is missing" in out and "from differences" in out, out)


def test_problem():
    # one row, u_free = -1, W = 2: p = 0.5
    tree = {"format": "carom-problem", "version": 1}
    with Folder() as folder:
        status, text, _ = carom("examples", "two-block-stack")
        problem = folder / "stack.json"
        problem.write_text(text)
        refused("no answer to be judged", problem)
        solved = json.loads(carom("solve", problem, "--json")[1])
        p = solved["p"]
        forms = {"list.json": json.dumps(p), "object.json": json.dumps({"p": p}), "table.csv": ",".join(map(repr, p)),
                 "lines.txt": "# impulses\n" + "\n".join(map(repr, p)), "pairs.json": json.dumps([p[:2], p[2:]])}
        for name, content in forms.items():
            (folder / name).write_text(content)
            report = audit(problem, "--p", folder / name)
            check(report["outcome"] == "solved" and report["holds"] == "yes", name, report, tree)
            check(report["audit"] == solved["audit"], name, "the same figures as solve")
        # an impulse that is off by d makes the velocities of its own row off by W_ii d
        (folder / "off.txt").write_text(" ".join(repr(1.1 * x) for x in p))
        off = audit(problem, "--p", folder / "off.txt", expect=4)
        # friction that slides and is too large by a known part: the neighbour at the cone's edge is that far away
        (folder / "rub.txt").write_text(" ".join(map(repr, [p[0], 1.25 * p[1], p[2], p[3]])))
        rub = audit(problem, "--p", folder / "rub.txt")
        near("neighbour", rub["impulse_change"], 0.25 * abs(p[1]), 1.0)
        near("cone", rub["audit"]["cone"], 0.25 * abs(p[1]), 1.0)
        check(off["outcome"] == "limit" and off["holds"] == "no" and off["audit"]["eta"] > 1e-3, off)
        near_enough = audit(problem, "--p", folder / "off.txt", "--tol", 0.9)
        check(near_enough["outcome"] == "solved", near_enough)
        for name, content, word in (("few.txt", "1 2 3", "has 3 numbers, the problem has 4"), ("many.txt", "1 2 3 4 5", "more numbers"),
                                    ("word.txt", "1 2\nx 3", "'x'"), ("type.json", '["a"]', "a string"), ("nan.txt", "1 2 nan 4", "nan")):
            (folder / name).write_text(content)
            refused(word, problem, "--p", folder / name)
        refused("cannot read", problem, "--p", folder / "none.txt", status=3)
        dump = folder / "dump.json"
        check(carom("run", "box-stack", "--dump-at", 0.5, "--dump", dump)[0] == 0, "dump")
        report = audit(dump, "--tol", 1e-8)
        check(report["outcome"] == "solved" and report["h"] == 0.005, report)
        near("metres", report["audit"]["distance"], 0.005 * report["audit"]["eta"], 1e-12)
        status, out, _ = carom("audit", dump, "--tol", 1e-8)
        check(status == 0 and "exact for gaps that differ by at most" in out, out)
        # a step of 5 ms: wrong by eta m/s is wrong by h eta metres, which may be near enough
        tree = json.loads(dump.read_text())
        tree["p"] = [x * (1 + 1e-6) for x in tree["p"]]
        dump.write_text(json.dumps(tree))
        wrong = audit(dump, expect=4)
        check(audit(dump, "--shift", 2 * wrong["audit"]["distance"])["outcome"] == "near", wrong)
        check(audit(dump, "--shift", 0.5 * wrong["audit"]["distance"], expect=4)["outcome"] == "limit", wrong)


class Page(html.parser.HTMLParser):
    """Lines of the audit (label -> words), cells shown as bad, pictures, headings; every element is closed."""

    VOID = {"meta", "br", "link", "input"}

    def __init__(self, path):
        super().__init__()
        self.open, self.lines, self.bad, self.pictures, self.headings = [], {}, [], 0, []
        self.label, self.cell, self.data, self.words = None, None, "", ""
        self.feed(path.read_text())
        self.close()
        check(not self.open, path, "left open", self.open)

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.pictures += tag == "svg"
        check(not {"src", "href"} & attrs.keys() or attrs.get("href", "#").startswith("#"), tag, attrs, "fetches something")
        if tag not in self.VOID:
            self.open.append((tag, attrs))
        if tag in ("th", "h1", "h2", "td"):
            self.cell = ""

    def handle_endtag(self, tag):
        if tag in self.VOID:
            return
        check(self.open and self.open[-1][0] == tag, "closes", tag, self.open[-3:])
        self.open.pop()
        if tag in ("h1", "h2"):
            self.headings.append(self.cell)
        if tag == "th":
            self.label = self.cell
        if tag == "td" and self.label is not None:
            self.lines[self.label] = self.lines.get(self.label, "") + " " + self.cell.strip()

    def handle_data(self, data):
        if self.open and self.open[-1][0] == "script":
            self.data = self.data or data
        elif self.cell is not None:
            self.cell += data
        if any(attrs.get("class") == "bad" for _, attrs in self.open):
            self.bad.append(data)


def numbers(text):
    return re.findall(r"[-+]?[0-9][0-9.]*(?:e[-+][0-9]+)?", text)


def check_same(lines, out):
    """The page says what the terminal says: every line with the same numbers in the same order."""
    rows, label = {}, None
    for row in out.splitlines()[1:]:
        label = row[:12].strip() or label
        rows[label] = rows.get(label, "") + " " + row[12:].strip()
    check({k: numbers(v) for k, v in rows.items()} == {k: numbers(lines.get(k, "")) for k in rows}, rows, lines)


def test_report_of_motion():
    before = 4.0 - G * 0.2
    with Folder() as folder:
        named = json.loads(json.dumps(BALL))
        named["bodies"][0]["name"] = "ball"
        where, page = scene(folder, named), folder / "audit.html"
        for velocities in (True, False):
            path = bounce(folder, "up<b>.csv", 5.0, velocities=velocities)
            status, out, err = carom("audit", where, path, "--report", page)
            check(status == 4 and err == "", status, err)
            seen = Page(page)
            check_same(seen.lines, out)
            check("no" in seen.bad and seen.headings[0] == f"Audit of {path}", seen.bad, seen.headings)
            check("Moments beyond a limit" in seen.headings and "Motion" in seen.headings, seen.headings)
            # four charts and the strobe; the moments are the record of the jump alone, its numbers those of the physics
            check(seen.pictures >= 5, seen.pictures)
            text = page.read_text()
            moments = text[text.index('id="moments"'):]
            rows = re.findall(r"<tr><td>([^<]*)</td>", moments)
            if velocities:
                check(rows == ["0.2"], rows)
                near("speed", float(re.findall(r'class="bad">([0-9.e+-]+)<', moments)[-1]), 5.0 - before, 1.0, 1e-3)
            # what is played is what the file says: z over time, as whole multiples of the quantum
            data = json.loads(seen.data)
            run = data["runs"][0]
            moved = [sum(run["frames"][7 * k + 2] for k in range(n + 1)) * data["quantum"] for n in range(len(run["time"]))]
            rows = [line.split(",") for line in path.read_text().splitlines()]
            z = rows[0].index("ball.z")
            check(len(moved) == len(rows) - 1, len(moved))
            worst = max(abs(a - float(row[z])) for a, row in zip(moved, rows[1:]))
            check(worst <= data["quantum"], worst, data["quantum"])
        fine = bounce(folder, "fine.csv", before)
        check(carom("audit", where, fine, "--report", page)[0] == 0, "fine")
        seen = Page(page)
        check(not seen.bad and "None." in page.read_text(), seen.bad)
        page.unlink()
        for name, word in (("page.pdf", "must end in .html"), ("page.mp4", "must end in .html")):
            refused(word, where, fine, "--report", folder / name, status=2)
        refused("cannot be written", where, fine, "--report", "/nonexistent/x.html", status=3)
        check(not page.exists() and not list(folder.glob("*.partial*")), "left behind")


def test_report_of_own_run():
    """A run of our own, joints among them: coordinates of the file."""
    with Folder() as folder:
        for name in ("pendulum", "two-boxes"):
            path, page = folder / f"{name}.csv", folder / f"{name}.html"
            check(carom("run", name, "--out", path, "--duration", 0.5)[0] == 0, name)
            status, out, err = carom("audit", name, path, "--report", page)
            check(err == "", err)
            seen = Page(page)
            check_same(seen.lines, out)
            check(len(json.loads(seen.data)["runs"][0]["time"]) > 10, name)


def test_report_of_problem():
    with Folder() as folder:
        problem, page = folder / "stack.json", folder / "audit.html"
        problem.write_text(carom("examples", "two-block-stack")[1])
        p = json.loads(carom("solve", problem, "--json")[1])["p"]
        for factor, expect in ((1.0, 0), (1.1, 4)):
            given = folder / "p<i>&.txt"
            given.write_text(" ".join(repr(factor * x) for x in p))
            status, out, err = carom("audit", problem, "--p", given, "--report", page)
            check(status == expect and err == "", status, err)
            seen = Page(page)
            check_same(seen.lines, out)
            check(seen.pictures == 2 and ("not solved" in seen.bad) == (expect == 4), seen.pictures, seen.bad)
            check("<i>" not in page.read_text().replace("p&lt;i", ""), "names are escaped")
        refused("cannot write", problem, "--p", given, "--report", "/nonexistent/x.html", status=3)
        refused("must end in .html", problem, "--p", given, "--report", folder / "x.svg", status=2)


main(globals())
