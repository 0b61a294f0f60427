"""Laws fitted to measured collisions, as `carom fit impacts` does it: the same numbers.

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
import os
import tempfile
from dataclasses import dataclass

import numpy as np

from carom import _carom

__all__ = ["Fit", "Fits", "Parameter", "Prediction", "impacts", "laws", "predict"]


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
class Fits:
    """Every law that applies, best first; summary is what the measurements say before any law is asked, refused the
    laws that do not apply and why.

    >>> import carom.fit, numpy as np
    >>> speed = np.arange(1.0, 21)
    >>> table = {"Wnn": 1, "Wn1": 0, "W11": 1, "Vn": -speed, "V1": 0, "Pn": 1.5 * speed, "P1": 0}
    >>> fits = carom.fit.impacts(table, laws=["newton", "whittaker"], bootstrap=0)
    >>> len(fits), fits.summary["rows"], [fit.law for fit in fits][0] == fits.best.law
    (2, 20, True)
    """
    laws: "list[Fit]"
    summary: "dict[str, object]"
    refused: "list[tuple[str, str]]"

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
    >>> dict(carom.fit.laws())["newton"]
    ['e']
    """
    return _carom._fit_laws()


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
    return Fits(fits, summary, refused)


def predict(table, law, *, column=None, where=None, skip=False, **parameters):
    """Answers of one law, a `Fit` or a name with its parameters, to a table of collisions, which need not have the
    velocities after.

    >>> import carom.fit
    >>> table = {"m": 1.0, "I": 1.0, "rx": 0.0, "ry": -0.1, "vx": 0.0, "vy": [-1.0, -2.0], "w": 0.0}
    >>> carom.fit.predict(table, "newton", e=0.5).velocities["vy_after"]
    array([0.5, 1. ])
    """
    if isinstance(law, Fit):
        parameters = {name: p.value for name, p in law.parameters.items()} | parameters
        law = law.law
    with _file(table) as path:
        rows, velocities = _carom._fit_predict(path, law, parameters, _pairs(column), _pairs(where), skip)
    names = {3: ["vx_after", "vy_after", "w_after"],
             6: ["vx_after", "vy_after", "vz_after", "wx_after", "wy_after", "wz_after"]}
    after = None
    if velocities is not None:
        after = dict(zip(names[velocities.shape[1]], velocities.T))
    return Prediction(rows[:, :3], rows[:, 3], rows[:, 4] != 0, rows[:, 5], after)
