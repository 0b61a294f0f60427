"""carom compare: every choice is what carom run says of it, what differs is marked, what refuses is told."""
import json
import pathlib
import pty
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time

from command import COMMAND, SOURCE, carom, check, main

CRADLE = str(SOURCE / "scenes/newtons-cradle-5.json")
SUPERBALL = str(SOURCE / "scenes/superball.json")


def compare(*arguments, expect=0):
    status, out, err = carom("compare", *arguments, "--json")
    check(status == expect, arguments, status, out[-500:], err)
    return json.loads(out)


def run(*arguments):
    return json.loads(carom("run", *arguments, "--json")[1])


def same(mine, other):
    """But for the clock."""
    return all(mine[k] == v for k, v in other.items() if k != "wall_time")


def difference(a, b):
    return max(abs(a["bodies"][n][c] - b["bodies"][n][c]) for n in a["bodies"] for c in a["bodies"][n])


def test_is_run():
    lists = [(CRADLE, "--rule", "newton,sequence,coupled", []), (SUPERBALL, "--law", "chatterjee-ruina,routh,brach", ["--rule", "sequence"]),
             (CRADLE, "--dt", "0.01,0.005", []), (SUPERBALL, "--method", "event,cone", ["--duration", "0.5"]),
             (CRADLE, "--solver", "newton,interior", ["--duration", "0.2"]), (CRADLE, "--tol", "1e-6,1e-9", ["--duration", "0.1"]),
             (SUPERBALL, "--set", "gravity=[0,0,-9.81],[0,0,-1.62]", [])]
    for scene, option, values, more in lists:
        answer = compare(scene, option, values, *more)
        check(answer["refused"] == [] and answer["scene"] == scene, answer["refused"])
        path, _, listed = values.rpartition("=")
        parts = re.findall(r"\[[^]]*\]|[^,]+", listed)
        check([r["value"] for r in answer["runs"]] == parts, option, parts)
        check(answer["choice"] == (path or option[2:]), answer["choice"])
        for r in answer["runs"]:
            single = run(scene, option, f"{path}={r['value']}" if path else r["value"], *more)
            check(same(r, single), "compare is run", option, r["value"])
            check(r["difference"] == difference(r, answer["runs"][0]), "difference", r["difference"])


def test_all():
    answer = compare(CRADLE, "--rule", "all")
    names = [r["value"] for r in answer["runs"]]
    check(names == "newton poisson coupled sequence feasible weighted reflect chain".split(), names)
    laws = compare(SUPERBALL, "--law", "all", "--rule", "sequence")
    check("routh" in [r["value"] for r in laws["runs"]] and len(laws["runs"]) + len(laws["refused"]) == 13, laws["refused"])
    check([r["value"] for r in compare(SUPERBALL, "--method", "all", "--duration", "0.1")["runs"]] == ["cone", "lcp", "moreau", "event"],
          "methods")


def test_refused():
    choices = (SUPERBALL, "--method", "lcp", "--set", "step.directions=8,2")
    answer = json.loads(carom("compare", *choices, "--json")[1])
    check([r["value"] for r in answer["runs"]] == ["8"] and [r["value"] for r in answer["refused"]] == ["2"], answer)
    check(all(r["error"]["message"] and r["error"]["code"] for r in answer["refused"]), answer["refused"])
    status, out, err = carom("compare", *choices)
    check(status == 1 and err == "" and "refused: 2: step.directions" in out, status, out, err)


def test_table():
    status, out, err = carom("compare", CRADLE, "--rule", "newton,poisson,sequence")
    check(status == 0 and err == "" and "\033" not in out, status, err)
    check(max(map(len, out.splitlines())) <= 100, "wider than 100 columns")
    answer = compare(CRADLE, "--rule", "newton,poisson,sequence")
    for name, columns in answer["runs"][0]["bodies"].items():
        for column, value in columns.items():
            line = next(l for l in out.splitlines() if l.startswith(f"{name}.{column} "))
            cells = line.split()[1:]
            for cell, r in zip(cells, answer["runs"]):
                theirs = r["bodies"][name][column]
                check(abs(float(cell.rstrip("*")) - theirs) <= 1e-4 * abs(theirs) + 1e-12, line, theirs)
                check(cell.endswith("*") == (abs(theirs - value) > 1e-6 * max(1, abs(value))), "marks", line)
    check("* differs from newton" in out, out)
    status, out, _ = carom("compare", str(SOURCE / "scenes/bouncing-ball.json"), "--law", "newton,routh")
    check("the rule poisson uses no law" in out, out)
    status, out, _ = carom("compare", CRADLE, "--threads", "2", "--rule", "newton,sequence", "--bodies", "ball2,ball5")
    shown = {l.split(".")[0] for l in out.splitlines() if re.match(r"ball\d\.", l)}
    check(shown == {"ball2", "ball5"}, shown)
    status, out, _ = carom("compare", str(SOURCE / "scenes/pool-break.json"), "--rule", "newton,reflect", "--duration", "0.1")
    check("more bodies: --bodies" in out, out)


