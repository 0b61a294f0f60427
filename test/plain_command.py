"""No text of others steers the terminal: names, paths and options with controls and marks of direction are escaped in
everything the command prints, and JSON stays JSON that says the same name."""
import csv
import json
import os
import subprocess
import unicodedata

from command import COMMAND, Folder, GOOD, check, main, scene

# ESC, CSI (C1), DEL, line end, every mark of direction, and plain letters of one to four bytes
MARKED = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
EVIL = "a\x1b[31m\x9b1m\x7f\n\r" + MARKED + "é✓𝛼"
# names of bodies have at most 63 bytes and no white space
NAME = "a\x1b[31m\x9b1m\x7f" + MARKED
MARKS = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
PLAIN = "é✓𝛼"


def steers(c):
    """By Unicode's own tables."""
    return unicodedata.category(c) == "Cc" or unicodedata.bidirectional(c) in MARKS or c in "\u061c\u200e\u200f"


def clean(what, printed):
    """What was printed is UTF-8, and line ends are its only controls."""
    try:
        text = printed.decode()
    except UnicodeDecodeError as error:
        check(False, what, "is not UTF-8", error)
        return ""
    bad = sorted({hex(ord(c)) for c in text if steers(c) and c != "\n"})
    check(not bad, what, "lets through", bad)
    return text


def run(*arguments, text=b"", expect=None, shows=True):
    """Standard output of a verb whose input holds EVIL; `shows` where a part of EVIL must be seen."""
    done = subprocess.run([COMMAND, *map(os.fsencode, map(str, arguments))], input=text, capture_output=True)
    out, err = clean(arguments, done.stdout), clean(arguments, done.stderr)
    if expect is not None:
        check(done.returncode == expect, arguments, done.returncode, out, err)
    check(not shows or "\\x1b[31m" in out + err or "\\u001b[31m" in out + err, "the name is shown", arguments, out, err)
    return out


def strings(value):
    if isinstance(value, dict):
        return {s for k, v in value.items() for s in {k} | strings(v)}
    if isinstance(value, list):
        return {s for v in value for s in strings(v)}
    return {value} if isinstance(value, str) else set()


def says_name(out, name):
    check(name in strings(json.loads(out)), "JSON says the name", name)


BALL = {"type": "sphere", "r": 0.1, "material": NAME}
WORLD = {"carom": 1, "materials": {NAME: {"mu": 0.5, "e": 0.5}}, "step": {"dt": 0.01, "duration": 0.05},
         "static": [{"type": "halfspace", "n": [0, 0, 1], "offset": 0}],
         "bodies": [{"name": NAME, "pos": [0, 0, 0.1], "shapes": [BALL]},
                    {"name": NAME + "2", "pos": [0, 0, 0.25], "vel": [0, 0, -1], "shapes": [BALL]}]}


def test_scene_verbs():
    with Folder() as folder:
        path = scene(folder, WORLD, "w.json")
        run("run", path)
        says_name(run("run", path, "--json"), NAME)
        run("compare", path, "--rule", "newton,poisson", shows=False)
        run("compare", path, "--rule", "newton,poisson", "--json")
        run("converge", path, "--dt", "0.01,0.005", shows=False)
        run("spread", path, "--jitter", "pos=1e-3", "--samples", "6")
        run("spread", path, "--jitter", "pos=1e-3", "--samples", "6", "--json")
        run("info", path)
        says_name(run("info", path, "--json"), NAME)
        says_name(run("export", path), NAME)
        says_name(run("run", path, "--out", folder / "t.csv", "--json"), NAME)
        for options in (["--body", "x" + EVIL], ["--chart", EVIL], ["--scene", path, "--body", "x" + EVIL]):
            run("plot", folder / "t.csv", "-o", folder / "p.svg", *options, shows=False)


