"""What people and scripts see of carom: help, shape of answers, tables, colour, examples, catalogue."""
import json
import os
import pathlib
import pty
import re
import subprocess
import tempfile

from command import COMMAND, LAWS, SOURCE, carom, changed, check, main, one, GOOD


def test_help():
    for arguments in ([], ["--help"], ["help"], ["-h"]):
        status, out, _ = carom(*arguments)
        check(status == 0 and "usage: carom" in out and "impact" in out and "exit status" in out, arguments)
    for verb in ("run", "compare", "converge", "spread", "impact", "resolve", "solve", "audit", "laws", "examples"):
        texts = [carom(*arguments) for arguments in ([verb, "--help"], [verb, "-h"], ["help", verb])]
        check(all(t == texts[0] for t in texts), verb, "help differs")
        check(texts[0][0] == 0 and texts[0][1].startswith("usage: carom " + verb), verb)
        check("examples:" in texts[0][1], verb, "has no examples")
        check(max(map(len, texts[0][1].splitlines())) <= 100, verb, "help is too wide")
    status, out, _ = carom("--version")
    check(status == 0 and out.startswith("carom ") and "numerics revision" in out, out)


def test_shapes():
    single = one({**GOOD, "name": "hit \u20ac"})
    keys = ["name", "law", "P", "V_plus", "regime", "solutions", "energy_change", "margins", "permissible",
            "creates_energy", "P_I", "P_II"]
    check(list(single) == keys, list(single))
    check(single["name"] == "hit \u20ac" and single["law"] == "newton", single)
    check(list(single["margins"]) == ["energy", "penetration", "tension", "cone"], single)
    check(all(len(single[key]) == 2 for key in ("P", "V_plus", "P_I", "P_II")), single)
    listed = one({**GOOD, "law": ["chatterjee-ruina", "bilinear", "newton"]})
    check([r["law"] for r in listed["results"]] == ["chatterjee-ruina", "bilinear", "newton"], listed)
    check(listed["results"][1]["error"]["code"] == "not-diagonal", listed)
    check(listed["results"][2] == {k: v for k, v in single.items() if k != "name"}, "the same law in a list")
    one({**GOOD, "law": ["bilinear"]}, expect=1)
    for law in ("all", None):
        everything = one(changed(GOOD, law=law, mu=0.7, et=0.3, e=0.5))
        check([r["law"] for r in everything["results"]] == LAWS, law, everything)
    separate = one({**GOOD, "V": [1, 3], "law": "chatterjee-ruina", "mu": 0.5})
    check(separate["P"] == [0, 0] and separate["regime"] == "separate" and separate["permissible"], separate)
    check(separate["V_plus"] == [1, 3], separate)
    # a blocked direction: no P_II where V is not in the range of W
    blocked = one({"law": "newton", "W": [[1, 0], [0, 0]], "V": [-1, 1], "n": [1, 0]})
    check(blocked["P_II"] is None and blocked["P_I"] == [1, 0], blocked)
    rigid = one({"law": "newton", "W": [[0, 0], [0, 1]], "V": [-1, 0], "n": [1, 0]})
    check(rigid["P_I"] is None and rigid["regime"] == "no-solution" and rigid["solutions"] == 0, rigid)


def test_stream():
    """An answer comes before the input ends."""
    process = subprocess.Popen([COMMAND, "impact", "--json", "-"], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE)
    for _ in range(3):
        process.stdin.write(json.dumps(GOOD).encode() + b"\n")
        process.stdin.flush()
        check(json.loads(process.stdout.readline())["P"] == [0.5, 0], "stream")
    process.stdin.close()
    check(process.stdout.read() == b"" and process.wait() == 0, "end of stream")
    process.stdout.close()


def test_table():
    for path in sorted((SOURCE / "examples/impacts").glob("*.json")):
        status, out, err = carom("impact", str(path))
        check(status == 0 and err == "", path.name, status, err)
        check(max(map(len, out.splitlines())) <= 100, path.name, "is wider than 100 columns")
        check(out.startswith(path.stem + ":") and "\033" not in out, path.name)
        rows = {line.split()[0] for line in out.splitlines() if line.split()}
        check(rows.issuperset(LAWS), path.name, LAWS, rows)
    status, out, _ = carom("impact", text=json.dumps({**GOOD, "law": "newton"}))
    row = next(line for line in out.splitlines() if "newton" in line)
    check("0.5000" in row and "permissible" in row and "slip" in row, out)
    big = {**GOOD, "V": [-1e7, -6e6], "W": [[2e-5, -9e-6], [-9e-6, 1.5e-5]]}
    status, out, _ = carom("impact", text=json.dumps(big))
    check("1e9 N s" in out and max(map(len, out.splitlines())) <= 100, out)
    bad = {**GOOD, "law": "newton", "e": 5}
    status, out, _ = carom("impact", text=json.dumps(bad))
    check("creates energy" in out, out)


