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
Arrays are NumPy's, or memoryviews and lists where NumPy is not installed; those of models, worlds and trajectories are views
of the library's memory and keep it alive. What is refused raises `Error` with the field's name. Scenes, worlds and
trajectories show themselves in notebooks.
Units are SI, quaternions have w first, normals point from body A to body B.
"""
from carom._carom import Error, numerics_revision, version as __version__
from carom._batch import Batch
from carom._audit import MotionAudit, Worst, audit
from carom._impact import (Collision, Contact, Derivative, FramedContact, Gradient, Hit, Impulses, Law, LawInfo, Margins, Region, Rigid, Strike, Verdict,
                           collision, contact, cue_strike, gradient, impact, impact_many, laws, verdict)
from carom._control import Actuator, Controls, Joint, Readings, Sensor
from carom._model import Model
from carom._picture import Animation, Picture, Report
from carom._problem import Audit, ImpactChange, Problem, Resolution, Rule, RuleInfo, Solution, rules, solvers
from carom._scene import Scene, load, scenes
from carom._spread import Spread, spread
from carom._world import Certificate, Energy, Trajectory, World

__all__ = ["Actuator", "Animation", "Audit", "Batch", "Certificate", "Collision", "Contact", "Controls", "Derivative",
           "Energy", "Error", "FramedContact", "Gradient", "Hit", "ImpactChange", "Impulses", "Joint", "Law", "LawInfo",
           "Margins", "Model", "MotionAudit", "Picture", "Problem", "Readings", "Region", "Report", "Resolution", "Rigid",
           "Rule", "RuleInfo", "Scene", "Sensor", "Solution", "Spread", "Strike", "Trajectory", "Verdict", "World", "Worst",
           "__version__", "audit", "collision", "contact", "cue_strike", "gradient", "impact", "impact_many", "laws",
           "load", "numerics_revision", "rules", "scenes", "solvers", "spread", "verdict"]
