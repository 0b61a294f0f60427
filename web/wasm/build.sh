#!/bin/sh
# build.sh OUTPUT.wasm - the library and its readers as WebAssembly, by clang-19, lld-19 and wasi-libc.
#
# The flags that make results the same bits are those of CMakeLists.txt. Threads, HDF5 and Qhull stay out: what
# needs them is refused by name. Everything is optimized for size, as one program: browsers' compilers make it as
# fast as code optimized for speed. 128-bit vectors (all browsers since 2023) make it smaller and a fifth faster.
# Browsers reduce the strength of loops themselves: done before, it only adds locals. wasm-opt (binaryen), where there
# is one, saves 4 % more.
set -eu
cd "$(dirname "$0")/../.."
output=$1
objects=$(dirname "$output")/objects
mkdir -p "$objects"
kinds=$(dirname "$output")/kinds
cmake -DSOURCE="$PWD" -DOUTPUT="$kinds/kind_lists.h" -P cmake/kind_lists.cmake
sources="$(ls src/*/*.c) io/cap.c io/entries.c io/expression.c io/fields.c io/hull/refused.c io/impact.c io/impact_bodies.c
    io/impact_laws.c io/json.c io/json_set.c io/json_write.c io/names.c io/place.c io/resolve.c
    io/resolve_contacts.c $(ls io/scene*.c) io/system.c plot/describe.c plot/faces.c plot/picture.c tools/carom/audit_json.c
    tools/carom/impact_json.c tools/carom/output.c tools/carom/resolve_json.c tools/carom/resolve_table.c
    tools/carom/numbers.c tools/carom/stream.c tools/carom/verb_resolve.c io/input.c
    $(ls web/wasm/*.c)"
flags="--target=wasm32-wasi -std=c17 -ffp-contract=off -fno-math-errno -fno-trapping-math -DNDEBUG
    -D_POSIX_C_SOURCE=200809L -DCAROM_NO_THREADS -DCAROM_NO_GPU -Iinclude -Iinclude/carom -Isrc -I$kinds -I. -Itools/carom -Iweb/wasm -Wall -Wextra
    -fvisibility=hidden -ffunction-sections -fdata-sections"
target="-flto -mbulk-memory -mnontrapping-fptoint -msign-ext -msimd128"
# a header or flag that changed makes everything new
[ -e "$objects/made" ] && [ -z "$(find include src io plot tools/carom web/wasm "$kinds" \( -name '*.h' -o -name build.sh \) \
    -newer "$objects/made")" ] || { rm -f "$objects"/* && touch "$objects/made"; }
# shellcheck disable=SC2086,SC2116,SC2016
for source in $sources; do
    object=$objects/$(echo "$source" | tr / _).o
    [ "$object" -nt "$source" ] || echo "$source $object"
done >"$objects/stale"
xargs -r -P 2 -L 1 sh -c 'clang-19 '"$(echo $flags -Oz $target)"' -c "$0" -o "$1"' <"$objects/stale"
[ ! -e "$output" ] || [ -n "$(find "$objects" -name '*.o' -newer "$output")" ] || exit 0
# objects of sources that are gone stay out
linked=$(for source in $sources; do echo "$objects/$(echo "$source" | tr / _).o"; done)
# a deep stack for the enumeration of solvers; it grows down to address 0, so that an overflow traps
# shellcheck disable=SC2086
clang-19 --target=wasm32-wasi -mexec-model=reactor -fuse-ld=lld $target $linked -o "$output.linked" \
    -Wl,--lto-O2 -Wl,-mllvm,-disable-lsr -Wl,--gc-sections -Wl,--compress-relocations -Wl,--strip-all \
    -Wl,-z,stack-size=2097152 -Wl,--stack-first
if command -v wasm-opt >/dev/null 2>&1; then
    wasm-opt --enable-simd --enable-bulk-memory --enable-sign-ext --enable-nontrapping-float-to-int \
        --enable-mutable-globals -Oz "$output.linked" -o "$output.linked"
fi
mv "$output.linked" "$output"
