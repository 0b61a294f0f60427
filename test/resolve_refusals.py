"""Every bad input of carom resolve is refused by code, field, line and column; bad lines do not stop the others."""
import json

from command import SOURCE, carom, changed, check, lines, main, one

GOOD = {"rule": "newton", "M": [1, 2], "v": [-1, 0], "contacts": [{"n": [1, 0], "t": [[0, 1]], "mu": 0.5, "e": 0.5}]}
CONTACT = GOOD["contacts"][0]
codes = set()


def with_contact(**fields):
    return {**GOOD, "contacts": [changed(CONTACT, **fields)]}


BAD = [
    ({"M": None}, "missing-field", "M"),
    ({"v": None}, "missing-field", "v"),
    ({"contacts": None}, "missing-field", "contacts"),
    ({"v": []}, "wrong-size", "v"),
    ({"v": [0] * 1001}, "limit", "v"),
    ({"v": "fast"}, "wrong-type", "v"),
    ({"v": [1, "x"]}, "wrong-type", "v"),
    ({"M": 3}, "wrong-type", "M"),
    ({"M": [1]}, "wrong-size", "M"),
    ({"M": [[1, 0], [0]]}, "wrong-size", "M"),
    ({"M": [[1, 0, 0], [0, 1, 0]]}, "wrong-size", "M"),
    ({"M": [[1, 2], [0, 1]]}, "not-symmetric", "M"),
    ({"M": [[1, 2], [2, 1]]}, "not-positive", "M"),
    ({"M": [1, 0]}, "not-positive", "M"),
    ({"M": [1, -1]}, "not-positive", "M"),
    ({"M": [1, [1, 2]]}, "wrong-type", "M"),
    ({"contacts": {}}, "wrong-type", "contacts"),
    ({"contacts": [3]}, "wrong-type", "contacts"),
    ({"contacts": [{}]}, "missing-field", "contacts[0].n"),
    ({"contacts": [CONTACT] * 1501}, "limit", "contacts"),
    ({"joints": 3}, "wrong-type", "joints"),
    ({"joints": [3]}, "wrong-type", "joints[0]"),
    ({"joints": [[1, 0, 0]]}, "wrong-size", "joints[0]"),
    ({"joints": [[0, 1], [[1, 0], [1]]]}, "wrong-size", "joints[1]"),
    ({"impulse": [1]}, "wrong-size", "impulse"),
    ({"eps": [[1, 0]]}, "wrong-size", "eps"),
    ({"eps": [[1], [1]]}, "wrong-size", "eps"),
    ({"eps": 1}, "wrong-type", "eps"),
    ({"stiffness": [0]}, "out-of-range", "stiffness"),
    ({"stiffness": [1, 1]}, "wrong-size", "stiffness"),
    ({"rule": "nowton"}, "unknown-name", "rule"),
    ({"rule": []}, "wrong-size", "rule"),
    ({"rule": ["newton"] * 17}, "wrong-size", "rule"),
    ({"rule": ["newton", 3]}, "wrong-type", "rule"),
    ({"rule": {}}, "wrong-type", "rule"),
    ({"law": "rooth"}, "unknown-name", "law"),
    ({"law": "composite"}, "unknown-name", "law"),
    ({"law": 1}, "wrong-type", "law"),
    ({"cone": 2}, "out-of-range", "cone"),
    ({"cone": 3.5}, "out-of-range", "cone"),
    ({"cone": 2000}, "out-of-range", "cone"),
    ({"cone": "round"}, "unknown-name", "cone"),
    ({"cone": []}, "wrong-type", "cone"),
    ({"ties": "none"}, "unknown-name", "ties"),
    ({"pick": "best"}, "unknown-name", "pick"),
    ({"corner": "sharp"}, "unknown-name", "corner"),
    ({"mechanism": "broken"}, "unknown-name", "mechanism"),
    ({"mechanism": 1}, "wrong-type", "mechanism"),
    ({"seed": -1}, "out-of-range", "seed"),
    ({"seed": 0.5}, "out-of-range", "seed"),
    ({"seed": 1e17}, "out-of-range", "seed"),
    ({"budget": -1}, "out-of-range", "budget"),
    ({"budget": 1e9}, "out-of-range", "budget"),
    ({"threshold": -1}, "out-of-range", "threshold"),
    ({"tolerance": 0}, "out-of-range", "tolerance"),
    ({"tolerance": 1}, "out-of-range", "tolerance"),
    ({"direction": [1]}, "wrong-size", "direction"),
    ({"extrapolate": 1}, "wrong-type", "extrapolate"),
    ({"hertz": "yes"}, "wrong-type", "hertz"),
    ({"e": [1, 1]}, "wrong-size", "e"),
    ({"e": -1, "contacts": [{"n": [1, 0]}]}, "out-of-range", "e"),
    ({"mu": -1, "contacts": [{"n": [1, 0], "t": [[0, 1]]}]}, "out-of-range", "mu"),
    ({"et": [2], "contacts": [{"n": [1, 0]}]}, "out-of-range", "et"),
    ({"mu": 0.5, "contacts": [{"n": [1, 0]}]}, "missing-field", "mu"),
    ({"name": 3}, "wrong-type", "name"),
    ({"comment": []}, "wrong-type", "comment"),
    ({"friction": 0.5}, "unknown-field", "friction"),
    ({"contact": []}, "unknown-field", "contact"),
]
BAD_CONTACT = [
    ({"n": [1]}, "wrong-size", "contacts[0].n"),
    ({"n": 1}, "wrong-type", "contacts[0].n"),
    ({"t": [[1]]}, "wrong-size", "contacts[0].t"),
    ({"t": [[0, 1], [0, 1], [0, 1]]}, "wrong-size", "contacts[0].t"),
    ({"t": 1, "mu": None}, "wrong-type", "contacts[0].t"),
    ({"t": [0, 1]}, "wrong-type", "contacts[0].t"),
    ({"mu": -0.1}, "out-of-range", "contacts[0].mu"),
    ({"mu": "infinite"}, "wrong-type", "contacts[0].mu"),
    ({"t": None}, "missing-field", "contacts[0].mu"),
    ({"e": -0.1}, "out-of-range", "contacts[0].e"),
    ({"e": "inf"}, "wrong-type", "contacts[0].e"),
    ({"et": 1.5}, "out-of-range", "contacts[0].et"),
    ({"w_hat": [1]}, "wrong-size", "contacts[0].w_hat"),
    ({"w_hat": "x"}, "wrong-type", "contacts[0].w_hat"),
    ({"point": [1]}, "wrong-size", "contacts[0].point"),
    ({"normal": [1, 0]}, "unknown-field", "contacts[0].normal"),
]


