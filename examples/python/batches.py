"""Distributions over many worlds: dice, a table tennis ball whose numbers are not known, a humanoid that is dropped.

Every experiment is one `Batch`: starts and numbers of the model are arrays with one row for each world. A few hundred worlds run in
seconds; CAROM_WORLDS=100000 CAROM_DEVICE=gpu makes the figures of docs/batches.md. CAROM_ARRAYS=FILE.npz keeps the results, or draws
those that are there.
"""
import os

import numpy as np

import carom

WORLDS = int(os.environ.get("CAROM_WORLDS", 200))
DEVICE = os.environ.get("CAROM_DEVICE", "threads")
KEPT = os.environ.get("CAROM_ARRAYS")


def turns(rng, count):
    """Uniform rotations, as quaternions."""
    q = rng.standard_normal((count, 4))
    return q / np.linalg.norm(q, axis=1, keepdims=True)


def up(quat):
    """The vertical in the axes of each body."""
    w, x, y, z = quat.T
    return np.stack([2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)], axis=1)


def tell(name, batch, steps):
    print(f"{name}: {len(batch)} worlds, {steps} steps, {batch.failed} failed, {batch.handed} handed, overlap {batch.summary().penetration:.1e} m")


def dice(count, rng):
    """Which face is up, 1 to 6, after a throw from 10 cm."""
    model = carom.Model()
    table = model.material("table", mu=0.3)
    model.halfspace(0, material=table)
    model.box(model.body("die", pos=(0, 0, 0.1)), (0.008, 0.008, 0.008), material=table)
    batch = carom.Batch(model, count, device=DEVICE, quality="fast")
    q, v = batch.q, rng.uniform(-1, 1, (count, 6))
    q[:, 3:] = turns(rng, count)
    v[:, 3:] *= 20
    batch.q, batch.v = q, v
    batch.step(300)
    tell("dice", batch, 300)
    axes = up(batch.q[:, 3:])
    most = np.abs(axes).argmax(axis=1)
    return np.where(axes[np.arange(count), most] > 0, most + 1, 6 - most)


def table_tennis(count, rng):
    """Topspin before, and how far the ball is after .5 s: e and mu of ball and table differ from world to world."""
    model = carom.Model()
    table = model.material("table", mu=0.25, e=0.9)
    model.halfspace(0, material=table)
    inertia = 2 / 3 * 0.0027 * 0.02**2  # hollow
    ball = model.body("ball", pos=(0, 0, 0.3), mass=0.0027, inertia=(inertia,) * 3, com=(0, 0, 0))
    model.sphere(ball, 0.02, material=table)
    batch = carom.Batch(model, count, device=DEVICE, quality="fast", room=131072)
    mu, e, spin = rng.uniform(0.1, 0.5, count), rng.uniform(0.86, 0.94, count), rng.uniform(-150, 150, count)
    batch.vary("mu", table, mu)
    batch.vary("e", table, e)
    v = np.zeros((count, 6))
    v[:, 0], v[:, 4] = 3 + 0.1 * rng.standard_normal(count), spin
    batch.v = v
    batch.step(120)
    tell("table tennis", batch, 120)
    return np.stack([spin, mu, e, batch.q[:, 0]])


def humanoid(count, rng):
    """Height of the torso, and the vertical in its axes, 1.5 s after a drop in any orientation."""
    scene = carom.load("humanoid-stand", solver__quality="fast")
    batch = carom.Batch(scene, count, device=DEVICE)
    q, v = batch.q, batch.v
    q[:, 2] += 0.6
    q[:, 3:7] = turns(rng, count)
    v[:, :6] = rng.uniform(-1, 1, (count, 6))
    batch.q, batch.v = q, v
    batch.step(300)
    tell("humanoid", batch, 300)
    q = batch.q
    return np.concatenate([q[:, 2:3], up(q[:, 3:7])], axis=1).T


def run():
    rng = np.random.default_rng(1)
    return {"dice": dice(max(WORLDS // 10, 120), rng), "ball": table_tennis(WORLDS, rng),
            "humanoid": humanoid(max(WORLDS // (1 if DEVICE == "gpu" else 10), 2), rng)}


def draw(found):
    import matplotlib.pyplot as plt
    from pictures import save

    from carom.plot import BLUE, GREY, ORANGE
    figure, axes = plt.subplots(1, 3, figsize=(11, 3.4), layout="constrained")
    for each in axes:
        each.spines[["top", "right"]].set_visible(False)
    faces = np.bincount(found["dice"], minlength=7)[1:]
    axes[0].bar(np.arange(1, 7), faces, color=BLUE)
    axes[0].axhline(faces.sum() / 6, color=GREY, lw=1)
    axes[0].set_title(f"{faces.sum()} dice", fontsize=9)
    axes[0].set_xlabel("face that is up")
    axes[0].set_ylabel("throws")
    spin, mu, _, far = found["ball"]
    order = np.random.default_rng(0).permutation(len(spin))[:5000]
    dots = axes[1].scatter(spin[order], far[order], c=mu[order], s=2, cmap="viridis", rasterized=True)
    axes[1].set_title(f"{len(spin)} table tennis balls, {len(order)} drawn", fontsize=9)
    axes[1].set_xlabel("topspin before the table (rad/s)")
    axes[1].set_ylabel("how far after .5 s (m)")
    figure.colorbar(dots, ax=axes[1], label="friction")
    height, x, _, _ = found["humanoid"]
    for side, color, name in ((1, BLUE, "on its back"), (-1, ORANGE, "on its front")):
        axes[2].hist(height[np.sign(x) == side], bins=60, range=(0, 0.5), color=color, alpha=0.6, label=name)
    axes[2].set_title(f"{len(height)} humanoids, 1.5 s after a drop", fontsize=9)
    axes[2].set_xlabel("height of the torso (m)")
    axes[2].legend(frameon=False)
    save(figure, "batches")


found = dict(np.load(KEPT)) if KEPT and os.path.exists(KEPT) else run()
if KEPT and not os.path.exists(KEPT):
    np.savez_compressed(KEPT, **found)
else:
    draw(found)
