"""Motions of anyone, judged by the model alone: `audit`."""
from typing import NamedTuple, Optional

from carom import _carom
from carom._array import column


class Worst(NamedTuple):
    """The worst of a figure: value known to within +-floor, when, and of which bodies.

    >>> import carom
    >>> scene = carom.load("bouncing-ball")
    >>> carom.audit(scene, scene.run(0.5)).momentum.a
    'ball'
    """
    value: float
    floor: float
    time: float
    a: Optional[str]
    b: Optional[str]


_WORST = ("overlap", "crossing", "gained", "momentum", "spin", "path", "escaped")
_STEPS = ("time", "overlap", "crossings", "crossings_unsure", "energy", "gain", "momentum", "spin")


class MotionAudit:
    """What `audit` found: verdicts "yes", "no" or "cannot tell" (holds, no_overlap, no_crossing, no_gain, flies), the
    worst figures as `Worst` (overlap m, momentum m/s, spin rad/s, path m, gained J), energies in J, and steps, arrays by
    name over the records. A figure that is not known is NaN.

    >>> import carom
    >>> scene = carom.load("bouncing-ball")
    >>> found = carom.audit(scene, scene.run(0.5))
    >>> bool(found), found.crossings, len(found.steps["energy"]) == found.records
    (True, 0, True)
    """

    def __init__(self, raw):
        steps = raw.pop("steps")
        for name, value in raw.items():
            setattr(self, name, Worst(*value) if name in _WORST else value)
        self.steps = {name: column(steps, i) for i, name in enumerate(_STEPS)}

    def __bool__(self):
        return self.holds == "yes"

    def __repr__(self):
        return (f"<carom.MotionAudit: {self.holds}; overlap {self.overlap.value:.1e} m, {self.crossings} crossings, "
                f"gain {self.gain:.1e} J, {self.jumps} jumps>")


def audit(scene, trajectory, *, exact=False, overlap=0.0, energy=1e-6, speed=0.01):
    """Judge a motion of a scene's or model's bodies, from wherever it came, as `carom audit SCENE TRAJECTORY` does.

    trajectory is a `Trajectory`, the path of a CSV or HDF5 file, or arrays (time, q) or (time, q, v). exact: few digits
    in a file are no rounding. overlap (m; 0: 1e-3 of the smallest body), energy (share) and speed (m/s) are limits.

    >>> import carom
    >>> scene = carom.load("bouncing-ball")
    >>> carom.audit(scene, scene.run(0.5)).holds
    'yes'
    >>> import numpy as np
    >>> t = np.linspace(0, 0.1, 11)
    >>> q = np.zeros((11, 7)); q[:, 2] = 1.0; q[:, 3] = 1.0
    >>> hover = carom.audit(scene, (t, q))                 # nothing holds it up
    >>> hover.flies, round(hover.momentum.value, 4)
    ('no', 0.0981)
    """
    model = getattr(scene, "model", scene)
    if isinstance(trajectory, (tuple, list)):
        time, q, *v = trajectory
        trajectory = (time, q, v[0] if v else None)
    return MotionAudit(_carom._audit_motion(model, trajectory, exact, overlap, energy, speed))
