#!/bin/sh
# The device program of batches as text: entry points, and no instruction that rounds otherwise than the CPU. out/carom.ptx where
# ./dev gpu made it; else it is compiled where CAROM_SOAK is set and clang and LLVM 19 are there.
set -eu
root=${CAROM_SOURCE:-$(cd "$(dirname "$0")/.." && pwd)}
build=${CAROM_BUILD:-$root/build}
program=$root/out/carom.ptx
if [ -n "${CAROM_SOAK:-}" ] && [ -x /usr/lib/llvm-19/bin/llvm-link ] && [ -x /usr/lib/llvm-19/bin/clang ]; then
    program=$build/carom.ptx
    CAROM_GPU_WORK="$build/gpu" sh "$root/scripts/gpu.sh" "$program"
fi
[ -f "$program" ] || { echo "skipped: no out/carom.ptx; ./dev gpu makes it"; exit 77; }

failures=0
fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}
for kernel in cr_batch_lone cr_batch_exchange cr_batch_small cr_batch_medium cr_batch_large; do
    grep -q "^\.visible \.entry $kernel(" "$program" || fail "no entry $kernel"
done
[ "$(grep -c '^\.visible \.entry' "$program")" -eq 5 ] || fail "entries other than the five"
# fused, approximate or flushed to zero
if grep -nE '\bfma\.|\bmad\.(rn|rz|rm|rp)?\.?f|\.approx|\.ftz|\bdiv\.full|\brcp\.a|\brsqrt\.' "$program" | head -3 | grep .; then
    fail "instructions that round otherwise"
fi
# every sum, product, quotient and root names its rounding: an assembler may fuse those that do not
if grep -nE '\b(add|sub|mul|div|sqrt)\.f(32|64)' "$program" | head -3 | grep .; then
    fail "sums or products that may be fused"
fi
for operation in add mul div sqrt; do
    for bits in 32 64; do
        grep -q "\b$operation\.rn\.f$bits" "$program" || fail "no $operation.rn.f$bits: the check looks for the wrong thing"
    done
done
size=$(wc -c <"$program")
# 7.8 MB took an H200's driver 41 to 58 s, 8.02 MB 43 s, 8.16 MB 45 s
[ "$size" -lt 8200000 ] || fail "$size bytes; a driver would take more than a minute to compile it"
# the stack that a thread is given, less what calls save of registers, holds the deepest chain of calls
given=$(sed -n 's/^#define CALLS *(\([0-9]*\) << 10).*/\1/p' "$root/src/world/batch_gpu.c")
if command -v python3 >/dev/null 2>&1; then
    python3 "$root/scripts/gpu_stack.py" "$program" >"$build/stack.txt"
    [ "$(wc -l <"$build/stack.txt")" -eq 5 ] || fail "stacks of kernels"
    awk -v most="$((given * 1024 - 12288))" '$3 > most {print "stack: " $0; bad = 1} END {exit bad}' "$build/stack.txt" || fail "more than $given kB of stack"
    # a cube has 8 kB: its step, its record (600 bytes), its result (272)
    awk '$1 == "cr_batch_lone" && $2 + $3 + 872 > 8192 {print "stack: " $0; bad = 1} END {exit bad}' "$build/stack.txt" || fail "steps of lone bodies take more memory"
fi
# what it calls it has: the driver knows no C library
awk '/^\.extern/ {print; bad = 1} END {exit bad}' "$program" || fail "external names"
echo "$size bytes, $failures failures"
[ "$failures" -eq 0 ]