def test_refusals():
    """What a message repeats of the input."""
    broken = [{**WORLD, EVIL: 1}, {**WORLD, "exclude": [[NAME, "x" + EVIL]]},
              {**WORLD, "bodies": [WORLD["bodies"][0]] * 2}, {**WORLD, "step": {"method": EVIL}},
              {**WORLD, "bodies": [{**WORLD["bodies"][0], "parent": EVIL}]},
              {**WORLD, "bodies": [{**WORLD["bodies"][0], EVIL: 1}]},
              {**WORLD, "bodies": [{"name": NAME, "joint": "hinge"}]}]
    with Folder() as folder:
        for tree in broken:
            path = scene(folder, tree)
            for verb in ("run", "info", "compare", "export", "spread", "converge"):
                more = {"compare": ["--rule", "newton,poisson"], "spread": ["--jitter", "pos=1e-3"],
                        "converge": ["--dt", "0.01,0.005"]}.get(verb, [])
                run(verb, path, *more)
            status = subprocess.run([COMMAND, "run", path, "--json"], capture_output=True)
            json.loads(clean("run --json", status.stdout + status.stderr))


def test_one_impact():
    text = json.dumps({**GOOD, "name": EVIL}).encode()
    run("impact", text=text, expect=0)
    says_name(run("impact", "--json", text=text, expect=0), EVIL)
    run("impact", text=json.dumps({**GOOD, EVIL: 1}).encode(), expect=1)
    run("impact", text=json.dumps({**GOOD, "law": EVIL}).encode(), expect=1)
    with Folder() as folder:
        for verb, source in (("resolve", "cradle-3"), ("solve", "sliding-block")):
            tree = json.loads(subprocess.run([COMMAND, "examples", source], capture_output=True).stdout)
            path = scene(folder, {**tree, "name": "\x1b[31m\x9b\u202e" + PLAIN})
            run(verb, path, expect=0)
            says_name(run(verb, path, "--json", expect=0), "\x1b[31m\x9b\u202e" + PLAIN)
            run(verb, scene(folder, {**tree, EVIL: 1}), expect=1)
        path = folder / (EVIL + ".json")
        path.write_bytes(text)
        run("region", path, "-o", folder / "r.svg", shows=False)
        run("region", folder / ("no" + EVIL), "-o", folder / "r.svg")


def test_paths_and_options():
    """Every verb with a file that is not there and an option that is none, both named so; and bytes that are no UTF-8."""
    verbs = "run compare converge spread plot view export impact resolve solve fit predict laws region examples import info schema"
    for verb in verbs.split():
        for arguments in (["/nowhere/" + EVIL], ["--" + EVIL], ["x", "--" + EVIL, EVIL], ["/nowhere/" + EVIL, "/nowhere/" + EVIL]):
            run(verb, *arguments, shows=False)
        run(verb, b"\xff\x9b\xc3(".decode(errors="surrogateescape"), shows=False)
    run(EVIL)
    for verb in ("run", "info", "export", "impact", "resolve", "solve", "import"):
        run(verb, "/nowhere/" + EVIL, expect=3)
    with Folder() as folder:
        run("examples", "--all", "-o", "/nowhere/" + EVIL)
        run("examples", "--all", "-o", folder / EVIL)


def test_models():
    with Folder() as folder:
        # XML holds no C0 controls; C1 and marks of direction may stand in it
        name = "m\x9b1m\u202e" + PLAIN
        path = folder / "m.xml"
        path.write_text(f'<mujoco><worldbody><body name="{name}"><freejoint/><geom size="1"/><b{PLAIN[0]} a="{name}"/>'
                        "</body></worldbody></mujoco>")
        for verb in ("import", "info", "run"):
            run(verb, path, shows=False)


def test_measurements():
    with Folder() as folder:
        path = folder / "m.csv"
        with open(path, "w", newline="") as file:
            csv.writer(file).writerows([["m", "I", NAME], [1, 1, 1]])
        run("fit", "impacts", path, shows=False)
        run("fit", "impacts", path, "--column", f"m={EVIL}x")
        run("fit", "motion", path, "--scene", "bouncing-ball", "--params", EVIL)
        run("fit", "motion", path, "--scene", "bouncing-ball", "--params", EVIL + "=gravity[2]:0:1")
        run("predict", path, path, shows=False)


if __name__ == "__main__":
    main(globals())