def refused(impact, code, field, what):
    check_refused(one(impact, expect=1, verb="resolve"), code, field, what)


def check_refused(answer, code, field, what):
    """A refusal of the input, or of the one rule that was named."""
    answer = answer["results"][0] if "results" in answer else answer
    if not check("error" in answer, "not refused", what, answer):
        return
    error = answer["error"]
    codes.add(error["code"])
    check((error["code"], error["field"]) == (code, field), what, error, "wanted", code, field)
    check(error["line"] >= 1 and error["column"] >= 1 and len(error["message"]) > 0, what, error)
    check(field is None or error["message"].startswith(field), "the message begins with the field", error)


def test_fields():
    check("error" not in one(GOOD, verb="resolve"), "the good one")
    impacts = [changed(GOOD, **change) for change, _, _ in BAD]
    impacts += [with_contact(**change) for change, _, _ in BAD_CONTACT]
    for answer, (change, code, field) in zip(lines(impacts, expect=1, verb="resolve"), BAD + BAD_CONTACT):
        check_refused(answer, code, field, change)
    some = {**GOOD, "contacts": [{"n": [1, 0], "point": [0, 0]}, {"n": [0, 1]}]}
    refused(some, "missing-field", "contacts[1].point", "a point for some")
    huge = {**GOOD, "v": [-1e200, 0]}
    refused(huge, "not-finite", "v", "a result beyond double precision")


