#!/usr/bin/env python3
"""performance.py - table and picture of docs/performance.md from docs/performance.csv, which `bench piles --csv` writes.

    python3 bench/performance.py            rewrite the table in docs/performance.md and docs/pictures/performance.svg
    python3 bench/performance.py --check    say whether they are up to date, change nothing

Figures are medians over the seeds of one scene and engine with one thread. Where a file has several rows of one
scene, engine and seed, the last one counts.
"""
import csv
import math
import pathlib
import statistics
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
CSV = ROOT / "docs" / "performance.csv"
PAGE = ROOT / "docs" / "performance.md"
PICTURE = ROOT / "docs" / "pictures" / "performance.svg"
BEGIN, END = "<!-- table of performance.py -->\n", "<!-- end of table -->\n"

ENGINES = [  # name in the file, name on the page, colour
    ("carom fast", "carom", "#c0392b"),
    ("box3d", "Box3D", "#2468b0"),
    ("jolt", "Jolt", "#2e8b57"),
    ("bullet", "Bullet", "#b8860b"),
    ("ode", "ODE", "#7a5aa6"),
    ("mujoco", "MuJoCo", "#555555"),
]
OURS = ENGINES[0][0]
SECONDS = 5.0  # simulated, of a run that is not cut


def number(text):
    return float(text) if text != "" else math.nan


def read_rows():
    rows = {}
    with open(CSV, newline="") as file:
        for row in csv.DictReader(file):
            if row["threads"] == "1":
                rows[row["scene"], row["engine"], row["seed"]] = row
    return list(rows.values())


def scenes_of(rows):
    return list(dict.fromkeys(row["scene"] for row in rows))


def of(rows, scene, engine):
    return [r for r in rows if r["scene"] == scene and r["engine"] == engine and r["ms"] != ""]


def median(rows, field):
    values = [x for x in (number(r[field]) for r in rows) if not math.isnan(x)]
    return statistics.median(values) if values else math.nan


def spread(rows, field):
    values = [x for x in (number(r[field]) for r in rows) if not math.isnan(x)]
    middle = statistics.median(values) if values else 0.0
    return (max(values) - min(values)) / middle if len(values) > 1 and middle > 0.0 else 0.0


# the table

def digits(x):
    """Two digits, without an exponent."""
    if math.isnan(x):
        return "–"
    if x == 0.0:
        return "0"
    places = 1 - math.floor(math.log10(abs(x)))
    text = f"{round(x, places):,.{max(0, places)}f}"
    return text[1:] if text.startswith("0.") else text


def cell(rows):
    if not rows:
        return "–"
    overlap = 1e6 * median(rows, "overlap")
    text = f"{digits(median(rows, 'ms'))} · {digits(overlap) if not 0.0 < overlap < 1e-3 else '< .001'}"
    if any(r["gave_up"] == "1" for r in rows):
        text += " gave up"
    elif abs(median(rows, "seconds") - SECONDS) > 0.01:
        text += f" ({digits(median(rows, 'seconds'))} s)"
    return text


def outcome_cell(rows):
    first = list(rows[0]).index("contacts") + 1 if rows else 0
    last = list(rows[0]).index("escapes") if rows else 0
    names = list(rows[0])[first:last] if rows else []
    sums = {name: sum(number(r[name]) for r in rows) for name in names}
    steps = sum(sums.values())
    shares = sorted(((100.0 * n / steps, name) for name, n in sums.items() if n > 0), reverse=True)
    return ", ".join(f"{name} {share:.0f} %" if share >= 1.0 else f"{name} {digits(share)} %" for share, name in shares)


def table(rows):
    present = [e for e in ENGINES if any(r["engine"] == e[0] for r in rows)]
    lines = ["| scene | " + " | ".join(name for _, name, _ in present)
             + " | carom / Box3D | / fastest | settled / Box3D | carom's steps |",
             "|---" * (len(present) + 5) + "|"]
    for scene in scenes_of(rows):
        ours = of(rows, scene, OURS)
        cells = [cell(of(rows, scene, key)) for key, _, _ in present]
        ratios = [digits(median(ours, f)) for f in ("to_box3d", "to_best_peer", "settled_to_box3d")]
        lines.append(f"| `{scene}` | " + " | ".join(cells + ratios) + f" | {outcome_cell(ours)} |")
    seeds = {len(of(rows, s, OURS)) for s in scenes_of(rows)}
    widest = max((spread(of(rows, s, OURS), "ms") for s in scenes_of(rows)), default=0.0)
    machines = sorted({(r["date"], r["machine"], r["compiler"]) for r in rows})
    lines.append("")
    lines.append("; ".join(f"{day}, {machine.strip()}, gcc {compiler}" for day, machine, compiler in machines)
                 + f"; seeds: {', '.join(map(str, sorted(seeds)))}"
                 + (f"; carom's times spread by up to {100.0 * widest:.0f} % over seeds" if widest else "") + ".")
    return "\n".join(lines) + "\n"


# the picture

