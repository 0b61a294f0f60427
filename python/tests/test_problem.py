"""Problems: every solver against the conditions of complementarity, rules, files, refusals."""
import json

import numpy as np
import pytest

import carom

RNG = np.random.default_rng(11)


def contact_problem(contacts=4, mu=0.5):
    J = RNG.normal(size=(3 * contacts, 6 * contacts))
    W = J @ J.T
    u = RNG.normal(size=3 * contacts)
    return W, u, carom.Problem(u, W, [("cone", 3, {"mu": mu})] * contacts)


def test_friction_by_every_solver_obeys_coulomb():
    W, u_free, problem = contact_problem()
    for solver in ("gauss-seidel", "newton", "interior", "auto"):
        solution = problem.solve(solver, tol=1e-9)
        assert solution.outcome == "solved", solver
        assert solution.u == pytest.approx(u_free + W @ solution.p, abs=1e-12)
        for k in range(4):
            p, u = solution.p[3 * k:3 * k + 3], solution.u[3 * k:3 * k + 3]
            pt, ut = np.linalg.norm(p[1:]), np.linalg.norm(u[1:])
            assert p[0] >= -1e-7 and u[0] >= -1e-6 and abs(p[0] * u[0]) < 1e-6
            assert pt <= 0.5 * p[0] + 1e-7
            if ut > 1e-4 and p[0] > 1e-6:  # slipping: friction opposes slip with all it has
                assert p[1:] == pytest.approx(-0.5 * p[0] * u[1:] / ut, abs=1e-4)


def test_lcp_solvers_agree():
    J = RNG.normal(size=(5, 8))
    W, u = J @ J.T, RNG.normal(size=5)
    problem = carom.Problem(u, W, [("unilateral", 1)] * 5)
    answers = [problem.solve(s).p for s in ("lemke", "pivot", "enumerate")]
    for p in answers:
        w = u + W @ p
        assert p.min() >= -1e-12 and w.min() >= -1e-10 and abs(p @ w) < 1e-10
        assert p == pytest.approx(answers[0], abs=1e-9)


def test_rules_and_a_law_in_python():
    W = np.array([[2.0, -1], [-1, 2]])
    problem = carom.Problem([-1.0, 0.0], W, [("unilateral", 1, {"e": 1})] * 2)
    last = problem.resolve("sequence", law=lambda c: [-2 * c.V[0] / c.W[0, 0], 0, 0])
    assert last.u == pytest.approx([0, 1], abs=1e-12) and last.permissible and last.margins.tension >= 0
    assert last.energy_change == pytest.approx(0, abs=1e-12)
    for rule in ("newton", "poisson", carom.Rule("chain", stiffness=[1, 1]), carom.Rule("feasible", pick="hull")):
        assert problem.resolve(rule).energy_change <= 1e-12
    with pytest.raises(ZeroDivisionError):
        problem.resolve("sequence", law=lambda c: 1 / 0)
    with pytest.raises(carom.Error):
        carom.Rule("sequence", ties="maybe")


def test_arrays_are_used_as_they_are():
    W, u, problem = contact_problem()
    assert np.shares_memory(problem.W, W) and np.shares_memory(problem.u_free, u)
    assert problem.reference is None
    view = problem.W
    del problem, W
    assert np.isfinite(view).all()


@pytest.mark.parametrize("arguments, status", [
    (([1.0], np.eye(2), [("unilateral", 1)]), "wrong-size"), (([1.0, 2], np.eye(2), [("unilateral", 1)]), None),
    (([1.0, 2], [[1, 2], [0, 1]], [("unilateral", 2)]), None), (([1.0], [[1]], [("conee", 1)]), "unknown-name"),
    (([1.0], [[1]], [("unilateral", 1, {"mou": 1})]), "unknown-field"),
    (([np.nan], [[1]], [("unilateral", 1)]), "not-finite")])
def test_refusals(arguments, status):
    with pytest.raises(carom.Error) as caught:
        carom.Problem(*arguments)
    assert status is None or caught.value.status == status
    with pytest.raises(carom.Error):
        carom.Problem([1.0], [[1.0]], [("unilateral", 1)]).solve("nobody")


