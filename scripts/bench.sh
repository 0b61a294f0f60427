#!/bin/sh
# bench.sh - run the benchmarks named (all by default) and say on what machine.
set -eu
what=${1:-laws}
grep -m1 'model name' /proc/cpuinfo 2>/dev/null || true
case "$what" in
laws) build/bin/bench_laws ;;
lcp) build/bin/bench_lcp ;;
collide) build/bin/bench_collide ;;
*)
    echo "bench: unknown '$what'; there are: laws, lcp, collide" >&2
    exit 2
    ;;
esac
