"""carom spread: tables, JSON and CSV that agree with each other, the same bytes for any threads, refusals by name."""
import atexit
import csv
import ctypes
import html
import json
import math
import os
import pathlib
import pty
import shutil
import signal
import statistics
import subprocess
import tempfile
import time

from command import COMMAND, carom, check, main, near

DIR = pathlib.Path(tempfile.mkdtemp(prefix="carom-spread-"))
atexit.register(shutil.rmtree, DIR)
BREAK = ("pool-break", "--jitter", "gap=1e-5", "--until", "0.2")


def spread(*arguments, expect=0):
    status, out, err = carom("spread", *arguments, "--json")
    check(status == expect, arguments, status, out[-500:], err)
    return json.loads(out)


def has_driver():
    try:
        ctypes.CDLL("libcuda.so.1")
        return True
    except OSError:
        return False


def test_devices():
    """threads are what nothing said means; gpu is refused by name where there is no driver."""
    asked = ("bouncing-ball", "--jitter", "velocity=0.01", "--samples", "9", "--until", "0.3")
    plain = spread(*asked)
    check(spread(*asked, "--device", "threads", "--threads", "3") == plain, "threads")
    check(spread(*asked, "--device", "serial") == plain, "serial")
    status, _, err = carom("spread", *asked, "--device", "card")
    check(status == 2 and "--device is 'card', must be serial, threads or gpu" in err, status, err)
    if not has_driver():
        status, out, err = carom("spread", *asked, "--device", "gpu")
        check(status == 1 and out == "" and "libcuda" in err and "use serial or threads" in err, status, out, err)


def test_settings_that_are_drawn():
    """Samples that differ in settings of the step are scenes of their own: with nothing drawn from them, the same outcome."""
    asked = ("bouncing-ball", "--set", "impact.threshold=0.01", "--jitter", "velocity=0.01", "--samples", "6", "--until", "0.9")
    files = [DIR / f"settings-{i}.csv" for i in range(3)]
    spread(*asked, "--out", files[0])
    for file, threads in zip(files[1:], ("1", "2")):
        spread(*asked, "--jitter", "impact.threshold=uniform:1e-300", "--threads", threads, "--out", file)
    rows = [list(csv.DictReader(file.open())) for file in files]
    check(files[1].read_bytes() == files[2].read_bytes(), "threads change nothing")
    check([r["impacts"] for r in rows[0]] == [r["impacts"] for r in rows[1]], rows)


def test_answer_from_its_own_samples():
    """Moments, shares and explained variance once more, from the CSV and by their definitions."""
    out = DIR / "samples.csv"
    answer = spread(*BREAK, "--samples", "150", "--out", out)
    with open(out) as file:
        rows = list(csv.DictReader(file))
    itself, rows = rows[0], rows[1:]
    check(len(rows) == 150 and itself["sample"] == "0" and itself["cluster"] == "", itself)
    columns = []
    for o in answer["outcomes"]:
        name = f"{o['body']}.{o['axis']}"
        values = [float(r[name]) for r in rows]
        columns.append(values)
        near("mean", o["mean"], statistics.fmean(values), 1.0)
        near("sd", o["sd"], statistics.stdev(values), 1.0)
        near("median", o["q50"], statistics.median(values), 1.0)
        near("itself", o["itself"], float(itself[name]), 1.0)
        ordered = sorted(values)
        at = 0.95 * 149
        near("quantile", o["q95"], ordered[int(at)] + (at % 1) * (ordered[int(at) + 1] - ordered[int(at)]), 1.0)

    def explained(key):
        groups = {}
        for i, r in enumerate(rows):
            groups.setdefault(r[key], []).append(i)
        total = sum(statistics.variance(c) for c in columns)
        within = sum(len(g) * statistics.pvariance([c[i] for i in g]) for c in columns for g in groups.values())
        return max(0, 1 - within / (len(rows) - len(groups)) / total)

    near("explained by clusters", answer["clusters_explain"], explained("cluster"), 1.0, 1e-9)
    length = answer["order_length"]
    near("explained by orders", answer["prefixes"][length - 1]["explained"], explained("order"), 1.0, 1e-9)
    check(answer["prefixes"][length - 1]["orders"] == len(answer["orders"]) <= 15, answer["prefixes"])
    check(sum(c["count"] for c in answer["clusters"]) == 150 == sum(o["count"] for o in answer["orders"]))
    for k, c in enumerate(answer["clusters"], 1):
        check(sum(r["cluster"] == str(k) for r in rows) == c["count"], k, c)
        check(rows[c["representative"] - 1]["cluster"] == str(k), k, c)
        check(sum(r["cluster"] == str(k) and r["order"] == str(c["order"]) for r in rows) == c["with_order"], c)
    for k, o in enumerate(answer["orders"], 1):
        check(sum(r["order"] == str(k) for r in rows) == o["count"], k, o)
        check(o["pairs"][0][0] == ["cue", "ball1"], o)
        check(sum(len(together) for together in o["pairs"]) == length, o)
    check(len({json.dumps(o["pairs"]) for o in answer["orders"]}) == len(answer["orders"]), "orders twice")


