"""Bad problem files: refused by code, field and position, with little memory whatever sizes they claim."""
import json
import os
import resource
import subprocess

from command import COMMAND, SOURCE, carom, changed, check, main
from solve_problem import HDF5, Folder

GOOD = {"carom_problem": 1, "blocks": [{"kind": "cone", "rows": 3, "mu": 0.5}, {"kind": "box", "lo": -1, "hi": 1}],
        "u_free": [-1, 2, 0, 0.5], "W": [[2, 0, 0, 1], [0, 2, 0, 0], [0, 0, 2, 0], [1, 0, 0, 2]]}
OPERATOR = {"carom_problem": 1, "blocks": [{"kind": "unilateral", "rows": 2}], "J": [[1, 0], [1, 1]],
            "M": [[1, 0], [0, 2]], "v": [-1, 0]}
CONE, BOX = GOOD["blocks"]
SPARSE = {"rows": 4, "cols": 4, "entries": [[i, i, 2] for i in range(4)]}
ROWS = {"rows": 4, "cols": 4, "start": [0, 1, 2, 3, 4], "col": [0, 1, 2, 3], "value": [2, 2, 2, 2]}
LONG = [0] * 40  # a list of numbers that is packed while it is read
CHAIN = [[i, i, 2] for i in range(5000)] + [[i, i + 1, 1] for i in range(4999)] + [[i + 1, i, 1] for i in range(4999)]


def cone(**fields):
    return {"blocks": [changed(CONE, **fields), BOX]}


def box(**fields):
    return {"blocks": [CONE, changed(BOX, **fields)]}


def entries(*extra):
    return {"W": {**SPARSE, "entries": SPARSE["entries"] + list(extra)}}


