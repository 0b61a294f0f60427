#!/bin/sh
# One wheel for every CPython from 3.11 on: made without the network, the same bytes each time, only symbols of the stable
# ABI, installed into plain virtual environments without a compiler, and the same bits under every interpreter that is
# installed. pip install ./python works in a plain environment as well. CAROM_SOAK=1 also compiles from the sources alone.
set -eu
[ -z "${CAROM_SANITIZE:-}" ] || { echo "skipped: not with sanitizers"; exit 77; }
[ -f "$CAROM_BUILD/python/_carom.abi3.so" ] || { echo "skipped: built without the Python package (no Python.h)"; exit 77; }
python=/usr/bin/python3
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { echo "skipped: needs Python 3.11"; exit 77; }
"$python" -c 'import venv, ensurepip' 2>/dev/null || { echo "skipped: python3-venv is not installed"; exit 77; }
export PYTHONDONTWRITEBYTECODE=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INDEX=1 CAROM_BUILD
unset PYTHONPATH PIP_FIND_LINKS 2>/dev/null || true

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
quietly() { "$@" >"$work/log" 2>&1 || { echo "failed: $*"; cat "$work/log"; exit 1; }; }

quietly "$python" "$CAROM_SOURCE/python/backend.py" "$work/a"
quietly "$python" "$CAROM_SOURCE/python/backend.py" "$work/b"
cmp "$work"/a/*.whl "$work"/b/*.whl
wheel=$(echo "$work"/a/*.whl)
include=$("$python" -c 'import sysconfig; print(sysconfig.get_path("include"))')
"$python" "$CAROM_SOURCE/test/python_wheel.py" "$wheel" "${CC:-cc}" "$include"

# the wheel where there is no compiler and no CMake; the sources where there is nothing but these
quietly "$python" -m venv "$work/venv"
quietly env PATH=/nowhere "$work/venv/bin/python" -m pip install "$wheel"
first=$(env PATH=/nowhere "$work/venv/bin/python" "$CAROM_SOURCE/test/python_plain.py")
echo "$first"
quietly "$work/venv/bin/python" -m pip uninstall -y carom
quietly "$work/venv/bin/python" -m pip install "$CAROM_SOURCE/python"
"$work/venv/bin/python" "$CAROM_SOURCE/test/python_plain.py" >/dev/null
[ ! -e "$CAROM_SOURCE/python/build" ] && [ ! -e "$CAROM_SOURCE/python/carom.egg-info" ]

# every other interpreter runs the same binary to the same bits
hash_of() { echo "$1" | sed 's/.*"hash": "\([0-9a-f]*\)".*/\1/'; }
"$python" -c 'import sys, zipfile; zipfile.ZipFile(sys.argv[1]).extractall(sys.argv[2])' "$wheel" "$work/site"
count=0
for other in /usr/bin/python3.?? /usr/local/bin/python3.?? "$HOME"/.pyenv/versions/*/bin/python3.??; do
    [ -x "$other" ] && "$other" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || continue
    said=$(PYTHONPATH="$work/site" "$other" "$CAROM_SOURCE/test/python_plain.py")
    [ "$(hash_of "$said")" = "$(hash_of "$first")" ] || { echo "$other: $said, not $first"; exit 1; }
    echo "$other: $said"
    count=$((count + 1))
done
echo "$count interpreters, one binary, one hash"

# without its parts the package works, and says what is missing where it is asked for
rm -f "$work"/site/carom/_hdf5.so "$work"/site/carom/_qhull.so "$work"/site/carom/_expat.so
PYTHONPATH="$work/site" "$python" "$CAROM_SOURCE/test/python_plain.py" | grep -q '"parts": \[\]'

[ -n "${CAROM_SOAK:-}" ] || exit 0
unset CAROM_BUILD
mkdir "$work/tree"
(cd "$CAROM_SOURCE" && tar cf - --exclude=./build* --exclude=./out --exclude=./.git .) | tar xf - -C "$work/tree"
quietly "$work/venv/bin/python" -m pip install --force-reinstall "$work/tree/python"
"$work/venv/bin/python" "$CAROM_SOURCE/test/python_plain.py"
