"""Scenes: models with their start and settings, from JSON."""
import json
from pathlib import Path

from carom import _carom

_SHIPPED = Path(__file__).parent / "scenes"


class Scene(_carom.Scene):
    """A scene: model, start (q and v, views that worlds made later start from), duration and settings. See `load`."""

    def __init__(self, text, set=None):
        """text is JSON, or a dict; set gives values by path, as `carom run --set` does."""
        if isinstance(text, dict):
            text = json.dumps(text)
        values = [(path, value if isinstance(value, str) else json.dumps(value)) for path, value in (set or {}).items()]
        super().__init__(text, values)

    def world(self, threads=0):
        """A world at the start of the scene."""
        return self._world(threads)

    def run(self, duration=None, every=None):
        """Run it through and return the `Trajectory`; duration and every are the scene's unless given."""
        info = self._info
        world = self.world()
        return world.record(info["duration"] if duration is None else duration, every or info["every"])

    comment = property(lambda self: self._info["comment"], doc="what the scene says of itself, or None")
    duration = property(lambda self: self._info["duration"], doc="s")
    every = property(lambda self: self._info["every"], doc="steps between records")
    overlaps = property(lambda self: self._info["overlaps"], doc="pairs of shapes that overlap at the start")
    settings = property(lambda self: self._info["settings"], doc="method, dt, rule, law, solver ...")

    def __repr__(self):
        return f"<carom.Scene: {self.model.nb - 1} bodies, {self.duration:g} s>"


def scenes():
    """Names of the scenes that come with carom.

    >>> import carom
    >>> "pool-break" in carom.scenes()
    True
    """
    return sorted(path.stem for path in _SHIPPED.glob("*.json"))


def load(path, **set):
    """A scene from a file, or by the name of one that comes with carom.

    Values are set by path, dots written as two underscores: load("pool-break", impact__rule="newton").

    >>> import carom
    >>> scene = carom.load("bouncing-ball", step__dt=0.01)
    >>> scene.settings["dt"]
    0.01
    """
    file = Path(path)
    if not file.exists() and str(path) in scenes():
        file = _SHIPPED / f"{path}.json"
    return Scene(file.read_text(encoding="utf-8"), {key.replace("__", "."): value for key, value in set.items()})
