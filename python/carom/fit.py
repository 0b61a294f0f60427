"""Laws fitted to measured collisions and scenes fitted to measured motions, as `carom fit impacts` and `carom fit motion`
do it, and what was fitted applied to other measurements, as `carom predict` does: the same numbers.

>>> import carom.fit, numpy as np
>>> rng = np.random.default_rng(1)
>>> angle = rng.uniform(0.3, 1.3, 60)
>>> table = {"m": 0.2, "I": 0.001, "rx": 0.1 * np.cos(angle), "ry": -0.1 * np.sin(angle), "vx": 0, "vy": -1, "w": 0}
>>> true = carom.fit.predict(table, "routh", mu=0.3, e=0.5)
>>> table |= true.velocities
>>> fits = carom.fit.impacts(table, laws=["routh", "newton"], bootstrap=0)
>>> fits.best.law, round(fits.best["mu"].value, 4), round(fits.best["e"].value, 4)
('routh', 0.3, 0.5)
"""
import contextlib
import json
import os
import tempfile
from dataclasses import dataclass
from typing import NamedTuple

from carom import _carom
from carom._array import need
from carom._scene import _values
from carom._spread import _text

np = need("carom.fit")

__all__ = ["Fit", "FitLaw", "Fits", "MotionFit", "MotionFits", "MotionPrediction", "Parameter", "Prediction", "Refusal",
           "impacts", "laws", "motion", "predict"]


class FitLaw(NamedTuple):
    """A law that can be fitted, and its parameters.

    >>> import carom.fit
    >>> [law.name for law in carom.fit.laws() if "et" in law.parameters]
    ['bilinear', 'chatterjee-ruina', 'pfeiffer-glocker']
    """
    name: str
    parameters: "list[str]"


class Refusal(NamedTuple):
    """A law that does not apply to the measurements, and why.

    >>> import carom.fit
    >>> carom.fit.Refusal("smith", "planar only").why
    'planar only'
    """
    law: str
    why: str


@dataclass(frozen=True)
class Parameter:
    """One fitted number: value, its 95 % interval by resampling (lo, hi), whether the data determine it ("yes",
    "bounded-below", "bounded-above", "no"), where the loss is as good (flat_lo, flat_hi), and what it trades against.

    >>> import carom.fit
    >>> carom.fit.Parameter(0.3, 0.28, 0.31, "yes", 0.29, 0.31, None, 0.0).value
    0.3
    """
    value: float
    lo: float
    hi: float
    determined: str
    flat_lo: float
    flat_hi: float
    partner: "str | None"
    correlation: float


@dataclass(frozen=True)
class Fit:
    """One law fitted: its parameters by name, its cross-validated error (m/s, mass-weighted) with standard error, how
    far it is behind the best, the error of each collision, and its impulses (n, 3) in the contact frames.

    >>> import carom.fit, numpy as np
    >>> speed = np.arange(1.0, 21)
    >>> table = {"Wnn": 1, "Wn1": 0, "W11": 1, "Vn": -speed, "V1": 0, "Pn": 1.5 * speed, "P1": 0}
    >>> fit = carom.fit.impacts(table, laws=["newton"], bootstrap=0).best
    >>> round(fit["e"].value, 6), fit.P.shape
    (0.5, (20, 3))
    """
    law: str
    error: float
    error_se: float
    behind: float
    behind_se: float
    fit_error: float
    unanswered: int
    impermissible: int
    creates_energy: int
    parameters: "dict[str, Parameter]"
    errors: np.ndarray
    P: np.ndarray

    def __getitem__(self, name):
        return self.parameters[name]

    def __repr__(self):
        values = ", ".join(f"{name}={p.value:.6g}" for name, p in self.parameters.items())
        return f"<carom.fit.Fit {self.law}: {values}; error {self.error:.3g} +- {self.error_se:.2g} m/s>"


@dataclass(frozen=True)
class _Ranking:
    laws: list
    summary: "dict[str, object]"
    refused: "list[Refusal]"

    @property
    def best(self):
        """The first."""
        return self.laws[0]

    def __getitem__(self, law):
        for fit in self.laws:
            if fit.law == law:
                return fit
        raise KeyError(f"no law {law!r} here; there are {[fit.law for fit in self.laws]}")

    def __iter__(self):
        return iter(self.laws)

    def __len__(self):
        return len(self.laws)