def test_texts():
    for text, code in (("{", "syntax"), ("[1]", "wrong-type"), ("3", "wrong-type"), ('{"M":NaN}', "not-finite"),
                       ('{"v":[1e999]}', "not-finite"), ('{"M":1,"M":2}', "syntax"), ("[" * 100, "limit")):
        answer = one(text, expect=1, verb="resolve")
        codes.add(answer["error"]["code"])
        check(answer["error"]["code"] == code, text[:40], answer)
    status, _, err = carom("resolve", text="")
    check(status == 1 and "empty" in err, status, err)
    text = json.dumps(GOOD)
    for cut in range(1, len(text), 17):
        status, out, _ = carom("resolve", "--json", text=text[:cut])
        check(status == 1 and out.startswith('{"error"'), "cut off at", cut, status, out)


def test_positions():
    text = '{"rule": "newton",\n "M": [1, 2],\n "v": [-1, 0],\n "contacts": [\n  {"n": [1, 0],\n   "e": -3}]}'
    status, out, err = carom("resolve", text=text)
    check(status == 1 and out == "" and err.startswith("standard input:6:9: contacts[0].e: is -3, must be >= 0"), err)
    wrong = '{"M": [1], "v": [1], "contacts": [], "rul": 1}'
    answers = lines([GOOD, "{}", GOOD, wrong, GOOD], expect=1, verb="resolve")
    check(["error" in a for a in answers] == [False, True, False, True, False], answers)
    check((answers[1]["error"]["line"], answers[3]["error"]["line"]) == (2, 4), answers)
    check('did you mean "rule"?' in answers[3]["error"]["message"], answers[3])


def test_rules_that_do_not_apply():
    """A rule that refuses does not stop the others."""
    mixed = {**GOOD, "rule": "all", "contacts": [{"n": [1, 0], "e": 0.5}, {"n": [0, 1], "e": 0.7}]}
    results = {r["rule"]: r for r in one(mixed, verb="resolve")["results"]}
    check(results["reflect"]["error"]["field"] == "e" and results["reflect"]["error"]["line"] == 1, results["reflect"])
    check("error" not in results["newton"], results["newton"])
    answer = one({**mixed, "rule": ["reflect"]}, expect=1, verb="resolve")
    check("error" in answer["results"][0], answer)
    refused({**mixed, "rule": "reflect"}, "out-of-range", "e", "one rule that refuses")


def test_usage():
    for arguments, code in ((["--jsn"], 2), (["a", "b"], 2), (["/no/such/file"], 3), ([str(SOURCE)], 3)):
        status, out, err = carom("resolve", *arguments)
        check(status == code and out == "" and err.startswith("carom resolve: "), arguments, status, err)
    nothing = {"M": [1], "v": [1], "contacts": []}
    for result in one(nothing, verb="resolve")["results"]:
        check("error" in result or result["v"] == [1], "no contacts", result)


def test_sizes():
    """Large inputs within the limits are answered."""
    n = 60
    chain = {"rule": ["newton", "sequence"], "M": [1] * n, "v": [1] + [0] * (n - 1), "e": 1,
             "contacts": [{"n": [0] * i + [-1, 1] + [0] * (n - 2 - i)} for i in range(n - 1)]}
    newton, sequence = one(chain, verb="resolve")["results"]
    check(abs(sequence["v"][-1] - 1) < 1e-12 and abs(newton["v"][0] - (2 / n - 1)) < 1e-12, "a long cradle")
    feasible = one({**chain, "rule": "feasible", "budget": 1000000, "M": [1] * n}, verb="resolve")["results"][0]
    check("error" in feasible or feasible["status"] in ("solved", "limit"), "a budget beyond the memory")


main(globals())
