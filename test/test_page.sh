#!/bin/sh
# The page that is kept in the tree, web/carom.html, is made of what the tree has now. Needs no browser and no compiler.
set -eu
cd "$CAROM_SOURCE"
python3 web/inputs.py --check

# the check itself, in a copy of what it reads: it sees what a page depends on and nothing else
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/web" "$work/docs" "$work/include/carom" "$work/plot"
cp -R web/src web/wasm web/build.mjs web/package-lock.json web/inputs.py web/carom.html "$work/web/"
cp docs/scene.schema.json "$work/docs/"
cp include/carom/base.h "$work/include/carom/"
cp plot/describe.c plot/describe.h plot/chart.c "$work/plot/"
cp -R scenes examples "$work/"
fits() { python3 "$work/web/inputs.py" --check 2>"$work/said"; }
stale() {
    if fits; then echo "a page is not stale though $1 changed"; exit 1; fi
    grep -q "$1.*run ./dev web" "$work/said" || { echo "not said of $1:"; cat "$work/said"; exit 1; }
}
# change FILE: a line more, and back
change() {
    cp "$work/$2" "$work/before"
    echo >>"$work/$2"
    stale "$1"
    cp "$work/before" "$work/$2"
    fits || { cat "$work/said"; exit 1; }
}
fits || { cat "$work/said"; exit 1; }
change "modules" web/src/main.js
change "modules" web/package-lock.json
change "functions" web/wasm/page.h
change "format of scenes" docs/scene.schema.json
change "the scenes" scenes/dominoes.json
change "the examples" examples/impacts/generic.json
echo '// no part of the page' >>"$work/plot/chart.c"
fits || { cat "$work/said"; exit 1; }
sed -i 's/\(define CR_NUMERICS_REVISION \).*/\1987/' "$work/include/carom/base.h"
stale CR_NUMERICS_REVISION
echo "the kept page fits"
