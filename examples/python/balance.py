"""Learn to balance a pole on a cart by trial: 64 worlds at once, and the cross-entropy method in ten lines.

A policy is four numbers: the force is their product with cart and pole positions and speeds. Every generation tries
64 policies, each in its own world, keeps the best eight, and draws the next from around them. The rail has hard
stops: an episode does not end there, the cart hits them.
"""
import matplotlib.pyplot as plt
import numpy as np
from pictures import save

from carom.env import VectorEnv, cart_pole
from carom.plot import BLUE, GREY, ORANGE

COUNT, SECONDS = 64, 10.0


def tilt(rng, q, v):
    q[1] = rng.uniform(-0.2, 0.2)


env = VectorEnv(cart_pole(), COUNT, actuated=["cart"], limit=10.0, dt=0.01, substeps=2, reset=tilt)


def episode(policies):
    """How long each policy keeps the pole within 12 degrees and the cart within 1 m."""
    observation, _ = env.reset(seed=1)
    alive, lasted = np.ones(COUNT, dtype=bool), np.zeros(COUNT)
    paths = []
    for _ in range(int(SECONDS / 0.02)):
        observation, *_ = env.step(np.sum(policies * observation, axis=1, keepdims=True))
        alive &= (np.abs(observation[:, 1]) < 0.21) & (np.abs(observation[:, 0]) < 1.0)
        lasted += 0.02 * alive
        paths.append(observation[:, 1].copy())
    return lasted, np.array(paths)


rng = np.random.default_rng(2)
mean, spread = np.zeros(4), np.ones(4)
history, first = [], None
for generation in range(12):
    policies = mean + spread * rng.standard_normal((COUNT, 4))
    lasted, paths = episode(policies)
    first = paths if first is None else first
    best = policies[np.argsort(lasted)[-8:]]
    mean, spread = best.mean(axis=0), best.std(axis=0) + 0.02
    history.append((lasted.mean(), lasted.max()))
    print(f"generation {generation:2}: mean {lasted.mean():5.2f} s, best {lasted.max():5.2f} s")

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
time = 0.02 * np.arange(1, len(paths) + 1)
for axes in (left, right):
    axes.spines[["top", "right"]].set_visible(False)
left.plot(np.array(history)[:, 1], color=BLUE, marker="o", ms=4, label="best of 64")
left.plot(np.array(history)[:, 0], color=ORANGE, marker="o", ms=4, label="mean")
left.set_xlabel("generation")
left.set_ylabel("balanced for (s)")
left.legend(frameon=False)
right.plot(time[::5], np.degrees(first[::5]), color=GREY, lw=0.5, alpha=0.5)
right.plot(time[::5], np.degrees(paths[::5]), color=BLUE, lw=0.5)
right.set_ylim(-30, 30)
right.set_xlabel("time (s)")
right.set_ylabel("pole (degrees)")
right.set_title("64 poles: first generation (grey), last (blue)", fontsize=9)
save(figure, "balance")