BAD = [
    ({"carom_problem": None}, "missing-field", "carom_problem"),
    ({"carom_problem": 2}, "out-of-range", "carom_problem"),
    ({"carom_problem": "1"}, "wrong-type", "carom_problem"),
    ({"blocks": None}, "missing-field", "blocks"),
    ({"blocks": {}}, "wrong-type", "blocks"),
    ({"blocks": [1]}, "wrong-type", "blocks"),
    ({"blocks": [CONE]}, "wrong-size", "u_free"),
    ({"blocks": [{"rows": 4}]}, "missing-field", "blocks[0].kind"),
    ({"blocks": [{"kind": "cube"}]}, "unknown-name", "blocks[0].kind"),
    ({"blocks": [{"kind": 3}]}, "wrong-type", "blocks[0].kind"),
    ({"blocks": [{"kind": "equality", "rows": 2000000000}]}, "out-of-range", "blocks[0].rows"),
    ({"blocks": [{"kind": "equality", "rows": 6000000}] * 2}, "out-of-range", "blocks[1].rows"),
    ({"blocks": [{"kind": "equality", "mu": 1}]}, "unknown-field", "blocks[0].mu"),
    (cone(mu=-0.5), "out-of-range", "blocks[0].mu"),
    (cone(mu="-inf"), "wrong-type", "blocks[0].mu"),
    (cone(mu=[1]), "wrong-type", "blocks[0].mu"),
    (cone(mu2=-1), "out-of-range", "blocks[0].mu2"),
    (cone(spin=-1), "out-of-range", "blocks[0].spin"),
    (cone(roll=-1), "out-of-range", "blocks[0].roll"),
    (cone(e=-0.1), "out-of-range", "blocks[0].e"),
    (cone(et=1.5), "out-of-range", "blocks[0].et"),
    (cone(rows=0), "out-of-range", "blocks[0].rows"),
    (cone(rows=1.5), "out-of-range", "blocks[0].rows"),
    (cone(rows=4), "wrong-size", "u_free"),
    (cone(lo=0), "unknown-field", "blocks[0].lo"),
    (cone(friction=0), "unknown-field", "blocks[0].friction"),
    (cone(polygon=[[1, 0], [0, 1]]), "wrong-size", "blocks[0].polygon"),
    (cone(polygon=3), "wrong-type", "blocks[0].polygon"),
    (cone(polygon=[[1, 0], [0, 1], [1]]), "wrong-size", "blocks[0].polygon"),
    (cone(polygon=[[1, 0], [-1, -1], [0, 1]]), "out-of-range", "vertices"),
    (box(lo=2), "out-of-range", "lo"),
    (box(hi="up"), "wrong-type", "blocks[1].hi"),
    (box(mu=1), "unknown-field", "blocks[1].mu"),
    ({"u_free": None}, "missing-field", "u_free"),
    ({"u_free": [1]}, "wrong-size", "u_free"),
    ({"u_free": 3}, "wrong-type", "u_free"),
    ({"b": [1]}, "wrong-size", "b"),
    ({"p": [1]}, "wrong-size", "p"),
    ({"raw": 1}, "wrong-type", "raw"),
    ({"name": 1}, "wrong-type", "name"),
    ({"comment": 1}, "wrong-type", "comment"),
    ({"Q": 1}, "unknown-field", "Q"),
    ({"W": None}, "missing-field", "W"),
    ({"W": 3}, "wrong-type", "W"),
    ({"W": [[1, 0], [0, 1]]}, "wrong-size", "W"),
    ({"W": [[1, 0], [0]]}, "wrong-size", "W"),
    ({"W": [1, 2]}, "wrong-type", "W"),
    ({"W": [[2, 0, 0, 1], [0, 2, 0, 0], [0, 0, 2, 0], [0.5, 0, 0, 2]]}, "not-symmetric", "W"),
    ({"W": [[2, 0, 0, 1], [0, 2, 0, 0], [0, 0, 2, 0], [1, 0, "x", 2]]}, "wrong-type", "W"),
    ({"W": {"rows": 4, "cols": 4}}, "missing-field", "W"),
    ({"W": {**SPARSE, "rows": 5}}, "wrong-size", "W"),
    ({"W": {**SPARSE, "cols": 2}}, "out-of-range", "W"),
    ({"W": {**SPARSE, "rows": -1}}, "out-of-range", "W"),
    ({"W": {**SPARSE, "rows": 2000000000}}, "out-of-range", "W"),
    ({"W": {**SPARSE, "size": 2}}, "unknown-field", "W.size"),
    (entries([4, 0, 1]), "out-of-range", "W"),
    (entries([0, 0.5, 1]), "out-of-range", "W"),
    (entries([0, 0, 1]), "syntax", "W"),
    (entries([0, 1]), "wrong-size", "W"),
    (entries(3), "wrong-type", "W"),
    ({"J": [[1]]}, "unknown-field", "J"),
    ({"W": {k: ROWS[k] for k in ROWS if k != "col"}}, "missing-field", "W"),
    ({"W": {**ROWS, "entries": []}}, "missing-field", "W"),
    ({"W": {**ROWS, "start": [0, 1, 2, 4]}}, "wrong-size", "W"),
    ({"W": {**ROWS, "start": [0, 2, 1, 3, 4]}}, "wrong-size", "W"),
    ({"W": {**ROWS, "start": [1, 1, 2, 3, 4]}}, "wrong-size", "W"),
    ({"W": {**ROWS, "start": [0, 1, 2, 3, 3]}}, "wrong-size", "W"),
    ({"W": {**ROWS, "start": [0, 1, 2, 3, 5]}}, "out-of-range", "W"),
    ({"W": {**ROWS, "start": [0, 1, 2, 3, 0.5]}}, "out-of-range", "W"),
    ({"W": {**ROWS, "start": [0, 2, 2, 3, 4], "col": [1, 0, 2, 3]}}, "wrong-size", "W"),
    ({"W": {**ROWS, "col": [0, 1, 2, 4]}}, "out-of-range", "W"),
    ({"W": {**ROWS, "col": [0, 1, 2, "x"]}}, "wrong-type", "W"),
    ({"W": {**ROWS, "col": [0, 1, 2]}}, "wrong-size", "W"),
    ({"W": {**ROWS, "value": [2, 2, 2, "x"]}}, "wrong-type", "W"),
    ({"W": {**ROWS, "value": 2}}, "missing-field", "W"),
    ({"W": {"diagonal": 3}}, "wrong-type", "W"),
    ({"W": {"diagonal": [[[1, 0], [0]], 1, 1]}}, "wrong-size", "W"),
    ({"W": {"diagonal": [[1, 2], 1, 1]}}, "wrong-size", "W"),
    ({"W": {"diagonal": [[], 1, 1]}}, "wrong-size", "W"),
    ({"W": {"diagonal": [[[1, "x"], [0, 1]], 1, 1]}}, "wrong-type", "W"),
    ({"W": {"diagonal": [1, 1, 1]}}, "wrong-size", "W"),
    ({"W": {"diagonal": [1, 1, 1, 1], "rows": 4, "cols": 4}}, "missing-field", "W"),
    ({"W": {"diagonal": LONG}}, "wrong-size", "W"),
    ({"W": LONG}, "wrong-type", "W"),
    ({"W": {**SPARSE, "entries": LONG}}, "wrong-type", "W"),
    ({"blocks": LONG}, "wrong-type", "blocks"),
    (cone(polygon=LONG), "wrong-type", "blocks[0].polygon"),
    ({"u_free": LONG}, "wrong-size", "u_free"),
    ({"u_free": LONG + ["x"]}, "wrong-size", "u_free"),
    ({"h": 0}, "out-of-range", "h"),
    ({"h": -1}, "out-of-range", "h"),
    ({"h": "1"}, "wrong-type", "h"),
]
BAD_OPERATOR = [
    ({"M": None}, "missing-field", "M"),
    ({"M": [[1, 2], [2, 1]]}, "not-positive", "M"),
    ({"M": [[1, 0], [0, 0]]}, "not-positive", "M"),
    ({"M": [[1]]}, "wrong-size", "M"),
    ({"Minv": [[1, 0], [0, 1]]}, "unknown-field", "Minv"),
    ({"M": None, "Minv": [[1, 2], [0, 1]]}, "not-symmetric", "Minv"),
    ({"J": [[1, 0]]}, "missing-field", "u_free"),
    ({"J": [[1, 0]], "u_free": [1, 2]}, "wrong-size", "J"),
    ({"v": [1]}, "wrong-size", "v"),
    ({"v": None}, "missing-field", "u_free"),
    ({"J": {"rows": 2, "cols": 5000, "entries": []}, "v": None, "u_free": [1, 1],
      "M": {"rows": 5000, "cols": 5000, "entries": CHAIN}}, "limit", "M"),
    ({"M": [[2, 1], [0, 2]]}, "not-symmetric", "M"),
    ({"M": {"rows": 2, "cols": 2, "entries": [[0, 0, 2], [0, 1, 1], [1, 1, 2]]}}, "not-symmetric", "M"),
    ({"M": {"diagonal": [[[2, 1], [1 + 1e-6, 2]]]}}, "not-symmetric", "M"),
    ({"M": {"diagonal": [1, -2]}}, "not-positive", "M"),
    ({"M": {"diagonal": [[[1, 2], [2, 1]]]}}, "not-positive", "M"),
    ({"M": {"diagonal": [1, 0]}}, "not-positive", "M"),
    # a unit of mass of 1e-9: the same entries are as unsymmetric
    ({"M": [[2e-9, 1e-9], [0, 2e-9]]}, "not-symmetric", "M"),
]
codes = set()


