"""One contact: every law against the definitions, laws in Python, regions, and what is refused."""
import gc
import math
import weakref

import numpy as np
import pytest

import carom

RNG = np.random.default_rng(7)


def sample():
    """W of a random body with a point somewhere on it, an approaching V, mu, e."""
    r = RNG.normal(size=3)
    cross = np.array([[0, -r[2], r[1]], [r[2], 0, -r[0]], [-r[1], r[0], 0]])
    turn, _ = np.linalg.qr(RNG.normal(size=(3, 3)))
    inertia = turn @ np.diag(RNG.uniform(0.5, 1.0, 3)) @ turn.T
    W = np.eye(3) / RNG.uniform(0.5, 3) - cross @ np.linalg.inv(inertia) @ cross
    V = RNG.normal(size=3)
    V[0] = -abs(V[0]) - 0.1
    return (W + W.T) / 2, V, RNG.uniform(0, 1), RNG.uniform(0, 1)


def test_every_law_is_what_its_audit_says():
    for _ in range(20):
        W, V, mu, e = sample()
        for info in carom.laws():
            if info.planar or info.name in ("composite", "bilinear"):
                continue
            hit = carom.impact(info.name, W, V, mu=mu, e=e)
            V_plus = V + W @ hit.P
            assert np.allclose(hit.V_plus, V_plus, rtol=0, atol=1e-12 * (1 + np.abs(V_plus).max()))
            work = hit.P @ V + hit.P @ W @ hit.P / 2
            assert hit.energy_change == pytest.approx(work, rel=1e-9, abs=1e-12)
            slack = mu * hit.P[0] - math.hypot(*hit.P[1:])
            assert hit.margins.cone == pytest.approx(slack, rel=1e-9, abs=1e-12)
            inside = min(-work, V_plus[0], hit.P[0], slack) >= -1e-9 * (1 + np.abs(W).max())
            assert hit.permissible == inside


def test_many_are_the_same_bits_as_one_by_one():
    rows = [sample() for _ in range(50)]
    W, V = np.array([r[0] for r in rows]), np.array([r[1] for r in rows])
    mu, e = np.array([r[2] for r in rows]), np.array([r[3] for r in rows])
    n = np.tile([1.0, 0, 0], (50, 1))
    P, status = carom.impact_many("chatterjee-ruina", W, V, n, mu=mu, e=e)
    assert not status.any()
    for i in range(50):
        assert np.array_equal(P[i], carom.impact("chatterjee-ruina", W[i], V[i], mu=mu[i], e=e[i]).P)
    V[3, 1] = np.nan
    P, status = carom.impact_many("chatterjee-ruina", W, V, n, mu=mu, e=e)
    assert status[3] < 0 and not P[3].any() and not np.delete(status, 3).any()


def test_a_law_in_python():
    seen = []

    def newton(contact):
        seen.append(contact)
        return [-(1 + contact.e) * contact.V[0] / contact.W[0, 0], 0, 0]

    W, V, _, e = sample()
    mine, theirs = carom.impact(newton, W, V, e=e), carom.impact("newton", W, V, e=e)
    assert np.allclose(mine.P, theirs.P, rtol=1e-14, atol=0)
    assert carom.Law(newton).name == "newton" and carom.Law(newton, "mine").name == "mine"
    assert seen[0].W.shape == (3, 3) and seen[0].e == e
    creating = carom.impact(lambda c: [-4 * c.V[0] / c.W[0, 0], 0, 0], W, V)
    assert creating.creates_energy and not creating.permissible


def test_a_law_in_python_within_a_composite():
    half = carom.Law("composite", laws=["newton", lambda c: [0, 0, 0]], weights=[0.5, 0.5])
    assert half(V=(-1, 0, 0), e=1).P[0] == pytest.approx(1.0)


@pytest.mark.parametrize("law", [lambda c: 1 / 0, carom.Law("composite", laws=[lambda c: 1 / 0], weights=[1])])
def test_what_a_law_raises_comes_out(law):
    with pytest.raises(ZeroDivisionError):
        carom.impact(law, V=(-1, 0, 0))
    with pytest.raises(ZeroDivisionError):
        carom.impact_many(law, [np.eye(3)], [[-1, 0, 0]])


@pytest.mark.parametrize("answer, status", [(None, "wrong-type"), ([1, 2], "wrong-size"),
                                            ([math.nan, 0, 0], "not-finite")])
