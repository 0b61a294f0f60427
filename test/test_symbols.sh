#!/bin/sh
# The functions that the shared libraries export are those of the committed lists, and each is declared with CR_API in
# an installed header. `sh test/test_symbols.sh --update` writes the lists anew.
set -eu
root=${CAROM_SOURCE:-$(cd "$(dirname "$0")/.." && pwd)}
build=${CAROM_BUILD:-$root/build}
command -v nm >/dev/null 2>&1 || { echo "skipped: no nm"; exit 77; }
# sanitizers add symbols of their own
[ -z "${CAROM_SANITIZE:-}" ] || exit 77
[ "$(head -c 4 "$build/libcarom.so" | od -An -c | tr -d ' ')" = '177ELF' ] || { echo "skipped: not ELF"; exit 77; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
for name in carom carom-io; do
    list="$root/test/symbols-$name.txt"
    nm -D --defined-only "$build/lib$name.so" | awk '{print $3}' | LC_ALL=C sort >"$work/$name"
    if [ "${1:-}" = --update ]; then
        cp "$work/$name" "$list"
    elif ! diff "$list" "$work/$name" >"$work/diff"; then
        echo "FAILED: lib$name.so does not export what test/symbols-$name.txt lists (<: only listed, >: only exported):"
        grep '^[<>]' "$work/diff"
        failures=$((failures + 1))
    fi
done
[ "$failures" -eq 0 ] || echo "where that is meant, run: sh test/test_symbols.sh --update"

# headers and libraries agree: what one declares the other has
declared() { cat "$@" | tr '\n' ' ' | grep -o 'CR_API [^;(]*\bcr_[a-z][A-Za-z0-9_]*(' | sed 's/($//; s/.*[ *]//' | LC_ALL=C sort -u; }
declared "$root"/include/carom/*.h >"$work/carom.declared"
declared "$root"/include/carom/io/*.h >"$work/carom-io.declared"
for name in carom carom-io; do
    if ! diff "$work/$name.declared" "$work/$name" >"$work/diff"; then
        echo "FAILED: the headers of lib$name.so and its symbols (<: only declared, >: only exported):"
        grep '^[<>]' "$work/diff"
        failures=$((failures + 1))
    fi
done

# The stable headers, those that carom.h includes, stay small; stages.h and the like are experimental.
stable=$(sed -n 's|^#include "carom/\(.*\)"|\1|p' "$root/include/carom/carom.h")
(cd "$root/include/carom" && declared $stable) >"$work/stable"
if [ "$(wc -l <"$work/stable")" -gt 160 ]; then
    echo "FAILED: the headers that carom.h includes declare $(wc -l <"$work/stable") functions; must be at most 160"
    failures=$((failures + 1))
fi
echo "$(wc -l <"$work/stable") functions in stable headers"
echo "$(wc -l <"$work/carom") symbols of libcarom, $(wc -l <"$work/carom-io") of libcarom-io, $failures failures"
[ "$failures" -eq 0 ]
