"""A cue ball that meets three cushions on its way to another ball: the stroke found by the derivatives of the run."""
import matplotlib.pyplot as plt
import numpy as np
from pictures import save
from shoot import path, shoot

import carom
from carom.derivatives import Steps
from carom.plot import BLUE, GREY, ORANGE

LONG, WIDE, RADIUS, COUNT = 2.84, 1.42, 0.0305, 500
TARGET = np.array([0.55, 0.35])

model = carom.Model()
cloth = model.material("cloth", mu=0.2)
cushion = model.material("cushion", mu=0.14, e=0.85)
ivory = model.material("ivory", mu=0.2, density=1700.0)
model.pair(ivory, cloth, mu=0.2, e=0.0)
model.pair(ivory, cushion, mu=0.14, e=0.85)
model.halfspace(0, material=cloth)
for n, offset in (((1, 0, 0), -LONG / 2), ((-1, 0, 0), -LONG / 2), ((0, 1, 0), -WIDE / 2), ((0, -1, 0), -WIDE / 2)):
    model.halfspace(0, normal=n, offset=offset, material=cushion)
model.sphere(model.body("cue", pos=(-0.9, -0.3, RADIUS)), RADIUS, material=ivory)
steps = Steps(model, dt=0.005)

q, v = steps.start()
speed, angle = 2.6, 0.95
v[:2] = speed * np.cos(angle), speed * np.sin(angle)
# it rolls from the start
v[3], v[4] = -v[1] / RADIUS, v[0] / RADIUS
figures = [([(0, 1.0)], []), ([(1, 1.0)], [])]
found, history = shoot(steps, q, v, [0, 1], figures, TARGET, COUNT, longest=0.1)
end = steps.run(q, found, count=COUNT)

world = carom.World(model, dt=0.005)
world.q[:], world.v[:] = q, found
hits = 0
for _ in range(COUNT):
    world.step()
    hits += sum(1 for event in world.events if event["impact"] >= 0 and abs(event["normal"][2]) < 0.5)
print("stroke", found[:2].round(4), "ends", end.q[:2].round(6), "after", len(history), "runs and", hits, "cushions, verdict",
      history[-1][2][0].verdict)
assert np.abs(end.q[:2] - TARGET).max() < 1e-6 and hits >= 3

figure, axes = plt.subplots(figsize=(6, 3.2), layout="constrained")
for tried, _, _ in history[:-1]:
    axes.plot(*path(steps, q, tried, COUNT, [0, 1]).T, color=GREY, lw=0.8)
axes.plot(*path(steps, q, found, COUNT, [0, 1]).T, color=BLUE, lw=1.6)
axes.add_patch(plt.Circle(TARGET, RADIUS, color=ORANGE))
axes.add_patch(plt.Rectangle((-LONG / 2, -WIDE / 2), LONG, WIDE, fill=False, lw=2))
axes.set_aspect("equal")
axes.set_axis_off()
axes.set_title("tries (grey) and the stroke that was found (blue)", fontsize=9)
save(figure, "three-cushions")
