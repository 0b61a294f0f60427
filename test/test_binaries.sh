#!/bin/sh
# Every binary that is installed, and what the tests run: no search path for libraries, full read-only relocations, executables at
# random addresses, guarded stacks; and a library that lies in the current folder is not loaded.
set -eu
# sanitized builds are not hardened
[ -z "${CAROM_SANITIZE:-}" ] || exit 77
command -v readelf >/dev/null 2>&1 || { echo "skipped: no readelf"; exit 77; }
[ "$(head -c 4 "$CAROM_COMMAND" | od -An -c | tr -d ' ')" = '177ELF' ] || exit 77

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$CAROM_BUILD" --prefix "$work/prefix" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }

failures=0
bad() {
    echo "FAILED: $1: $2"
    failures=$((failures + 1))
}

count=0
# test programs are all linked alike: one stands for them
find "$CAROM_COMMAND" "$CAROM_BUILD/bin/test_base" "$CAROM_BUILD"/bin/*.so "$CAROM_BUILD/python" "$CAROM_BUILD"/*.so* "$work/prefix" -type f ! -name '*.o' ! -name '*.a' \
    2>/dev/null >"$work/files" || true
while read -r file; do
    [ "$(head -c 4 "$file" | od -An -c | tr -d ' ')" = '177ELF' ] || continue
    count=$((count + 1))
    readelf -dlhW "$file" >"$work/elf"
    ! grep -Eq 'RUNPATH|RPATH' "$work/elf" || bad "$file" "has a search path: $(grep -E 'RUNPATH|RPATH' "$work/elf")"
    grep -q GNU_RELRO "$work/elf" || bad "$file" "has no read-only relocations"
    grep -Eq 'BIND_NOW|Flags:.* NOW' "$work/elf" || bad "$file" "binds late"
    grep -q 'Type: *DYN' "$work/elf" || bad "$file" "is at a fixed address"
done <"$work/files"
[ "$count" -ge 8 ] || bad "$CAROM_BUILD" "only $count binaries found"

for file in "$CAROM_COMMAND" "$CAROM_BUILD/libcarom.so" "$work/prefix/bin/carom"; do
    nm -D "$file" | grep -q __stack_chk_fail || bad "$file" "has no stack guards"
done
nm -D "$CAROM_COMMAND" | grep -Eq '__(snprintf|fprintf|memcpy)_chk' || bad "$CAROM_COMMAND" "calls no checked functions"

# a file in place of each library that the command needs, in the current folder
mkdir "$work/here"
readelf -dW "$CAROM_COMMAND" | sed -n 's/.*NEEDED.*\[\(.*\)\].*/\1/p' >"$work/needed"
while read -r library; do
    : >"$work/here/$library"
done <"$work/needed"
for command in "$CAROM_COMMAND" "$work/prefix/bin/carom"; do
    (cd "$work/here" && "$command" --version >/dev/null 2>"$work/err") || bad "$command" "$(cat "$work/err")"
done
echo "$count binaries, $failures failures"
[ "$failures" -eq 0 ]
