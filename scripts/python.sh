#!/bin/sh
# python.sh - the wheel of the Python package, or the pictures of its examples: python.sh wheel|pictures. Called by ./dev.
set -eu
cd "$(dirname "$0")/.."
python=/usr/bin/python3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# pip leaves files beside the sources: build from a copy
mkdir "$work/tree"
cp -r python scenes CMakeLists.txt "$work/tree/"
CAROM_BUILD="$PWD/build" "$python" -m pip wheel --no-build-isolation --no-deps --no-index -q -w "$work" "$work/tree/python"
case "$1" in
wheel)
    mkdir -p out
    cp "$work"/carom-*.whl out/
    ls out/carom-*.whl
    ;;
pictures)
    "$python" -m pip install --no-deps --no-index -q --target "$work/site" "$work"/carom-*.whl
    for example in examples/python/*.py; do
        PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$work/site" "$python" "$example" >/dev/null
    done
    ;;
esac