WIDE, HIGH = 820, 520
LEFT, RIGHT, TOP, BOTTOM = 90, 30, 30, 70
LEAST = 1e-9  # m: what is less is drawn here


def decades(values):
    return math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))


def power(k):
    return f'10<tspan dy="-6" font-size="10">{k}</tspan>'


def place(name, x, y, taken):
    """Where a name stands beside its mark without touching other marks and names: right, left, above or below."""
    wide = 9 * len(name)
    for dx, dy in ((13, 5), (-13 - wide, 5), (-wide / 2, -14), (-wide / 2, 24)):
        box = (x + dx, y + dy - 12, x + dx + wide, y + dy + 3)
        if not any(box[0] < t[2] and t[0] < box[2] and box[1] < t[3] and t[1] < box[3] for t in taken):
            break
    taken.append(box)
    return box[0], box[3] - 3


def picture(rows):
    points = []
    for key, name, colour in ENGINES:
        for scene in scenes_of(rows):
            some = of(rows, scene, key)
            if some:
                micro = 1e3 * median(some, "ms") / int(some[0]["bodies"])
                points.append((name, colour, scene, micro, max(LEAST, median(some, "overlap"))))
    x0, x1 = decades([p[3] for p in points])
    y0, y1 = decades([p[4] for p in points])

    def at(x, y):
        return (LEFT + (math.log10(x) - x0) / (x1 - x0) * (WIDE - LEFT - RIGHT),
                HIGH - BOTTOM - (math.log10(y) - y0) / (y1 - y0) * (HIGH - TOP - BOTTOM))

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDE} {HIGH}" font-family="DejaVu Sans, sans-serif" '
           'font-size="13">', f'<rect width="{WIDE}" height="{HIGH}" fill="#fff"/>']
    for k in range(x0, x1 + 1):
        x, _ = at(10.0 ** k, 10.0 ** y0)
        out.append(f'<path d="M{x:.1f} {TOP}V{HIGH - BOTTOM}" stroke="#ddd"/>'
                   f'<text x="{x:.1f}" y="{HIGH - BOTTOM + 22}" text-anchor="middle">{power(k)}</text>')
    for k in range(x0, x1):
        for part in (2, 5):
            x, _ = at(part * 10.0 ** k, 10.0 ** y0)
            out.append(f'<path d="M{x:.1f} {TOP}V{HIGH - BOTTOM}" stroke="#f0f0f0"/>'
                       f'<text x="{x:.1f}" y="{HIGH - BOTTOM + 20}" text-anchor="middle" font-size="10" fill="#777">{part}</text>')
    for k in range(y0, y1 + 1):
        _, y = at(10.0 ** x0, 10.0 ** k)
        out.append(f'<path d="M{LEFT} {y:.1f}H{WIDE - RIGHT}" stroke="#ddd"/>'
                   f'<text x="{LEFT - 10}" y="{y + 5:.1f}" text-anchor="end">{power(k)}</text>')
    out.append(f'<text x="{(LEFT + WIDE - RIGHT) / 2}" y="{HIGH - 22}" text-anchor="middle">'
               'time per body and step, µs (mean over the whole run)</text>')
    out.append(f'<text transform="translate(26 {(TOP + HIGH - BOTTOM) / 2}) rotate(-90)" text-anchor="middle">'
               'mean overlap, m</text>')
    for name, colour, scene, x, y in points:
        px, py = at(x, y)
        out.append(f'<circle cx="{px:.1f}" cy="{py:.1f}" r="4.5" fill="{colour}" fill-opacity=".55">'
                   f'<title>{name}, {scene}: {x:.3g} µs, {y:.2g} m</title></circle>')
    means = []
    for _, name, colour in ENGINES:
        mine = [(math.log(p[3]), math.log(p[4])) for p in points if p[0] == name]
        if mine:
            means.append((name, colour, *at(*(math.exp(statistics.mean(c)) for c in zip(*mine)))))
    taken = [(x - 10, y - 10, x + 10, y + 10) for _, _, x, y in means]
    for name, colour, x, y in means:
        tx, ty = place(name, x, y, taken)
        out.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="9" fill="{colour}" stroke="#fff" stroke-width="2"/>'
                   f'<text x="{tx:.1f}" y="{ty:.1f}" font-weight="bold" fill="{colour}" stroke="#fff" '
                   f'stroke-width="3" paint-order="stroke">{name}</text>')
    return "\n".join(out) + "\n</svg>\n"


def main(argv):
    if argv not in ([], ["--check"]):
        print(__doc__)
        return 0 if argv in (["-h"], ["--help"]) else 2
    rows = read_rows()
    page = PAGE.read_text()
    head, rest = page.split(BEGIN)
    _, tail = rest.split(END)
    wanted = {PAGE: head + BEGIN + table(rows) + END + tail, PICTURE: picture(rows)}
    stale = [path for path, text in wanted.items() if not path.exists() or path.read_text() != text]
    for path in stale:
        print(f"{path.relative_to(ROOT)} " + ("is not what the CSV gives" if argv else "written"))
        if not argv:
            path.write_text(wanted[path])
    return 1 if argv and stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
