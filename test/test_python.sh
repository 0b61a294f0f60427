#!/bin/sh
# The Python package: its wheel is built without the network, unpacked into a folder, and tested by pytest with its
# docstrings, its tutorial and its examples. Skipped where the packages it needs are not installed.
set -eu
# a sanitized extension needs a sanitized interpreter
[ -z "${CAROM_SANITIZE:-}" ] || { echo "skipped: not with sanitizers"; exit 77; }
python=/usr/bin/python3
for package in numpy pytest; do
    "$python" -c "import $package" 2>/dev/null || { echo "skipped: python3-$package is not installed"; exit 77; }
done
[ -f "$CAROM_BUILD/python/_carom.abi3.so" ] || {
    echo "skipped: built without the Python package (python3-dev is not installed)"
    exit 77
}
export PYTHONDONTWRITEBYTECODE=1 CAROM_BUILD

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$python" "$CAROM_SOURCE/python/backend.py" "$work/wheel" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
"$python" -m zipfile -e "$work"/wheel/carom-*.whl "$work/site"

export PYTHONPATH="$work/site" MPLBACKEND=Agg MPLCONFIGDIR="$work" CAROM_PICTURES="$work"
cd "$work"
pytest="$python -m pytest -q -p no:cacheprovider --rootdir $work"
modules="--doctest-modules $work/site/carom"
"$python" -c 'import matplotlib' 2>/dev/null || modules="$modules --ignore $work/site/carom/plot.py"
# shellcheck disable=SC2086
$pytest $modules --doctest-glob='*.md' "$CAROM_SOURCE/docs/tutorials/python.md" \
    "$CAROM_SOURCE/docs/tutorials/robot-arm.md" "$CAROM_SOURCE/python/tests"
if "$python" -c 'import matplotlib' 2>/dev/null; then
    for example in "$CAROM_SOURCE"/examples/python/*.py; do
        "$python" "$example" >"$work/log" 2>&1 || { echo "$example:"; cat "$work/log"; exit 1; }
    done
else
    echo "pictures and examples: skipped, python3-matplotlib is not installed"
fi
