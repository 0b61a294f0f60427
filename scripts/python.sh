#!/bin/sh
# python.sh - the wheel of the Python package, or the pictures of its examples: python.sh wheel|pictures. Called by ./dev.
set -eu
cd "$(dirname "$0")/.."
python=/usr/bin/python3
export CAROM_BUILD="$PWD/build" PYTHONDONTWRITEBYTECODE=1
case "$1" in
wheel) "$python" python/backend.py out ;;
pictures)
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    "$python" python/backend.py "$work" >/dev/null
    "$python" -m zipfile -e "$work"/carom-*.whl "$work/site"
    for example in examples/python/*.py; do
        PYTHONPATH="$work/site" "$python" "$example" >/dev/null
    done
    ;;
esac
