"""How well half of the cube tosses predicts the other half: law, mu, e, size and rounding of the cube are chosen by the misfit
on one half, the loss is that on the other, over many random halves. docs/real-collisions.md has what comes out.

    python3 cube_halves.py tosses.csv [THREADS]        (about three minutes of computing)
"""
import itertools
import sys

import numpy as np

import carom.fit

MU, E = (0.16, 0.17, 0.18, 0.19, 0.20, 0.21), (0.0, 0.1, 0.3)
HALF, ROUND = (0.0512, 0.0524), (0.0, 0.002, 0.004)
LAWS = {"poisson": {"rule": "poisson"}, "newton": {"rule": "newton"}, "weighted": {"rule": "weighted"}}
LAWS |= {law: {"rule": "sequence", "law": law}
         for law in ("routh", "smith", "anitescu-potra", "whittaker", "chatterjee-ruina")}


def scene(law, mu, e, half, r):
    """The cube on its table. On a plane a rounded box is the balls at its corners."""
    shapes = [{"type": "box", "half": [half] * 3, "material": "cube"}]
    if r > 0:
        shapes = [{"type": "sphere", "r": r, "pos": list(corner), "material": "cube"}
                  for corner in itertools.product((r - half, half - r), repeat=3)]
    return {"carom": 1, "step": {"method": "cone", "dt": 0.1 / 148}, "impact": LAWS[law],
            "materials": {"cube": {"mu": mu, "e": e}},
            "bodies": [{"name": "cube", "pos": [0, 0, 0.2], "mass": 0.37, "inertia": 0.00081, "shapes": shapes}],
            "static": [{"type": "halfspace", "n": [0, 0, 1], "offset": 0, "material": "cube"}]}


def halves(name, misfit, loss, splits=1000):
    """misfit and loss (choices, tosses)."""
    count = misfit.shape[1]
    random = np.random.default_rng(2024)
    answers = []
    for _ in range(splits):
        train = np.isin(np.arange(count), random.permutation(count)[:(count + 1) // 2])
        both = [loss[misfit[:, part].mean(1).argmin()][~part].sum() for part in (train, ~train)]
        answers.append(sum(both) / count)
    best = misfit.mean(1).argmin()
    print(f"{name:34s} {np.mean(answers):.3f} +- {np.std(answers):.3f}   "
          f"all: misfit {misfit[best].mean():.3f}, loss {loss[best].mean():.3f}", flush=True)


def main(path, threads):
    column = {"t": "k/148"}
    as_it_is = carom.fit.motion(path, scene("poisson", 0.18, 0.1, 0.0524, 0), column=column, length=0.0524, substeps=2,
                                bootstrap=0, threads=threads).best

    def grid(laws, frictions, sizes, rounds):
        made = [carom.fit.predict(path, as_it_is, scene=scene(*choice), column=column, threads=threads)
                for choice in itertools.product(laws, frictions, E, sizes, rounds)]
        return np.array([m.misfit for m in made]), np.array([m.loss for m in made])
    everything = []
    for law in LAWS:
        everything.append(grid([law], MU, (0.0524,), (0,)))
        halves(law, *everything[-1])
    halves("all laws", *map(np.concatenate, zip(*everything)))
    for law in ("poisson", "routh"):
        for r in ROUND:
            everything.append(grid([law], MU[1:4], HALF, (r,)))
            halves(f"{law}, size, rounding {1000 * r:.0f} mm", *everything[-1])
        halves(f"{law}, size and rounding", *map(np.concatenate, zip(*everything[-len(ROUND):])))
    halves("everything", *map(np.concatenate, zip(*everything)))


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1)
