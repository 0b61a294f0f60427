"""Scenes whose values are not known exactly: many copies, and what they have in common."""
import json
from dataclasses import dataclass
from typing import Any

from carom import _carom
from carom._array import array, column
from carom._scene import _find, _values


@dataclass(frozen=True)
class Spread:
    """What `spread` found. position and velocity (samples, bodies, 3) are those of centres of mass at the end, NaN where
    a sample failed; itself_position and itself_velocity (bodies, 3) those of the scene without jitter. cluster and order
    (samples) number groups of outcomes and orders of impacts from 0, the most frequent first, -1 where a sample failed.
    orders says which pairs of bodies hit, those that hit together in one list. explained[k] is the share of variance
    that the first k + 1 pairs explain, clusters_explained that of the clusters; representatives are the samples nearest
    to the clusters' means. failed samples are counted, why tells of the first.

    >>> import carom
    >>> found = carom.spread("newtons-cradle-3", ["gap=1e-5"], samples=20, set={"step.duration": 0.3})
    >>> found.orders[0][0], found.position.shape
    ([('ball1', 'ball2')], (20, 3, 3))
    """
    bodies: "list[str]"
    itself_position: Any
    itself_velocity: Any
    position: Any
    velocity: Any
    cluster: Any
    order: Any
    representatives: "list[int]"
    orders: "list[list[list[tuple[str, str]]]]"
    explained: Any
    clusters_explained: float
    failed: int
    why: str


def _text(scene):
    if hasattr(scene, "items"):
        return json.dumps(scene)
    return _find(scene).read_text(encoding="utf-8")


def _named(pairs, names):
    """Pairs of one impact in one list."""
    impacts = []
    for a, b, together in pairs:
        if not together:
            impacts.append([])
        impacts[-1].append((names[a], names[b]))
    return impacts


def spread(scene, jitter, *, samples=1000, seed=1, threads=1, of="position", order=0, checkpoint=None, set=None):
    """Many copies of a scene, each with values drawn around those of the scene, as `carom spread` does: docs/spread.md.

    scene is a file in JSON, the name of one that comes with carom, or a dict. jitter says what is drawn: texts such as
    "gap=1e-5" or "bodies.cue.vel=uniform:0.1", or a dict of these. of is the outcome that clusters and orders are judged
    by, position or velocity; order the number of pairs that tell orders apart (0: by the samples); set gives values by
    path, {"step.duration": 0.2}. The same seed gives the same samples, whatever the number of threads.

    >>> import carom
    >>> found = carom.spread("bouncing-ball", {"velocity": 0.1}, samples=50, set={"step.duration": 0.2})
    >>> abs(found.velocity[:, 0, 0].std() - 0.1) < 0.05
    True
    """
    if of not in ("position", "velocity"):
        raise ValueError(f"of is {of!r}, must be 'position' or 'velocity'")
    texts = [f"{name}={size}" for name, size in jitter.items()] if hasattr(jitter, "items") else list(jitter)
    bodies, outcomes, cluster, orders_of, representatives, orders, explained, clusters_explained, failed, why = (
        _carom._spread(_text(scene), _values(set), texts, samples, seed, threads, of == "velocity", order,
                       None if checkpoint is None else str(checkpoint)))
    names = ["world", *bodies]
    itself, samples = outcomes[0], outcomes[1:]
    return Spread(bodies, column(itself, 0, 3), column(itself, 3, 6), column(samples, 0, 3), column(samples, 3, 6),
                  cluster, orders_of, representatives, [_named(pairs, names) for pairs in orders], array(explained),
                  clusters_explained, failed, why)