@dataclass(frozen=True)
class Fits(_Ranking):
    """Every law that applies, best first; summary is what the measurements say before any law is asked, refused the
    laws that do not apply and why.

    >>> import carom.fit, numpy as np
    >>> speed = np.arange(1.0, 21)
    >>> table = {"Wnn": 1, "Wn1": 0, "W11": 1, "Vn": -speed, "V1": 0, "Pn": 1.5 * speed, "P1": 0}
    >>> fits = carom.fit.impacts(table, laws=["newton", "whittaker"], bootstrap=0)
    >>> len(fits), fits.summary["rows"], [fit.law for fit in fits][0] == fits.best.law
    (2, 20, True)
    """

@dataclass(frozen=True)
class MotionFit:
    """One law fitted to motions: its parameters by name, its cross-validated misfit and loss (docs/fit.md) with standard
    errors, how far its misfit is behind the best, misfit, loss and fold of each toss, and the certificate of its simulations. set is
    what to set in the scene, as `carom.load(scene, set=fit.set)` takes it; settings are those it was simulated with.

    >>> import carom, carom.fit
    >>> scene, table = carom.fit._example()
    >>> fit = carom.fit.motion(table, scene, ["e"], bootstrap=0, points=5).best
    >>> round(fit["e"].value, 2), list(fit.set), fit.certificate["energy_created"]
    (0.5, ['materials.wood.e'], 0.0)
    >>> carom.Scene(scene, set=fit.set).world().run(0.1).clean
    True
    """
    law: str
    misfit: float
    misfit_se: float
    behind: float
    behind_se: float
    loss: float
    loss_se: float
    fit_misfit: float
    fit_loss: float
    parameters: "dict[str, Parameter]"
    misfits: np.ndarray
    losses: np.ndarray
    fold: np.ndarray
    certificate: "dict[str, object]"
    set: "dict[str, object]"
    settings: "dict[str, object]"

    def __getitem__(self, name):
        return self.parameters[name]

    def __repr__(self):
        values = ", ".join(f"{name}={p.value:.6g}" for name, p in self.parameters.items())
        return f"<carom.fit.MotionFit {self.law}: {values}; misfit {self.misfit:.3g} +- {self.misfit_se:.2g}>"


class MotionFits(_Ranking):
    """Every law, rule and method that applies, best first; summary is what was measured, refused those that do not apply
    and why.

    >>> import carom.fit
    >>> scene, table = carom.fit._example()
    >>> fits = carom.fit.motion(table, scene, rules=["newton", "poisson"], bootstrap=0)
    >>> sorted(fit.law for fit in fits), fits.summary["tosses"]
    (['newton', 'poisson'], 8)
    """


@dataclass(frozen=True)
class Prediction:
    """What a law says of each collision: P (n, 3) in the contact frames, energy_change in J, whether it is permissible,
    and the error in m/s where velocities after are in the table (else NaN).

    >>> import carom.fit
    >>> table = {"Wnn": [1.0], "Wn1": [0.0], "W11": [1.0], "Vn": [-2.0], "V1": [0.0]}
    >>> carom.fit.predict(table, "newton", e=0.5).P
    array([[3., 0., 0.]])
    """
    P: np.ndarray
    energy_change: np.ndarray
    permissible: np.ndarray
    error: np.ndarray
    velocities: "dict[str, np.ndarray] | None"


@dataclass(frozen=True)
class MotionPrediction:
    """What a fit says of each toss: misfit, loss and its two parts position and rotation (n), the deepest overlap, the
    most energy an impact made and the most above the start (n), and the certificate of all. toss are the numbers of the
    tosses in the table; of, t, p and q are the simulated poses: which toss (its place, from 0), time since its start,
    position (samples, 3) and rotation (samples, 4).

    >>> import carom.fit
    >>> scene, table = carom.fit._example()
    >>> fit = carom.fit.motion(table, scene, ["e"], bootstrap=0, points=5).best
    >>> answer = carom.fit.predict(table, fit)
    >>> answer.loss.shape, answer.q.shape, bool(answer.loss.mean() < 1e-4)
    ((8,), (56, 4), True)
    """
    law: str
    toss: np.ndarray
    misfit: np.ndarray
    loss: np.ndarray
    position: np.ndarray
    rotation: np.ndarray
    penetration: np.ndarray
    energy_created: np.ndarray
    energy_gain: np.ndarray
    certificate: "dict[str, object]"
    of: np.ndarray
    t: np.ndarray
    p: np.ndarray
    q: np.ndarray


