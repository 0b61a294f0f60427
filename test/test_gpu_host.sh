#!/bin/sh
# The host's side of a GPU on a driver without one (fake_cuda.c): batches, carom spread and carom fit motion with --device gpu, and ranks
# of mpirun, each with a device of its own. All answers are those of threads.
set -eu
[ -f "$CAROM_BUILD/fake/libcuda.so.1" ] || { echo "skipped: no driver was built"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
echo ".version 6.3" >"$work/carom.ptx"
export LD_LIBRARY_PATH="$CAROM_BUILD/fake" CAROM_PTX="$work/carom.ptx" ASAN_OPTIONS=detect_leaks=0
"$CAROM_BUILD/bin/batch_device"
[ -n "${CAROM_COMMAND:-}" ] || exit 0

same() {
    name=$1
    shift
    "$CAROM_COMMAND" "$@" --device threads --json >"$work/threads"
    "$CAROM_COMMAND" "$@" --device gpu --json >"$work/gpu"
    cmp "$work/threads" "$work/gpu" || { echo "FAILED: $name"; exit 1; }
    echo "$name: the same bytes"
}
fit="$CAROM_SOURCE/examples/fit"
same spread spread bouncing-ball --jitter velocity=0.05 --jitter e=2% --samples 60 --until 1
same fit fit motion "$fit/ball-tosses.csv" --scene "$fit/ball-toss.json" --params e:0.2:0.6 --points 4 --bootstrap 20
# settings of the step differ from sample to sample
if "$CAROM_COMMAND" spread bouncing-ball --set impact.threshold=0.01 --jitter impact.threshold=10% --samples 5 --device gpu 2>"$work/error"; then
    echo "FAILED: settings that differ were taken"
    exit 1
fi
grep -q "not in settings of the step; use threads" "$work/error" || { cat "$work/error"; exit 1; }
# a method that the device does not know
if "$CAROM_COMMAND" spread bouncing-ball --method lcp --jitter e=2% --samples 5 --device gpu 2>"$work/error"; then
    echo "FAILED: a method was taken that the device does not know"
    exit 1
fi
grep -q "method: gpu knows cone alone" "$work/error" || { cat "$work/error"; exit 1; }
if command -v mpirun >/dev/null 2>&1 && [ -f "$(dirname "$CAROM_COMMAND")/libcarom_ranks.so" ] && [ -z "${CAROM_SANITIZE:-}" ]; then
    asked="bouncing-ball --jitter velocity=0.05 --samples 60 --until 1"
    # shellcheck disable=SC2086
    "$CAROM_COMMAND" spread $asked --json >"$work/threads"
    # shellcheck disable=SC2086
    mpirun --allow-run-as-root --oversubscribe -n 2 "$CAROM_COMMAND" spread $asked --device gpu --json >"$work/gpu" 2>"$work/error" ||
        { cat "$work/error"; exit 1; }
    cmp "$work/threads" "$work/gpu" || { echo "FAILED: ranks"; exit 1; }
    echo "ranks: the same bytes"
fi
