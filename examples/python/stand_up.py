"""A hanging pendulum is stood up by two blows: a bead swings it up, another stops it at the top. Their speeds are found by the
derivatives of the run."""
import matplotlib.pyplot as plt
import numpy as np
from pictures import save
from shoot import path, shoot

import carom
from carom.derivatives import Steps
from carom.plot import BLUE, GREY, ORANGE

COUNT, DT = 160, 0.005

model = carom.Model()
steel = model.material("steel", mu=0.0, e=0.5)
rod = model.body("rod", "hinge", axis=(0, 1, 0), mass=1.0, com=(0, 0, -0.5), inertia=(1 / 12, 1 / 12, 1e-3))
model.capsule(rod, 0.02, 0.48, pos=(0, 0, -0.5), material=steel)
# beads on rails: at the height of the rod's end when it hangs, and when it stands
for name, x, z, mass in (("lower", -0.5, -0.9, 2.0), ("upper", -0.6, 0.9, 0.5)):
    bead = model.body(name, "slider", axis=(1, 0, 0), pos=(x, 0, z), mass=mass, inertia=(1e-3, 1e-3, 1e-3))
    model.sphere(bead, 0.05, material=steel)
steps = Steps(model, dt=DT)

q, v = steps.start()
v[1], v[2] = 6.3, 0.8
# upright and at rest at the end; the rod swings up on the right, by a negative angle about y
figures = [([(0, 1.0)], []), ([], [(0, 1.0)])]
found, history = shoot(steps, q, v, [1, 2], figures, np.array([-np.pi, 0.0]), COUNT, rounds=60, longest=0.1)
end = steps.run(q, found, count=COUNT)
print("speeds", found[1:].round(4), "end at", end.q[0].round(6), "rad and", end.v[0].round(6), "rad/s after", len(history),
      "runs, verdict", history[-1][2][0].verdict)
assert abs(end.q[0] + np.pi) < 1e-6 and abs(end.v[0]) < 1e-6

figure, axes = plt.subplots(figsize=(6, 3), layout="constrained")
time = DT * np.arange(COUNT + 1)
for tried, _, _ in history[:-1]:
    axes.plot(time, -path(steps, q, tried, COUNT, [0]), color=GREY, lw=0.6)
axes.plot(time, -path(steps, q, found, COUNT, [0]), color=BLUE, lw=1.6)
axes.axhline(np.pi, color=ORANGE, lw=1)
axes.set_xlabel("time (s)")
axes.set_ylabel("angle (rad)")
axes.spines[["top", "right"]].set_visible(False)
axes.set_title("tries (grey) and the two blows that stand it up (blue)", fontsize=9)
save(figure, "stand-up")
