#!/usr/bin/env python3
"""bench_mpi.py - one spread of a pool break by threads and by the ranks of mpirun: wall time, processor time, efficiency.

Efficiency is the wall time of one thread over that of n workers times n; what MPI needs to start and end is measured apart
(two samples) and taken off in the last column. The least of several rounds counts, rounds of all kinds interleaved, so
that other work on the machine hits them alike. More ranks than cores cannot be faster: they show what sharing costs.
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
    wall, used, start, texts = {}, {}, {}, set()
    for _ in range(rounds):
        for kind in kinds:
            w, u, out = measure(*kind, samples)
            wall[kind] = min(w, wall.get(kind, w))
            used[kind] = min(u, used.get(kind, u))
            texts.add(out)
            start[kind] = min(measure(*kind, 2)[0], start.get(kind, 1e9))
    one = wall["threads", 1] - start["threads", 1]
    print(f"pool break, {samples} samples, {os.cpu_count()} cores, least of {rounds} rounds")
    print("                wall s  start s  processor s  speed-up  efficiency")
    for kind in kinds:
        speed = one / (wall[kind] - start[kind])
        print(f"  {kind[1]} {kind[0]:9s}  {wall[kind]:8.2f} {start[kind]:8.2f} {used[kind]:12.2f} {speed:9.2f} "
              f"{100 * speed / kind[1]:9.0f} %")
    print("the same bytes from all" if len(texts) == 1 else "DIFFERENT BYTES")
    sys.exit(len(texts) != 1)


main()
