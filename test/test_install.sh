#!/bin/sh
# cmake --install gives headers, both libraries, carom.pc and a CMake package; outside programs build against each.
set -eu
# a sanitized library needs sanitized users; what is installed is the release build
[ -z "${CAROM_SANITIZE:-}" ] || exit 77

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix="$work/prefix"
cmake --install "$CAROM_BUILD" --prefix "$prefix" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }

cat >"$work/main.c" <<'EOF'
#include <carom/carom.h>
#include <stdio.h>
int main(void) {
    crCollision c = cr_collision();
    crLaw law = cr_law_newton();
    crHit hit;
    c.V = cr_vec3(-1, 0, 0);
    c.e = 1;
    if (cr_law_apply(&law, &c, &hit, NULL) != CR_OK) return 1;
    printf("%g\n", hit.P.x);
    return 0;
}
EOF
cat >"$work/CMakeLists.txt" <<'EOF'
cmake_minimum_required(VERSION 3.25)
project(outside C)
find_package(carom REQUIRED)
add_executable(with_static main.c)
target_link_libraries(with_static carom::carom)
add_executable(with_shared main.c)
target_link_libraries(with_shared carom::shared)
EOF
cmake -S "$work" -B "$work/build" -DCMAKE_PREFIX_PATH="$prefix" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
cmake --build "$work/build" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }

# the archive is where the multiarch folder puts it
libdir=$(dirname "$(find "$prefix" -name libcarom.so | head -n 1)")
PKG_CONFIG_PATH="$libdir/pkgconfig"
export PKG_CONFIG_PATH
flags=$(pkg-config --cflags --libs carom)
# shellcheck disable=SC2086
cc -o "$work/with_pkgconfig" "$work/main.c" $flags
# shellcheck disable=SC2046
cc -o "$work/with_archive" "$work/main.c" $(pkg-config --cflags carom) "$libdir/libcarom.a" -lm

LD_LIBRARY_PATH="$libdir"
export LD_LIBRARY_PATH
for program in build/with_static build/with_shared with_pkgconfig with_archive; do
    out=$("$work/$program")
    [ "$out" = 2 ] || { echo "$program printed '$out', expected 2"; exit 1; }
done

# every header stands alone in C++ without a warning, and its functions link
if command -v g++ >/dev/null 2>&1; then
    for header in "$prefix"/include/carom/*.h; do
        name=$(basename "$header")
        printf '#include <carom/%s>\n#include <carom/%s>\n' "$name" "$name" >"$work/header.cpp"
        g++ -std=c++17 -Wall -Wextra -pedantic -Werror -I"$prefix/include" -fsyntax-only "$work/header.cpp"
    done
    cp "$work/main.c" "$work/main.cpp"
    # shellcheck disable=SC2086
    g++ -std=c++17 -Wall -Wextra -pedantic -Werror -o "$work/with_cpp" "$work/main.cpp" $flags
    [ "$("$work/with_cpp")" = 2 ] || { echo "the C++ program printed something else"; exit 1; }
else
    echo "C++: skipped, g++ is not installed"
fi

# the library has its version
objdump -p "$libdir/libcarom.so" | grep -q 'SONAME *libcarom\.so\.[0-9]*$' || { echo "no version"; exit 1; }

# nothing but cr_ names leaves the shared library
leaked=$(nm -D --defined-only "$libdir/libcarom.so" | awk '{print $3}' | grep -v '^cr_' || true)
[ -z "$leaked" ] || { echo "exported without prefix: $leaked"; exit 1; }

# the installed command runs
"$prefix/bin/carom" --version | grep -q '^carom '
# and has its scenes with it
(cd "$work" && "$prefix/bin/carom" run bouncing-ball --duration 0.1 | grep -q 'every step solved')
[ -s "$prefix/share/man/man1/carom.1" ]
# and its page
(cd "$work" && "$prefix/bin/carom" view pool-break --out page.html)
grep -q 'id="wasm">H4sI' "$work/page.html" || { echo "the installed command has no page"; exit 1; }
echo "installed: good"