def test_what_the_page_says_of_the_break():
    """Size of the gaps does not matter, and the touching rack by Poisson's rule is not among the outcomes."""
    means = []
    for gap in ("1e-7", "1e-4"):
        answer = spread("pool-break", "--jitter", f"gap={gap}", "--set", "impact.cluster=1e-9", "--samples", "120")
        found = {(o["body"], o["axis"]): o for o in answer["outcomes"]}
        cue, corner = found["cue", "x"], found["ball15", "x"]
        check(abs(cue["itself"] + 0.98) < 0.01 and cue["q05"] > -0.2 and cue["q95"] < -0.15, gap, cue)
        check(abs(corner["sd"] - 0.21) < 0.04, gap, corner)
        check(0.35 < answer["prefixes"][1]["explained"] < 0.65 and answer["prefixes"][0]["explained"] == 0, gap)
        means.append(corner["mean"])
    # two means of 120 samples with sd 0.21: three standard errors of the difference
    check(abs(means[0] - means[1]) < 3 * 0.21 * math.sqrt(2 / 120), means)


def test_same_for_any_threads():
    one = carom("spread", *BREAK, "--samples", "40", "--json")
    check(one[0] == 0 and one == carom("spread", *BREAK, "--samples", "40", "--json", "--threads", "4"))
    check(one != carom("spread", *BREAK, "--samples", "40", "--json", "--seed", "2"), "the seed matters")
    table = carom("spread", *BREAK, "--samples", "40", "--threads", "3")
    check(table == carom("spread", *BREAK, "--samples", "40"), "table")


def test_a_rule_and_its_own_answer():
    """A cradle just after its first impact: Newton's rule leaves -1/3, 2/3, 2/3 where balls touch, gaps 0, 0, 1."""
    answer = spread("newtons-cradle-3", "--jitter", "gap=1e-5", "--samples", "60", "--of", "velocity", "--rule", "newton",
                    "--until", "0.29", "--set", "impact.cluster=1e-9")
    check(answer["of"] == "velocity" and answer["unit"] == "m/s", answer)
    speed = math.sqrt(2 * 9.81 * 0.3 * (1 - math.cos(0.5)))
    found = {o["body"]: o for o in answer["outcomes"] if o["axis"] == "x"}
    # 10 ms after the impact gravity has taken a few thousandths
    for ball, touching, apart in (("ball1", -1 / 3, 0), ("ball2", 2 / 3, 0), ("ball3", 2 / 3, 1)):
        near("touching", found[ball]["itself"], touching * speed, speed, 0.005)
        near("apart", found[ball]["q50"], apart * speed, speed, 0.005)
    check(answer["orders"][0]["pairs"] == [[["ball1", "ball2"]], [["ball2", "ball3"]]][:answer["order_length"]], answer)


def test_files():
    for kind in ("svg", "png", "pdf"):
        path = DIR / f"picture.{kind}"
        status, _, err = carom("spread", *BREAK, "--samples", "30", "--plot", path, "--body", "cue")
        check(status == 0 and path.stat().st_size > 1000, kind, status, err)
    text = (DIR / "picture.svg").read_text()
    check("x of cue, m" in text and "percent" in text, "labels")


def test_report():
    page = DIR / "report.html"
    answer = spread(*BREAK, "--samples", "60", "--report", page)
    text = page.read_text()
    check(text.startswith("<!doctype html>") and text.rstrip().endswith("</html>") and text.count("<svg") == 4, "page")
    for words in ("Outcomes by order of impacts", "Samples below a value", "cue-ball1, ball1-ball", "gap=1e-5"):
        check(words in text, words)
    for cluster in answer["clusters"]:
        check(f"{100 * cluster['share']:.1f} %" in text, cluster)
    # names and jitter are text, whatever they contain
    scene = DIR / "names.json"
    scene.write_text(json.dumps({"carom": 1, "gravity": [0, 0, 0], "step": {"dt": 0.01, "duration": 0.05}, "bodies": [
        {"name": "<b>&x", "mass": 1, "vel": [1, 0, 0], "shapes": [{"type": "sphere", "r": 0.1}]}]}))
    status, out, err = carom("spread", scene, "--jitter", "velocity=0.1", "--samples", "10", "--report", page)
    text = page.read_text()
    check(status == 0 and "<b>&x" in html.unescape(text) and "<b>" not in text and "No impact in any sample" in text, err)
    status, out, err = carom("spread", *BREAK, "--samples", "4", "--report", "/nonexistent/x.html")
    check(status == 3 and "/nonexistent/x.html" in err, status, err)


def test_checkpoint():
    path = DIR / "checkpoint"
    whole = carom("spread", *BREAK, "--samples", "60", "--json")
    part = carom("spread", *BREAK, "--samples", "20", "--json", "--checkpoint", path)
    size = path.stat().st_size
    check(part[0] == 0 and carom("spread", *BREAK, "--samples", "60", "--json", "--checkpoint", path) == whole)
    check(abs((path.stat().st_size - 24) / (size - 24) - 61 / 21) < 1e-9, "only what was missing is added")
    for other in (("--seed", "3"), ("--jitter", "e=1%"), ("--rule", "newton"), ("--until", "0.1")):
        status, out, err = carom("spread", *BREAK, "--samples", "20", "--checkpoint", path, *other)
        check(status == 1 and "holds results of other work" in err and out == "", other, status, err)


