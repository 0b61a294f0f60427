#!/bin/sh
# cpack makes Debian packages; unpacked into a folder they hold what they should and work from there. Where CI runs
# as root they are installed for real as well. Skipped without dpkg.
set -eu
# a sanitized library needs sanitized users; what is packaged is the release build
[ -z "${CAROM_SANITIZE:-}" ] || { echo "skipped: not with sanitizers"; exit 77; }
for tool in cpack dpkg-deb dpkg-shlibdeps; do
    command -v $tool >/dev/null 2>&1 || { echo "skipped: $tool is not installed"; exit 77; }
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "$*"; exit 1; }
cpack --config "$CAROM_BUILD/CPackConfig.cmake" -G DEB -B "$work/packages" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }

root="$work/root"
for name in libcarom0 libcarom-io0 libcarom-dev carom; do
    package=$(find "$work/packages" -maxdepth 1 -name "${name}_*.deb")
    [ -f "$package" ] || fail "no package $name"
    [ "$(dpkg-deb -f "$package" Package)" = "$name" ] || fail "$package has another name"
    dpkg-deb -f "$package" Depends >"$work/$name.depends"
    dpkg-deb -c "$package" | awk '{print $6}' >"$work/$name.files"
    dpkg-deb -x "$package" "$root"
done

for name in libcarom0 libcarom-io0 libcarom-dev carom; do
    for file in copyright changelog.gz; do
        grep -q "share/doc/$name/$file\$" "$work/$name.files" || fail "$name lacks $file"
    done
done
# where Debian has its libraries, unless the build was told another place
multiarch=$(dpkg-architecture -qDEB_HOST_MULTIARCH)
usual=$(grep -c "^CMAKE_INSTALL_LIBDIR:PATH=lib/$multiarch\$" "$CAROM_BUILD/CMakeCache.txt" || true)
if [ "$usual" = 1 ]; then
    grep -q "usr/lib/$multiarch/libcarom\.so\.0\$" "$work/libcarom0.files" || fail "libcarom0 is not in lib/$multiarch"
fi

# each file in its package
grep -q '/libcarom\.so\.0$' "$work/libcarom0.files" || fail "libcarom0 lacks the library"
grep -qE 'include|libcarom\.so$|bin/' "$work/libcarom0.files" && fail "libcarom0 holds what belongs to others"
grep -q '/libcarom-io\.so\.0$' "$work/libcarom-io0.files" || fail "libcarom-io0 lacks the library"
grep -qE 'include|libcarom-io\.so$|libcarom\.so|bin/' "$work/libcarom-io0.files" && fail "libcarom-io0 holds what belongs to others"
for file in include/carom/io/scene.h /libcarom-io.so /libcarom-io.a pkgconfig/carom-io.pc include/carom/carom.h /libcarom.so /libcarom.a pkgconfig/carom.pc cmake/carom/carom-config.cmake; do
    grep -q "$file\$" "$work/libcarom-dev.files" || fail "libcarom-dev lacks $file"
done
for file in bin/carom man/man1/carom.1.gz; do
    grep -q "$file\$" "$work/carom.files" || fail "carom lacks $file"
done
# the command does not need MPI; its module does, and is found from where it is installed
if [ -f "$CAROM_BUILD/bin/libcarom_ranks.so" ]; then
    package=$(find "$work/packages" -maxdepth 1 -name 'carom-mpi_*.deb')
    [ -f "$package" ] || fail "no package carom-mpi"
    dpkg-deb -f "$package" Depends | grep -q 'libopenmpi.*carom (= \|carom (= .*libopenmpi' || fail "carom-mpi does not need both"
    grep -q openmpi "$work/carom.depends" && fail "carom needs MPI"
    dpkg-deb -x "$package" "$root"
    find "$root/usr/lib" -path '*/carom/libcarom_ranks.so' | grep -q . || fail "carom-mpi lacks the module"
    if command -v mpirun >/dev/null 2>&1; then
        allow=
        [ "$(id -u)" -ne 0 ] || allow=--allow-run-as-root
        # shellcheck disable=SC2086
        mpirun $allow --oversubscribe -n 2 "$root/usr/bin/carom" spread bouncing-ball --jitter velocity=0.1 --samples 4 \
            </dev/null | grep -q '4 samples' || fail "the packaged command does not run under mpirun"
    fi
