#!/usr/bin/env python3
"""profile.py - the performance profile of friction solvers, docs/pictures/solvers.svg, from docs/solvers.csv.

    python3 bench/profile.py            draw it
    python3 bench/profile.py --check    say whether it is up to date, change nothing

docs/solvers.csv is written by `bench_friction --csv`. After Dolan and More (2002): a curve gives, for a factor t, the
share of all problems that a solver solves within t times the time of the fastest solver of that problem. Solved means
a residual of at most 1e-8 by the audit, within five seconds.
"""
import csv
import math
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
CSV = ROOT / "docs" / "solvers.csv"
PICTURE = ROOT / "docs" / "pictures" / "solvers.svg"
TOL, CAP_MS, MOST = 1e-8, 5000.0, 1e4
WIDE, HIGH = 820, 480
LEFT, RIGHT, TOP, BOTTOM = 70, 190, 30, 60
COLOURS = {"carom": ["#c0392b", "#e67e22", "#8e5a2b", "#d4a017", "#a04060", "#e08080"],
           "siconos": ["#2468b0", "#2e8b57", "#7a5aa6", "#4aa3b8", "#555555", "#88a0c0", "#20304a"]}


def read_times():
    """Times of each solver by problem, those that solved it only; and all problems."""
    times, problems = {}, {}
    with open(CSV, newline="") as file:
        for row in csv.DictReader(file):
            problems.setdefault(row["problem"], None)
            solver = times.setdefault((row["library"], row["solver"]), {})
            if float(row["residual"]) <= TOL and float(row["ms"]) <= CAP_MS:
                solver[row["problem"]] = float(row["ms"])
    return times, list(problems)


def ratios(times, problems):
    """Of each solver, ascending: its times over the best time of the same problem."""
    best = {p: min((t[p] for t in times.values() if p in t), default=math.inf) for p in problems}
    return {name: sorted(t[p] / best[p] for p in t) for name, t in times.items()}


def picture(times, problems):
    def at(ratio, share):
        return (LEFT + math.log10(ratio) / math.log10(MOST) * (WIDE - LEFT - RIGHT),
                HIGH - BOTTOM - share * (HIGH - TOP - BOTTOM))

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDE} {HIGH}" font-family="DejaVu Sans, sans-serif" '
           'font-size="13">', f'<rect width="{WIDE}" height="{HIGH}" fill="#fff"/>']
    for k in range(int(math.log10(MOST)) + 1):
        x, y = at(10.0 ** k, 0.0)
        out.append(f'<path d="M{x:.1f} {TOP}V{y}" stroke="#ddd"/>'
                   f'<text x="{x:.1f}" y="{y + 20}" text-anchor="middle">{10 ** k}</text>')
    for k in range(6):
        x, y = at(1.0, 0.2 * k)
        out.append(f'<path d="M{x} {y:.1f}H{WIDE - RIGHT}" stroke="#ddd"/>'
                   f'<text x="{x - 8}" y="{y + 5:.1f}" text-anchor="end">{20 * k} %</text>')
    out.append(f'<text x="{(LEFT + WIDE - RIGHT) / 2}" y="{HIGH - 14}" text-anchor="middle">'
               'time over that of the fastest solver of the problem</text>')
    curves = sorted(ratios(times, problems).items(), key=lambda item: (-len(item[1]), item[0]))
    used = {"carom": 0, "siconos": 0}
    for place, ((library, solver), values) in enumerate(curves):
        colour = COLOURS[library][used[library] % len(COLOURS[library])]
        used[library] += 1
        path, share = [], 0.0
        for i, value in enumerate(values):
            if value > MOST:
                break
            x, y = at(value, share)
            share = (i + 1) / len(problems)
            path.append(f"{'M' if not path else 'L'}{x:.1f} {y:.1f}V{at(value, share)[1]:.1f}")
        path.append(f"H{WIDE - RIGHT}")
        wide = 2.6 if solver == "auto" else 1.5
        dash = "" if library == "carom" else ' stroke-dasharray="5 3"'
        out.append(f'<path d="{"".join(path)}" fill="none" stroke="{colour}" stroke-width="{wide}"{dash}/>')
        y = TOP + 12 + 22 * place
        out.append(f'<path d="M{WIDE - RIGHT + 12} {y - 4}h22" stroke="{colour}" stroke-width="{wide}"{dash}/>'
                   f'<text x="{WIDE - RIGHT + 40}" y="{y}">{library} {solver}</text>')
    return "\n".join(out) + "\n</svg>\n"


def main(argv):
    if argv not in ([], ["--check"]):
        print(__doc__)
        return 0 if argv in (["-h"], ["--help"]) else 2
    text = picture(*read_times())
    stale = not PICTURE.exists() or PICTURE.read_text() != text
    if stale and argv:
        print(f"{PICTURE.relative_to(ROOT)} is not what the CSV gives")
    elif stale:
        PICTURE.write_text(text)
    return 1 if argv and stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
