"""What n items cost grows about as n: each input is run at n and at 4 n, and processor time must not grow by more than
8; what piles up without limit is refused by name."""
import json
import os
import resource
import subprocess

from command import COMMAND, Folder, check, main, scene

SANITIZED = bool(os.environ.get("CAROM_SANITIZE"))
SLOW = 15.0 if SANITIZED else 1.0
SMALLER = 8 if SANITIZED else 1  # how time grows is seen in release; sanitizers see what memory does
FLOOR = [{"type": "halfspace", "n": [0, 0, 1], "offset": 0}]
BALL = [{"type": "sphere", "r": 0.1}]


def spent(arguments, text):
    """Processor time of one run, s."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([COMMAND, *map(str, arguments)], input=text, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done


def grows(name, n, make, verb=("run",), cap=5.0, expect=0):
    """make(n) is the input; the larger run takes less than cap seconds in a release build."""
    with Folder() as folder:
        paths = []
        n = max(n // SMALLER, 4)
        for size in (n, 4 * n):
            made = make(size)
            path = folder / ("s.xml" if isinstance(made, str) and made.startswith("<") else "s.json")
            path = path.with_stem(f"s{size}")
            path.write_text(made if isinstance(made, str) else json.dumps(made))
            paths.append(path)
        # a busy machine disturbs a run now and then, not three of them
        for _ in range(3):
            small, first = spent([*verb, paths[0]], b"")
            large, second = spent([*verb, paths[1]], b"")
            if large <= max(8.0 * small, 0.3 * SLOW) and large < cap * SLOW:
                break
        check(large <= max(8.0 * small, 0.3 * SLOW), name, "grows from", small, "to", large, "s")
        check(large < cap * SLOW, name, "takes", large, "s")
        for done in (first, second):
            check(done.returncode in (expect if isinstance(expect, tuple) else (expect,)), name, done.returncode,
                  done.stderr.decode()[-300:])
        return second


def world(bodies, duration=0.01, **fields):
    return {"carom": 1, "step": {"dt": 0.005, "duration": duration}, "bodies": bodies, **fields}


def apart(n, **fields):
    return [{"name": f"b{i}", "pos": [i, 0, 1], "shapes": BALL, **fields} for i in range(n)]


def test_bodies():
    grows("names", 2500, lambda n: world(apart(n)))
    grows("info", 2500, lambda n: world(apart(n)), ("info",))
    grows("exclusions", 2500, lambda n: world(apart(n), exclude=[[f"b{i}", f"b{i * 7919 % n}"] for i in range(n)]))
    grows("drives", 2500, lambda n: world([{"name": f"b{i}", "joint": "fixed", "pos": [i, 0, 0]} for i in range(n)],
                                          drive=[{"body": f"b{i}", "velocity": [1, 0, 0]} for i in range(n)]))
    pairs = [{"materials": [f"m{i % 300}", f"m{i // 300 % 300}"], "mu": 0.1} for i in range(40000)]
    grows("pairs of materials", 10000, lambda n: world([], materials={f"m{i}": {} for i in range(300)}, pairs=pairs[:n]))
    grows("weightless carriers", 150, lambda n: world(
        [{"name": f"c{i}", "joint": "hinge", **({"parent": f"c{i - 1}"} if i else {}),
          **({"mass": 1, "inertia": [1, 1, 1], "com": [1, 0, 0]} if i == n - 1 else {"armature": 1})} for i in range(n)]))


def test_loops():
    def tied(n, kind, moving):
        point = [0.3, 0, 0] if moving else [0, 0, 0]
        return world([{"name": "b", "pos": [-point[0], 0, 1], "mass": 1, "shapes": BALL}], 0.05, static=FLOOR, constraints=[
            {"type": kind, "bodies": ["b", "world"], "points": [point, [0, 0, 1]]}] * n)
    grows("identical welds", 500, lambda n: tied(n, "weld", False), cap=1.0)
    grows("identical hinges of a pendulum", 500, lambda n: tied(n, "connect", True), cap=1.0)
    grows("a rope of free bodies", 50, lambda n: world(
        [{"name": f"b{i}", "pos": [0.1 * i, 0, 1], "mass": 1, "shapes": [{"type": "sphere", "r": 0.04}]} for i in range(n)],
        constraints=[{"type": "connect", "bodies": [f"b{i}", f"b{i + 1}"], "points": [[0.05, 0, 0], [-0.05, 0, 0]]}
                     for i in range(n - 1)]), cap=3.0)
    grows("a star of welds", 60, lambda n: world(
        [{"name": f"b{i}", "pos": [0.2 * i, 0, 1], "mass": 1, "shapes": [{"type": "sphere", "r": 0.04}]} for i in range(n)],
        constraints=[{"type": "weld", "bodies": ["b0", f"b{i}"], "points": [[0.2 * i, 0, 0], [0, 0, 0]]} for i in range(1, n)]))


def test_chain():
    link = {"joint": "hinge", "axis": [0, 1, 0], "mass": 1, "com": [0.05, 0, 0], "inertia": [1e-3] * 3}
    grows("a chain of hinges", 750, lambda n: world([{"name": "l0", **link}] + [
        {"name": f"l{i}", "parent": f"l{i - 1}", "pos": [0.1, 0, 0], **link} for i in range(1, n)]), cap=2.0)


def test_problems():
    def empty(n, kind, u):
        return {"carom_problem": 1, "blocks": [{"kind": kind, "rows": n}], "u_free": [u] * n,
                "W": {"rows": n, "cols": n, "entries": []}}
    for kind in ("unilateral", "equality"):
        grows("empty rows", 25000, lambda n: empty(n, kind, -1), ("solve",), expect=4)
    grows("rows at rest", 25000, lambda n: empty(n, "unilateral", 1), ("solve",))
    # a chain: every row meets two others
    grows("coupled rows", 2500, lambda n: {**empty(n, "unilateral", -1), "W": {"rows": n, "cols": n, "entries": [
        [i, j, 2.5 if i == j else -1] for i in range(n) for j in (i - 1, i, i + 1) if 0 <= j < n]}}, ("solve",))


def test_texts():
    grows("numbers", 100000, lambda n: '{"carom":1,"gravity":[' + "0," * n + "0]}", expect=1)
    grows("keys", 50000, lambda n: "{" + ",".join(f'"k{i}":0' for i in range(n)) + "}", expect=1)
    grows("materials", 10000, lambda n: world([], materials={f"m{i}": {} for i in range(n)}), expect=1)
    grows("MJCF", 500, lambda n: "<mujoco><worldbody>" + "".join(
        f'<body name="b{i}" pos="{i} 0 0"><freejoint/><geom name="g{i}" size=".1"/></body>' for i in range(n)) +
        "</worldbody><contact>" + "".join(f'<exclude body1="b{i}" body2="b{i * 7 % n}"/>' for i in range(1, n)) +
        "</contact></mujoco>", ("info",), expect=(0, 1))
    with Folder() as folder:
        grows("columns of a trajectory", 500, lambda n: world(apart(n)), ("run", "--out", folder / "t.csv"))


def pile(n):
    return world([{"name": "b", "pos": [0, 0, 1], "shapes": BALL, "repeat": [{"count": n, "step": [0, 0, 0]}]}], 0.005,
                 static=FLOOR)


def test_piles():
    """Balls in one place: few are pushed apart in bounded time, more are refused by name."""
    with Folder() as folder:
        few = 150 if SANITIZED else 600
        took, done = spent(["run", scene(folder, pile(few)), "--json"], b"")
        check(took < 4.0 * SLOW and done.returncode in (0, 4), few, "balls in one place", took, done.stderr[-300:])
        answer = json.loads(done.stdout)
        check(answer["steps"] == 1 and answer["contacts"] >= few * (few - 1) // 2, answer["contacts"])
        check(b"b1 and b2 overlap at the start by 0.2 m" in done.stderr, done.stderr[:300])
        took, done = spent(["run", scene(folder, pile(1000))], b"")
        said = done.stderr.decode()
        check(took < 2.0 * SLOW and done.returncode == 4 and "(limit)" in said, "1000 balls", took, said[-300:])
        check("contacts: 499500 are more than" in said and "body 1 b1 alone has 999" in said, said[-300:])
        for n in (5000, 20000):
            took, done = spent(["run", scene(folder, pile(n))], b"")
            said = done.stderr.decode()
            check(took < 4.0 * SLOW and done.returncode == 1 and "bodies: are piled into each other" in said, n, took, said[-300:])


if __name__ == "__main__":
    main(globals())