fi
# and what it needs is said
grep -q libc6 "$work/libcarom0.depends" || fail "libcarom0 does not depend on libc6"
for name in libcarom-dev libcarom-io0; do
    grep -q 'libcarom0 (= ' "$work/$name.depends" || fail "$name does not depend on libcarom0"
done
grep -q 'libcarom-io0 (= ' "$work/libcarom-dev.depends" || fail "libcarom-dev does not depend on libcarom-io0"
# the core needs nothing of what files need, and programs against the shared library need no headers of it
for library in hdf5 expat qhull; do
    grep -q "$library" "$work/libcarom0.depends" "$work/libcarom-dev.depends" && fail "$library is needed beyond libcarom-io0"
done
if nm -D --undefined-only "$(find "$root" -name 'libcarom-io.so.0')" | grep -q H5Fopen; then
    grep -q libhdf5 "$work/libcarom-io0.depends" || fail "libcarom-io0 does not depend on HDF5"
fi
for name in libcarom0 libcarom-io0; do
    dpkg-deb --ctrl-tarfile "$work"/packages/${name}_*.deb | tar -t | grep -q shlibs || fail "$name has no shlibs"
done

# nothing but cr_ names leaves the library, and it has its version
library=$(find "$root" -name 'libcarom.so.0')
nm -D --defined-only "$library" | awk '$3 !~ /^cr_/ {print $3; bad = 1} END {exit bad}' || fail "exported without prefix"
objdump -p "$library" | grep -q 'SONAME *libcarom\.so\.0$' || fail "the library has no version"

# a program builds against what was unpacked, and runs
libdir=$(dirname "$library")
LD_LIBRARY_PATH="$libdir"
PKG_CONFIG_PATH="$libdir/pkgconfig"
export LD_LIBRARY_PATH PKG_CONFIG_PATH
# shellcheck disable=SC2046
cc -o "$work/first_impact" "$CAROM_SOURCE/examples/first_impact.c" $(pkg-config --cflags --libs carom)
"$work/first_impact" | grep -q permissible || fail "the example does not run"
# shellcheck disable=SC2046
cc -o "$work/first_scene" "$CAROM_SOURCE/examples/first_scene.c" $(pkg-config --cflags --libs carom-io)
(cd "$work" && ./first_scene box-stack boxes.csv boxes.json) | grep -q 'every impact permissible' || fail "a scene does not run"
"$root/usr/bin/carom" solve "$work/boxes.json" | grep -q '20 cones' || fail "the problem file is not read"
"$root/usr/bin/carom" run bouncing-ball --duration 0.1 | grep -q 'every step solved' || fail "the command does not run"
"$root/usr/bin/carom" view pool-break --out "$work/page.html" && grep -q 'id="wasm">H4sI' "$work/page.html" ||
    fail "the packaged command has no page"

# Debian's own judge, where it is installed
if [ "$usual" = 1 ] && command -v lintian >/dev/null 2>&1; then
    lintian --allow-root --fail-on error,warning "$work"/packages/*.deb >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
fi

if [ "${CI:-}" = true ] && [ "$(id -u)" -eq 0 ]; then
    unset LD_LIBRARY_PATH PKG_CONFIG_PATH
    dpkg -i "$work"/packages/*.deb >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
    carom --version | grep -q '^carom ' || fail "the installed command does not run"
    # shellcheck disable=SC2046
    cc -o "$work/installed" "$CAROM_SOURCE/examples/first_impact.c" $(pkg-config --cflags --libs carom)
    "$work/installed" | grep -q permissible || fail "the installed library does not work"
    # shellcheck disable=SC2046
    dpkg -r $(find "$work/packages" -maxdepth 1 -name 'carom-mpi_*.deb' | sed 's/.*/carom-mpi/') carom libcarom-dev libcarom-io0 libcarom0 >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
fi
echo "packages good"
