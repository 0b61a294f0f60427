#!/bin/sh
# carom as a part of another project, by FetchContent: its targets link and run, and it leaves no trace: no install rules, tests,
# options or build type of the other project are changed, and nothing is built that was not asked for.
set -eu
[ -z "${CAROM_SANITIZE:-}" ] || { echo "skipped: not with sanitizers"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/app"
cat >"$work/app/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.25)
project(app VERSION 7.8.9 LANGUAGES C)
enable_testing()

foreach(name CMAKE_BUILD_TYPE CMAKE_C_STANDARD CMAKE_C_FLAGS CMAKE_RUNTIME_OUTPUT_DIRECTORY CMAKE_INSTALL_LIBDIR CMAKE_SKIP_RPATH
        CMAKE_POSITION_INDEPENDENT_CODE PROJECT_VERSION BUILD_SHARED_LIBS)
    set(before_\${name} "\${\${name}}")
endforeach()
include(FetchContent)
FetchContent_Declare(carom SOURCE_DIR "$CAROM_SOURCE")
FetchContent_MakeAvailable(carom)
foreach(name CMAKE_BUILD_TYPE CMAKE_C_STANDARD CMAKE_C_FLAGS CMAKE_RUNTIME_OUTPUT_DIRECTORY CMAKE_INSTALL_LIBDIR CMAKE_SKIP_RPATH
        CMAKE_POSITION_INDEPENDENT_CODE PROJECT_VERSION BUILD_SHARED_LIBS)
    if(NOT "\${before_\${name}}" STREQUAL "\${\${name}}")
        message(FATAL_ERROR "\${name} was '\${before_\${name}}', is '\${\${name}}'")
    endif()
endforeach()
add_executable(app app.c)
target_link_libraries(app carom::carom)
install(TARGETS app)
END
cat >"$work/app/app.c" <<'END'
#include <stdio.h>

#include <carom/carom.h>

int main(void) {
    crCollision ball = cr_collision();
    ball.V = cr_vec3(-2, 1, 0);
    ball.e = 0.5;
    crLaw law;
    if (cr_law_find("newton", NULL, &law, NULL) != CR_OK) return 1;
    crHit hit;
    return cr_law_apply(&law, &ball, &hit, NULL) != CR_OK || printf("%g\n", hit.V_plus.x) < 0;
}
END
export CMAKE_C_COMPILER_LAUNCHER="${CMAKE_C_COMPILER_LAUNCHER:-}"
cmake -S "$work/app" -B "$work/build" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
cmake --build "$work/build" -j 2 --target app >"$work/log" 2>&1 || { tail -n 20 "$work/log"; exit 1; }
[ "$("$work/build/app")" = 1 ] || { echo "the program does not print 1"; exit 1; }
for made in libcarom_fit.a libcarom_plot.a libcarom-io.a; do
    [ -z "$(find "$work/build" -name "$made")" ] || { echo "$made was built though nobody asked"; exit 1; }
done
[ "$(ctest --test-dir "$work/build" -N | grep -c 'Test *#')" = 0 ] || { echo "tests of carom are tests of the project"; exit 1; }
cmake --install "$work/build" --prefix "$work/prefix" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
files=$(cd "$work/prefix" && find . -type f)
[ "$files" = ./bin/app ] || { echo "installed: $files"; exit 1; }
echo "a part of another project leaves no trace"