def _example():
    """A ball that is dropped on a table eight times, e = .5: a scene and a table of what a camera saw."""
    scene = {"carom": 1, "step": {"dt": 0.01}, "materials": {"wood": {"mu": 0.2, "e": 0.3}},
             "bodies": [{"name": "ball", "pos": [0, 0, 1], "mass": 1, "shapes": [{"type": "sphere", "r": 0.05,
                                                                                  "material": "wood"}]}],
             "static": [{"type": "halfspace", "n": [0, 0, 1], "offset": 0, "material": "wood"}]}
    rows, t = [], np.arange(7) * 0.025
    for toss in range(8):
        speed = 1.0 + 0.1 * toss
        fall = (-speed + np.sqrt(speed**2 + 2 * 9.81 * 0.05)) / 9.81
        back = 0.5 * (speed + 9.81 * fall)
        after = np.maximum(t - fall, 0)
        z = np.where(t < fall, 0.1 - speed * t - 4.905 * t**2, 0.05 + back * after - 4.905 * after**2)
        v = np.where(t < fall, -speed - 9.81 * t, back - 9.81 * after)
        rows += [[toss, a, b, c] for a, b, c in zip(t, z, v)]
    toss, t, z, v = np.array(rows).T
    zero = {name: 0 for name in ("px", "py", "qx", "qy", "qz", "vx", "vy", "wx", "wy", "wz")}
    return scene, {"toss": toss, "t": t, "pz": z, "qw": 1, "vz": v, **zero}


def _pairs(value):
    return [f"{name}={source}" for name, source in value.items()] if hasattr(value, "items") else value


@contextlib.contextmanager
def _file(table):
    """The path itself, or a file with the columns of a mapping; numbers alone are for every row."""
    if not hasattr(table, "items"):
        yield os.fspath(table)
        return
    columns = np.broadcast_arrays(*(np.atleast_1d(np.asarray(c, float)) for c in table.values()))
    with tempfile.TemporaryDirectory(prefix="carom") as folder:
        path = os.path.join(folder, "table.csv")
        with open(path, "w", encoding="utf-8") as file:
            file.write(",".join(table) + "\n")
            for row in zip(*columns):
                file.write(",".join(repr(float(x)) for x in row) + "\n")
        yield path


def laws():
    """The laws that can be fitted, each with the parameters it has.

    >>> import carom.fit
    >>> carom.fit.laws()[0]
    FitLaw(name='newton', parameters=['e'])
    """
    return [FitLaw(*law) for law in _carom._fit_laws()]


def impacts(table, laws=None, *, params=None, fix=None, column=None, where=None, skip=False, folds=10, bootstrap=200,
            seed=1, threads=1, out=None):
    """Fit laws (all by default) to a table of collisions: the path of a CSV file, or a mapping from columns to numbers.

    The columns are those of `carom fit` (docs/fit.md). params: which to fit; fix: values of others; column: where a
    quantity comes from, {"w": "-omega", "m": 0.2}; where: only rows with these values; out: a file for `carom predict`.

    >>> import carom.fit, numpy as np
    >>> speed = np.arange(1.0, 21)
    >>> table = {"Wnn": 1, "Wn1": 0, "W11": 1, "Vn": -speed, "V1": 0, "Pn": 1.5 * speed, "P1": 0}
    >>> carom.fit.impacts(table, laws=["newton"], bootstrap=0).best
    <carom.fit.Fit newton: e=0.5; error 0 +- 0 m/s>
    """
    with _file(table) as path:
        summary, fitted, refused = _carom._fit_impacts(
            path, laws, params, fix, _pairs(column), _pairs(where), skip, folds, bootstrap, seed, threads,
            None if out is None else os.fspath(out))
    fits = []
    for fit in fitted:
        fit["parameters"] = {name: Parameter(**p) for name, p in fit["parameters"].items()}
        fits.append(Fit(**fit))
    return Fits(fits, summary, [Refusal(*law) for law in refused])