def test_unsymmetric_entries():
    """Both entries are named, and rounding is let through."""
    error = refuse(json.dumps(changed(OPERATOR, M=[[2, 1], [0, 2]])).encode())
    check("entry (1, 0) is 0, (0, 1) is 1" in error["message"], error)
    error = refuse(json.dumps(changed(GOOD, W=[[2, 0, 0, 1], [0, 2, 0, 0], [0, 0, 2, 0], [0.5, 0, 0, 2]])).encode())
    check("entry (3, 0) is 0.5, (0, 3) is 1" in error["message"], error)
    rounded = changed(OPERATOR, M=[[2, 1], [1 + 2e-16, 2]])
    status, out, err = carom("solve", "-", "--json", text=json.dumps(rounded))
    check(status == 0, "rounding", out, err)


def refuse(text, *arguments):
    """The error of a file that must be refused, solved under a limit of memory."""
    def limit():
        if not os.environ.get("CAROM_SANITIZE"):
            resource.setrlimit(resource.RLIMIT_AS, (1 << 29, 1 << 29))
    run = subprocess.run([COMMAND, "solve", "-", "--json", *arguments], input=text, capture_output=True,
                         preexec_fn=limit, timeout=60)
    if not check(run.returncode == 1 and run.stderr == b"", "exit status", run.returncode, text[:100], run.stdout[:200],
                 run.stderr[:200]):
        return None
    error = json.loads(run.stdout)["error"]
    codes.add(error["code"])
    check(error["message"] != "" and error["code"] != "memory", text[:100], error)
    return error


def test_fields():
    for base, table in ((GOOD, BAD), (OPERATOR, BAD_OPERATOR)):
        status, out, err = carom("solve", "-", text=json.dumps(base))
        check(status == 0, "the good one", out, err)
        for change, code, field in table:
            error = refuse(json.dumps(changed(base, **change)).encode())
            if error:
                check((error["code"], error["field"]) == (code, field), change, error, "wanted", code, field)
                check(error["line"] >= 1 and error["column"] >= 1, change, error)
    text = '{"carom_problem": 1,\n "blocks": [{"kind": "cone",\n   "mu": -2}]}'
    status, out, err = carom("solve", "-", text=text)
    check(status == 1 and out == "" and err.startswith("standard input:3:10: blocks[0].mu: is -2, must be >= 0"), err)


