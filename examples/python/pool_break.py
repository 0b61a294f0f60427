"""One break, four rules: where the balls are after a quarter of a second depends on how a chain of contacts is resolved."""
import matplotlib.pyplot as plt
from pictures import save

import carom
from carom.plot import bodies

figure, grid = plt.subplots(2, 2, figsize=(9, 5.2), layout="constrained", sharex=True, sharey=True)
for axes, rule in zip(grid.flat, ("newton", "poisson", "sequence", "chain")):
    scene = carom.load("pool-break", impact__rule=rule)
    world = scene.world()
    before = world.energy.total
    certificate = world.run(0.25)
    bodies(world, "xy", axes)
    lost = 1 - world.energy.kinetic / before
    axes.set_title(f"{rule}: {100 * lost:.0f} % of the energy lost", fontsize=9)
    print(f"{rule:9} {certificate.impacts:3} impacts  residual {certificate.residual:.0e}"
          f"  {'clean' if certificate.clean else certificate.outcome}")
for axes in grid.flat:
    axes.label_outer()
save(figure, "pool-break")
