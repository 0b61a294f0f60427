"""A ball thrown against a wall falls into a cup: the throw found by the derivatives of the run, impacts included."""
import matplotlib.pyplot as plt
import numpy as np
from pictures import save
from shoot import path, shoot

import carom
from carom.derivatives import Steps
from carom.plot import BLUE, GREY, ORANGE

WALL, CUP, RADIUS, COUNT = 3.0, np.array([1.2, 0.4, 0.3]), 0.05, 400

model = carom.Model()
rubber = model.material("rubber", mu=0.4, e=0.75)
model.halfspace(0, material=rubber)
model.halfspace(0, normal=(-1, 0, 0), offset=-WALL, material=rubber)
model.sphere(model.body("ball", pos=(0, 0, 1.2)), RADIUS, material=rubber)
steps = Steps(model, dt=0.0025)

q, v = steps.start()
v[:3] = 4.0, 0.0, 2.0
figures = [([(k, 1.0)], []) for k in range(3)]
found, history = shoot(steps, q, v, [0, 1, 2], figures, CUP, COUNT)
end = steps.run(q, found, count=COUNT)
print("throw", found[:3].round(4), "ends", end.q[:3].round(6), "after", len(history), "runs, verdict",
      history[-1][2][0].verdict)
assert np.abs(end.q[:3] - CUP).max() < 1e-6

figure, axes = plt.subplots(figsize=(6, 3), layout="constrained")
for tried, _, _ in history[:-1]:
    axes.plot(*path(steps, q, tried, COUNT, [0, 2]).T, color=GREY, lw=0.8)
axes.plot(*path(steps, q, found, COUNT, [0, 2]).T, color=BLUE, lw=1.6)
axes.plot([CUP[0] - 0.1, CUP[0] - 0.08, CUP[0] + 0.08, CUP[0] + 0.1], [CUP[2] - 0.03, 0, 0, CUP[2] - 0.03], color=ORANGE, lw=2)
axes.axvline(WALL, color="k", lw=1)
axes.axhline(0, color="k", lw=1)
axes.set_aspect("equal")
axes.set_xlabel("x (m)")
axes.set_ylabel("z (m)")
axes.spines[["top", "right"]].set_visible(False)
axes.set_title("tries (grey) and the throw that was found (blue)", fontsize=9)
save(figure, "bank-shot")
