"""Everything carom refuses: by code, field, line and column, and by exit status."""
import json
import os
import pathlib
import random
import subprocess
import tempfile

from command import COMMAND, carom, changed, check, lines, main, BODY, GOOD, PAIR, SPACE


def test_usage():
    for arguments, said in ((["inpact"], "did you mean 'impact'"), (["--versoin"], "unknown option"),
                            (["qqq"], "unknown verb"), (["help", "law"], "did you mean 'laws'"),
                            (["impact", "--jsn"], "unknown option"), (["impact", "a", "b"], "only one file"),
                            (["laws", "rout"], "did you mean 'routh'"), (["laws", "--x"], "unknown option"),
                            (["examples", "generc"], "did you mean 'generic'"),
                            (["examples", "zzz"], "no example"),
                            (["examples", "--all"], "-o"), (["examples", "-o"], "needs a directory")):
        status, out, err = carom(*arguments)
        check(status == 2 and out == "" and said in err and "--help" in err, arguments, status, err)
    status, out, err = carom("impact", "/no/such/file.json")
    check(status == 3 and out == "" and "/no/such/file.json" in err, status, err)
    status, out, err = carom("impact", "/")
    check(status == 3 and out == "", "a directory", status, err)
    status, out, err = carom("impact", "--json", text="")
    check(status == 1 and out == "" and "empty" in err, "empty input", status, err)
    if os.path.exists("/dev/full"):
        with open("/dev/full", "w") as full:
            status = subprocess.run([COMMAND, "laws"], stdout=full, stderr=subprocess.DEVNULL).returncode
        check(status == 3, "full disk", status)