def on_terminal(*arguments, env):
    """Output of the command on a terminal."""
    parent, child = pty.openpty()
    run = subprocess.run([COMMAND, *arguments], stdin=subprocess.DEVNULL, stdout=child,
                         stderr=subprocess.DEVNULL, env={**os.environ, **env})
    os.close(child)
    out = b""
    try:
        while chunk := os.read(parent, 65536):
            out += chunk
    except OSError:
        pass
    os.close(parent)
    return run.returncode, out.decode()


def test_color():
    path = str(SOURCE / "examples/impacts/generic.json")
    check("\033[32m" in on_terminal("impact", path, env={"NO_COLOR": ""})[1], "no colour on a terminal")
    check("\033" not in on_terminal("impact", path, env={"NO_COLOR": "1"})[1], "colour despite NO_COLOR")
    check("\033" not in on_terminal("impact", "--json", path, env={"NO_COLOR": ""})[1], "colour in JSON")


def test_examples():
    status, out, _ = carom("examples")
    verbs = {"impact": "examples/impacts", "resolve": "examples/resolve", "solve": "examples/solve", "run": "scenes"}
    every = [path for kind in verbs.values() for path in sorted((SOURCE / kind).glob("*.json"))]
    paths = [path for path in every if path.parent.name != "scenes"]
    listed = [line.split()[0] for line in out.splitlines() if line and line[0] != " " and not line.startswith("carom ")]
    check(status == 0 and [name.split("/")[-1] for name in listed] == [path.stem for path in every], listed)
    check([line for line in out.splitlines() if line.startswith("carom ")] == [f"carom {v}:" for v in verbs], out)
    check(max(map(len, out.splitlines())) <= 100 and len(set(listed)) == len(listed), out)
    for name in ("generic diagonal grazing infinite-friction pendulum e-above-1 kane-paradox superball "
                 "tumbling-box billiard cradle-3 cradle-5 ball-wall rod-on-two-supports rocking-rod "
                 "impact-pendulum flat-rod pool-break").split():
        check(name in listed, name, "is missing")
    with tempfile.TemporaryDirectory() as folder:
        target = os.path.join(folder, "new")
        status, out, _ = carom("examples", "--all", "-o", target)
        check(status == 0 and len(out.splitlines()) == len(every), out)
        for path in every:
            if path not in paths:
                text = path.read_text()
                check((pathlib.Path(target) / "scenes" / path.name).read_text() == text, path.stem, "differs")
                check(carom("examples", "scenes/" + path.stem)[1] == text, path.stem, "is printed differently")
        for path in paths:
            text = path.read_text()
            written = (pathlib.Path(target) / path.name).read_text()
            check(written == text, path.stem, "differs from its file")
            check(json.loads(text)["name"] == path.stem and len(json.loads(text)["comment"]) <= 81, path.stem)
            check(carom("examples", path.stem)[1] == text, path.stem, "is printed differently")
        status, _, _ = carom("examples", "--all", "-o", os.path.join(folder, "no", "such"))
        check(status == 3, "a folder that cannot be made", status)


def test_laws():
    status, out, _ = carom("laws")
    check(status == 0 and max(map(len, out.splitlines())) <= 100, "laws is wider than 100 columns")
    status, out, _ = carom("laws", "--json")
    rows = [json.loads(line) for line in out.splitlines()]
    check(status == 0 and [row["law"] for row in rows] == LAWS, out)
    for row in rows:
        check(list(row) == ["law", "title", "parameters", "guarantee", "source", "dimension", "planar",
                            "may_create_energy", "spin_reversal", "spin_non_reversal", "grazing_normal",
                            "grazing_tangential"], row)
    status, out, _ = carom("laws", "newton", "routh")
    check(status == 0 and out.startswith("newton - ") and "\nrouth - " in out and "smith" not in out, out)


def test_one_of_a_thing():
    """Numbers and their nouns agree in everything that is printed of one body, one record, one step."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "one.json").write_text(json.dumps({
            "carom": 1, "step": {"dt": 0.01, "duration": 0.01}, "static": [{"type": "halfspace", "n": [0, 0, 1], "offset": 0}],
            "bodies": [{"name": "a", "joint": "slider", "axis": [0, 0, 1], "pos": [0, 0, 0.1], "vel": -0.1,
                        "shapes": [{"type": "sphere", "r": 0.1}]}]}))
        scene, file, page = folder / "one.json", folder / "one.h5", folder / "one.html"
        said = [carom("run", scene, "--out", file, "--report", page), carom("info", scene), carom("info", file),
                carom("compare", scene, "--rule", "newton,poisson"), carom("audit", scene, file), carom("spread", scene, "--samples", 2)]
        text = "".join(out + err for _, out, err in said) + page.read_text()
    wrong = re.findall(r"(?<![\d.])1 (?:bodies|shapes|steps|impacts|events|pairs|contacts|records|flights|degrees|rows|blocks|samples)\b", text)
    check(wrong == [], "one is not many", wrong)
    for words in ("1 body, 2 shapes, 1 degree of freedom", "in 1 step,"):
        check(words in said[0][1], words, said[0][1])


main(globals())
