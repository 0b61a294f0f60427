#!/bin/sh
# cross.sh [TARGET ...] - the library for other machines: built by cross compilers, its portable tests and the hashes of scenes run by
# qemu-user or wine, the hashes compared with those of this machine. Called by ./dev cross.
# Targets: aarch64 s390x i686 windows; all of them by default. CAROM_CROSS_FLAGS="-O1" compiles faster, to the same bits.
set -eu
cd "$(dirname "$0")/.."
jobs=${CAROM_JOBS:-$(nproc 2>/dev/null || echo 2)}
targets=${*:-aarch64 s390x i686 windows}
steps=60
# emulated processors take ten to thirty times as long: fewer random inputs each
export CAROM_FEW=1
export WINEDEBUG=-all WINEPREFIX="$PWD/build-cross/wine"

# parts that need libraries of the target are off: their files are refused by name
options="-DCMAKE_BUILD_TYPE=Release -DCMAKE_C_FLAGS_RELEASE=${CAROM_CROSS_FLAGS:--O3} -DCAROM_TOOLS=OFF -DCAROM_PYTHON=OFF -DCAROM_MPI=OFF -DCAROM_HDF5=OFF -DCAROM_EXPAT=OFF -DCAROM_QHULL=OFF"

# build FOLDER [OPTION ...]
build() {
    folder=$1
    shift
    # shellcheck disable=SC2086
    cmake -S . -B "$folder" $options "$@" >"$folder.log" 2>&1 || { tail -n 20 "$folder.log"; return 1; }
    cmake --build "$folder" -j "$jobs" --target portable_tests $more -- -s >>"$folder.log" 2>&1 || { grep -E 'error|Error' "$folder.log" | head; return 1; }
}

# lap WHAT: seconds since the last lap, and what they were spent on
lap() {
    now=$(date +%s)
    echo "   $((now - last)) s: $1"
    last=$now
}

mkdir -p build-cross
begun=$(date +%s)
last=$begun
echo "== this machine"
cmake --preset release >/dev/null
cmake --build --preset release -j "$jobs" --target scene_hashes -- -s >/dev/null
build/bin/scene_hashes $steps >build-cross/native.hashes
lap "built, $(wc -l <build-cross/native.hashes) scenes run"
failed=
for target in $targets; do
    echo "== $target"
    run=
    case $target in
    aarch64) run="qemu-aarch64 -L /usr/aarch64-linux-gnu" ;;
    s390x) run="qemu-s390x -L /usr/s390x-linux-gnu" ;;
    i686) run="qemu-i386 -L /usr/i686-linux-gnu" ;;
    windows) run=wine ;;
    *) echo "cross.sh: unknown target $target" >&2 && exit 2 ;;
    esac
    folder=build-cross/$target
    # drawing is compiled too where it is supported: a compiler crashed on it for aarch64
    more=carom_plot
    [ "$target" != windows ] || more=
    if ! build "$folder" "-DCMAKE_TOOLCHAIN_FILE=$PWD/cmake/toolchains/$target.cmake"; then
        failed="$failed $target(build)"
        continue
    fi
    lap built
    program=$folder/bin/scene_hashes
    [ -e "$program" ] || program=$program.exe
    # shellcheck disable=SC2086
    $run "$program" $steps 2>"$folder.err" | tr -d '\r' >"$folder.hashes" || true
    # every line must be one of this machine's; scenes with hulls of points, which need Qhull, are missing
    equal=$(grep -cxFf build-cross/native.hashes "$folder.hashes" || true)
    count=$(wc -l <"$folder.hashes")
    if [ "$equal" -eq "$count" ] && [ "$count" -ge 28 ]; then
        lap "$count scenes with equal hashes"
    else
        echo "   $equal of $count hashes are equal, of $(wc -l <build-cross/native.hashes) here:"
        diff build-cross/native.hashes "$folder.hashes" | head -n 10
        head -n 5 "$folder.err"
        failed="$failed $target(hashes)"
    fi
    if ctest --test-dir "$folder" --no-tests=error -L portable -j "$jobs" --timeout 3600 >"$folder.tests" 2>&1; then
        lap "$(grep 'tests passed' "$folder.tests")"
    else
        grep -E 'Failed|Timeout|tests passed' "$folder.tests" | sed 's/^/   /'
        failed="$failed $target(tests)"
    fi
done
# 32-bit x86 without SSE2 is refused by name when it is configured
case " $targets " in *" i686 "*)
    # shellcheck disable=SC2086
    if cmake -S . -B build-cross/x87 $options "-DCMAKE_TOOLCHAIN_FILE=$PWD/cmake/toolchains/i686.cmake" \
        -DCMAKE_C_FLAGS="-mno-sse -mfpmath=387" >build-cross/x87.log 2>&1 || ! grep -q 'x87' build-cross/x87.log; then
        echo "   x87 is not refused by name"
        failed="$failed x87"
    else
        echo "   x87 is refused by name"
    fi ;;
esac
echo "== $((($(date +%s) - begun) / 60)) min in all"
[ -z "$failed" ] || { echo "cross.sh: failed:$failed" >&2 && exit 1; }