def test_bad_answers_of_a_law(answer, status):
    with pytest.raises(carom.Error) as caught:
        carom.impact(lambda c: answer, V=(-1, 0, 0))
    assert caught.value.status == status


@pytest.mark.parametrize("change, status, field", [
    ({"W": [[1, 2, 0], [0, 1, 0], [0, 0, 1]]}, "not-symmetric", "W"), ({"W": -np.eye(3)}, "not-positive", "W"),
    ({"V": (0, math.inf, 0)}, "not-finite", "V"), ({"n": (2, 0, 0)}, "not-unit", "n"),
    ({"mu": -1}, "out-of-range", "mu"),
    ({"V": (1, 2)}, "wrong-size", "V"), ({"W": np.eye(2)}, "wrong-size", "W"),
    ({"law": "nweton"}, "unknown-name", "law")])
def test_refusals_name_the_field(change, status, field):
    with pytest.raises(carom.Error) as caught:
        carom.impact(**{"law": "newton", "V": (-1, 0, 0), **change})
    assert (caught.value.status, caught.value.field) == (status, field)
    assert caught.value.line == caught.value.column == 0 and str(caught.value)


def test_a_law_lives_no_longer_than_needed():
    def law(contact):
        return [0, 0, 0]
    law.self = made = carom.Law(law)
    gone = weakref.ref(law)
    del law, made
    gc.collect()
    assert gone() is None


def test_region_points_are_on_the_boundary():
    for _ in range(10):
        W, V, mu, e = sample()
        c, frame = carom.contact(W, V, mu=mu)
        region = carom.Region(c)
        assert frame.T @ frame == pytest.approx(np.eye(3), abs=1e-14)
        centre = region.centroid
        vertices, triangles = region.mesh(2)
        assert triangles.max() == len(vertices) - 1
        for P in vertices[::7]:
            margins = carom.verdict(c, P).margins
            least = min(margins.energy, margins.penetration, margins.tension, margins.cone)
            assert abs(least) < 1e-7
            assert region.extent(centre, P - centre) == pytest.approx(1.0, abs=1e-7)
        outside = centre + 3 * (vertices[0] - centre)
        assert carom.verdict(c, region.project(outside)).permissible
        assert region.spherical(*region.to_spherical(centre * 0.9 + 0.1 * vertices[1])) == pytest.approx(
            centre * 0.9 + 0.1 * vertices[1], abs=1e-9)
        P_I = region.P_I
        assert (c.V + c.W @ P_I)[0] == pytest.approx(0, abs=1e-12) and not P_I[1:].any()
        assert c.V + c.W @ region.P_II == pytest.approx(np.zeros(3), abs=1e-12)


def test_two_balls_exchange_momentum():
    a, b = carom.Rigid.sphere(2, 0.1, velocity=(1, 0.3, 0)), carom.Rigid.sphere(1, 0.1, position=(0.2, 0, 0))
    W, V = carom.collision(a, b, (0.1, 0, 0))
    hit = carom.impact("routh", W, V, mu=0.2, e=0.7)
    after_a, after_b = a.after(b, (0.1, 0, 0), hit.P)
    assert 2 * after_a.velocity + after_b.velocity == pytest.approx(2 * a.velocity, abs=1e-14)
    assert (after_b.velocity - after_a.velocity)[0] == pytest.approx(0.7, abs=1e-12)


def test_cue_strike():
    radius, mass, ball, speed, e = 0.028575, 0.567, 0.17, 3.0, 0.75
    centre = carom.cue_strike(speed, e=e, mu=0.6)
    assert centre.velocity == pytest.approx([(1 + e) * speed * mass / (mass + ball), 0, 0]) and centre.squirt == 0
    # struck on the left: the ball turns clockwise and goes to the right of the cue's line
    left = carom.cue_strike(speed, side=0.3 * radius, e=e, mu=0.6)
    assert left.omega[2] < 0 and left.velocity[1] < 0
    c = 0.3
    assert np.tan(left.squirt) == pytest.approx(2.5 * c * np.sqrt(1 - c * c) / (1 + 30 + 2.5 * (1 - c * c)))
    for bad, field in (({"side": 2 * radius}, "side"), ({"mass": 0.0}, "mass"), ({"e": 2.0}, "e"), ({"speed": -1.0}, "speed")):
        with pytest.raises(carom.Error, match=f"^{field}:"):
            carom.cue_strike(**{"speed": speed, "e": e, "mu": 0.6, **bad})
    with pytest.raises(TypeError):
        carom.cue_strike("fast", e=e, mu=0.6)
