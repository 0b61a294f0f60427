"""Pictures with matplotlib: regions of impulses, trajectories, and bodies seen from a side.

Every function draws into the axes given, or into new ones, and returns them.

>>> import matplotlib; matplotlib.use("Agg")
>>> import carom, carom.plot
>>> axes = carom.plot.energy(carom.load("bouncing-ball").run(1.0))
>>> axes.get_ylabel()
'energy (J)'
"""
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Circle, Polygon

from carom._impact import Law, Region

BLUE, ORANGE, GREEN, RED, GREY = "#1f5a96", "#d9730d", "#2e7d4f", "#b3261e", "#8a8f98"
COLOURS = (BLUE, ORANGE, GREEN, RED, "#7a4fa3", "#3d8f96", "#a37b1f", "#c2528b")


def _axes(ax, **size):
    if ax is None:
        _, ax = plt.subplots(layout="constrained", **size)
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def region(contact, laws=(), ax=None, count=400):
    """The section of the permissible region that holds P_I and P_II, with the outcomes of laws.

    >>> import carom, carom.plot
    >>> contact, frame = carom.contact(V=(-1, 0.5, 0), mu=0.4)
    >>> carom.plot.region(contact, laws=["newton", "routh"]).get_xlabel() != ""
    True
    """
    ax = _axes(ax, figsize=(6.4, 4.8))
    space = Region(contact)
    azimuth = space.azimuth
    along = np.array([np.cos(azimuth), np.sin(azimuth)])
    flat = lambda P: (np.asarray(P)[..., 1:] @ along, np.asarray(P)[..., 0])
    points = space.section(azimuth, count)
    if points is not None:
        x, y = flat(points)
        ax.fill(x, y, color=BLUE, alpha=0.12, lw=0)
        ax.plot(np.append(x, x[0]), np.append(y, y[0]), color=BLUE, lw=1.2, label="permissible")
        if np.isfinite(contact.mu):
            top = 1.05 * float(np.max(y))
            ax.plot([-contact.mu * top, 0, contact.mu * top], [top, 0, top], color=GREY, lw=0.9, ls="--",
                    label="friction cone")
    path = space.routh_path()
    if path is not None:
        ax.plot(*flat(path), color=GREY, lw=1.2, label="Routh's path")
    for name in ("P_I", "P_II"):
        P = getattr(space, name)
        if P is not None:
            ax.plot(*flat(P), "o", ms=4, color="black")
            ax.annotate(f"$P_{{{name[2:]}}}$", flat(P), xytext=(6, -4), textcoords="offset points")
    for i, law in enumerate(laws):
        law = law if isinstance(law, Law) else Law(law)
        ax.plot(*flat(law.apply(contact).P), marker="osD^vPX*"[i % 8], ls="", ms=7, mec="white", mew=0.8,
                color=COLOURS[(i + 1) % len(COLOURS)], label=law.name)
    ax.set_xlabel("tangential impulse (N s)")
    ax.set_ylabel("normal impulse (N s)")
    ax.set_aspect("equal")
    ax.legend(frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return ax


def energy(trajectory, ax=None):
    """Kinetic, potential and total energy over time.

    >>> import carom, carom.plot
    >>> trajectory = carom.load("bouncing-ball").run(0.5)
    >>> len(carom.plot.energy(trajectory).lines)
    3
    """
    if trajectory.energy is None:
        raise ValueError("this trajectory has no energy: it was read from CSV")
    ax = _axes(ax, figsize=(6.4, 3.6))
    kinetic, potential = trajectory.energy.T
    ax.plot(trajectory.time, kinetic + potential, color="black", label="total")
    ax.plot(trajectory.time, kinetic, color=BLUE, lw=1, label="kinetic")
    ax.plot(trajectory.time, potential, color=ORANGE, lw=1, label="potential")
    ax.set_xlabel("time (s)")
    ax.set_ylabel("energy (J)")
    ax.legend(frameon=False)
    return ax


def coordinates(trajectory, body, columns=None, ax=None):
    """Coordinates of a body over time, with a mark at every event it takes part in.

    >>> import carom, carom.plot
    >>> trajectory = carom.load("bouncing-ball").run(0.5)
    >>> len(carom.plot.coordinates(trajectory, "ball", [2]).lines) >= 1
    True
    """
    ax = _axes(ax, figsize=(6.4, 3.6))
    q = trajectory.of(body)
    for k, i in enumerate(range(q.shape[1]) if columns is None else columns):
        ax.plot(trajectory.time, q[:, i], color=COLOURS[k % len(COLOURS)], label=f"q[{i}]")
    if trajectory.events is not None:
        index = [b.name for b in trajectory.bodies].index(body) + 1
        mine = (trajectory.events["body_a"] == index) | (trajectory.events["body_b"] == index)
        for time in trajectory.events["time"][mine]:
            ax.axvline(time, color=GREY, lw=0.5, zorder=0)
    ax.set_xlabel("time (s)")
    ax.legend(frameon=False)
    return ax


def certificate(trajectory, ax=None):
    """Residual and penetration over time, on a logarithmic scale; zeros are at the bottom.

    >>> import carom, carom.plot
    >>> trajectory = carom.load("bouncing-ball").run(0.5)
    >>> carom.plot.certificate(trajectory).get_yscale()
    'log'
    """
    if trajectory.certificate is None:
        raise ValueError("this trajectory has no certificate: it was read from CSV")
    ax = _axes(ax, figsize=(6.4, 3.6))
    residual, penetration, _ = np.maximum(trajectory.certificate.T, 1e-18)
    ax.semilogy(trajectory.time, residual, color=BLUE, label="residual")
    ax.semilogy(trajectory.time, penetration, color=ORANGE, label="penetration (m)")
    ax.set_xlabel("time (s)")
    ax.legend(frameon=False)
    return ax


def _rotation(quat):
    w, x, y, z = quat
    return np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                     [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                     [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]])