def test_texts():
    """Cut off, empty, absurd: each format says where and why."""
    for text, code in ((b"", None), (b"{", "syntax"), (b"[]", None), (b"{}", "missing-field"),
                       (b'{"W":NaN}', "not-finite"),
                       (b'{"carom_problem":1e999}', "not-finite"), (b"\x89HDF\r\n\x1a\n", "syntax"),
                       (b"\x89HDF\r\n\x1a\n" + b"\0" * 2000, "syntax"), (b"\xff\xfe{", None)):
        error = refuse(text)
        without = text.startswith(b"\x89HDF") and not HDF5
        check(error and (code is None or error["code"] == ("unknown-name" if without else code)), text[:40], error)
    absurd = {"siconos-lcp": b"999999 0 999999 999999 999999 999999 1", "siconos-lcp-rows": b"1000000 1 2 3",
              "siconos-mlcp": b"1 0 500000 500000 0 1", "siconos-fc": b"3 333333 0 999999 999999 999999 999999 1",
              "siconos-gfc": b"3 1 0 99999 99999 99999 99999 1", "siconos-rfc": b"5 200000 0 1000000 1000000 1",
              "contactbench": b"n 999999 1", "boxed-lcp": b"problem x n 1000000", "fclib": b"1 2 3", "json": b"1 2 3"}
    for name, text in absurd.items():
        check(refuse(text, "--format", name) is not None, name)
        refuse(b"-1\0\1\2\3", "--format", name)
    fc = b"3\n1\n0\n3\n3\n3 3\n1 0 0\n0 1 0\n0 0 1\n-1 2 0\n0.5\n"
    status, out, err = carom("solve", "-", text=fc)
    check(status == 0 and "siconos-fc" in out, out, err)
    for cut in range(1, len(fc) - 5, 7):
        refuse(fc[:cut], "--format", "siconos-fc")
    for wrong, code in ((fc.replace(b"0.5", b"-0.5"), "out-of-range"), (fc.replace(b"-1 2 0", b"-1 nan 0"), None),
                        (fc.replace(b"-1 2 0", b"-1 x 0"), None), (fc.replace(b"3 3\n1", b"3 2\n1"), None)):
        error = refuse(wrong, "--format", "siconos-fc")
        check(error and error["line"] >= 1 and (code is None or error["code"] == code), wrong, error)
    large = {"carom_problem": 1, "blocks": [{"kind": "unilateral", "rows": 1000000}], "u_free": [1],
             "W": {"rows": 1000000, "cols": 1000000, "entries": []}}
    check(refuse(json.dumps(large).encode())["field"] == "u_free", "many rows, no numbers")


def test_usage():
    good = json.dumps(GOOD)
    for arguments, said in (([], "which file"), (["-", "--tol"], "needs a value"), (["-", "--tol", "0"], "--tol"),
                            (["-", "--tol", "nan"], "--tol"), (["-", "--tol", "1e-3x"], "--tol"),
                            (["-", "--solver", "newtn"], "did you mean 'newton'"),
                            (["-", "--solver", "zz"], "no solver"),
                            (["-", "--format", "siconos-fd"], "did you mean"), (["-", "--quick"], "unknown option"),
                            (["a", "b"], "only one file"), (["-", "--all", "--solver", "auto"], "together")):
        status, out, err = carom("solve", *arguments, text=good)
        check(status == 2 and out == "" and said in err and "--help" in err, arguments, status, err)
    status, out, err = carom("solve", "/no/such/file")
    check(status == 3 and out == "" and "/no/such/file" in err, status, err)
    check(carom("solve", str(SOURCE))[0] == 3, "a directory")
    with Folder() as at:
        for name, code in (("x.txt", 1), ("no/such/x.json", 3), ("no/such/x.hdf5", 3 if HDF5 else 1)):
            case = {**GOOD, "blocks": [CONE, {"kind": "equality"}]}
            status, _, err = carom("solve", "-", "--dump", at(name), text=json.dumps(case))
            check(status == code and ("dump" in err or not HDF5), name, status, err)
        # what FCLIB cannot hold is refused, not bent
        for blocks in ([CONE, BOX], [{"kind": "unilateral", "rows": 4}], [{**CONE, "mu": "inf"}, {"kind": "equality"}],
                       [{**CONE, "mu2": 0.1}, {"kind": "equality"}], [{"kind": "cone", "rows": 4, "mu": 1, "spin": 1}],
                       [{"kind": "equality", "rows": 4}]):
            status, _, err = carom("solve", "-", "--dump", at("x.hdf5"), text=json.dumps({**GOOD, "blocks": blocks}))
            check(status == 1 and "fclib" in err and not os.path.exists(at("x.hdf5")), blocks, status, err)


main(globals())