def bad_inputs():
    """(input, code, field): every way of being wrong."""
    table = [
        (changed(GOOD, W=[[2, -0.9], [-0.8, 1.5]]), "not-symmetric", "W"),
        (changed(GOOD, W=[[2, 3], [3, 1]]), "not-positive", "W"),
        (changed(GOOD, W=[[-1, 0], [0, 1]]), "not-positive", "W"),
        (changed(GOOD, W=[[2, -0.9]]), "wrong-size", "W"),
        (changed(GOOD, W=[[2, -0.9, 0], [-0.9, 1.5, 0]]), "wrong-size", "W"),
        (changed(GOOD, W=[[1, 0, 0], [0, 1, 0], [0, 0, 1]]), "wrong-size", "W"),
        (changed(GOOD, W=3), "wrong-type", "W"),
        (changed(GOOD, W=[[2, "x"], [0, 1]]), "wrong-type", "W"),
        (changed(GOOD, W=[1, 2]), "wrong-type", "W"),
        (changed(GOOD, W=None), "missing-field", "W"),
        (changed(GOOD, W=None, m=[[2, 0.5], [0.4, 1]]), "not-symmetric", "m"),
        (changed(GOOD, W=None, m=[[1, 2], [2, 1]]), "not-positive", "m"),
        (changed(GOOD, W=None, m=[[1, 1], [1, 1]]), "not-positive", "m"),
        (changed(GOOD, W=None, m=[[0, 0], [0, 0]]), "not-positive", "m"),
        (changed(GOOD, W=None, m=[[1e-320, 0], [0, 1]]), "not-finite", "m"),
        (changed(GOOD, m=[[1, 0], [0, 1]]), "unknown-field", "m"),
        (changed(GOOD, V=None), "missing-field", "V"),
        (changed(GOOD, V=[-1]), "wrong-size", "V"),
        (changed(GOOD, V=[-1, 0, 0]), "wrong-size", "V"),
        (changed(GOOD, V=[-1, True]), "wrong-type", "V"),
        (changed(GOOD, V={"x": 1}), "wrong-type", "V"),
        ('{"law":"newton","W":[[1,0],[0,1]],"V":[NaN,0],"n":[1,0]}', "not-finite", "V"),
        ('{"law":"newton","W":[[1,0],[0,1]],"V":[1e999,0],"n":[1,0]}', "not-finite", "V"),
        ('{"law":"newton","W":[[1,0],[0,1]],"V":[-1,0],"n":[1,0],"mu":Infinity}', "not-finite", "mu"),
        (changed(GOOD, n=None), "missing-field", "n"),
        (changed(GOOD, n=[1, 1]), "not-unit", "n"),
        (changed(GOOD, n=[0, 0], normalize=True), "not-unit", "n"),
        (changed(GOOD, n=[1]), "wrong-size", "n"),
        (changed(GOOD, n=[1, 0, 0, 0]), "wrong-size", "n"),
        (changed(GOOD, n="x"), "wrong-type", "n"),
        (changed(GOOD, mu=-0.1), "out-of-range", "mu"),
        (changed(GOOD, mu="infinite"), "wrong-type", "mu"),
        (changed(GOOD, mu=[1]), "wrong-type", "mu"),
        (changed(GOOD, e=-1e-9), "out-of-range", "e"),
        (changed(GOOD, e="1"), "wrong-type", "e"),
        (changed(GOOD, e=[]), "wrong-size", "e"),
        (changed(GOOD, e=[[1, 0.5], [1, 0.4]]), "out-of-range", "e"),
        (changed(GOOD, e=[[0, 0.5], [1, -0.4]]), "out-of-range", "e"),
        (changed(GOOD, e=[[0, 0.5, 1]]), "wrong-size", "e"),
        (changed(GOOD, e=[0.5]), "wrong-type", "e"),
        (changed(GOOD, e=[[i, 0.5] for i in range(65)]), "limit", "e"),
        (changed(GOOD, et=1.01), "out-of-range", "et"),
        (changed(GOOD, et=-1.01), "out-of-range", "et"),
        (changed(GOOD, et="x"), "wrong-type", "et"),
        (changed(GOOD, normalize=1), "wrong-type", "normalize"),
        (changed(GOOD, name=1), "wrong-type", "name"),
        (changed(GOOD, comment=[]), "wrong-type", "comment"),
        (changed(GOOD, frame=[[1, 0.1], [0, 1]]), "not-unit", "frame"),
        (changed(GOOD, frame=[[0, 1], [1, 0]]), "not-unit", "frame"),
        (changed(GOOD, frame=[[1, 0, 0], [0, 1, 0], [0, 0, 1]]), "wrong-size", "frame"),
        (changed(GOOD, law="nowton"), "unknown-name", "law"),
        (changed(GOOD, law=["newton", "x"]), "unknown-name", "law"),
        (changed(GOOD, law=[]), "wrong-size", "law"),
        (changed(GOOD, law=["newton"] * 17), "wrong-size", "law"),
        (changed(GOOD, law=3), "wrong-type", "law"),
        (changed(GOOD, law=[3]), "wrong-type", "law"),
        (changed(GOOD, law="bilinear"), "not-diagonal", "W"),
        (changed(GOOD, ending="stronge"), "unknown-name", "ending"),
        (changed(GOOD, ending=1), "wrong-type", "ending"),
        (changed(GOOD, cone=2), "out-of-range", "cone"),
        (changed(GOOD, cone=3.5), "out-of-range", "cone"),
        (changed(GOOD, cone=1e9), "out-of-range", "cone"),
        (changed(GOOD, cone="round"), "unknown-name", "cone"),
        (changed(GOOD, cone=[8]), "wrong-type", "cone"),
        (changed(GOOD, nu=1.5), "out-of-range", "nu"),
        (changed(GOOD, nu=-0.5), "out-of-range", "nu"),
        (changed(GOOD, ratios=[1]), "wrong-size", "ratios"),
        (changed(GOOD, ratios=1), "wrong-type", "ratios"),
        (changed(GOOD, psi1=3.2), "out-of-range", "psi1"),
        (changed(GOOD, psi2=6.3), "out-of-range", "psi2"),
        (changed(GOOD, rho=-0.1), "out-of-range", "rho"),
        (changed(GOOD, rho=1.1), "out-of-range", "rho"),
        (changed(GOOD, eta2=0), "out-of-range", "eta2"),
        (changed(GOOD, wish=[1, 2, 3]), "wrong-size", "wish"),
        (changed(GOOD, laws="newton"), "wrong-type", "laws"),
        (changed(GOOD, laws=[]), "wrong-size", "laws"),
        (changed(GOOD, laws=["newton", "rooth"]), "unknown-name", "laws"),
        (changed(GOOD, laws=["newton", "composite"]), "out-of-range", "laws"),
        (changed(GOOD, sigma=1.5), "out-of-range", "sigma"),
        (changed(GOOD, sigma="x"), "wrong-type", "sigma"),
        (changed(GOOD, sigma=[0.5, 0.6]), "out-of-range", "sigma"),
        (changed(GOOD, sigma=[1.5, -0.5]), "out-of-range", "sigma"),
        (changed(GOOD, sigma=[1]), "wrong-size", "sigma"),
        (changed(GOOD, laws=["newton"] * 3), "missing-field", "sigma"),
        (changed(GOOD, laws=["newton"] * 3, sigma=0.5), "wrong-size", "sigma"),
        (changed(GOOD, w=[1]), "unknown-field", "w"),
        (changed(GOOD, friction=0.5), "unknown-field", "friction"),
        (changed(GOOD, point=[0, 0]), "unknown-field", "point"),
        (changed(GOOD, V=[-1e300, 0], W=[[1, 0], [0, 1]]), "not-finite", "law"),
        (changed(GOOD, law="brach", mu=1, e=0.1, ratios=[0.1, 0.1]), "not-planar", "law"),
        (changed(PAIR, W=[[1, 0], [0, 1]]), "unknown-field", "W"),
        (changed(PAIR, V=[0, -1]), "unknown-field", "V"),
        (changed(PAIR, bodies=[BODY, BODY]), "unknown-field", "a"),
        (changed(PAIR, a=None), "missing-field", "a"),
        (changed(PAIR, b=None), "missing-field", "b"),
        (changed(PAIR, a=None, b=None, bodies=[BODY]), "wrong-size", "bodies"),
        (changed(PAIR, a=None, b=None, bodies=BODY), "wrong-type", "bodies"),
        (changed(PAIR, a=None, b=None, bodies=[BODY, 3]), "wrong-type", "b"),
        (changed(PAIR, point=None), "missing-field", "point"),
        (changed(PAIR, point=[0, 0, 0]), "wrong-size", "point"),
        (changed(PAIR, b={"fixed": True}), "argument", "fixed"),
        (changed(PAIR, b={"inertia": 1}), "missing-field", "b.mass"),
        (changed(PAIR, b={"mass": 1}), "missing-field", "b.inertia"),
        (changed(PAIR, b={**BODY, "mass": 0}), "out-of-range", "b.mass"),
        (changed(PAIR, b={**BODY, "mass": "x"}), "wrong-type", "b.mass"),
        (changed(PAIR, b={**BODY, "inertia": 0}), "not-positive", "b.inertia"),
        (changed(PAIR, b={**BODY, "inertia": [1, 1, 1]}), "wrong-type", "b.inertia"),
        (changed(PAIR, b={**BODY, "orientation": [1, 0, 0, 0]}), "wrong-type", "b.orientation"),
        (changed(PAIR, b={**BODY, "omega": [0, 0, 1]}), "wrong-type", "b.omega"),
        (changed(PAIR, b={**BODY, "velocity": [0, 0, 1]}), "wrong-size", "b.velocity"),
        (changed(PAIR, b={**BODY, "weight": 1}), "unknown-field", "b.weight"),
        (changed(PAIR, b={**BODY, "fixed": 1}), "wrong-type", "b.fixed"),
        (changed(SPACE, b={**BODY, "orientation": [1, 1, 0, 0]}), "not-unit", "b.orientation"),
        (changed(SPACE, b={**BODY, "orientation": [1, 0, 0]}), "wrong-size", "b.orientation"),
        (changed(SPACE, a={**BODY, "inertia": [1, 1]}), "wrong-size", "a.inertia"),
        (changed(SPACE, a={**BODY, "inertia": [1, 1, -1]}), "not-positive", "a.inertia"),
        (changed(SPACE, a={**BODY, "inertia": "x"}), "wrong-type", "a.inertia"),
        (changed(SPACE, a={**BODY, "inertia": [[1, 0.5, 0], [0, 1, 0], [0, 0, 1]]}),
         "not-symmetric", "a.inertia"),
        (changed(SPACE, a={**BODY, "omega": 1}), "wrong-type", "a.omega"),
        ('{"law":"newton"', "syntax", None),
        ('{"law":"newton",}', "syntax", None),
        ('{"e":0,"e":1}', "syntax", "e"),
        ("[1]", "wrong-type", None),
        ('"newton"', "wrong-type", None),
        ("[" * 65, "limit", None),
        ("nonsense", "syntax", None),
    ]
    return table


