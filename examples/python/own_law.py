"""A law of your own in a few lines: restitution that falls with the speed of approach.

e = max(0, 1 - k sqrt(v)), friction as Chatterjee and Ruina. A ball with it is dropped beside one with constant e;
the first bounces of the viscoelastic ball are the poorer ones and the last ones the better.
"""
import math

import matplotlib.pyplot as plt
from pictures import save

import carom
from carom.plot import BLUE, ORANGE

chatterjee_ruina = carom.Law("chatterjee-ruina")


def viscoelastic(contact, k=0.15):
    e = max(0.0, 1.0 - k * math.sqrt(max(0.0, -contact.V[0])))
    return chatterjee_ruina.apply(contact._replace(e=e)).P


def drop(law, e):
    model = carom.Model()
    steel = model.material("steel", mu=0.3, e=e)
    model.halfspace(0, material=steel)
    model.sphere(model.body("ball", pos=(0, 0, 1.05)), 0.05, material=steel)
    return carom.World(model, dt=1e-3, rule="sequence", law=law).record(3.0)


mine, constant = drop(viscoelastic, 0.0), drop("chatterjee-ruina", 0.69)
figure, axes = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
axes.spines[["top", "right"]].set_visible(False)
axes.plot(mine.time, mine.of("ball")[:, 2] - 0.05, color=BLUE, label="e = 1 - 0.15 sqrt(v)")
axes.plot(constant.time, constant.of("ball")[:, 2] - 0.05, color=ORANGE, label="e = 0.69")
axes.set_xlabel("time (s)")
axes.set_ylabel("height (m)")
axes.legend(frameon=False)
save(figure, "own-law")
for name, trajectory in (("viscoelastic", mine), ("constant", constant)):
    speeds = trajectory.events["approach"][:4]
    print(f"{name:13} hits the floor at", " ".join(f"{v:.3f}" for v in speeds), "m/s")
