#!/bin/sh
# fuzz.sh - build each fuzz target into build-fuzz and run it for a while: scripts/fuzz.sh [SECONDS]
#
# The corpus starts from the examples and fuzz/seeds and grows in build-fuzz/corpus. A crash leaves its input in
# build-fuzz/TARGET-crash-* and makes the script fail.
set -eu
cd "$(dirname "$0")/.."
seconds=${1:-60}

cmake -S . -B build-fuzz -DCMAKE_C_COMPILER=clang-19 -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCAROM_FUZZ=ON \
    -DCAROM_TESTS=OFF -DCAROM_TOOLS=OFF -DCAROM_SANITIZE=address,undefined,fuzzer-no-link >/dev/null
cmake --build build-fuzz -j "$(nproc)" >/dev/null

failed=
for source in fuzz/fuzz_*.c; do
    target=$(basename "$source" .c)
    [ -x build-fuzz/bin/"$target" ] || continue
    corpus=build-fuzz/corpus/$target
    mkdir -p "$corpus"
    log=build-fuzz/$target.log
    words=fuzz/${target#fuzz_}.dict
    if [ ! -f "$words" ]; then
        words=build-fuzz/words.dict
        build-fuzz/bin/fuzz_words | cat fuzz/impact.dict - >"$words"
    fi
    if build-fuzz/bin/"$target" "$corpus" examples/impacts examples/resolve examples/solve examples/models scenes \
        fuzz/seeds \
        -max_total_time="$seconds" -max_len=4096 -timeout=10 -rss_limit_mb=2048 \
        -dict="$words" -artifact_prefix="build-fuzz/$target-" -print_final_stats=1 >"$log" 2>&1; then
        verdict=clean
    else
        verdict=FAILED
        failed="$failed $target"
        grep -E 'ERROR|SUMMARY|Test unit written' "$log" || tail -n 20 "$log"
    fi
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    cover=$(grep -o 'cov: [0-9]*' "$log" | tail -n 1)
    echo "$target: $verdict, ${runs:-?} inputs in $seconds s, $cover, corpus of $(ls "$corpus" | wc -l) files"
done
[ -z "$failed" ]