def test_killed_and_interrupted():
    path = DIR / "killed"
    arguments = [COMMAND, "spread", *BREAK, "--samples", "250", "--json", "--checkpoint", path]
    whole = carom(*arguments[1:-2])
    for how in (signal.SIGKILL, signal.SIGKILL, signal.SIGINT):
        process = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        before = path.stat().st_size if path.exists() else 0
        while not (path.exists() and path.stat().st_size > before + 20000) and process.poll() is None:
            time.sleep(0.005)
        process.send_signal(how)
        out, err = process.communicate()
        if how == signal.SIGINT and process.returncode != 0:
            check(process.returncode == 130 and out == b"" and b"stopped after" in err, process.returncode, err)
    check(carom(*arguments[1:]) == whole, "after three interruptions")


def test_progress():
    """Shown on a terminal only."""
    leader, follower = pty.openpty()
    process = subprocess.Popen([COMMAND, "spread", "pool-break", "--jitter", "gap=1e-5", "--samples", "100000"],
                               stdout=subprocess.DEVNULL, stderr=follower)
    seen = b""
    while b"left" not in seen and process.poll() is None:
        seen += os.read(leader, 1000)
    process.send_signal(signal.SIGINT)
    process.wait()
    os.close(follower)
    os.close(leader)
    check(b"samples: " in seen and b" of 100001, " in seen and process.returncode == 130, seen, process.returncode)


def test_refusals():
    cases = [
        ((), 2, "which scene?"),
        (("pool-break",), 2, "--jitter NAME=SIZE"),
        ((*BREAK, "--samples", "1"), 2, "whole number from 2 to 1000000"),
        ((*BREAK, "--samples", "x"), 2, "whole number"),
        ((*BREAK, "--threads", "0"), 2, "from 1 to 256"),
        ((*BREAK, "--order", "25"), 2, "from 1 to 24"),
        ((*BREAK, "--of", "speed"), 2, "must be position or velocity"),
        ((*BREAK, "--body", "ball99"), 2, "no body of the scene is called 'ball99'"),
        ((*BREAK, "--plot", "x.gif"), 2, "must end in"),
        ((*BREAK, "--nothing"), 2, "unknown option"),
        ((*BREAK, "--seed"), 2, "--seed needs a value"),
        (("pool-break", "--jitter", "gap=-1"), 2, "gap is '-1', must be >= 0"),
        (("pool-break", "--jitter", "gap=nan"), 2, "finite"),
        (("pool-break", "--jitter", "gpa=1"), 1, "did you mean gap?"),
        (("pool-break", "--jitter", "bodies.cue.vx=1"), 1, "there is name, joint, pos, vel, mass, shapes"),
        (("pool-brake", "--jitter", "gap=1"), 3, "did you mean 'pool-break'?"),
        ((*BREAK, "--until", "x"), 1, "duration"),
        ((*BREAK, "--samples", "4", "--out", "/nonexistent/x.csv"), 3, "cannot write"),
        ((*BREAK, "--samples", "4", "--plot", "/nonexistent/x.svg"), 3, "/nonexistent/x.svg"),
        ((*BREAK, "--samples", "4", "--checkpoint", "/nonexistent/x"), 3, "cannot open"),
        ((*BREAK, "--samples", "4", "--checkpoint", str(pathlib.Path(__file__))), 1, "is no checkpoint"),
        (("slider-crank", "--jitter", "position=1e-3", "--samples", "4"), 1, "constraints"),
    ]
    for arguments, expect, words in cases:
        status, out, err = carom("spread", *arguments)
        check(status == expect and words in err, arguments, status, err)
    status, out, err = carom("spread", "pool-break", "--jitter", "gpa=1", "--json")
    check(status == 1 and json.loads(out)["error"]["code"] == "unknown-field" and err == "", out, err)


def test_samples_that_fail():
    answer = spread("pool-break", "--jitter", "materials.phenolic.e=2", "--samples", "40", "--until", "0.12", expect=4)
    check(0 < answer["failed"] < 40 and answer["used"] == 40 - answer["failed"], answer["failed"])
    check("materials.phenolic.e" in answer["why"] and answer["first_failed"] >= 1, answer["why"])
    status, out, err = carom("spread", "pool-break", "--jitter", "materials.phenolic.e=2", "--samples", "40", "--until",
                             "0.12")
    check(status == 4 and f"{answer['failed']} of 40 samples failed, the first is sample" in out, out[-300:])
    status, out, err = carom("spread", "pool-break", "--jitter", "gap=1e9", "--samples", "5")
    check(status == 4 and "5 of 5 samples failed; sample 1: gap:" in err, status, err)


def test_overlap_is_told():
    status, out, _ = carom("spread", "pool-break", "--jitter", "position=1e-5", "--samples", "20", "--until", "0.12")
    check(status in (0, 4) and "20 samples began with overlap" in out, status, out[-300:])


main(globals())
