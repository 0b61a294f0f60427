"""What is refused raises a class that a reader of Python expects, and says the field, the value and what is allowed."""
import pytest

import carom


def model():
    made = carom.Model()
    made.sphere(made.body("ball"), 0.1)
    return made


TRAJECTORY = carom.load("bouncing-ball").run(0.05)
CASES = [
    (lambda: carom.impact("newton", V=(-1, 0, 0), e=-0.5), ValueError, "e", "e: is -0.5"),
    (lambda: carom.impact("newtun", V=(-1, 0, 0)), ValueError, "law", "newton"),
    (lambda: carom.impact(5, V=(-1, 0, 0)), TypeError, "law", "law: is 5, must be the name of a law or a function"),
    (lambda: carom.impact("newton", V=(-1, 0)), ValueError, "V", "V: has 1 dimensions and 2 numbers, must be 3"),
    (lambda: carom.impact("newton", V=(-1, 0, "x")), TypeError, "V", "V: is 'x', must be a number"),
    (lambda: carom.World(model(), dt="x"), TypeError, "dt", "dt: is 'x', must be a number"),
    (lambda: carom.World(model(), threads=1.5), TypeError, "threads", "threads: is 1.5, must be an integer"),
    (lambda: carom.World(model(), threads=2**40), TypeError, "threads", "threads: is 1099511627776, must be an integer"),
    (lambda: carom.World(model(), dt=-1), ValueError, "dt", "-1"),
    (lambda: carom.World(model(), method="cones"), ValueError, "method", "did you mean 'cone'?"),
    (lambda: carom.World(model(), method=3), TypeError, "method", "method: is 3, must be cone, lcp, moreau, event"),
    (lambda: carom.World(model(), dtt=1), TypeError, None, "World() has no argument 'dtt'; did you mean 'dt'?"),
    (lambda: carom.World(model(), rule="poison"), ValueError, "rule", "poisson"),
    (lambda: carom.Rule("newton", hertzz=True), TypeError, None, "Rule() has no argument 'hertzz'; did you mean 'hertz'?"),
    (lambda: carom.Rule(7), TypeError, "name", "name: is 7, must be a text"),
    (lambda: carom.World(3), TypeError, "model", "model: is 3, must be a carom.Model"),
    (lambda: carom.Scene(5), TypeError, None, "text: is 5, must be JSON"),
    (lambda: carom.load(3), TypeError, None, "path: is 3, must be the path"),
    (lambda: carom.Problem([1], [[1]], [3]), TypeError, None, "blocks[0]: is 3, must be (kind, rows)"),
    (lambda: model().sphere("a", 1), TypeError, "body", "body: is 'a', must be an integer"),
    (lambda: model().box(1, 3), TypeError, "size", "size: is 3, must be an array or a list of numbers"),
    (lambda: model().filter(0, 2**64 - 1, "x"), TypeError, "mask", "mask: is 'x', must be an integer"),
    (lambda: model().exclude(1, "x"), TypeError, "b", "b: is 'x', must be an integer"),
    (lambda: model().loop("weld", 1, None), TypeError, "b", "b: is None, must be an integer"),
    (lambda: model().material(mu="rough"), TypeError, "mu", "mu: is 'rough', must be a number"),
    (lambda: model().material(muu=1), TypeError, None, "did you mean 'mu'?"),
    (lambda: model().body("b", "hing"), ValueError, "joint", "did you mean 'hinge'?"),
    (lambda: model().dofs(2), IndexError, "body", "body: is 2, must be 0 to 1"),
    (lambda: model().dofs("bal"), ValueError, "name", "did you mean 'ball'?"),
    (lambda: carom.load("domino"), FileNotFoundError, "path", "did you mean 'dominoes'?"),
    (lambda: carom.load("scenes/pool-brake.json"), FileNotFoundError, "path", "did you mean 'pool-break'?"),
    (lambda: carom.spread("domino", ["gap=1e-5"]), FileNotFoundError, "path", "did you mean 'dominoes'?"),
    (lambda: carom.Trajectory.read("/nowhere/x.csv"), FileNotFoundError, None, "No such file"),
    (lambda: TRAJECTORY.write("/nowhere/x.csv"), OSError, None, "x.csv"),
    (lambda: TRAJECTORY.of("bal"), KeyError, None, "did you mean 'ball'?"),
    (lambda: TRAJECTORY.show("energi").svg, ValueError, "what", "did you mean 'energy'?"),
    (lambda: TRAJECTORY.show(bodies="bal").svg, ValueError, "bodies", "did you mean 'ball'?"),
    (lambda: TRAJECTORY.show(bodies=[3]).svg, TypeError, "bodies", "bodies: is 3, must be the name of a body"),
    (lambda: TRAJECTORY.show(times=[]).svg, ValueError, "times", "times: must be 1 to 256"),
    (lambda: TRAJECTORY.show("impulses"), TypeError, None, "at: "),
    (lambda: TRAJECTORY.animate(0).svg, ValueError, "speed", "speed: is 0, must be 1e-6 to 1e6"),
    (lambda: TRAJECTORY.animate().save("x.doc"), ValueError, "path", "must end in .svg, .gif, .mp4 or .webm"),
    (lambda: TRAJECTORY.show().save("x.doc"), ValueError, None, ".svg"),
    (lambda: carom.load("bouncing-ball", step__dtt=1), ValueError, None, "dtt"),
    (lambda: carom.Problem([1.0], [[1.0]], [("cone", 1, {"mu": -1})]), ValueError, None, "mu"),
]


@pytest.mark.parametrize("call, kind, field, words", CASES)
def test_refusals(call, kind, field, words):
    with pytest.raises(kind) as refused:
        call()
    assert words in str(refused.value)
    if field is not None:
        assert isinstance(refused.value, carom.Error) and refused.value.field == field
        assert refused.value.status and refused.value.line == 0


def test_kinds_of_errors_are_errors_of_carom():
    for name, base in (("TypeError", TypeError), ("IndexError", IndexError), ("FileNotFoundError", FileNotFoundError),
                       ("OSError", OSError)):
        kind = getattr(carom._carom, name)
        assert issubclass(kind, carom.Error) and issubclass(kind, base) and issubclass(kind, ValueError)
    assert carom.Error("by hand").field == "" and carom.Error("by hand").line == 0


def test_what_a_reader_refuses_has_line_and_column():
    with pytest.raises(carom.Error) as refused:
        carom.Scene('{"carom": 1,\n "bodies": [{"nam": "a"}]}')
    assert (refused.value.line, refused.value.column > 0) == (2, True) and str(refused.value).startswith("line 2, column")
