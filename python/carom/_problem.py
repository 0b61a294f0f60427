"""Many contacts at one instant: problems, solvers and rules."""
from dataclasses import dataclass
from typing import Any

from carom import _carom, _records


class Audit(_records.Audit):
    """What is true of impulses, from raw data: every field of crAudit.

    >>> import carom
    >>> carom.Problem([-1.0], [[2.0]], [("unilateral", 1)]).audit([0.5]).residual
    0.0
    """


@dataclass(frozen=True)
class Solution:
    """Impulses p and velocities u of a problem; solved by the audit's residual, not by the solver's word.

    >>> import carom
    >>> solution = carom.Problem([-1.0], [[2.0]], [("unilateral", 1)]).solve()
    >>> solution.p, solution.outcome
    (array([0.5]), 'solved')
    """
    p: Any
    u: Any
    outcome: str
    method: str
    iterations: int
    residual: float
    audit: Audit


@dataclass(frozen=True)
class Resolution:
    """Impulses of an impact by a rule, and what is true of them.

    >>> import carom
    >>> impact = carom.Problem([-1.0], [[2.0]], [("unilateral", 1, {"e": 0.5})]).resolve("newton")
    >>> impact.u, impact.permissible
    (array([0.5]), True)
    """
    p: Any
    u: Any
    outcome: str
    method: str
    steps: int
    unique: str
    flags: int
    energy_change: float
    work: float
    permissible: bool
    creates_energy: bool
    margins: _records.RuleMargins
    audit: Audit


@dataclass(frozen=True)
class ImpactChange:
    """What a change of an impact's data becomes: of impulses p and of velocities u after it, for the change times a falling (minus)
    and a rising (plus) number. verdict: smooth, one-sided or none, then jump is that of p, N s. switch is the nearest and distance the
    change of a contact's velocity that reaches it, m/s; NaN: not known. differenced: the rule, or its law, has no formula here.

    >>> import carom
    >>> impact = carom.Problem([-1.0], [[2.0]], [("unilateral", 1, {"e": 0.5})])
    >>> impact.derivative("newton", u_free=[1.0]).verdict
    'smooth'
    """
    p_minus: Any
    p_plus: Any
    u_minus: Any
    u_plus: Any
    verdict: str
    switch: str
    distance: float
    jump: float
    differenced: bool


class Rule(_carom.Rule):
    """How many contacts share an impact: Rule("newton"), Rule("sequence", law=...), Rule("chain", stiffness=...).

    Parameters: law, solver, tolerance, budget, directions, eps, ties, direction, seed, extrapolate, mechanism, pick,
    corner, threshold, stiffness, hertz. What it does not name comes from the world or call that uses it.

    >>> import carom
    >>> cradle = carom.Problem([-1.0, 0.0], [[2.0, -1.0], [-1.0, 2.0]], [("unilateral", 1, {"e": 1})] * 2)
    >>> cradle.resolve(carom.Rule("sequence", law="newton")).u.round(9)
    array([0., 1.])
    """

    def __repr__(self):
        return f"carom.Rule({self.name!r})"


def _block(block, index):
    """(kind, rows, fields) of what was given for a block."""
    if isinstance(block, str) or not hasattr(block, "__len__") or len(block) not in (2, 3):
        raise _carom.TypeError(f"blocks[{index}]: is {block!r}, must be (kind, rows) or (kind, rows, fields)")
    kind, rows, *fields = block
    return kind, rows, dict(fields[0]) if fields else {}


class Problem(_carom.Problem):
    """u = u_free + W p, and what the rows must satisfy.

    blocks are (kind, rows) or (kind, rows, fields): equality, unilateral, box (lo, hi), cone (mu, mu2, mu_spin,
    mu_roll, spin, roll); rules also read e and et. b is a bias added to u before comparing.

    >>> import numpy as np, carom
    >>> problem = carom.Problem([-1.0, 0.5], np.eye(2), [("cone", 2, {"mu": 0.3})])
    >>> solution = problem.solve()
    >>> solution.p.round(6), solution.outcome
    (array([ 1. , -0.3]), 'solved')
    """

    def __init__(self, u_free, W, blocks, b=None, *, raw=False):
        super().__init__(u_free, W, [_block(block, i) for i, block in enumerate(blocks)], b, raw)

    @classmethod
    def read(cls, path, format=None):
        """From a file in any format that `carom solve` reads."""
        problem = cls.__new__(cls)
        _carom.Problem.__init__(problem, str(path), format)
        return problem

    def solve(self, solver="auto", *, tol=1e-10, max_iterations=0, p=None):
        """Impulses by one of `solvers()`, from the guess p."""
        raw = self._solve(solver, tol, max_iterations, p)
        return Solution(**{**raw, "audit": Audit(**raw["audit"])})

    def audit(self, p):
        """What is true of impulses p, from raw data alone.

        >>> import carom
        >>> carom.Problem([-1.0], [[2.0]], [("unilateral", 1)]).audit([0.25]).approach
        0.5
        """
        return Audit(**self._audit(p))

    def resolve(self, rule="poisson", *, law=None):
        """As an impact: u_free are the velocities before it; rule is a `Rule` or a name of `rules()`.

        >>> import numpy as np, carom
        >>> balls = carom.Problem([-1.0, 0.0], [[2.0, -1.0], [-1.0, 2.0]], [("unilateral", 1, {"e": 1})] * 2)
        >>> balls.resolve("sequence", law="newton").u.round(9)
        array([0., 1.])
        """
        raw = self._resolve(rule, law)
        return Resolution(**{**raw, "audit": Audit(**raw["audit"]), "margins": _records.RuleMargins(**raw["margins"])})


    def derivative(self, rule="poisson", *, u_free=None, W=None, mu=None, e=None, et=None, law=None, near=1e-9):
        """Along a change of the data of an impact: of velocities before (rows), of W (rows, rows), and of each block's mu, e and et.

        A switch nearer than `near` (m/s) has two sides. An impact that the rule does not solve is refused with its residual.

        >>> import carom
        >>> balls = carom.Problem([-1.0, 0.0], [[2.0, -1.0], [-1.0, 2.0]], [("unilateral", 1, {"e": 1})] * 2)
        >>> balls.derivative("sequence", u_free=[-1, 0], law="newton").u_plus.round(9)   # the last ball gets what the first brought
        array([0., 1.])
        """
        return ImpactChange(**self._derivative(rule, law, near, u_free, W, mu, e, et))


class RuleInfo(_records.RuleInfo):
    """A rule of the catalogue: name, title, what it reads, its guarantee and its source.

    >>> import carom
    >>> carom.rules()[0].may_create_energy
    True
    """


def rules():
    """The catalogue of rules.

    >>> import carom
    >>> sorted(rule.name for rule in carom.rules())[:2]
    ['chain', 'coupled']
    """
    return [RuleInfo(**rule) for rule in _carom._rules()]


def solvers():
    """Names of the solvers.

    >>> import carom
    >>> "auto" in carom.solvers()
    True
    """
    return _carom._solvers()