def motion(table, scene, params=(), *, laws=None, rules=None, methods=None, body=None, length=None, substeps=0, set=None,
           column=None, where=None, skip=False, points=0, folds=2, bootstrap=200, seed=1, threads=1, checkpoint=None,
           out=None, progress=None):
    """Fit parameters of a scene to measured motions of one of its bodies: a table as in `carom fit motion` (docs/fit.md).

    scene is a file in JSON, the name of one that comes with carom, or a dict; set gives values by path. params are texts:
    "mu", "e:0:0.5", or any number of the scene as "height=static[0].offset:-0.01:0.01". laws, rules and methods are
    compared; without any the scene is taken as it is. progress is called with the numbers of tosses simulated and
    expected; what it raises stops the work, as Ctrl-C does. out: a file for `carom predict` and `predict`.

    >>> import carom.fit
    >>> scene, table = carom.fit._example()
    >>> fits = carom.fit.motion(table, scene, ["e:0.2:0.9"], bootstrap=20, points=6)
    >>> round(fits.best["e"].value, 2), fits.best["e"].determined, bool(fits.best.misfit < 0.01)
    (0.5, 'yes', True)
    """
    with _file(table) as path:
        summary, fitted, refused, settings = _carom._fit_motion(
            path, _text(scene), _values(set), body, 0.0 if length is None else length, substeps, list(params), laws,
            rules, methods, _pairs(column), _pairs(where), skip, points, folds, bootstrap, seed, threads,
            None if checkpoint is None else os.fspath(checkpoint), None if out is None else os.fspath(out), progress)
    settings = json.loads(settings)
    fits = []
    for fit in fitted:
        fit["parameters"] = {name: Parameter(**p) for name, p in fit["parameters"].items()}
        fit["set"] = json.loads(fit["set"])["set"]
        fits.append(MotionFit(settings=settings, **fit))
    return MotionFits(fits, summary, [Refusal(*law) for law in refused])


def _predict_motion(table, text, law, scene, substeps, threads, column, where, skip, progress):
    with _file(table) as path:
        law, rows, poses, certificate = _carom._fit_predict_motion(
            path, text, law, None if scene is None else _text(scene), substeps, threads, _pairs(column), _pairs(where),
            skip, progress)
    toss, misfit, position, rotation, *rest = rows.T
    return MotionPrediction(law, toss, misfit, position + rotation, position, rotation, *rest, certificate,
                            poses[:, 0].astype(int), poses[:, 1], poses[:, 2:5], poses[:, 5:])


def _predict_impacts(table, law, parameters, column, where, skip):
    with _file(table) as path:
        rows, velocities = _carom._fit_predict(path, law, parameters, _pairs(column), _pairs(where), skip)
    names = {3: ["vx_after", "vy_after", "w_after"],
             6: ["vx_after", "vy_after", "vz_after", "wx_after", "wy_after", "wz_after"]}
    after = None
    if velocities is not None:
        after = dict(zip(names[velocities.shape[1]], velocities.T))
    return Prediction(rows[:, :3], rows[:, 3], rows[:, 4] != 0, rows[:, 5], after)


def _chosen(path, which):
    """A file of `carom fit`: its text where it is of motions, and the law of collisions with its parameters."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    fitted = json.loads(text)
    if fitted.get("fit") == "motion":
        return text, None, None
    laws = [law for law in fitted["laws"] if which in (None, law["law"])]
    if not laws:
        raise KeyError(f"no law {which!r} in {path}")
    return None, laws[0]["law"], laws[0]["parameters"]


def predict(table, law, *, which=None, scene=None, substeps=0, threads=1, column=None, where=None, skip=False,
            progress=None, **parameters):
    """What was fitted, applied to another table. law is a `Fit`, a `MotionFit`, the name of a law with its parameters, or a
    file that `carom fit --out` wrote (a path, or a text that ends in .json; which names a law in it).

    Of collisions: a `Prediction`; the table need not have the velocities after. Of motions: a `MotionPrediction`, every
    toss simulated from its first pose and velocity; scene and substeps in place of those it was fitted with.

    >>> import carom.fit
    >>> table = {"m": 1.0, "I": 1.0, "rx": 0.0, "ry": -0.1, "vx": 0.0, "vy": [-1.0, -2.0], "w": 0.0}
    >>> carom.fit.predict(table, "newton", e=0.5).velocities["vy_after"]
    array([0.5, 1. ])
    """
    text = None
    if isinstance(law, MotionFit):
        which = law.law
        text = json.dumps({"fit": "motion", **law.settings, "laws": [{"law": law.law, "set": law.set}]})
    elif isinstance(law, Fit):
        parameters = {name: p.value for name, p in law.parameters.items()} | parameters
        law = law.law
    elif not isinstance(law, str) or law.endswith(".json"):
        text, law, given = _chosen(law, which)
        parameters = (given or {}) | parameters
    if text is None:
        return _predict_impacts(table, law, parameters, column, where, skip)
    if parameters:
        raise TypeError(f"motions are predicted with what was fitted, not with {', '.join(parameters)}")
    return _predict_motion(table, text, which, scene, substeps, threads, column, where, skip, progress)