def test_color_and_bar():
    """On a terminal what differs is coloured, and what takes long shows which choice is running."""
    slow = {"carom": 1, "step": {"dt": 1e-6, "duration": 1e3}, "bodies": [{"name": "a", "mass": 1, "inertia": 1}]}
    folder = pathlib.Path(tempfile.mkdtemp())
    (folder / "s.json").write_text(json.dumps(slow))
    master, slave = pty.openpty()
    env = {k: v for k, v in os.environ.items() if k != "NO_COLOR"}
    process = subprocess.Popen([COMMAND, "compare", str(folder / "s.json"), "--method", "cone,lcp"], stdout=slave, stderr=slave, env=env)
    text = b""
    deadline = time.time() + 20
    os.set_blocking(master, False)
    while time.time() < deadline and b"cone [" not in text:
        try:
            text += os.read(master, 4096)
        except BlockingIOError:
            time.sleep(0.05)
    check(b"cone [" in text and b"residual" in text and b"overlap" in text and b"energy" in text, text[-200:])
    process.send_signal(signal.SIGINT)
    check(process.wait(timeout=20) == 130, "Ctrl-C", process.returncode)
    process = subprocess.run([COMMAND, "compare", CRADLE, "--rule", "newton,sequence"], stdout=slave, env=env)
    time.sleep(0.1)
    try:
        while True:
            text += os.read(master, 65536)
    except (BlockingIOError, OSError):
        pass
    check(b"\033[33m" in text and b"interrupted" in text, text[-300:])
    os.close(master)
    os.close(slave)
    shutil.rmtree(folder)


def test_refusals():
    for arguments, expect, words in (
            ([], 2, "which scene"), ([CRADLE], 2, "compare what"), ([CRADLE, "--rule", "newton"], 2, "compare what"),
            ([CRADLE, "--rule", "newton,poisson", "--law", "all"], 2, "one list at a time"), ([CRADLE, "--rule", "newton,"], 2, "empty"),
            ([CRADLE, "--dt", "all"], 2, "no catalogue"), ([CRADLE, "--rule", "a,b", "--nope"], 2, "unknown option"),
            ([CRADLE, "--rule", ",".join("a" * (i + 1) for i in range(33))], 2, "more than 32"),
            ([CRADLE, "--rule", "newton,poisson", "--bodies", "ball2,bal"], 2, "'bal'"), ([CRADLE, "--bodies"], 2, "needs a value"),
            ([CRADLE, "--rule", "newton,poisson", "--plot", "x.gif"], 2, "must end in"), (["no.json", "--rule", "all"], 3, "no such file"),
            ([CRADLE, CRADLE, "--rule", "all"], 2, "only one scene"), (["--help"], 0, "")):
        status, out, err = carom("compare", *arguments)
        check(status == expect and words in err, arguments, status, err, out)
    # a choice that is refused is told, and the others are run
    answer = compare(CRADLE, "--rule", "newton,newtn", expect=1)
    check([r["value"] for r in answer["runs"]] == ["newton"] and answer["refused"][0]["error"]["code"] == "unknown-name", answer["refused"])
    status, out, err = carom("compare", CRADLE, "--rule", "nope,newtn")
    check(status == 1 and "no choice could be run" in out and out.count("refused:") == 2, out, err)
    status, out, err = carom("compare", CRADLE, "--dt", "0.01,-1")
    check(status == 1 and "refused: -1: step.dt" in out, out)
    # a choice that makes other bodies cannot be compared
    status, out, err = carom("compare", "-", "--set", 'bodies[0].joint="free","fixed"', text='{"carom":1,"bodies":[{"name":"a","mass":1,"inertia":1}]}')
    check(status == 1 and "another scene" in out, status, out, err)
    # the scene's own fault is told once, with its place
    status, out, err = carom("compare", "-", "--rule", "all", text='{"carom":1,\n"bodes":[]}')
    check(status == 1 and "standard input:2:" in err and out == "", out, err)


def test_picture():
    if shutil.which("gnuplot") is None:
        print("  pictures skipped, no gnuplot")
        return
    folder = pathlib.Path(tempfile.mkdtemp())
    picture = folder / "p.svg"
    status, _, err = carom("compare", CRADLE, "--rule", "newton,sequence,nope", "--plot", str(picture))
    text = picture.read_text()
    check(status == 1 and all(f">{word}<" in text for word in ("newton", "sequence", "ball5, newton", "ball1, sequence")), status, err)
    check("energy [J]" in text and "velocity along" in text and ">nope<" not in text, "panels")
    page = folder / "p.html"
    status, _, err = carom("compare", CRADLE, "--rule", "newton,sequence", "--report", str(page))
    text = page.read_text()
    check(status == 0 and "newton" in text and "sequence" in text and text.rstrip().endswith("</html>"), status, err)
    status, _, err = carom("compare", "-", "--dt", "0.1,0.2", "--plot", str(picture), text='{"carom":1}')
    check(status == 0, "an empty world has a picture too", err)
    status, _, err = carom("compare", CRADLE, "--rule", "newton,poisson", "--plot", str(folder / "no/p.svg"))
    check(status == 3, status, err)
    shutil.rmtree(folder)


main(globals())