def test_bad_input():
    table = bad_inputs()
    # good lines in between go on; the first one makes it JSON Lines
    mixed = [GOOD]
    for text, _, _ in table:
        mixed += [text, GOOD]
    answers = lines(mixed, 1)
    codes = set()
    for i, answer in enumerate(answers):
        if i % 2 == 0:
            check(answer.get("P") == [0.5, 0], "a good line among bad ones", answer)
            continue
        text, code, field = table[i // 2]
        if not check(list(answer) == ["error"], text, answer):
            continue
        error = answer["error"]
        codes.add(error["code"])
        check(list(error) == ["code", "field", "message", "line", "column"], error)
        check((error["code"], error["field"]) == (code, field), text, error)
        check(error["line"] == i + 1 and error["column"] >= 1, "position", text, error)
        named = field is None or code == "not-finite" or field.split(".")[-1] in error["message"]
        check(named, "message", error)
    check("did you mean" in answers[1 + 2 * [t[1] for t in table].index("unknown-name")]["error"]["message"])
    # each alone: exit status 1
    for text, code, field in random.Random(7).sample(table, 12):
        status, out, _ = carom("impact", "--json", text=text if isinstance(text, str) else json.dumps(text))
        error = json.loads(out)["error"]
        check(status == 1 and (error["code"], error["field"]) == (code, field), text, status, out)
    print("  error codes provoked:", len(codes), " ".join(sorted(codes)))


def test_positions():
    text = '{\n  "law": "newton",\n  "W": [[1, 0],\n        [0.5, 1]],\n  "V": [-1, 0], "n": [1, 0]\n}\n'
    status, out, _ = carom("impact", "--json", text=text)
    error = json.loads(out)["error"]
    check((status, error["line"], error["column"]) == (1, 3, 8), out)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "bad.json")
        pathlib.Path(path).write_text(text.replace("0.5", "x"))
        status, out, err = carom("impact", path)
        check(status == 1 and out == "" and err.startswith(path + ":4:10: "), status, out, err)
    bodies = '{"law":"newton","bodies":[{"fixed":true},\n{"mass":-1,"inertia":1}],"point":[0,0],"n":[0,1]}'
    status, out, _ = carom("impact", "--json", text=bodies)
    error = json.loads(out)["error"]
    check((error["field"], error["line"], error["column"]) == ("b.mass", 2, 9), out)
    # terminal codes in the input do not reach the terminal
    status, out, err = carom("impact", text='{"\\u001b[31m":1}')
    check(status == 1 and "\033" not in err, repr(err))
    status, out, err = carom("impact", text=json.dumps({**GOOD, "name": "a\033[31m\nb"}))
    check(status == 0 and "\033" not in out and "a\\x1b[31m\\x0ab" in out, repr(out))


def test_huge():
    for text, code in (("[" * 1000000, "limit"), ('{"x":' * 1000000, "limit"),
                       ('{"name":"' + "x" * (17 << 20) + '"}', "limit"),
                       ('{"V":[' + "0," * 3000000 + "0]}", "limit"), ('{"e":0.' + "1" * 5000 + "}", "limit"),
                       ('{"name":"' + "\\u0041" * 100000, "syntax"),
                       ('{"V":' + "9" * 400 + "}", "not-finite"),
                       ("\x00" * 1000, "syntax"), ("{" + '"a":1,' * 1000000 + '"b":1}', "syntax")):
        status, out, err = carom("impact", "--json", text=text)
        good = status == 1 and json.loads(out)["error"]["code"] == code
        check(good, text[:20], status, out[:200], err[:200])


main(globals())
