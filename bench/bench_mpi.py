#!/usr/bin/env python3
"""bench_mpi.py - one spread of a pool break by threads and by the ranks of mpirun: wall time, processor time, efficiency.

What it takes to start and end is measured apart (two samples) and taken off from both times. Efficiency is the wall time of
one thread over that of n workers times n, and more ranks than cores cannot be faster; overhead is the processor time beyond
that of one thread, which is what sharing costs wherever the machine is busy with other work. The least of several rounds
counts, all kinds interleaved.
"""
import os
import resource
import subprocess
import sys
import time

COMMAND = "build/bin/carom"
MPIRUN = ["mpirun", "--oversubscribe"] + (["--allow-run-as-root"] if os.getuid() == 0 else [])


def measure(kind, count, samples):
    """Wall and processor time of all processes, s, and what was printed."""
    work = [COMMAND, "spread", "pool-break", "--jitter", "gap=1e-5", "--samples", str(samples), "--json"]
    work = work + ["--threads", str(count)] if kind == "threads" else [*MPIRUN, "-n", str(count), *work]
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    out = subprocess.run(work, stdin=subprocess.DEVNULL, capture_output=True, check=True).stdout
    wall, after = time.monotonic() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, out


def main():
    samples = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    kinds = [("threads", 1), ("threads", 2), ("ranks", 1), ("ranks", 2), ("ranks", 4)]
    wall, used, texts = {}, {}, set()
    for _ in range(rounds):
        for kind in kinds:
            for n in (samples, 2):
                w, u, out = measure(*kind, n)
                wall[kind, n] = min(w, wall.get((kind, n), w))
                used[kind, n] = min(u, used.get((kind, n), u))
                texts.add((n, out))
    alone = wall[kinds[0], samples] - wall[kinds[0], 2]
    work = used[kinds[0], samples] - used[kinds[0], 2]
    print(f"pool break, {samples} samples, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, least of {rounds} rounds")
    print("               wall s  of it start  speed-up  efficiency  processor s  of it start  overhead")
    for kind in kinds:
        speed = alone / (wall[kind, samples] - wall[kind, 2])
        over = (used[kind, samples] - used[kind, 2]) / work - 1
        print(f"  {kind[1]} {kind[0]:8s} {wall[kind, samples]:9.2f} {wall[kind, 2]:12.2f} {speed:9.2f} {100 * speed / kind[1]:9.0f} %"
              f" {used[kind, samples]:12.2f} {used[kind, 2]:12.2f} {100 * over:7.1f} %")
    print("the same bytes from all" if len(texts) == 2 else "DIFFERENT BYTES")
    sys.exit(len(texts) != 2)


main()
