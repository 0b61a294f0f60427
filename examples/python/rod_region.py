"""A slanting rod hits the floor: which impulses are possible at all, and which ones do the laws choose?

The rod is 1 kg and 1 m long and falls at 1 m/s, 30 degrees from the horizontal, sliding to the right. The grey line
is Routh's path: Coulomb friction followed in impulse instead of time.
"""
import numpy as np
from pictures import save

import carom
import carom.plot

angle = np.radians(30)
floor = carom.Rigid(fixed=True)
rod = carom.Rigid(mass=1.0, inertia=(1e-4, 1 / 12, 1 / 12), velocity=(0.6, -1.0, 0))
rod.position[:] = 0.5 * np.cos(angle), 0.5 * np.sin(angle), 0
# the inertia is in body axes, x along the rod: turn it by the angle about z
rod.orientation[:] = np.cos(angle / 2), 0, 0, np.sin(angle / 2)

W, V = carom.collision(floor, rod, (0, 0, 0))
contact, frame = carom.contact(W, V, (0, 1, 0), mu=0.6, e=0.6)

laws = ["newton", "routh", carom.Law("routh", ending="energetic"), "whittaker", "chatterjee-ruina", "smith",
        "anitescu-potra"]
for law in laws:
    law = law if isinstance(law, carom.Law) else carom.Law(law)
    hit = law.apply(contact)
    print(f"{law.name:18} P = {hit.P[0]:.4f} {hit.P[1]:+.4f} N s  energy {hit.energy_change:+.4f} J  {hit.regime:9}"
          f" {'permissible' if hit.permissible else 'not permissible'}")

axes = carom.plot.region(contact, ["newton", "routh", "whittaker", "chatterjee-ruina", "smith", "anitescu-potra"])
axes.set_title("impulses a falling rod can get")
save(axes.figure, "rod-region")
