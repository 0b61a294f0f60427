"""Derivatives of impacts: closed forms, differences of the package's own answers, and the two sides of a switch."""
import numpy as np
import pytest

import carom

FRAME = np.eye(3)
W = np.array([[1.0, -0.3, 0.1], [-0.3, 2.0, 0.2], [0.1, 0.2, 1.5]])
V = np.array([-1.0, 0.5, -0.2])


def test_newton_by_its_formula():
    # P = -(1 + e) Vn / Wnn along n
    g = carom.gradient("newton", W, V, mu=0.5, e=0.6, frame=FRAME)
    assert g.verdict == "smooth" and not g.differenced and g.hit.P[0] == pytest.approx(1.6)
    for name, slope in (("e", 1.0), ("Vx", -1.6), ("Wxx", -1.6)):
        d = g.by[name]
        assert d.P_plus == pytest.approx([slope, 0, 0]) and (d.P_plus == d.P_minus).all()
    # V+ = V + W P
    assert g.by["e"].V_plus == pytest.approx(W[:, 0]) and "mu" not in g.by


@pytest.mark.parametrize("law", ["chatterjee-ruina", "whittaker", "smith", "routh", "anitescu-potra"])
def test_derivatives_are_limits_of_differences(law):
    given = {"mu": 0.4, "e": 0.6, "et": 0.2}
    g = carom.gradient(law, W, V, frame=FRAME, **given)
    assert g.verdict == "smooth" and g.distance > 1e-3
    h = 1e-5

    def change(name, size):
        w, v, more = W.copy(), V.copy(), dict(given)
        if name[0] == "W":
            i, k = ("xyz".index(letter) for letter in name[1:])
            w[i, k] += size
            w[k, i] = w[i, k]
        elif name[0] == "V":
            v["xyz".index(name[1])] += size
        else:
            more[name] += size
        hit = carom.impact(law, w, v, frame=FRAME, **more)
        return np.concatenate([hit.P, hit.V_plus])
    checked = 0
    for name, d in g.by.items():
        if name[0] == "n":
            continue
        slope = (change(name, h) - change(name, -h)) / (2 * h)
        assert np.concatenate([d.P_plus, d.V_plus]) == pytest.approx(slope, abs=2e-5), name
        checked += 1
    assert checked >= 9


def test_the_two_sides_of_stick_and_slip():
    # friction just holds: more changes nothing, less leaves slip, P_t = -mu P_n
    g = carom.gradient("whittaker", np.diag([1.0, 2, 2]), (-1, 1.5, 0), mu=0.5, e=0.5, frame=FRAME)
    assert (g.verdict, g.switch, g.beyond) == ("one-sided", "stick/slip", "slip") and g.distance < 1e-9
    assert g.by["mu"].P_minus == pytest.approx([0, -1.5, 0]) and g.by["mu"].P_plus == pytest.approx([0, 0, 0])


def test_a_law_in_python_is_differenced():
    def bouncy(contact):
        return [-(1 + contact.e) * contact.V[0] / contact.W[0, 0], 0, 0]
    g = carom.gradient(bouncy, V=(-2, 0, 0), e=0.5)
    assert g.differenced and g.by["e"].P_plus == pytest.approx([2, 0, 0], abs=1e-6)
    with pytest.raises(ZeroDivisionError):
        carom.gradient(lambda c: 1 / 0, V=(-1, 0, 0))
    # the law answers the collision itself, and fails where only differences look
    with pytest.raises(ZeroDivisionError):
        carom.gradient(lambda c: bouncy(c) if c.e == 0.5 else 1 / 0, V=(-1, 0, 0), e=0.5)
    with pytest.raises(carom.Error):
        carom.gradient("newton", V=(-1, 0, 0), tol=-1)
    with pytest.raises(TypeError):
        carom.gradient("newton", V=(-1, 0, 0), tol="x")
