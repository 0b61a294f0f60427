#!/bin/sh
# cmake --install gives headers, libcarom and libcarom-io, their pkg-config files and a CMake package; outside programs
# build against each, static and shared.
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
    crLaw law;
    if (cr_law_find("newton", NULL, &law, NULL) != CR_OK) return 1;
    crHit hit;
    c.V = cr_vec3(-1, 0, 0);
    c.e = 1;
    if (cr_law_apply(&law, &c, &hit, NULL) != CR_OK) return 1;
    printf("%g\n", hit.P.x);
    return 0;
}
EOF
cp "$CAROM_SOURCE/examples/first_scene.c" "$work/scene.c"
cat >"$work/CMakeLists.txt" <<'EOF'
cmake_minimum_required(VERSION 3.25)
project(outside C)
find_package(carom REQUIRED)
add_executable(with_static main.c)
target_link_libraries(with_static carom::carom)
add_executable(with_shared main.c)
target_link_libraries(with_shared carom::shared)
add_executable(scene_shared scene.c)
target_link_libraries(scene_shared carom::io_shared)
if(NOT WITHOUT_STATIC)
    add_executable(scene_static scene.c)
    target_link_libraries(scene_static carom::io)
endif()
EOF
cmake -S "$work" -B "$work/build" -DCMAKE_PREFIX_PATH="$prefix" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
cmake --build "$work/build" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
# the shared library needs no pkg-config, and so none of the libraries behind it
cmake -S "$work" -B "$work/bare" -DCMAKE_PREFIX_PATH="$prefix" -DWITHOUT_STATIC=ON -DPKG_CONFIG_EXECUTABLE=/nonexistent \
    >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
cmake --build "$work/bare" --target scene_shared >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }

# the archive is where the multiarch folder puts it
libdir=$(dirname "$(find "$prefix" -name libcarom.so | head -n 1)")
PKG_CONFIG_PATH="$libdir/pkgconfig"
export PKG_CONFIG_PATH
flags=$(pkg-config --cflags --libs carom)
# shellcheck disable=SC2086
cc -o "$work/with_pkgconfig" "$work/main.c" $flags
# shellcheck disable=SC2046
cc -o "$work/with_archive" "$work/main.c" $(pkg-config --cflags carom) "$libdir/libcarom.a" -lm

# a program that opens a scene: the shared library where only carom's own .pc files are found, then the archives of a
# copy of the tree without shared libraries
flags_io=$(PKG_CONFIG_LIBDIR="$libdir/pkgconfig" pkg-config --cflags --libs carom-io)
# shellcheck disable=SC2086
cc -o "$work/scene_pkgconfig" "$work/scene.c" $flags_io
cp -R "$prefix" "$work/archives"
find "$work/archives" -name '*.so*' -delete
static_pc=$(dirname "$(find "$work/archives" -name carom-io.pc)")
# shellcheck disable=SC2046
cc -o "$work/scene_archive" "$work/scene.c" $(PKG_CONFIG_PATH="$static_pc" pkg-config --static --cflags --libs carom-io)
for program in build/scene_static scene_archive; do
    ! readelf -d "$work/$program" | grep -q 'NEEDED.*libcarom' || { echo "$program needs a shared libcarom"; exit 1; }
done
readelf -d "$work/build/scene_shared" | grep NEEDED | grep -q 'hdf5\|expat\|qhull' && { echo "scene_shared is linked to too much"; exit 1; }

LD_LIBRARY_PATH="$libdir"
export LD_LIBRARY_PATH
# each writes the trajectory that the command writes, and a problem whose impulses solve it
"$prefix/bin/carom" run box-stack --out "$work/command.csv" >/dev/null
for program in build/scene_static build/scene_shared bare/scene_shared scene_pkgconfig scene_archive; do
    rm -f "$work/boxes.csv" "$work/boxes.json"
    "$work/$program" box-stack "$work/boxes.csv" "$work/boxes.json" >"$work/out" || { echo "$program: failed"; exit 1; }
    grep -q '^every impact permissible$' "$work/out" || { echo "$program printed $(cat "$work/out")"; exit 1; }
    cmp "$work/boxes.csv" "$work/command.csv" || { echo "$program: another trajectory than the command's"; exit 1; }
    python3 - "$work/boxes.json" <<'END' || { echo "$program: the problem file is wrong"; exit 1; }
import json, sys
problem = json.load(open(sys.argv[1]))
p, blocks = problem["p"], problem["blocks"]
# five boxes of 1 kg rest on each other: the floor carries their weight over the step
normal, row = [], 0
for block in blocks:
    normal.append(p[row])
    assert min(p[row], 0) >= -1e-12, p[row]
    row += block["rows"]
assert len(blocks) == 20 and row == len(p)
weight = 5 * 1.0 * 9.81 * problem["h"]
floors = [sum(normal[i:i + 4]) for i in range(0, 20, 4)]
assert abs(max(floors) - weight) < 1e-6 * weight, (floors, weight)
END
done
for program in build/with_static build/with_shared with_pkgconfig with_archive; do
    out=$("$work/$program")
    [ "$out" = 2 ] || { echo "$program printed '$out', expected 2"; exit 1; }
done

# every header stands alone in C and in C++ without a warning, and its functions link
headers=$(cd "$prefix/include" && find carom -name '*.h')
for header in $headers; do
    printf '#include <%s>\n#include <%s>\n' "$header" "$header" >"$work/header.c"
    cc -std=c17 -Wall -Wextra -pedantic -Werror -I"$prefix/include" -fsyntax-only "$work/header.c"
done
[ -f "$prefix/include/carom/io/scene.h" ] || { echo "no carom/io/scene.h"; exit 1; }
if command -v g++ >/dev/null 2>&1; then
    for header in $headers; do
        printf '#include <%s>\n#include <%s>\n' "$header" "$header" >"$work/header.cpp"
        g++ -std=c++17 -Wall -Wextra -pedantic -Werror -I"$prefix/include" -fsyntax-only "$work/header.cpp"
    done
    cp "$work/main.c" "$work/main.cpp"
    # shellcheck disable=SC2086
    g++ -std=c++17 -Wall -Wextra -pedantic -Werror -o "$work/with_cpp" "$work/main.cpp" $flags
    [ "$("$work/with_cpp")" = 2 ] || { echo "the C++ program printed something else"; exit 1; }
else
    echo "C++: skipped, g++ is not installed"
fi

# the libraries have their version, and what they define globally begins with cr_ in the archives too
for name in carom carom-io; do
    objdump -p "$libdir/lib$name.so" | grep -q "SONAME *lib$name\.so\.[0-9]*\$" || { echo "no version"; exit 1; }
    leaked=$({ nm -D --defined-only "$libdir/lib$name.so"; nm -g --defined-only "$libdir/lib$name.a"; } |
        awk 'NF == 3 && $3 !~ /^cr_/ {print $3}')
    [ -z "$leaked" ] || { echo "exported without prefix: $leaked"; exit 1; }
done

# the installed command runs
"$prefix/bin/carom" --version | grep -q '^carom '
# and has its scenes with it
(cd "$work" && "$prefix/bin/carom" run bouncing-ball --duration 0.1 | grep -q 'every step solved')
[ -s "$prefix/share/man/man1/carom.1" ]
# and its page
(cd "$work" && "$prefix/bin/carom" view pool-break --out page.html)
grep -q 'id="wasm">H4sI' "$work/page.html" || { echo "the installed command has no page"; exit 1; }
echo "installed: good"
