"""carom: rigid bodies that hit, rub and rest on each other.

The collision law is the user's choice, and every answer carries a certificate.

>>> import carom
>>> hit = carom.impact("newton", V=(-1, 0, 0), e=0.5)
>>> hit.P
array([1.5, 0. , 0. ])
>>> hit.permissible
True

One contact: `impact`, `Law`, `Region`. Many at one instant: `Problem`. Through time: `Model`, `World`, `load`. Anyone's
motion: `audit`.
Arrays are views of the library's memory and keep it alive. What is refused raises `Error` with the field's name.
Units are SI, quaternions have w first, normals point from body A to body B.
"""
from carom._carom import Error, numerics_revision, version as __version__
from carom._audit import MotionAudit, Worst, audit
from carom._impact import (Contact, Hit, Law, Margins, Region, Rigid, Verdict, collision, contact, impact, impact_many,
                           laws, verdict)
from carom._control import Actuator, Controls, Joint, Readings, Sensor
from carom._model import Model
from carom._problem import Audit, Problem, Resolution, Rule, Solution, rules, solvers
from carom._scene import Scene, load, scenes
from carom._spread import Spread, spread
from carom._world import Certificate, Energy, Trajectory, World

__all__ = ["Actuator", "Audit", "Certificate", "Contact", "Controls", "Energy", "Error", "Hit", "Joint", "Law", "Margins", "Model", "MotionAudit", "Problem", "Readings", "Region",
           "Resolution", "Rigid", "Rule", "Scene", "Sensor", "Solution", "Spread", "Trajectory", "Verdict", "World", "Worst", "__version__", "audit",
           "collision", "contact", "impact", "impact_many", "laws", "load", "numerics_revision", "rules", "scenes",
           "solvers", "spread", "verdict"]
