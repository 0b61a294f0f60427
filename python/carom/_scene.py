"""Scenes: models with their start and settings, from JSON or from the models of others."""
import difflib
import errno
import json
import os
from pathlib import Path
from typing import NamedTuple

from carom import _carom
from carom._picture import counted, shown

_SHIPPED = Path(__file__).parent / "scenes"
_MODELS = (".xml", ".mjcf", ".urdf", ".sdf", ".world")


class Note(NamedTuple):
    """What an importer did not use: a warning where it acts on bodies, else a note."""
    level: str
    text: str
    file: str
    line: int
    column: int
    count: int


def _values(set):
    return [(path, value if isinstance(value, str) else json.dumps(value)) for path, value in (set or {}).items()]


class Scene(_carom.Scene):
    """A scene: model, start (q and v, views that worlds made later start from), duration and settings. See `load`.

    >>> import carom
    >>> scene = carom.Scene({"carom": 1, "bodies": [{"name": "ball", "shapes": [{"type": "sphere", "r": 0.1}]}]})
    >>> scene.world().run(0.1).clean
    True
    """

    def __init__(self, text, set=None):
        """text is JSON, or a dict; set gives values by path, as `carom run --set` does."""
        if isinstance(text, dict):
            text = json.dumps(text)
        if not isinstance(text, str):
            raise _carom.TypeError(f"text: is {text!r}, must be JSON as a text, or a dict; carom.load takes files")
        super().__init__(text, _values(set))

    @classmethod
    def from_model(cls, path, *, key=None, packages=(), fixed_base=False, set=None):
        """Of an MJCF, URDF or SDF file: key is a keyframe of MJCF to start from, packages are folders in which
        package:// and model:// are looked for, fixed_base fixes the root link of URDF to the world."""
        scene = cls.__new__(cls)
        _carom.Scene.__init__(scene, None, _values(set), path, key, tuple(map(str, packages)), fixed_base)
        return scene

    def world(self, threads=0):
        """A world at the start of the scene."""
        return self._world(threads)

    def run(self, duration=None, every=None):
        """Run it through and return the `Trajectory`; duration and every are the scene's unless given."""
        info = self._info
        world = self.world()
        return world.record(info["duration"] if duration is None else duration, every or info["every"])

    notes = property(lambda self: [Note(*note) for note in self._notes],
                     doc="what an importer left out, with file, line and column; nothing is dropped in silence")
    comment = property(lambda self: self._info["comment"], doc="what the scene says of itself, or None")
    duration = property(lambda self: self._info["duration"], doc="s")
    every = property(lambda self: self._info["every"], doc="steps between records")
    overlaps = property(lambda self: self._info["overlaps"], doc="pairs of shapes that overlap at the start")
    settings = property(lambda self: self._info["settings"], doc="method, dt, rule, law, solver ...")

    def show(self, what="strobe", *, bodies=()):
        """A `Picture` of the start; what is strobe (the view that shows most), plan or elevation.

        >>> import carom
        >>> carom.load("pool-break").show("plan")
        <carom.Picture: plan>
        """
        return self.world().show(what, bodies=bodies)

    def _repr_html_(self):
        settings = self.settings
        facts = [("bodies", self.model.nb - 1), ("duration", f"{self.duration:g} s"),
                 ("method, dt", f"{settings['method']}, {settings['dt']:g} s"),
                 ("rule, law", f"{settings['rule']}, {settings['law']}")]
        if self.comment:
            facts.insert(0, ("", self.comment))
        if self.notes:
            facts.append(("left out by the importer", f"{len(self.notes)}: see notes"))
        return shown(self.show, facts)

    def __repr__(self):
        return f"<carom.Scene: {counted(self.model.nb - 1, 'body', 'bodies')}, {self.duration:g} s>"


def scenes():
    """Names of the scenes that come with carom.

    >>> import carom
    >>> "pool-break" in carom.scenes()
    True
    """
    return sorted(path.stem for path in _SHIPPED.glob("*.json"))


def _find(path):
    """The file of a scene by its path, or of one that comes with carom by its name; FileNotFoundError with a suggestion."""
    if not isinstance(path, (str, os.PathLike)):
        raise _carom.TypeError(f"path: is {path!r}, must be the path of a file or the name of a scene")
    file = Path(path)
    if file.exists():
        return file
    if str(path) in scenes():
        return _SHIPPED / f"{path}.json"
    beside = [str(other) for other in file.parent.glob("*") if other.suffix.lower() in (".json", *_MODELS)]
    typed = str(path)
    near = difflib.get_close_matches(typed, [*scenes(), *beside], 1) or difflib.get_close_matches(file.stem, scenes(), 1)
    hint = f"did you mean {near[0]!r}?" if near else "carom.scenes() lists those that come with carom"
    error = _carom.FileNotFoundError(errno.ENOENT, f"no such file or scene; {hint}", typed)
    error.status, error.field = "file", "path"
    raise error


def load(path, *, key=None, packages=(), fixed_base=False, **set):
    """A scene from a file, or by the name of one that comes with carom. Files may be scenes in JSON or models: MJCF
    (.xml, .mjcf), URDF, SDF (.sdf, .world); key, packages and fixed_base are those of `Scene.from_model`.

    Values are set by path, dots written as two underscores: load("pool-break", impact__rule="newton").

    >>> import carom
    >>> scene = carom.load("bouncing-ball", step__dt=0.01)
    >>> scene.settings["dt"]
    0.01
    """
    file = _find(path)
    values = {name.replace("__", "."): value for name, value in set.items()}
    if file.suffix.lower() in _MODELS:
        return Scene.from_model(file, key=key, packages=packages, fixed_base=fixed_base, set=values)
    return Scene(file.read_text(encoding="utf-8"), values)