def _hull(points):
    """Convex hull of points in the plane, counterclockwise (Andrew's monotone chain)."""
    points = points[np.lexsort(points.T[::-1])]

    def chain(sequence):
        kept = []
        for p in sequence:
            while len(kept) > 1 and np.cross(kept[-1] - kept[-2], p - kept[-2]) <= 0:
                kept.pop()
            kept.append(p)
        return kept[:-1]

    return np.array(chain(points) + chain(points[::-1]))


def _outline(shape):
    """Points of a shape, and a radius to put around them."""
    a, b, c = shape.size
    circle = np.linspace(0, 2 * np.pi, 49)[:-1]
    ring = np.stack([np.cos(circle), np.sin(circle), 0 * circle], axis=1)
    if shape.kind == "sphere":
        return np.zeros((1, 3)), a
    if shape.kind == "capsule":
        return np.array([[0, 0, -c], [0, 0, c]]), a
    if shape.kind == "box":
        return np.array([[x, y, z] for x in (-a, a) for y in (-b, b) for z in (-c, c)]), 0.0
    if shape.kind == "cylinder":
        return np.concatenate([ring * a + [0, 0, -c], ring * a + [0, 0, c]]), 0.0
    if shape.kind == "cone":
        return np.concatenate([ring * a + [0, 0, -c], [[0, 0, c]]]), 0.0
    if shape.kind == "ellipsoid":
        turns = np.linspace(0, np.pi, 25)
        return np.concatenate([ring * np.sin(t) + [0, 0, np.cos(t)] for t in turns]) * [a, b, c], 0.0
    return None, 0.0


def _draw(ax, shape, pose, plane, **style):
    points, radius = _outline(shape)
    if points is None:
        return
    points = points @ _rotation(shape.quat).T + shape.pos
    flat = (points @ _rotation(pose[3:]).T + pose[:3])[:, plane]
    if len(flat) == 1:
        ax.add_patch(Circle(flat[0], radius, **style))
        return
    if radius > 0:
        circle = np.linspace(0, 2 * np.pi, 49)[:-1]
        flat = (flat[:, None] + radius * np.stack([np.cos(circle), np.sin(circle)], axis=1)).reshape(-1, 2)
    ax.add_patch(Polygon(_hull(flat), **style))


def bodies(world, view="xz", ax=None, color=None, alpha=1.0):
    """The bodies of a world as they are now, seen along the axis that view leaves out. Half-spaces are drawn as
    lines; hulls, meshes, height fields and compounds are left out.

    >>> import carom, carom.plot
    >>> len(carom.plot.bodies(carom.load("bouncing-ball").world()).patches)
    1
    """
    ax = _axes(ax, figsize=(6.4, 4.8))
    plane = ["xyz".index(letter) for letter in view]
    poses = world.poses
    for shape in world.model.shapes:
        if shape.kind == "half-space":
            n = np.array(shape.size)[plane]
            if np.hypot(*n) > 1e-9:
                foot = n * shape.offset / (n @ n)
                ax.axline(foot, foot + [-n[1], n[0]], color=GREY, lw=1)
            continue
        _draw(ax, shape, poses[shape.body], plane, fc=color or COLOURS[shape.body % len(COLOURS)], ec="white",
              lw=0.6, alpha=alpha)
    ax.set_xlabel(f"{view[0]} (m)")
    ax.set_ylabel(f"{view[1]} (m)")
    ax.set_aspect("equal")
    ax.autoscale_view()
    return ax


def strobe(world, trajectory, times, view="xz", ax=None):
    """The bodies at several times, faint to full. The world is put back where it was.

    >>> import carom, carom.plot
    >>> trajectory = carom.load("bouncing-ball").run(0.5)
    >>> world = carom.load("bouncing-ball").world()
    >>> len(carom.plot.strobe(world, trajectory, [0.1, 0.2, 0.3]).patches)
    3
    """
    kept = world.save()
    ax = _axes(ax, figsize=(6.4, 4.8))
    for k, time in enumerate(times):
        i = int(np.argmin(np.abs(trajectory.time - time)))
        world.q[:] = trajectory.q[i]
        bodies(world, view, ax, alpha=0.25 + 0.75 * (k + 1) / len(times))
    world.load(kept)
    return ax
