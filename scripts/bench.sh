#!/bin/sh
# bench.sh - run the benchmarks named (all by default) and say on what machine.
set -eu
what=${1:-laws}
grep -m1 'model name' /proc/cpuinfo >&2 2>/dev/null || true
case "$what" in
laws) build/bin/bench_laws ;;
collide) build/bin/bench_collide ;;
piles)
    shift
    build/bin/bench_piles "$@"
    ;;
articulated)
    shift
    build/bin/bench_articulated "$@"
    ;;
solvers)
    # one thread for everyone, also inside the peers' BLAS
    export OPENBLAS_NUM_THREADS=1
    # Dantzig's method complains of semidefinite matrices on stderr; the table shows what comes of it
    build/bin/bench_lcp 2>/dev/null
    build/bin/bench_friction
    ;;
mpi)
    shift
    python3 bench/bench_mpi.py "$@"
    ;;
*)
    echo "bench: unknown '$what'; there are: laws, solvers, collide, piles, articulated, mpi" >&2
    exit 2
    ;;
esac