def test_files(tmp_path):
    path = tmp_path / "p.json"
    path.write_text('{"carom_problem": ')
    with pytest.raises(carom.Error) as caught:
        carom.Problem.read(path)
    assert caught.value.status == "syntax" and caught.value.line == 1
    with pytest.raises(carom.Error) as caught:
        carom.Problem.read(tmp_path / "none.json")
    assert caught.value.status == "file"


def test_what_a_file_says_beside_the_problem(tmp_path):
    path = tmp_path / "problem.json"
    path.write_text(json.dumps({"carom_problem": 1, "blocks": [{"kind": "unilateral", "rows": 2}], "h": 0.01,
                                "W": [[2, 1], [1, 2]], "u_free": [-1, -3], "p": [0, 1.5]}))
    problem = carom.Problem.read(path)
    assert problem.h == 0.01 and list(problem.p) == [0, 1.5]
    assert problem.mended is None
    assert problem.audit(problem.p).distance == pytest.approx(0.01 * problem.audit(problem.p).eta)
    plain = carom.Problem([-1.0], [[2.0]], [("unilateral", 1)])
    assert plain.h == 0 and plain.p is None and plain.mended is None
    # one contact of Siconos whose W is not symmetric in its tenth digit
    path.write_text("2\n1\n0\n2 2\n2 2\n2 1 1.000000001 2\n-1 -3\n0.5\n")
    other = carom.Problem.read(path, "siconos-fc")
    assert other.mended["matrix"] == "W" and other.mended["triangle"] is None
    assert 0 < other.mended["asymmetry"] < 1e-8 and other.W[0, 1] == other.W[1, 0]


def three_contacts(random):
    A = random.normal(size=(9, 12))
    W = A @ A.T / 12
    before = random.normal(size=9)
    before[::3] = -np.abs(before[::3]) - 0.3
    return W, before, np.full(3, 0.3), np.array([0.2, 0.5, 0.8])


def impact_of(W, before, mu, e):
    return carom.Problem(before, W, [("cone", 3, {"mu": mu[i], "e": e[i]}) for i in range(3)])


@pytest.mark.parametrize("rule, law, differenced", [("newton", None, False), ("poisson", None, False),
                                                    ("sequence", "chatterjee-ruina", False), ("weighted", None, True)])
def test_derivative_of_a_rule_against_differences_of_its_answers(rule, law, differenced):
    random, checked, h = np.random.default_rng(3), 0, 1e-5
    for _ in range(12):
        data = three_contacts(random)
        change = [random.normal(size=np.shape(x)) for x in data]
        change[0] = change[0] + change[0].T
        d = impact_of(*data).derivative(rule, law=law, u_free=change[1], W=change[0], mu=change[2], e=change[3])
        assert d.differenced == differenced
        if d.verdict != "smooth" or (not differenced and d.distance < 1e-2):
            continue
        ends = [impact_of(*(x + s * h * dx for x, dx in zip(data, change))).resolve(rule, law=law) for s in (-1, 1)]
        for found, name in ((d.p_plus, "p"), (d.u_plus, "u")):
            slope = (getattr(ends[1], name) - getattr(ends[0], name)) / (2 * h)
            if differenced and np.abs(found - slope).max() > 1e-3 * np.abs(slope).max():
                continue  # a switch within the difference
            assert found == pytest.approx(slope, abs=1e-5 * np.abs(slope).max())
            checked += 1
    assert checked >= 8


def test_order_of_blows_is_a_switch_and_derivatives_are_refused():
    # a rod that falls flat on two supports leaves with one spin or the other
    rod = carom.Problem([-1.0, -1.0], [[4.0, -2.0], [-2.0, 4.0]], [("unilateral", 1, {"e": 0.5})] * 2)
    d = rod.derivative("sequence", law="newton", u_free=[1.0, -1.0])
    assert d.verdict == "none" and d.jump > 0.02 and d.differenced
    with pytest.raises(carom.Error, match="u_free"):
        rod.derivative("newton", u_free=[1.0])
    with pytest.raises(carom.Error, match="near"):
        rod.derivative("newton", u_free=[1.0, 0.0], near=-1)
    with pytest.raises(carom.Error, match="residual"):
        carom.Problem([-1.0], [[0.0]], [("unilateral", 1)]).derivative("newton", u_free=[1.0])
    with pytest.raises(ZeroDivisionError):
        rod.derivative("sequence", law=lambda c: 1 / 0, u_free=[1.0, 0.0])
