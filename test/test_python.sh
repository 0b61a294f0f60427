#!/bin/sh
# The Python package: its wheel is built without the network, installed into a folder, and tested by pytest with its
# docstrings, its tutorial and its examples. Skipped where the packages it needs are not installed.
set -eu
# a sanitized extension needs a sanitized interpreter
[ -z "${CAROM_SANITIZE:-}" ] || { echo "skipped: not with sanitizers"; exit 77; }
python=/usr/bin/python3
for package in numpy pytest setuptools wheel pip; do
    "$python" -c "import $package" 2>/dev/null || { echo "skipped: python3-$package is not installed"; exit 77; }
done
find "$CAROM_BUILD/python" -name '_carom.*' 2>/dev/null | grep -q . || {
    echo "skipped: built without the Python package (python3-dev is not installed)"
    exit 77
}
export PYTHONDONTWRITEBYTECODE=1

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# pip writes beside the sources: build from a copy that sees the tree
mkdir "$work/tree"
cp -r "$CAROM_SOURCE/python" "$CAROM_SOURCE/scenes" "$CAROM_SOURCE/CMakeLists.txt" "$work/tree/"
(cd "$work" && "$python" -m pip wheel --no-build-isolation --no-deps --no-index -q -w "$work/wheel" "$work/tree/python") \
    >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
"$python" -m pip install --no-deps --no-index -q --target "$work/site" "$work"/wheel/carom-*.whl >"$work/log" 2>&1 ||
    { cat "$work/log"; exit 1; }

export PYTHONPATH="$work/site" MPLBACKEND=Agg MPLCONFIGDIR="$work" CAROM_PICTURES="$work"
cd "$work"
pytest="$python -m pytest -q -p no:cacheprovider --rootdir $work"
modules="--doctest-modules $work/site/carom"
"$python" -c 'import matplotlib' 2>/dev/null || modules="$modules --ignore $work/site/carom/plot.py"
# shellcheck disable=SC2086
$pytest $modules --doctest-glob='*.md' "$CAROM_SOURCE/docs/tutorials/python.md" "$CAROM_SOURCE/python/tests"
if "$python" -c 'import matplotlib' 2>/dev/null; then
    for example in "$CAROM_SOURCE"/examples/python/*.py; do
        "$python" "$example" >"$work/log" 2>&1 || { echo "$example:"; cat "$work/log"; exit 1; }
    done
else
    echo "pictures and examples: skipped, python3-matplotlib is not installed"
fi
